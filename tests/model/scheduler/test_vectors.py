"""The worked examples of resources, scores and spread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconverge.model.loops.scheduler.plugins.node_resources import balanced, least_allocated
from reconverge.model.objects import Container
from reconverge.model.resources import Resources

if TYPE_CHECKING:
    from tests.model.scheduler.conftest import Build

GI = 2**30


def test_s1_least_allocated_and_balanced_of_the_worked_example() -> None:
    assert least_allocated(1500, 4000, 3 * GI, 8 * GI) == 62
    assert balanced(1500, 4000, 3 * GI, 8 * GI) == 100


def test_s2_balanced_is_a_hundred_less_half_the_difference() -> None:
    assert balanced(50, 100, 90, 100) == 80


def test_s3_a_full_node_has_too_many_pods_even_for_a_best_effort_pod(build: type[Build]) -> None:
    pods = [build.pod(f"p{i}", 0, "n1") for i in range(110)]
    assert build.choices(build.pod("one", 0), build.node("n1"), pods[:109]) == ["n1"]
    cluster = build.settled(build.node("n1"), pods, build.pod("one", 0))
    assert build.message(cluster, "one").startswith("0/1 nodes are available: 1 Too many pods. ")


def test_s4_a_large_init_container_decides_the_request(build: type[Build]) -> None:
    containers = (Container("a", Resources(300)), Container("b", Resources(400)))
    spec = build.spec(
        containers=containers, init_containers=(Container("i", Resources(1000)),), overhead=Resources(100)
    )
    assert spec.requests.cpu == 1100


def test_s5_a_sidecar_counts_beside_a_later_init_container(build: type[Build]) -> None:
    init = (Container("side", Resources(200), restart_policy="Always"), Container("i", Resources(500)))
    assert build.spec(containers=(Container("a", Resources(400)),), init_containers=init).requests.cpu == 700


def test_s6_only_the_emptiest_zone_keeps_the_skew(build: type[Build]) -> None:
    web = [build.pod(f"w{i}", 100, node, labels={"app": "web"}) for i, node in enumerate(["n1", "n1", "n2"])]
    one = build.pod("one", labels={"app": "web"}, spread=(build.spread("web"),))
    assert build.choices(one, build.nodes(3), web) == ["n3"]


def test_s7_a_zone_without_nodes_is_no_domain(build: type[Build]) -> None:
    web = [build.pod(f"w{i}", 100, node, labels={"app": "web"}) for i, node in enumerate(["n1", "n1", "n2"])]
    one = build.pod("one", labels={"app": "web"}, spread=(build.spread("web"),))
    assert build.choices(one, build.nodes(2), web) == ["n2"]
