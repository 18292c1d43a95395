"""What is promised of autoscalers, on situations put together by hand."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.action import Update
from reconverge.model.events import LoadChanges, RollOut, Scale
from reconverge.model.loop import LoopState
from reconverge.model.loops.horizontal_autoscaler import Rescale
from reconverge.model.objects import Container, HorizontalPodAutoscaler
from reconverge.model.objects.autoscaling import Metric, ScalingBehavior, ScalingRules
from reconverge.model.persistent import EMPTY, Map
from reconverge.model.resources import Resources

LOOP = "horizontal-autoscaler"
CPU = Metric("Resource", "cpu", "Utilization", 50)


def autoscaler(lab: Any, minimum: int = 2, maximum: int = 6, **fields: Any) -> HorizontalPodAutoscaler:
    given: dict[str, Any] = {"name": "web", "uid": lab.fresh(), "target_name": "web", "metrics": (CPU,)}
    return HorizontalPodAutoscaler(**{**given, "minimum": minimum, "maximum": maximum, **fields})


def scaled(situation: Any, replicas: int, by: str = LOOP) -> Update:
    before = situation.store.deployment("default/web")
    return (Rescale if by == LOOP else Update)(before, before.with_(replicas=replicas))


@pytest.mark.parametrize(
    ("before", "after", "broken"),
    [
        (3, 6, False),
        (3, 7, True),
        (3, 1, True),
        (1, 2, False),
        (1, 0, True),
        (9, 8, False),
        (9, 10, True),
        (9, 1, False),
    ],
)
def test_replicas_stay_within_the_bounds_or_come_nearer(lab: Any, before: int, after: int, broken: bool) -> None:
    now = lab.situation(lab.deployment(before), autoscaler(lab))
    found = lab.broken("autoscaler-bounds", lab.step(now, "gitops", scaled(now, after, "gitops")))
    assert bool(found) == broken
    assert bool(lab.broken("autoscaler-bounds", lab.event(now, Scale("deployment/web", after)))) == broken


def test_a_change_of_anything_else_is_no_move(lab: Any) -> None:
    now = lab.situation(lab.deployment(1), autoscaler(lab))
    assert not lab.broken("autoscaler-bounds", lab.event(now, RollOut("deployment/web")))


# Causes ------------------------------------------------------------------------------------------------------


def rested(lab: Any, *events: Any, busy: bool = False) -> Any:
    """deployment/web with three replicas, after some events, from a start at which its autoscaler rested."""
    loops = {LOOP: LoopState(EMPTY, {"default/web": None} if busy else {})}
    start = lab.situation(lab.deployment(3), autoscaler(lab), loops=loops)
    cluster = start.cluster.with_(machines=start.cluster.machines.with_(load=Map({"deployment/web": 750})))
    now = cluster
    for event in events:
        now, _ = event.apply(now)
    return start.__class__(now, events, cluster)


def test_a_rollout_is_no_cause(lab: Any) -> None:
    now = rested(lab, RollOut("deployment/web"))
    (found,) = lab.broken("scaling-has-cause", lab.step(now, LOOP, scaled(now, 4)))
    assert "from 3 to 4 though neither load, bounds, spec nor template changed" in found.message


@pytest.mark.parametrize("event", [LoadChanges("deployment/web", 900), Scale("deployment/web", 5)], ids=str)
def test_load_and_scale_are_causes(lab: Any, event: Any) -> None:
    now = rested(lab, event)
    assert not lab.broken("scaling-has-cause", lab.step(now, LOOP, scaled(now, 4)))


def test_an_autoscaler_that_has_not_rested_may_move(lab: Any) -> None:
    now = rested(lab, RollOut("deployment/web"), busy=True)
    assert not lab.broken("scaling-has-cause", lab.step(now, LOOP, scaled(now, 4)))


def test_others_may_move_the_count(lab: Any) -> None:
    now = rested(lab, RollOut("deployment/web"))
    assert not lab.broken("scaling-has-cause", lab.step(now, "gitops", scaled(now, 4, "gitops")))


# Rest --------------------------------------------------------------------------------------------------------


def at(lab: Any, replicas: int, load: int, outcome: str = "rest", repeating: Any = (), **fields: Any) -> list[Any]:
    """What is broken when deployment/web of 500m each rests at some replicas under a load."""
    deployment = lab.deployment(replicas, spec=fields.pop("spec", lab.spec()))
    rs = lab.set_of(deployment)
    end = lab.situation(lab.node(), deployment, rs, *lab.pods_of(rs, "n1"), autoscaler(lab, **fields))
    machines = end.cluster.machines.with_(load=Map({"deployment/web": load}))
    end = end.__class__(end.cluster.with_(machines=machines))
    found: list[Any] = lab.broken("autoscaler-settles", lab.quiet(end, outcome, repeating))
    return found


@pytest.mark.parametrize(
    ("replicas", "load", "broken"),
    [
        (4, 1000, False),  # on target
        (4, 1100, False),  # within the tolerance
        (4, 1150, True),
        (5, 1150, False),
        (4, 800, False),  # the formula rounds up
        (4, 740, True),
        (2, 0, False),  # the minimum
        (3, 0, True),
        (6, 9000, False),  # the maximum
        (5, 9000, True),
    ],
)
def test_it_rests_where_the_formula_leaves_it(lab: Any, replicas: int, load: int, broken: bool) -> None:
    assert bool(at(lab, replicas, load)) == broken


def test_a_direction_that_is_disabled_is_not_missed(lab: Any) -> None:
    assert not at(lab, 4, 0, behavior=ScalingBehavior(down=ScalingRules(None, "Disabled")))
    assert at(lab, 4, 9000, behavior=ScalingBehavior(down=ScalingRules(None, "Disabled")))


def test_custom_metrics_are_not_judged(lab: Any) -> None:
    assert not at(lab, 4, 0, metrics=(CPU, Metric("Pods", "rps", "Value", 1000)))


def test_a_loop_in_which_it_scales_is_no_rest(lab: Any) -> None:
    web = lab.deployment(3)
    write = Rescale(web, web.with_(replicas=4), autoscaler="default/web")
    assert "again and again" in at(lab, 3, 750, "loop", ((LOOP, write),))[0].message
    assert not at(lab, 3, 0, "loop", (("gitops", write.__class__(web, web)),))


@pytest.mark.parametrize(("replicas", "broken"), [(3, False), (6, True)])
def test_the_requests_of_sidecars_count_and_those_of_init_containers_do_not(
    lab: Any, replicas: int, broken: bool
) -> None:
    sidecar = Container("proxy", Resources(cpu=500), restart_policy="Always")
    spec = lab.spec(cpu=500, init_containers=(Container("migrate", Resources(cpu=4000)), sidecar))
    assert bool(at(lab, replicas, 1500, spec=spec)) is broken
