"""Whether what kubelets say of readiness is so."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.action import Patch
from reconverge.model.events import PodReady
from reconverge.model.loops.kubelet.actions import FromNode, Locally
from reconverge.model.objects import Probe

KEY = "readiness-true"


@pytest.mark.parametrize(
    ("behaviour", "fields", "broken"),
    [
        ("ready", {}, False),
        ("exit-0", {}, False),
        ("never-ready", {}, True),
        ("crashes", {}, True),
        ("never-ready", {"forced_ready": True}, False),
        ("ready", {"forced_ready": False}, True),
        ("ready", {"state": "exited"}, True),
        ("never-ready", {"ready": False}, False),
    ],
)
def test_a_pod_is_ready_when_it_runs_and_its_probe_succeeds(
    lab: Any, behaviour: str, fields: dict[str, Any], broken: bool
) -> None:
    pod = lab.pod(spec=lab.spec(behaviour=behaviour), ready=False)
    before = lab.situation(lab.node(), pod)
    local = before.cluster.machines.get("n1").pods[pod.uid].with_(**{"ready": True, **fields})
    found = lab.broken(KEY, lab.step(before, "kubelet", Locally("n1", local, "finds ready")))
    assert [each.object for each in found] == (["pod/web-a"] if broken else [])


@pytest.mark.parametrize(
    ("behaviour", "fields", "probed", "broken"),
    [
        ("not-ready-first", {"since": 998}, None, False),
        ("not-ready-first", {"since": 999}, None, True),
        ("ready", {"state": "exited"}, None, True),
        ("ready", {"since": 996}, Probe(initial_delay=4, period=2), False),
        ("ready", {"since": 997}, Probe(initial_delay=4, period=2), True),
        ("ready", {"since": 900, "hung_at": 990}, Probe(failure=1), True),
        ("ready", {"since": 900, "hung_at": 990}, Probe(failure=3), False),
        ("ready", {"since": 900, "hung_at": 990}, None, False),
    ],
)
def test_the_probe_must_have_succeeded_by_its_numbers(
    lab: Any, behaviour: str, fields: dict[str, Any], probed: Probe | None, broken: bool
) -> None:
    spec = lab.spec(behaviour=behaviour)
    spec = spec.with_(containers=(spec.containers[0].with_(readiness=probed),))
    pod = lab.pod(spec=spec, ready=False)
    before = lab.situation(lab.node(), pod)
    local = before.cluster.machines.get("n1").pods[pod.uid]
    (container,) = local.containers
    local = local.with_(ready=True, containers=(container.with_(**fields),))
    assert bool(lab.broken(KEY, lab.step(before, "kubelet", Locally("n1", local, "finds ready")))) is broken


def test_a_report_needs_a_template_that_becomes_ready_or_an_event(lab: Any) -> None:
    for behaviour, events, broken in (
        ("ready", (), False),
        ("never-ready", (), True),
        ("never-ready", (PodReady("pod/web-a"),), False),
    ):
        pod = lab.pod(spec=lab.spec(behaviour=behaviour), ready=False)
        before = lab.situation(lab.node(), pod, events=events)
        patch = Patch("Pod", pod.key, pod.uid, (("ready", True),))
        assert bool(lab.broken(KEY, lab.step(before, "kubelet", FromNode("n1", patch)))) is broken
        assert lab.broken(KEY, lab.step(before, "somebody", patch)) == []
