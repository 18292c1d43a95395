"""Times that must pass before a pod may be taken."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.action import DeletePod
from reconverge.model.events import LoopPauses, NodeCrashes, NodeRecovers, TaintAdded
from reconverge.model.objects import Lease, Taint, Toleration
from reconverge.model.objects.node import NO_EXECUTE, UNREACHABLE

KEY = "no-unprovoked-kill"
OWN = Taint("own", NO_EXECUTE)
SILENT = Taint(UNREACHABLE, NO_EXECUTE)


def evicted(lab: Any, taint: Taint, now: float, *, since: float | None = 100, **options: Any) -> Any:
    """The eviction of a pod that tolerates everything for 60 s, after a start at 100 without the taint."""
    node = lab.node(**options.pop("node", {}))
    seconds = options.pop("seconds", 60)
    spec = lab.spec(tolerations=(Toleration(operator="Exists", effect=NO_EXECUTE, seconds=seconds),))
    pod = lab.pod(spec=spec, created_at=options.pop("created_at", 0))
    start = lab.cluster(options.pop("before", node), now=since) if since is not None else None
    lease = Lease(name="n1", uid=lab.fresh(), renewed_at=options.pop("renewed_at", None))
    situation = lab.situation(node.with_(taints=(taint,), ready="Unknown"), lease, pod, now=now, start=start, **options)
    return lab.broken(KEY, lab.step(situation, "taint-eviction", DeletePod(pod.key, pod.uid)))


@pytest.mark.parametrize(
    ("now", "options", "broken"),
    [
        (159, {}, True),
        (160, {}, False),
        (100, {"seconds": 0}, False),
        (159, {"since": None}, False),
        (200, {"created_at": 150}, True),
        (210, {"created_at": 150}, False),
    ],
)
def test_a_taint_cannot_be_older_than_the_run_and_the_pod(
    lab: Any, now: float, options: dict[str, Any], broken: bool
) -> None:
    assert bool(evicted(lab, OWN, now, **options)) is broken


def test_a_taint_of_the_start_may_be_of_any_age(lab: Any) -> None:
    tainted = lab.node(taints=(Taint("other", NO_EXECUTE),))
    assert evicted(lab, OWN, 101, before=tainted) == []


@pytest.mark.parametrize(
    ("now", "events", "broken"),
    [
        # Silent since 120, called unreachable 50 s later, tolerated for 60 s.
        (229, (NodeCrashes("n1"),), True),
        (230, (NodeCrashes("n1"),), False),
        (229, (NodeCrashes("n1"), NodeRecovers("n1"), NodeCrashes("n1")), False),
        (229, (LoopPauses("node-lifecycle"), NodeCrashes("n1")), False),
        (229, (TaintAdded("n1", "own", "", NO_EXECUTE), NodeCrashes("n1")), False),
    ],
)
def test_a_node_is_unreachable_after_its_grace(lab: Any, now: float, events: tuple[Any, ...], broken: bool) -> None:
    found = evicted(lab, SILENT, now, renewed_at=120, events=events)
    assert bool(found) is broken
    if found:
        assert "for 59 s at most, and it tolerates that for 60 s" in found[0].message


@pytest.mark.parametrize(("now", "there", "broken"), [(139, True, True), (140, True, False), (139, False, False)])
def test_a_lost_node_is_waited_for(lab: Any, now: float, there: bool, broken: bool) -> None:
    start = lab.cluster(*([lab.node("n9")] if there else []), now=100)
    pod = lab.pod("web-a", "n9")
    step = lab.step(lab.situation(lab.node(), pod, now=now, start=start), "pod-gc", DeletePod(pod.key, pod.uid, 0))
    assert bool(lab.broken(KEY, step)) is broken
