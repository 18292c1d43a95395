"""Leader election: the gap without a leader, and two leaders that overlap."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.control_plane import Read, Write
from reconverge.model.events import (
    EVENTS,
    LeaderLost,
    LeaderOverlaps,
    NodeCrashes,
    Scale,
    WatchCatchesUp,
)
from reconverge.model.labels import Selector, labels_of
from reconverge.model.objects import Affinity, PodAffinityTerm
from reconverge.model.objects.node import HOSTNAME

Lab = Any


def apart() -> Affinity:
    return Affinity(anti_required=(PodAffinityTerm(HOSTNAME, Selector(labels_of({"app": "web"}))),))


@pytest.mark.parametrize("name", ["kube-controller-manager", "replicaset"])
def test_nothing_is_done_until_the_next_leader_starts(lab: Lab, name: str) -> None:
    world = lab.of(lab.node("n1"), lab.deployment(1))
    world.settle()
    lost = world.cluster.now
    world.strikes(LeaderLost(name), Scale("deployment/web", 2))
    world.until(lost + 14)
    assert len(world.pods()) == 1
    world.until(lost + 15)
    assert len(world.pods()) == 2


def test_other_processes_go_on(lab: Lab) -> None:
    world = lab.of(lab.node("n1"), lab.deployment(1))
    world.settle()
    world.strikes(LeaderLost("kube-scheduler"), Scale("deployment/web", 2))
    world.quiet_now()
    assert [pod.node for pod in world.pods()] == ["n1", None]
    world.settle()
    assert [pod.node for pod in world.pods()] == ["n1", "n1"]


def test_a_new_leader_knows_nothing_of_silence(lab: Lab) -> None:
    world = lab.of(lab.node("n1"), lab.node("n2"), lab.deployment(1))
    world.settle()
    crash = world.cluster.now
    world.strikes(NodeCrashes("n1"))
    world.until(crash + 30)
    world.strikes(LeaderLost("kube-controller-manager"))
    world.until(crash + 30 + 15 + 49)
    assert world.get("Node", "n1").ready == "True"
    world.until(crash + 30 + 15 + 55)
    assert world.get("Node", "n1").ready == "Unknown"


def test_who_may_lose_a_leader(lab: Lab) -> None:
    world = lab.of(lab.node("n1"))
    names = [event.loop for event in EVENTS["leader-lost"].candidates(world.cluster, {})]  # type: ignore[attr-defined]
    assert names == ["cloud-controller-manager", "kube-controller-manager", "kube-scheduler"]
    assert not LeaderLost("kubelet").enabled(world.cluster)
    world.strikes(LeaderLost("kube-scheduler"))
    assert not LeaderLost("scheduler").enabled(world.cluster)


def in_the_middle_of_a_binding(lab: Lab) -> Any:
    """Two pods that exclude each other; the binding of the first is decided and not written."""
    world = lab.of(lab.node("n1"), lab.node("n2"), lab.deployment(2, template=lab.template(affinity=apart())))
    while not isinstance(move := world.plane.next(world.cluster), Write) or move.loop != "scheduler":
        world.step()
    return world


@pytest.mark.parametrize(("cache", "nodes"), [("stale", ["n1", "n1"]), ("caught-up", ["n1", "n2"])])
def test_two_schedulers_break_anti_affinity_unless_the_new_one_has_caught_up(
    lab: Lab, cache: str, nodes: list[str]
) -> None:
    world = in_the_middle_of_a_binding(lab)
    assert LeaderOverlaps("scheduler").enabled(world.cluster)
    world.strikes(LeaderOverlaps("scheduler", cache))
    assert sorted(pod.node or "" for pod in world.pods()) == ["", "n1"]
    world.settle()
    assert sorted(pod.node or "" for pod in world.pods()) == nodes


def test_the_new_leader_sees_it_in_the_end(lab: Lab) -> None:
    world = in_the_middle_of_a_binding(lab)
    world.strikes(LeaderOverlaps("scheduler"))
    assert list(world.cluster.loops["scheduler"].stalled) == ["Pod"]
    world.strikes(WatchCatchesUp("scheduler", "Pod"))
    world.settle()
    assert sorted(pod.node or "" for pod in world.pods()) == ["n1", "n2"]


def test_without_a_pass_in_flight_nothing_overlaps(lab: Lab) -> None:
    world = lab.of(lab.node("n1"), lab.deployment(1))
    world.settle()
    assert not LeaderOverlaps("scheduler").enabled(world.cluster)
    assert list(EVENTS["leader-overlap"].candidates(world.cluster, {})) == []
    assert not any(isinstance(move, Read) for move in world.plane.ready(world.cluster))
