"""What is written of what the metrics ask for (pkg/controller/podautoscaler/horizontal.go)."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.loops.horizontal_autoscaler import History, Normaliser, Recommendation, ScaleEvent
from reconverge.model.loops.horizontal_autoscaler.stabilisation import Normalised, Proposed
from reconverge.model.objects import HorizontalPodAutoscaler
from reconverge.model.objects.autoscaling import ScalingBehavior, ScalingPolicy, ScalingRules
from reconverge.model.rules import Rules


def normalised(
    current: int,
    replicas: int,
    *recommended: tuple[int, float],
    ups: tuple[tuple[int, float], ...] = (),
    downs: tuple[tuple[int, float], ...] = (),
    minimum: int = 1,
    maximum: int = 100,
    behavior: ScalingBehavior | None = None,
) -> Normalised:
    """What becomes of a proposal; recommendations and changes are (number, seconds ago)."""
    autoscaler = HorizontalPodAutoscaler(name="web", minimum=minimum, maximum=maximum, behavior=behavior)
    history = History(
        1000,
        tuple(Recommendation(number, 1000 - ago) for number, ago in recommended),
        None,
        tuple(ScaleEvent(number, 1000 - ago) for number, ago in ups),
        tuple(ScaleEvent(number, 1000 - ago) for number, ago in downs),
    )
    return Normaliser().normalised(Proposed(autoscaler, current, replicas, history, 1000, Rules()))


# Without behavior --------------------------------------------------------------------------------------------


def test_h6_the_largest_recommendation_of_five_minutes_counts() -> None:
    assert normalised(10, 4, (9, 200), (10, 301)).replicas == 9
    assert normalised(10, 4, (9, 200)).until == 1100
    assert normalised(10, 4, (9, 300)).replicas == 9
    assert normalised(10, 4, (9, 301)).replicas == 4


@pytest.mark.parametrize(("current", "limit"), [pytest.param(1, 4, id="H5"), (2, 4), (3, 6), (6, 12)])
def test_one_sync_doubles_at_most_but_may_reach_four(current: int, limit: int) -> None:
    assert normalised(current, 50) == Normalised(limit, "ScaleUpLimit", None, True)


def test_the_bounds_count_after_the_window() -> None:
    assert normalised(8, 50, maximum=10).replicas == 10
    assert normalised(8, 1, minimum=3).replicas == 3


# With behavior -----------------------------------------------------------------------------------------------

PLAIN = ScalingBehavior()


def test_by_default_four_pods_or_as_many_as_there_are_may_come_in_fifteen_seconds() -> None:
    assert normalised(2, 50, behavior=PLAIN).replicas == 6
    assert normalised(10, 50, behavior=PLAIN).replicas == 20
    assert normalised(20, 50, ups=((10, 14),), behavior=PLAIN).replicas == 20
    assert normalised(20, 50, ups=((10, 14),), behavior=PLAIN).until == 1001
    assert normalised(20, 50, ups=((10, 15),), behavior=PLAIN).replicas == 40


def test_by_default_all_may_go_after_five_minutes() -> None:
    assert normalised(10, 1, (10, 299), behavior=PLAIN).replicas == 10
    assert normalised(10, 1, (10, 299), behavior=PLAIN).until == 1001
    assert normalised(10, 1, (10, 300), behavior=PLAIN).replicas == 1


def test_the_window_upwards_takes_the_least_recommendation() -> None:
    slow = ScalingBehavior(up=ScalingRules(60, "Max", (ScalingPolicy("Percent", 900, 15),)))
    assert normalised(4, 9, (5, 30), (4, 61), behavior=slow).replicas == 5
    assert normalised(4, 9, (3, 30), behavior=slow).replicas == 4
    assert normalised(4, 9, (5, 60), behavior=slow).replicas == 9


def test_policies_count_from_the_replicas_at_the_start_of_the_period() -> None:
    rules = ScalingRules(0, "Max", (ScalingPolicy("Pods", 2, 60),))
    slow = ScalingBehavior(up=rules, down=rules)
    assert normalised(5, 50, ups=((1, 30),), behavior=slow).replicas == 6
    assert normalised(5, 1, downs=((1, 30),), behavior=slow).replicas == 4
    assert normalised(5, 1, downs=((2, 30),), behavior=slow) == Normalised(5, "ScaleDownLimit", 1030)


@pytest.mark.parametrize(("select", "up", "down"), [("Max", 15, 5), ("Min", 12, 8), ("Disabled", 10, 10)])
def test_of_several_policies_the_most_or_the_least_change_is_chosen(select: str, up: int, down: int) -> None:
    policies = (ScalingPolicy("Pods", 2, 60), ScalingPolicy("Percent", 50, 60))
    rules = ScalingRules(0, select, policies)
    both = ScalingBehavior(up=rules, down=rules)
    assert normalised(10, 50, behavior=both).replicas == up
    assert normalised(10, 1, behavior=both).replicas == down


def test_percentages_round_up_on_the_way_up_and_are_cut_on_the_way_down() -> None:
    rules = ScalingRules(0, "Max", (ScalingPolicy("Percent", 10, 60),))
    both = ScalingBehavior(up=rules, down=rules)
    assert normalised(7, 50, behavior=both).replicas == 8
    assert normalised(7, 1, behavior=both).replicas == 6


# In time -----------------------------------------------------------------------------------------------------


def test_scaling_up_goes_on_every_fifteen_seconds(lab: Any) -> None:
    lab.web(1)
    lab.pods(1)
    lab.autoscaler(1, 20)
    lab.run(web=2000)
    assert lab.scalings(until=4030) == [(0, 4), (15, 8), (30, 16)]


def test_h7_beyond_the_maximum_goes_to_the_maximum_at_once(lab: Any) -> None:
    lab.web(12)
    lab.pods(12)
    lab.autoscaler(1, 10)
    lab.run(web=12 * 50)
    assert lab.scalings(until=4000) == [(0, 10)]


def test_below_the_minimum_goes_to_the_minimum_at_once(lab: Any) -> None:
    lab.web(1)
    lab.pods(1)
    lab.autoscaler(5, 10)
    lab.run(web=0)
    assert lab.scalings(until=4000) == [(0, 5)]


def test_scaled_to_zero_it_is_off(lab: Any) -> None:
    lab.web(0)
    lab.autoscaler(5, 10)
    lab.run(web=1000)
    assert lab.scalings() == []


def test_the_first_sync_remembers_what_was_there(lab: Any) -> None:
    """After a restart nothing is known but the present count, and that is kept for the window."""
    lab.web(8)
    lab.pods(8)
    lab.autoscaler()
    lab.run(web=96)
    assert lab.scalings() == [(315, 2)]


def test_a_long_rest_stands_for_recommendations_all_along(lab: Any) -> None:
    """Hours after its last sync the count is still held for the window when the load falls."""
    lab.web(8)
    lab.pods(8)
    lab.autoscaler()
    lab.run(web=8 * 50)
    assert lab.scalings() == []
    lab.cluster = lab.plane.wait(lab.cluster, 10_000)
    lab.set_load(96)
    (change,) = lab.scalings()
    assert change == (10_000 - 15 + 315 - 4000, 2)


def test_a_peak_inside_the_window_is_kept(lab: Any) -> None:
    lab.web(4)
    lab.pods(4)
    lab.autoscaler()
    lab.run(web=4 * 50)
    lab.settle()
    lab.cluster = lab.plane.wait(lab.cluster, 10_000)
    lab.set_load(4 * 80)
    assert lab.scalings(until=10_030) == [(6000, 7)]
    lab.set_load(4 * 50)
    assert [replicas for _, replicas in lab.scalings(until=10_300)] == []


def test_it_rests_when_nothing_will_change_with_time(lab: Any) -> None:
    lab.web(4)
    lab.pods(4)
    lab.autoscaler()
    lab.run(web=4 * 50)
    lab.settle()
    assert lab.plane.next(lab.cluster) is None
    assert lab.cluster.now == 4000


def test_a_refused_write_is_no_change_and_is_tried_again(lab: Any) -> None:
    lab.web(2)
    lab.pods(2)
    lab.autoscaler(behavior=ScalingBehavior())
    lab.run(web=2 * 100)
    move = lab.plane.next(lab.cluster)
    lab.cluster = lab.plane.begin(lab.cluster, move, lab.plane.plans(lab.cluster, move)[0])
    lab.put(lab.cluster.store.deployment("default/web").with_(paused=True))
    assert lab.scalings(until=4015) == [(0, 4), (15, 4)]
    memory = lab.cluster.loops["horizontal-autoscaler"].memory
    assert [each.change for each in memory["default/web"].ups] == [2]


def test_the_old_base_counts_the_surplus_pods_of_a_rollout(make: Any) -> None:
    """On target with four of five pods in the status: five is what is remembered, and then asked for."""
    for base, scalings in (("spec", []), ("status", [(15, 5)])):
        lab = make(Rules(autoscaler_base=base))
        web = lab.web(4)
        web = lab.put(web.with_(status=web.status.__class__(replicas=5)))
        lab.pods(4)
        lab.autoscaler()
        lab.run(web=4 * 50)
        lab.settle()
        web = lab.cluster.store.deployment("default/web")
        lab.put(web.with_(status=web.status.__class__(replicas=4)))
        assert lab.scalings(until=4015) == scalings, base
