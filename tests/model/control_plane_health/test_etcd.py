"""etcd and its quorum: what goes on without it, and what happens when it is back."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.canonical import fingerprint
from reconverge.model.control_plane_health import HEALTHY, ControlPlaneHealth
from reconverge.model.errors import StoreUnavailable
from reconverge.model.events import (
    ContainerCrashes,
    EtcdMemberBack,
    EtcdMemberLost,
    NodeCrashes,
    NodeRecovers,
    RollOut,
    Scale,
)

Lab = Any
LOST = (EtcdMemberLost(), EtcdMemberLost())


@pytest.mark.parametrize(("members", "tolerated"), [(1, 0), (2, 0), (3, 1), (4, 1), (5, 2), (6, 2), (7, 3)])
def test_quorum(members: int, tolerated: int) -> None:
    left = [ControlPlaneHealth(members, members - lost).writable for lost in range(members + 1)]
    assert left == [True] * (tolerated + 1) + [False] * (members - tolerated)


@pytest.fixture
def world(lab: Lab) -> Any:
    found = lab.of(lab.node("n1"), lab.node("n2"), lab.deployment(2))
    found.settle()
    return found


def test_one_member_of_three_is_not_missed(world: Any) -> None:
    world.happens(EtcdMemberLost(), Scale("deployment/web", 3))
    assert len(world.pods()) == 3


def test_nobody_can_write_without_quorum(world: Any) -> None:
    world.happens(*LOST)
    for event in (Scale("deployment/web", 3), RollOut("deployment/web")):
        with pytest.raises(StoreUnavailable):
            world.plane.strike(world.cluster, event)
    assert world.plane.next(world.cluster) is None


def test_pods_run_on_and_nothing_is_evicted(world: Any) -> None:
    world.happens(*LOST)
    store = world.cluster.store
    world.happens(ContainerCrashes("deployment/web#0"))
    locals_ = [pod for name in ("n1", "n2") for pod in world.machine(name).pods.values()]
    assert [pod.state for pod in locals_] == ["running", "running"]
    assert sorted(pod.restarts for pod in locals_) == [0, 1]
    assert world.cluster.store.table("Pod") is store.table("Pod")
    assert [error.code for error in world.refused] == [503] * len(world.refused)


def test_a_write_that_fails_is_not_tried_again_and_again(world: Any) -> None:
    world.happens(*LOST, ContainerCrashes("deployment/web#0"))
    assert 1 <= len(world.refused) <= 3
    assert len(world.cluster.loops["kubelet"].parked) == 1


def test_kubelets_report_as_soon_as_they_can(world: Any) -> None:
    world.happens(*LOST, ContainerCrashes("deployment/web#0"))
    world.strikes(EtcdMemberBack())
    world.quiet_now()
    assert sorted(pod.restarts for pod in world.pods()) == [0, 1]
    assert world.cluster.loops["kubelet"].parked == {}


def test_a_node_that_dies_meanwhile_gets_a_fresh_grace(world: Any) -> None:
    world.happens(*LOST, NodeCrashes("n1"))
    world.cluster = world.plane.wait(world.cluster, world.cluster.now + 1000)
    assert world.get("Node", "n1").ready == "True"
    world.strikes(EtcdMemberBack())
    back = world.cluster.now
    world.until(back + 64)
    assert world.get("Node", "n1").ready == "True"
    world.until(back + 15 + 50 + 5)
    assert world.get("Node", "n1").ready == "Unknown"


def test_a_node_that_is_back_before_quorum_is_never_missed(world: Any) -> None:
    world.happens(*LOST, NodeCrashes("n1"))
    world.cluster = world.plane.wait(world.cluster, world.cluster.now + 1000)
    world.happens(NodeRecovers("n1"), EtcdMemberBack())
    assert world.get("Node", "n1").ready == "True"
    assert not world.times("marks")
    assert len(world.pods()) == 2


def test_controllers_start_anew_after_an_election(world: Any) -> None:
    world.happens(*LOST)
    world.cluster = world.plane.wait(world.cluster, world.cluster.now + 60)
    world.strikes(EtcdMemberBack())
    back = world.cluster.now
    world.strikes(Scale("deployment/web", 3))
    world.until(back + 14)
    assert len(world.pods()) == 2
    world.until(back + 15)
    assert len(world.pods()) == 3


def test_a_short_loss_costs_nobody_the_lead(world: Any) -> None:
    world.strikes(Scale("deployment/web", 3), *LOST)
    world.cluster = world.plane.wait(world.cluster, world.cluster.now + 5)
    world.strikes(EtcdMemberBack())
    world.quiet_now()
    assert len(world.pods()) == 3


def test_what_has_recovered_is_as_it_was(world: Any) -> None:
    before = fingerprint(world.plane, world.cluster)
    world.happens(EtcdMemberLost())
    assert fingerprint(world.plane, world.cluster) != before
    world.happens(EtcdMemberBack())
    assert world.cluster.machines.control_plane is HEALTHY
    assert fingerprint(world.plane, world.cluster) == before


def test_how_many_members_there_are(world: Any) -> None:
    world.happens(EtcdMemberLost(5), EtcdMemberLost(5))
    assert world.cluster.machines.control_plane == ControlPlaneHealth(5, 3)
    assert not EtcdMemberLost(3).enabled(world.cluster)
