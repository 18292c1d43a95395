"""How many replicas a metric asks for (pkg/controller/podautoscaler/replica_calculator.go)."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.objects.autoscaling import Metric, ScalingBehavior, ScalingRules
from reconverge.model.rules import Rules


@pytest.mark.parametrize(
    ("each", "replicas"),
    [
        pytest.param(80, 7, id="H1"),
        pytest.param(55, 4, id="H2"),
        pytest.param(56, 5, id="H3"),
        (50, 4),
        (45, 4),
        (46, 4),
    ],
)
def test_utilisation_times_ready_pods_beyond_the_tolerance(lab: Any, each: int, replicas: int) -> None:
    """Four pods that request 100m, target 50 %."""
    lab.web()
    lab.pods(4)
    lab.autoscaler()
    lab.run(web=4 * each)
    assert lab.scalings(until=4000) == ([] if replicas == 4 else [(0, replicas)])


def test_a_ratio_of_exactly_the_tolerance_moved_replicas_up_to_1_32(make: Any) -> None:
    lab = make(Rules.for_version("1.32"))
    lab.web()
    lab.pods(4)
    lab.autoscaler()
    lab.run(web=4 * 55)
    assert lab.scalings(until=4000) == [(0, 5)]


def test_h4_a_missing_pod_counts_as_idle_on_the_way_up(lab: Any) -> None:
    """Three pods at 80 %, one without a sample: 60 % of all four are asked for."""
    lab.web()
    lab.pods(4)
    lab.autoscaler()
    lab.run(without=("web-3",), web=3 * 80)
    assert lab.scalings(until=4000) == [(0, 5)]


def test_a_missing_pod_counts_as_fully_used_on_the_way_down(lab: Any) -> None:
    """Three pods at 10 %, one taken for 100 %: (30 + 100) / 4 is 32 % of 50 %, so 3 of 4 at the end of the window."""
    lab.web()
    lab.pods(4)
    lab.autoscaler()
    lab.run(without=("web-3",), web=30)
    assert lab.scalings() == [(315, 3)]


def test_the_ready_pods_are_multiplied_not_the_present_replicas(lab: Any) -> None:
    """Ten wanted, two there: they are at 100 % of 50 %, which makes four, and that is never fewer than ten."""
    lab.web(10)
    lab.pods(2)
    lab.autoscaler()
    lab.run(web=200)
    assert lab.scalings() == [(315, 4)]


def test_pods_that_cannot_start_do_not_pull_the_count_further_up(lab: Any) -> None:
    """The four that run are at 160 % of the target; with two idle ones it is 106 %, or 126 % at a higher load."""
    lab.web(6)
    lab.pods(4)
    lab.pods(2, node=None, phase="Pending", ready=False, started_at=None)
    lab.autoscaler()
    lab.run(web=4 * 80)
    assert lab.scalings() == []
    lab.set_load(4 * 95)
    assert [replicas for _, replicas in lab.scalings(until=lab.cluster.now + 15)] == [8]


def test_a_pod_that_has_just_become_ready_counts_when_a_whole_sample_is_there(lab: Any) -> None:
    lab.web(4)
    lab.pods(3)
    lab.pods(1, ready_since=3990, started_at=3985)
    lab.autoscaler()
    lab.run(web=4 * 80)
    assert lab.scalings(until=4000) == [(0, 5)]


def test_a_pod_that_has_never_been_ready_does_not_count_even_later(lab: Any) -> None:
    lab.web(4)
    lab.pods(3)
    lab.pods(1, ready=False, ready_since=401, started_at=400)
    lab.autoscaler()
    lab.run(web=3 * 80)
    assert lab.scalings(until=4000) == [(0, 5)]


def test_a_pod_that_was_ready_once_counts_as_it_is(lab: Any) -> None:
    """Idle because it serves nobody: (3 · 80) // 4 is 60 %, the ratio 1.2 times four ready."""
    lab.web(4)
    lab.pods(3)
    lab.pods(1, ready=False, ready_since=3000, started_at=400)
    lab.autoscaler()
    lab.run(web=3 * 80)
    assert lab.scalings(until=4000) == [(0, 5)]


