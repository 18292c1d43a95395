"""What the cloud's scaling groups do with their instances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.canonical import fingerprint
from reconverge.model.events import (
    InstanceStopped,
    InstanceTerminated,
    LoopRestarts,
    NodeCrashes,
    NodeDeleted,
    NodeRecovers,
    ZoneFails,
    ZoneRecovers,
)
from reconverge.model.loops.node_group import LaunchInstance, NodeGroupLoop, ResizeGroup, TerminateInstance
from reconverge.model.loops.node_group.actions import CloudError
from reconverge.model.node_groups import ONLY, NodeGroup, Subnet, number_of

Cloud = Callable[..., Any]


def test_a_new_instance_boots_registers_and_gets_ready(cloud: Cloud) -> None:
    world = cloud("a", (1, 1, 3))
    world.resize(2)
    world.until(119)
    assert world.cluster.store.node("w-2") is None
    assert world.cluster.machines.by_name["w-2"].boots_at == 120
    world.settle()
    node = world.cluster.store.node("w-2")
    assert (node.ready, node.taints, node.zone, world.cluster.now) == ("True", (), "a", 120)


def test_instances_are_spread_over_zones_evenly(cloud: Cloud) -> None:
    world = cloud("abc", (1, 2, 9))
    world.resize(6)
    world.settle()
    assert world.zones == "aabbcc"


def test_zones_with_equally_few_instances_are_alternatives(cloud: Cloud) -> None:
    world = cloud("abc", (1, 1, 9))
    world.resize(2)
    reading = world.plane.reading(NodeGroupLoop(), world.cluster)
    assert [plan.choice for plan in NodeGroupLoop().sync(reading, None, "w")] == ["b", "c"]


def test_a_terminated_instance_is_replaced_under_a_new_name_and_forgotten(cloud: Cloud) -> None:
    world = cloud("a", (2, 2, 2))
    world.strike(InstanceTerminated("w-1"))
    assert world.settle() == [
        "launches an instance of w in zone a",
        "forgets instance w-1",
        "has booted instance w-3",
    ]
    assert world.names == ["w-2", "w-3"]
    assert [node.name for node in world.cluster.store.nodes()] == ["w-2", "w-3"]


def test_replacing_an_instance_by_its_like_changes_nothing_but_names(cloud: Cloud) -> None:
    world = cloud("ab", (2, 2, 2))
    before = [fingerprint(world.plane, world.cluster, symmetry=names) for names in (True, False)]
    world.strike(InstanceTerminated("w-1"))
    world.settle()
    world.until(5000)
    after = [fingerprint(world.plane, world.cluster, symmetry=names) for names in (True, False)]
    assert (after[0] == before[0], after[1] == before[1]) == (True, False)


def test_a_crashed_machine_is_left_alone_unless_its_group_checks_machines(cloud: Cloud) -> None:
    patient, strict = cloud("a", (2, 2, 2)), cloud("a", (2, 2, 2), replaces_dead=True)
    for world in (patient, strict):
        world.strike(NodeCrashes("w-1"))
        world.settle()
    assert patient.names == ["w-1", "w-2"]
    assert strict.names == ["w-2", "w-3"]


def test_an_instance_that_boots_cannot_recover(cloud: Cloud) -> None:
    world = cloud("a", (1, 1, 2))
    world.resize(2)
    world.until(10)
    assert not NodeRecovers("w-2").enabled(world.cluster)


def test_best_effort_launches_in_another_zone(cloud: Cloud) -> None:
    world = cloud("ab", (1, 2, 4))
    world.strike(ZoneFails("b"))
    world.resize(4)
    world.settle()
    assert world.zones == "aaab"


def test_balanced_only_waits_for_the_zone_and_goes_on_when_it_is_back(cloud: Cloud) -> None:
    world = cloud("ab", (1, 2, 4), balance=ONLY)
    world.strike(ZoneFails("b"))
    world.resize(4)
    world.settle()
    assert world.zones == "aab"
    world.strike(ZoneRecovers("b"))
    world.settle()
    assert world.zones == "aabb"


def test_an_instance_whose_zone_fails_while_it_boots_is_launched_elsewhere(cloud: Cloud) -> None:
    world = cloud("ab", (1, 1, 2))
    world.resize(2)
    world.until(60)
    world.strike(ZoneFails("b"))
    world.settle()
    assert world.zones == "aa"


def test_a_full_subnet_takes_no_more(cloud: Cloud) -> None:
    subnets = (Subnet("sa", "a", addresses=1), Subnet("sb", "b"))
    world = cloud("ab", (1, 1, 4), subnets=subnets)
    world.resize(4)
    world.settle()
    assert world.zones == "abbb"


def test_a_subnet_is_one_for_all_groups_that_name_it(cloud: Cloud) -> None:
    narrow = Subnet("shared", "a", addresses=3)
    world = cloud("a", (1, 2, 4), subnets=(narrow,))
    other = NodeGroup("x", 0, 4, 2, subnets=(narrow,))
    world.cluster = world.cluster.with_(machines=world.cluster.machines.put_group(other))
    world.strike(LoopRestarts("node-group"))
    world.settle()
    assert world.names == ["w-1", "w-2", "x-1"]
    with pytest.raises(CloudError, match="insufficient capacity"):
        LaunchInstance("x", narrow).apply(world.cluster)
    world.resize(1)
    world.settle()
    assert len(world.names) == 3
    assert "x-2" in world.names, "an address that one group gives up is the other's"


def test_a_new_instance_registers_without_its_zone_until_the_cloud_has_initialised_it(cloud: Cloud) -> None:
    world = cloud("ab", (1, 1, 3))
    world.resize(2)
    world.until(60)
    registers = world.cluster.machines.by_name["w-2"].registers
    assert (registers.zone, [taint.key for taint in registers.taints]) == (
        "",
        ["node.cloudprovider.kubernetes.io/uninitialized"],
    )
    world.settle()
    node = world.cluster.store.node("w-2")
    assert (node.zone, node.taints) == ("b", ())
    assert dict(node.labels)["failure-domain.beta.kubernetes.io/zone"] == "b"


def test_a_node_of_a_group_that_is_deleted_by_hand_registers_anew(cloud: Cloud) -> None:
    world = cloud("a", (1, 1, 1))
    world.strike(NodeDeleted("w-1"))
    world.settle()
    node = world.cluster.store.node("w-1")
    assert (node.zone, node.taints, node.ready) == ("a", (), "True")


def test_a_stopped_instance_is_replaced_whatever_its_group_thinks_of_crashes(cloud: Cloud) -> None:
    world = cloud("a", (2, 2, 2))
    world.strike(InstanceStopped("w-1"))
    done = world.settle()
    assert done[0] == "terminates instance w-1"
    assert world.names == ["w-2", "w-3"]


def test_a_smaller_group_terminates_where_most_are_and_drains_nothing(cloud: Cloud) -> None:
    world = cloud("ab", (1, 3, 3))
    world.resize(2)
    done = world.settle()
    assert world.zones == "ab"
    assert [words for words in done if "terminates" in words] == ["terminates instance w-1"]


def test_rebalancing_launches_in_one_zone_and_terminates_in_another(cloud: Cloud) -> None:
    world = cloud("ab", (1, 3, 3), rebalance=True)
    world.cluster, changes = TerminateInstance("w-2", shrinks=True).apply(world.cluster)
    world.cluster = world.plane.notify(world.cluster, changes)
    done = world.settle()
    assert world.zones == "ab"
    assert [words for words in done if not words.startswith("forgets")] == [
        "launches an instance of w in zone b",
        "has booted instance w-4",
        "terminates instance w-1",
    ]


def test_rebalancing_keeps_the_old_instance_until_the_new_one_runs(cloud: Cloud) -> None:
    world = cloud("ab", (1, 3, 3), rebalance=True)
    world.cluster, changes = TerminateInstance("w-2", shrinks=True).apply(world.cluster)
    world.cluster = world.plane.notify(world.cluster, changes)
    world.until(119)
    assert world.zones == "aab"


def test_a_smaller_group_that_rebalances_does_not_wait(cloud: Cloud) -> None:
    world = cloud("ab", (1, 3, 3), rebalance=True)
    world.resize(2)
    world.until(1)
    assert world.zones == "ab"


def test_without_rebalancing_zones_stay_uneven(cloud: Cloud) -> None:
    world = cloud("ab", (1, 3, 3))
    world.cluster, changes = TerminateInstance("w-2", shrinks=True).apply(world.cluster)
    world.cluster = world.plane.notify(world.cluster, changes)
    world.settle()
    assert world.zones == "aa"


@pytest.mark.parametrize("desired", [0, 4])
def test_a_size_outside_the_bounds_is_refused(cloud: Cloud, desired: int) -> None:
    with pytest.raises(CloudError, match="1 to 3"):
        ResizeGroup("w", desired).apply(cloud("a", (1, 1, 3)).cluster)


def test_a_launch_in_a_zone_that_is_down_is_refused(cloud: Cloud) -> None:
    world = cloud("ab", (1, 2, 3))
    world.strike(ZoneFails("a"))
    with pytest.raises(CloudError, match="insufficient capacity"):
        LaunchInstance("w", Subnet("subnet-a", "a")).apply(world.cluster)


def test_only_names_with_a_number_are_instances() -> None:
    assert number_of("w", "w-12") == 12
    assert number_of("w", "w-x-1") is None
    assert number_of("w.a", "wxa-1") is None


def test_a_group_that_does_not_scale_says_so() -> None:
    assert not NodeGroup("w", 2, 2, 2).scales
    assert NodeGroup("w", 2, 3, 2).scales
