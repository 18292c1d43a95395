"""What an autoscaler may set at one moment, by what it recommends and remembers; put together by hand."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.events import Scale
from reconverge.model.loop import LoopState
from reconverge.model.loops.horizontal_autoscaler import Rescale
from reconverge.model.loops.horizontal_autoscaler.memory import History, Recommendation, ScaleEvent
from reconverge.model.objects import HorizontalPodAutoscaler
from reconverge.model.objects.autoscaling import Metric, ScalingBehavior, ScalingPolicy, ScalingRules
from reconverge.model.persistent import Map

LOOP, NOW = "horizontal-autoscaler", 1000
CPU = Metric("Resource", "cpu", "Utilization", 50)
SLOW = ScalingBehavior(up=ScalingRules(0, "Max", (ScalingPolicy("Pods", 1, 60),)))
TENTH = ScalingPolicy("Percent", 10, 60)


def judged(
    lab: Any,
    before: int,
    after: int,
    proposed: int | None,
    recommended: dict[int, float] | None = None,
    ups: dict[int, float] | None = None,
    pods: int = 0,
    load: int = 0,
    **fields: Any,
) -> list[str]:
    """What is said of a change by an autoscaler of 2..20 that remembers recommendations and changes by their age."""
    given: dict[str, Any] = {"name": "web", "uid": lab.fresh(), "target_name": "web", "metrics": (CPU,)}
    autoscaler = HorizontalPodAutoscaler(**{**given, "minimum": 2, "maximum": 20, **fields})
    recent = tuple(Recommendation(count, NOW - age) for count, age in (recommended or {}).items())
    made = tuple(ScaleEvent(change, NOW - age) for change, age in (ups or {}).items())
    history = History(NOW, recent, proposed, ups=made)
    web = lab.deployment(before)
    running = lab.pods_of(lab.set_of(web), *["n1"] * pods, started_at=0) if pods else []
    rs = [lab.set_of(web)] if not pods else []
    owned = [lab.set_of(web).with_(uid=running[0].owner.uid)] if pods else rs
    loops = {LOOP: LoopState(Map({"default/web": history}))}
    now = lab.situation(lab.node(), web, *owned, *running, autoscaler, loops=loops, now=NOW)
    machines = now.cluster.machines.with_(load=Map({"deployment/web": load}))
    now = now.__class__(now.cluster.with_(machines=machines))
    write = Rescale(now.store.deployment("default/web"), web.with_(replicas=after), autoscaler="default/web")
    found = lab.broken("scaling-within-policy", lab.step(now, LOOP, write))
    return [each.message.partition(", ")[2] for each in found]


@pytest.mark.parametrize(
    ("before", "after", "proposed", "recommended", "broken"),
    [
        (4, 6, 6, {}, False),
        (4, 7, 6, {}, True),
        (4, 5, 6, {}, True),
        (4, 8, 12, {}, False),  # at most doubled
        (4, 9, 12, {}, True),
        (6, 3, 3, {}, False),
        (6, 3, 3, {6: 200}, True),  # five minutes of higher recommendations
        (6, 5, 3, {5: 300}, False),
        (6, 3, 3, {6: 301}, False),
        (12, 20, 30, {}, False),  # the maximum
        (25, 20, None, {}, False),
        (25, 19, None, {}, True),
        (4, 5, None, {}, True),  # no metric
    ],
)
def test_without_behavior(
    lab: Any, before: int, after: int, proposed: int, recommended: dict[int, float], broken: bool
) -> None:
    assert bool(judged(lab, before, after, proposed, recommended)) == broken


@pytest.mark.parametrize(
    ("before", "after", "given", "broken"),
    [
        (4, 5, {"behavior": SLOW}, False),
        (4, 6, {"behavior": SLOW}, True),
        (4, 5, {"behavior": SLOW, "ups": {1: 59}}, True),  # one has been added in this period
        (4, 5, {"behavior": SLOW, "ups": {1: 60}}, False),
        (4, 8, {"behavior": ScalingBehavior()}, False),
        (4, 9, {"behavior": ScalingBehavior()}, True),
        (4, 6, {"behavior": ScalingBehavior(up=ScalingRules(60)), "recommended": {6: 30}}, False),
        (4, 8, {"behavior": ScalingBehavior(up=ScalingRules(60)), "recommended": {6: 30}}, True),
        (4, 8, {"behavior": ScalingBehavior(up=ScalingRules(60)), "recommended": {6: 60}}, False),
        (10, 11, {"behavior": ScalingBehavior(up=ScalingRules(0, "Max", (TENTH,)))}, False),
        (10, 12, {"behavior": ScalingBehavior(up=ScalingRules(0, "Max", (TENTH,)))}, True),
        (4, 5, {"behavior": ScalingBehavior(up=ScalingRules(0, "Disabled"))}, True),
        (4, 5, {"behavior": ScalingBehavior(up=ScalingRules(0, "Min", (TENTH, ScalingPolicy("Pods", 9, 9))))}, False),
        (4, 9, {"behavior": ScalingBehavior(up=ScalingRules(0, "Min", (TENTH, ScalingPolicy("Pods", 9, 9))))}, True),
    ],
)
def test_with_behavior_on_the_way_up(lab: Any, before: int, after: int, given: dict[str, Any], broken: bool) -> None:
    assert bool(judged(lab, before, after, 15, **given)) == broken


@pytest.mark.parametrize(
    ("after", "given", "broken"),
    [
        (3, {"behavior": ScalingBehavior()}, False),
        (3, {"behavior": ScalingBehavior(), "recommended": {6: 299}}, True),
        (6, {"behavior": ScalingBehavior(), "recommended": {6: 299}}, False),
        (3, {"behavior": ScalingBehavior(), "recommended": {6: 300}}, False),
        (9, {"behavior": ScalingBehavior(down=ScalingRules(0, "Max", (TENTH,)))}, False),
        (8, {"behavior": ScalingBehavior(down=ScalingRules(0, "Max", (TENTH,)))}, True),
        (9, {"behavior": ScalingBehavior(down=ScalingRules(0, "Disabled"))}, True),
    ],
)
def test_with_behavior_on_the_way_down(lab: Any, after: int, given: dict[str, Any], broken: bool) -> None:
    assert bool(judged(lab, 10, after, 3, **given)) == broken


@pytest.mark.parametrize(("load", "broken"), [(1050, True), (950, True), (1150, False), (850, False)])
def test_within_the_tolerance_nothing_is_recommended(lab: Any, load: int, broken: bool) -> None:
    """Four pods of 500m whose target is half of that."""
    said = judged(lab, 4, 5, 5, pods=4, load=load)
    assert said == (["though the usage of its pods is within the tolerance"] if broken else [])


def test_what_others_set_is_not_judged(lab: Any) -> None:
    autoscaler = HorizontalPodAutoscaler(name="web", uid=lab.fresh(), target_name="web", minimum=2, maximum=20)
    now = lab.situation(lab.deployment(3), autoscaler)
    assert not lab.broken("scaling-within-policy", lab.event(now, Scale("deployment/web", 9)))
