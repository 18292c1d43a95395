"""When and how the autoscaler adds nodes."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.events import NodeCrashes, Scale
from reconverge.model.labels import labels_of
from reconverge.model.loops.cluster_autoscaler.estimator import waste
from reconverge.model.node_groups import Subnet
from reconverge.model.objects import Node
from reconverge.model.objects.node import ZONE
from reconverge.model.resources import Capacity, Resources
from reconverge.model.rules import Rules

Lab = Any


def test_pending_pods_get_nodes_for_all_of_them_at_once_and_within_two_scans(lab: Lab) -> None:
    world = lab.world(lab.deployment(2, 1500), groups=[lab.group(1, 1, 9)])
    world.settle()
    world.strike(Scale("deployment/web", 8))
    begun = world.cluster.now
    done = world.settle()
    assert [words for _, words in done if "desired size" in words] == ["sets the desired size of w to 4"]
    assert [time - begun for time in world.times("desired size")] == [10]
    assert [time - begun for time in world.times("booted")] == [130, 130, 130]
    assert world.pending == 0


def test_pods_that_are_very_new_are_waited_for(lab: Lab) -> None:
    world = lab.world(lab.deployment(1, 1500), groups=[lab.group(1, 1, 9)])
    world.settle()
    world.until(world.cluster.now + 9)
    world.strike(Scale("deployment/web", 4))
    begun = world.cluster.now
    world.settle()
    assert [time - begun for time in world.times("desired size")] == [11]


def test_while_nodes_are_on_their_way_no_more_are_asked_for(lab: Lab) -> None:
    world = lab.world(lab.deployment(2, 1500), groups=[lab.group(1, 1, 9)])
    world.settle()
    world.strike(Scale("deployment/web", 4))
    world.until(world.cluster.now + 60)
    world.put(lab.pod("another", 100))
    world.settle()
    assert len(world.times("desired size")) == 1


def test_a_group_does_not_grow_beyond_its_maximum_and_the_rest_waits_for_ever(lab: Lab) -> None:
    world = lab.world(lab.deployment(12, 1500), groups=[lab.group(1, 1, 3)])
    world.settle()
    assert world.size() == 3
    assert world.pending == 6


def test_a_pod_that_fits_no_empty_node_adds_none(lab: Lab) -> None:
    world = lab.world(lab.deployment(1, 5000), groups=[lab.group(1, 1, 3)])
    world.settle()
    assert world.size() == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"priority": -11},
        {"scheduling_gates": ("wait",)},
        {"node_selector": labels_of({"disk": "ssd"})},
    ],
)
def test_some_pods_ask_for_no_nodes(lab: Lab, fields: Any) -> None:
    world = lab.world(lab.deployment(3, 3000, spec=fields), groups=[lab.group(1, 1, 3)])
    world.settle()
    assert world.size() == 1


def test_a_node_is_added_where_the_template_has_what_pods_select(lab: Lab) -> None:
    groups = [lab.group(1, 1, 3, "plain"), lab.group(0, 0, 3, "fast", labels={"disk": "ssd"})]
    world = lab.world(lab.deployment(1, 100, spec={"node_selector": labels_of({"disk": "ssd"})}), groups=groups)
    world.settle()
    assert (world.size("plain"), world.size("fast"), world.pending) == (1, 1, 0)


def test_a_group_over_two_zones_grows_for_pods_of_one_and_gets_nodes_in_the_other(lab: Lab) -> None:
    zonal = lab.deployment(3, 3000, spec={"node_selector": labels_of({ZONE: "b"})})
    world = lab.world(zonal, lab.deployment(1, 3000, "rest"), groups=[lab.group(1, 2, 9, zones="ab")])
    world.settle()
    zones = [world.cluster.machines.by_name[name].zone for name in world.nodes]
    assert (world.pending, sorted(zones)) == (0, ["a", "b", "b", "b"])
    assert len(world.times("desired size")) > 1


def test_daemons_take_their_part_of_a_new_node(lab: Lab) -> None:
    world = lab.world(lab.deployment(4, 1500), lab.daemon_set(1500), groups=[lab.group(1, 1, 9)])
    world.settle()
    assert world.size() == 4


def test_what_waits_for_a_preemption_asks_for_no_node(lab: Lab) -> None:
    world = lab.world(lab.deployment(2, 1900), groups=[lab.group(1, 1, 3)])
    world.settle()
    node = world.nodes[0]
    waiting = lab.pod("high", 1900, unscheduled=("Unschedulable", ""), nominated_node=node)
    world.cluster = world.cluster.with_(store=world.cluster.store.put(waiting)[0], now=100)
    assert not world.autoscaler.help(world.view()).pods


# Expanders -------------------------------------------------------------------------------------------------------


def test_c3_waste_adds_the_unused_shares_of_cpu_and_memory(lab: Lab) -> None:
    pods = [lab.pod("p").with_(spec=lab.spec(800, 630))]
    shapes = [Node(name="", allocatable=Capacity(Resources(*has))) for has in ((1600, 700), (1000, 900))]
    assert [round(waste(pods, shape, 1), 6) for shape in shapes] == [0.6, 0.5]


@pytest.mark.parametrize(("version", "chosen"), [("1.34", ["second"]), ("1.32", ["first", "second"])])
def test_least_waste_chooses_since_1_33_and_chance_before(lab: Lab, version: str, chosen: list[str]) -> None:
    groups = [
        lab.group(0, 0, 3, "first", cpu=1600, memory=700),
        lab.group(0, 0, 3, "second", cpu=1000, memory=900),
        lab.group(1, 1, 2, "full", cpu=100),
    ]
    world = lab.world(lab.deployment(1, 800, memory=630), groups=groups, rules=Rules.for_version(version))
    world.until(9)
    world.cluster = world.cluster.with_(now=20)
    assert [plan.choice for plan in world.scan()] == chosen


# Failures --------------------------------------------------------------------------------------------------------


def test_a_scale_up_that_brings_nothing_is_taken_back_and_its_group_backed_off(lab: Lab) -> None:
    full = (Subnet("full", "a", addresses=1),)
    world = lab.world(lab.deployment(2, 3000), groups=[lab.group(1, 1, 4, subnets=full)])
    world.until(3000)
    sizes = [(time, words[-1]) for time, words in world.written if "desired size" in words]
    assert sizes[:4] == [(10, "2"), (930, "1"), (1220, "2"), (2140, "1")]
    assert world.memory().backoffs["w"].length == 600


def test_an_instance_that_never_becomes_a_node_is_deleted_after_fifteen_minutes(lab: Lab) -> None:
    world = lab.world(lab.deployment(4, 1500), groups=[lab.group(1, 1, 3)])
    world.until(60)
    machine = world.cluster.machines.by_name["w-2"]
    world.cluster = world.cluster.with_(machines=world.cluster.machines.put(machine.with_(registers=None)))
    world.until(950)
    assert world.times("terminates instance w-2") == [930]
    assert world.memory().backoffs["w"].length == 300


def test_too_many_nodes_that_are_not_ready_stop_everything(lab: Lab) -> None:
    world = lab.world(lab.deployment(6, 3000), groups=[lab.group(1, 6, 9)])
    world.settle()
    world.until(5000)
    for name in world.nodes[:4]:
        world.strike(NodeCrashes(name))
    world.until(5100)
    assert not world.view().healthy
    world.put(lab.pod("late", 4000))
    world.until(6000)
    assert world.size() == 6


def test_nodes_in_all_are_bounded_if_that_is_set(lab: Lab) -> None:
    autoscaler = lab.autoscaler(lab.options(nodes_total=2))
    world = lab.world(lab.deployment(8, 1500), groups=[lab.group(1, 1, 9)], autoscaler=autoscaler)
    world.settle()
    assert world.size() == 2
