"""Which node a pod gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.model.scheduler.conftest import Build


def test_a_pod_of_5_cpu_goes_to_the_largest_of_three_nodes(build: type[Build]) -> None:
    nodes = [build.node("n1", 4000), build.node("n2", 10000), build.node("n3", 15000)]
    assert build.choices(build.pod("one", 5000), nodes) == ["n3"]


def test_six_pods_of_5_cpu_follow_the_recorded_order_and_the_last_stays_pending(build: type[Build]) -> None:
    cluster = build.settled(build.node("n1", 4000), build.node("n2", 10000), build.node("n3", 15000))
    recorded = {"one": "n3", "two": "n2", "three": "n3", "four": "n3", "five": "n2"}
    could: dict[str, list[str]] = {}
    for name, node in recorded.items():
        cluster = build.told(cluster, build.pod(name, 5000))
        plans = {plan.choice: plan for plan in build.plans(cluster, name)}
        could[name] = list(plans)
        cluster = build.rest(build.plane.begin(cluster, build.read(name), plans[node]))
    assert could == {"one": ["n3"], "two": ["n2"], "three": ["n3"], "four": ["n2", "n3"], "five": ["n2"]}
    cluster = build.rest(build.told(cluster, build.pod("six", 5000)))
    assert build.message(cluster, "six") == (
        "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: "
        "0/3 nodes are available: 1 Preemption is not helpful for scheduling, "
        "2 No preemption victims found for incoming pod."
    )


def test_equal_nodes_are_alternatives_ordered_by_what_they_are(build: type[Build]) -> None:
    assert build.choices(build.pod("one"), build.nodes(3)) == ["n1", "n2", "n3"]
    named_otherwise = [build.node("x", zone="b"), build.node("y", zone="a"), build.node("z", zone="c")]
    assert build.choices(build.pod("one"), named_otherwise) == ["y", "x", "z"]


def test_only_nodes_with_the_best_score_are_alternatives(build: type[Build]) -> None:
    assert build.choices(build.pod("one"), build.nodes(3), build.pod("there", 2000, "n2")) == ["n1", "n3"]
