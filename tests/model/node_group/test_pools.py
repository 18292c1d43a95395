"""Nodes that join by hand, and pools whose nodes are replaced one by one."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.canonical import fingerprint
from reconverge.model.control_plane import ControlPlane
from reconverge.model.events import EVENTS, NodeJoins, NodesUpgraded, ZoneFails
from reconverge.model.labels import Selector, labels_of
from reconverge.model.loops.node_group import NodeGroupLoop
from reconverge.model.loops.upgrade import UpgradeLoop
from reconverge.model.node_groups import NodeGroup, Subnet, pools
from reconverge.model.objects import Container, Deployment, PodDisruptionBudget, PodSpec, PodTemplate
from reconverge.model.quiet import at_rest, steps
from reconverge.model.resources import Resources
from reconverge.model.standard import cluster_of, standard_control_plane

PLANE = ControlPlane([*standard_control_plane().loops, NodeGroupLoop(), UpgradeLoop()])
SHAPE = NodeGroup("w", 1, 4, 3, (Subnet("a", "a"), Subnet("b", "b")))
NODES = [SHAPE.node(number, "aba"[number - 1]) for number in (1, 2, 3)]
WEB = Deployment(
    name="web",
    replicas=3,
    selector=Selector(labels_of({"app": "web"})),
    template=PodTemplate(
        labels=labels_of({"app": "web"}),
        spec=PodSpec(containers=(Container("c", Resources(cpu=1500)),), requests=Resources(cpu=1500)),
        digest="d",
    ),
)


def world(*objects: Any, grouped: bool) -> Any:
    cluster = PLANE.start(cluster_of([*NODES, *objects], groups=[SHAPE] if grouped else []))
    cluster = at_rest(PLANE, cluster)
    return PLANE.wait(cluster, cluster.now + 5000)


def struck(cluster: Any, event: Any) -> Any:
    return at_rest(PLANE, PLANE.strike(cluster, event)[0])


def test_a_node_joins_a_plain_pool_at_once_in_the_zone_with_the_fewest() -> None:
    after = struck(world(grouped=False), NodeJoins("w"))
    node = after.store.node("w-4")
    assert (node.zone, node.ready, after.now) == ("b", "True", 5000)
    assert node.allocatable == NODES[0].allocatable


def test_a_node_joins_a_group_after_its_boot_and_not_above_the_maximum() -> None:
    before = world(grouped=True)
    after = struck(before, NodeJoins("w"))
    assert (after.machines.groups["w"].desired, after.now) == (4, 5120)
    assert after.store.node("w-4").zone == "b"
    assert not NodeJoins("w").enabled(after)


def test_no_node_joins_a_plain_pool_whose_zones_are_all_down() -> None:
    cluster = struck(struck(world(grouped=False), ZoneFails("a")), ZoneFails("b"))
    assert not NodeJoins("w").enabled(cluster)


def test_pools_are_found_by_the_names_of_machines() -> None:
    assert {name: len(members) for name, members in pools(world(grouped=False).machines).items()} == {"w": 3}
    assert [event.arguments() for event in EVENTS["node-join"].candidates(world(grouped=True), {})] == [{"pool": "w"}]


@pytest.mark.parametrize("grouped", [True, False])
def test_an_upgrade_replaces_every_node_and_changes_nothing_else(grouped: bool) -> None:
    before = world(WEB, grouped=grouped)
    after = struck(before, NodesUpgraded("w"))
    assert [node.name for node in after.store.nodes()] == ["w-4", "w-5", "w-6"]
    assert sorted(after.machines.by_name) == ["w-4", "w-5", "w-6"]
    assert after.machines.groups.get("w") in (None, SHAPE.with_(launched=6))
    later = PLANE.wait(after, after.now + 5000)
    assert fingerprint(PLANE, later) == fingerprint(PLANE, before)


@pytest.mark.parametrize("grouped", [True, False])
def test_an_upgrade_never_has_fewer_ready_nodes_than_before(grouped: bool) -> None:
    cluster, _ = PLANE.strike(world(WEB, grouped=grouped), NodesUpgraded("w"))
    fewest = min(sum(node.ready == "True" for node in moved.cluster.store.nodes()) for moved in steps(PLANE, cluster))
    assert fewest == 3


def test_an_upgrade_waits_for_a_budget_that_allows_nothing() -> None:
    budget = PodDisruptionBudget(name="web", selector=Selector(labels_of({"app": "web"})), min_available=3)
    after = struck(world(WEB, budget, grouped=False), NodesUpgraded("w"))
    assert len(after.store.nodes()) == 4
    assert sum(node.unschedulable for node in after.store.nodes()) == 1
    assert not NodesUpgraded("w").enabled(after)
