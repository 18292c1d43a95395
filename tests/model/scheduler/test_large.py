"""Clusters of a hundred nodes and more, where not every node is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reconverge.model.loops.scheduler import SchedulerMemory
from reconverge.model.loops.scheduler.nodes import Nodes, nodes_wanted

if TYPE_CHECKING:
    from tests.model.scheduler.conftest import Build


@pytest.mark.parametrize(
    ("nodes", "wanted"),
    [(3, 3), (99, 99), (100, 100), (250, 120), (1000, 420), (5000, 500), (6000, 300), (20_000, 1000)],
)
def test_how_many_nodes_that_fit_are_enough(nodes: int, wanted: int) -> None:
    assert nodes_wanted(nodes) == wanted


def test_nodes_of_large_clusters_are_tried_zone_by_zone_in_turn(build: type[Build]) -> None:
    nodes = [build.node(f"n{number:03}", zone="aab"[number % 3]) for number in range(120)]
    tried = Nodes(build.store(nodes).table("Node").objects).all
    assert [node.zone for node in tried[:6]] == ["a", "b"] * 3
    assert {node.zone for node in tried[80:]} == {"a"}
    assert sorted(node.name for node in tried) == [node.name for node in nodes]


def test_the_next_search_begins_where_the_last_one_ended(build: type[Build]) -> None:
    nodes = [build.node(f"n{number:03}") for number in range(200)]
    cluster = build.started(nodes, build.pod("one"), build.pod("two"))
    plans = build.plans(cluster, "one")
    assert [plan.choice for plan in plans[:2]] == ["n000", "n001"]
    assert len(plans) == nodes_wanted(200) == 100
    cluster = build.rest(cluster)
    memory = cluster.loops["scheduler"].memory
    assert isinstance(memory, SchedulerMemory)
    assert (build.place(cluster, "one"), build.place(cluster, "two"), memory.start) == ("n000", "n100", 0)


def test_a_pod_that_fits_nowhere_has_been_tried_everywhere(build: type[Build]) -> None:
    nodes = [build.node(f"n{number:03}") for number in range(150)]
    cluster = build.settled(nodes, build.pod("one", 5000))
    assert build.message(cluster, "one").startswith("0/150 nodes are available: 150 Insufficient cpu.")


def test_a_pod_that_names_its_node_finds_it_among_many(build: type[Build]) -> None:
    nodes = [build.node(f"n{number:03}") for number in range(150)]
    assert build.choices(build.pod("one", affinity=build.only("n149")), nodes) == ["n149"]