def test_terminating_and_failed_pods_are_ignored(lab: Any) -> None:
    lab.web(4)
    lab.pods(4)
    lab.pods(1, deletion_at=4030)
    lab.pods(1, phase="Failed", ready=False)
    lab.autoscaler()
    lab.run(web=4 * 50)
    assert lab.scalings() == []


def test_usage_is_capped_by_the_limit(lab: Any) -> None:
    lab.web(4, limit=54)
    lab.pods(4)
    lab.autoscaler()
    lab.run(web=4 * 90)
    assert lab.scalings() == []


def test_a_container_without_a_request_makes_the_metric_fail(lab: Any) -> None:
    lab.web(4, request=0)
    lab.pods(4)
    lab.autoscaler()
    lab.run(web=4 * 90)
    assert lab.scalings() == []
    assert lab.cluster.store.all("HorizontalPodAutoscaler")[0].status.condition("ScalingActive").status == "False"


def test_an_average_value_is_divided_before_it_is_compared(lab: Any) -> None:
    """Pods at 80m each are within the tolerance of 73m, at 81m they are not."""
    lab.web(3)
    lab.pods(3)
    lab.autoscaler(metrics=(Metric("Resource", "cpu", "AverageValue", 73),))
    lab.run(web=240)
    assert lab.scalings() == []
    lab.set_load(3 * 81)
    assert [replicas for _, replicas in lab.scalings(until=lab.cluster.now + 15)] == [4]


def test_the_largest_proposal_wins(lab: Any) -> None:
    lab.web(4)
    lab.pods(4)
    lab.autoscaler(metrics=(Metric("Resource", "cpu", "Utilization", 80), Metric("Resource", "cpu", "Utilization", 40)))
    lab.run(web=4 * 60)
    assert lab.scalings(until=4000) == [(0, 6)]


def test_a_failing_metric_lets_the_others_scale_up_but_not_down(lab: Any) -> None:
    custom = Metric("Pods", "requests", "AverageValue", 1000)
    lab.web(4)
    lab.pods(4)
    lab.autoscaler(metrics=(Metric("Resource", "cpu", "Utilization", 50), custom))
    lab.run(web=4 * 10)
    assert lab.scalings() == []
    lab.set_load(4 * 80)
    assert [replicas for _, replicas in lab.scalings(until=lab.cluster.now + 15)] == [7]


def test_memory_neither_asks_for_pods_nor_holds_them(lab: Any) -> None:
    memory = Metric("Resource", "memory", "AverageValue", 2**20)
    lab.web(4)
    lab.pods(4)
    lab.autoscaler(metrics=(Metric("Resource", "cpu", "Utilization", 50), memory))
    lab.run(web=4 * 50)
    assert lab.scalings() == []
    lab.set_load(4)
    assert [replicas for _, replicas in lab.scalings()] == [2]


def test_pods_are_measured_by_the_selector_whoever_owns_them(lab: Any) -> None:
    """The pods of another Deployment with the same labels are in the average."""
    lab.web(2)
    lab.pods(2)
    lab.web(2, name="back", request=100)
    lab.pods(2, of="back")
    lab.autoscaler(2, 10)
    lab.run(web=0, back=2 * 200)
    assert lab.scalings(until=4000) == [(0, 4)]


def test_two_autoscalers_of_the_same_pods_stand_still(lab: Any) -> None:
    lab.web(4)
    lab.pods(4)
    lab.autoscaler()
    lab.autoscaler(name="other")
    lab.run(web=4 * 90)
    assert lab.scalings() == []


@pytest.mark.parametrize(("version", "replicas"), [("1.34", []), ("1.35", [(0, 5)])])
def test_an_autoscaler_may_have_its_own_tolerance_from_1_35_on(make: Any, version: str, replicas: list[Any]) -> None:
    lab = make(Rules.for_version(version))
    lab.web()
    lab.pods(4)
    lab.autoscaler(behavior=ScalingBehavior(up=ScalingRules(0, tolerance=0.05)))
    lab.run(web=4 * 54)
    assert lab.scalings(until=4000) == replicas
