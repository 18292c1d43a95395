"""Whole courses of events, with the times at which things happen."""

from __future__ import annotations

from typing import Any

from reconverge.model.events import InstanceTerminated, RollOut, Scale, ZoneFails
from reconverge.model.objects import Pod

Lab = Any


def ready(world: Any, name: str = "web") -> int:
    pods: list[Pod] = [each for each in world.cluster.store.all("Pod") if dict(each.labels).get("app") == name]
    return sum(pod.ready and pod.active for pod in pods)


def test_a_rollout_without_room_goes_on_when_a_node_has_come(lab: Lab) -> None:
    deployment = lab.deployment(3, 1200, max_surge=1, max_unavailable=0)
    world = lab.world(deployment, groups=[lab.group(1, 1, 2)])
    world.settle()
    world.until(5000)
    world.strike(RollOut("deployment/web"))
    world.until(5005)
    assert (ready(world), world.pending) == (3, 1)
    world.settle()
    assert [time - 5000 for time in world.times("desired size")] == [10]
    assert [time - 5000 for time in world.times("has booted")] == [130]
    assert ready(world) == 3
    assert world.size() == 1


def test_a_burst_of_pods_gets_its_nodes_at_once_and_what_exceeds_the_maximum_waits(lab: Lab) -> None:
    world = lab.world(lab.deployment(3, 1000), groups=[lab.group(1, 1, 4)])
    world.settle()
    world.until(5000)
    for offset, replicas in ((0, 6), (15, 12), (30, 20)):
        world.until(5000 + offset)
        world.strike(Scale("deployment/web", replicas))
    world.settle()
    assert [(time - 5000, words[-1]) for time, words in world.written if "desired size" in words] == [
        (10, "2"),
        (20, "3"),
        (40, "4"),
    ]
    assert (ready(world), world.pending) == (16, 4)


def test_the_nodes_of_a_lost_zone_come_up_in_another(lab: Lab) -> None:
    world = lab.world(lab.deployment(6, 1500), groups=[lab.group(1, 3, 6, zones="abc")])
    world.settle()
    world.until(5000)
    world.strike(ZoneFails("a"))
    world.until(5000 + 400)
    assert world.pending == 2
    world.until(5000 + 600)
    assert ready(world) == 6
    assert all(world.cluster.machines.by_name[name].zone != "a" for name in world.nodes if name > "w-3")


def test_a_terminated_instance_is_replaced_without_the_autoscaler(lab: Lab) -> None:
    world = lab.world(lab.deployment(4, 1500), groups=[lab.group(1, 2, 4)])
    world.settle()
    world.until(5000)
    world.strike(InstanceTerminated("w-1"))
    world.settle()
    assert not world.times("desired size")
    assert world.nodes == ["w-2", "w-3"]
    assert ready(world) == 4
