"""Whether Services keep an endpoint that serves."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.invariants import Situation
from reconverge.model.events import ContainerCrashes, Drain, NodeCrashes, Scale
from reconverge.model.loop import MACHINES
from reconverge.model.store import Change

CRASH = NodeCrashes("n1")


def at(lab: Any, *nodes: str, **options: Any) -> Situation:
    """deployment/web behind service/web with ready pods on the nodes, after a start where there were such."""
    spec = lab.spec(serves_after=options.pop("serves_after", 0))
    ready_since = options.pop("ready_since", 0)
    deployment = lab.deployment(options.pop("replicas", 2))
    rs = lab.set_of(deployment)
    pods = lab.pods_of(rs, *nodes, spec=spec, ready_since=ready_since)
    before = lab.pods_of(rs, *options.pop("started", ("n1", "n2")))
    both = [lab.node("n1"), lab.node("n2")]
    start = lab.cluster(*both, deployment, rs, *before, *lab.service(*before))
    after = lab.cluster(*both, deployment, rs, *pods, *lab.service(*pods), down=options.get("down", ()))
    return Situation(after, options.get("events", ()), start)


def test_one_endpoint_that_serves_is_enough(lab: Any) -> None:
    assert lab.broken("service-available", at(lab, "n1", "n2", down=["n1"], events=(CRASH,))) == []


def test_none_is_a_violation_and_says_why(lab: Any) -> None:
    situation = at(lab, "n1", "n1", down=["n1"], events=(CRASH,), started=("n1", "n1"))
    (violation,) = lab.broken("service-available", situation)
    assert violation.object == "service/web"
    assert "pod/web-new-a was on n1, which is down" in violation.message
    assert violation.message.endswith("(all 2 were on n1 at the start)")


def test_an_empty_slice_is_a_violation_of_voluntary_disruption_too(lab: Any) -> None:
    (violation,) = lab.broken("service-available", at(lab, events=(Drain("n1"), Drain("n2"))))
    assert "it has none at all" in violation.message


@pytest.mark.parametrize(("failures", "broken"), [(1, True), (2, False)])
def test_more_than_one_failure_is_more_than_was_promised(lab: Any, failures: int, broken: bool) -> None:
    events = (CRASH, ContainerCrashes("deployment/web#0"))[:failures]
    assert bool(lab.broken("service-available", at(lab, events=events))) is broken


def test_ready_is_not_yet_serving(lab: Any) -> None:
    for ready_since, broken in ((980, True), (960, False)):
        situation = at(lab, "n1", serves_after=30, ready_since=ready_since)
        assert bool(lab.broken("service-available", situation)) is broken


def test_a_service_that_never_had_an_endpoint_loses_none(lab: Any) -> None:
    assert lab.broken("service-available", at(lab, started=())) == []
    situation = at(lab)
    assert lab.broken("service-available", Situation(situation.cluster, situation.events)) == []


def test_a_workload_scaled_to_nothing_wants_no_endpoint(lab: Any) -> None:
    assert lab.broken("service-available", at(lab, replicas=0, events=(Scale("deployment/web", 0),))) == []


def test_a_machine_that_dies_touches_the_services_of_its_pods(lab: Any) -> None:
    situation = at(lab, "n1")
    step = lab.event(situation, CRASH)
    assert lab.broken("service-available", step.after) != []
    touched_by = lab.registry["service-available"].touched_by
    keys = [key for change in step.changes for key in touched_by(step.after, change)]
    assert keys == ["default/web"]


def test_a_pod_that_starts_touches_no_service(lab: Any) -> None:
    before, after = at(lab), at(lab, "n1")
    machines = before.cluster.machines.get("n1"), after.cluster.machines.get("n1")
    change = Change(MACHINES, "n1", *machines)
    assert lab.registry["service-available"].touched_by(after, change) == ()


@pytest.mark.parametrize(
    ("events", "broken"),
    [
        ((Scale("deployment/web", 1), CRASH), False),
        ((CRASH, Scale("deployment/web", 1)), False),
        ((Scale("deployment/web", 1), Drain("n1")), False),
        ((Scale("deployment/web", 1),), True),
        ((Scale("deployment/other", 1), CRASH), True),
        ((CRASH,), True),
    ],
)
def test_who_scales_to_one_pod_knows_that_it_can_go(lab: Any, events: Any, broken: bool) -> None:
    assert bool(lab.broken("service-available", at(lab, replicas=1, events=events))) is broken


def test_a_workload_of_one_pod_from_the_start_is_judged(lab: Any) -> None:
    events = (Scale("deployment/web", 2), Scale("deployment/web", 1), CRASH)
    assert lab.broken("service-available", at(lab, replicas=1, events=events, started=("n1",))) != []
