"""Cloud node lifecycle: Node objects of instances that are gone."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.loops.cloud_node import STOPPED, CloudNodeController
from reconverge.model.loops.node_lifecycle import NodeLifecycleController
from reconverge.model.loops.pod_gc import PodGarbageCollector
from reconverge.model.loops.taint_eviction import TaintEvictionController
from reconverge.model.machines import Machine
from reconverge.model.node_groups import uninitialised
from reconverge.model.objects import Taint


@pytest.fixture(scope="session")
def cloud(world: Any, node: Any, pod: Any) -> Any:
    """Two nodes on two machines, a pod on n1, under these loops and the cloud's."""

    def build(*loops: Any) -> Any:
        w = world([*loops, CloudNodeController()], node("n1", "a"), node("n2", "a"), pod("p", "n1"))
        w.machine(Machine(name="n1"))
        w.machine(Machine(name="n2"))
        w.settle()
        return w

    return build


def test_instance_that_is_gone_and_not_ready_loses_its_node(cloud: Any) -> None:
    w = cloud()
    w.until(2)
    w.machine(Machine(name="n1", powered=False, exists=False))
    assert w.settle() == [], "a ready node is not asked about"
    w.edit("Node", "n1", ready="Unknown")
    assert w.settle() == [(5, "deletes node/n1"), (5, "deletes lease/n1")]


def test_instance_that_goes_after_its_node_is_not_ready(cloud: Any) -> None:
    w = cloud()
    w.edit("Node", "n1", ready="False")
    assert w.settle() == [], "the instance exists"
    w.machine(Machine(name="n1", powered=False, exists=False))
    w.settle()
    assert w.cluster.store.node("n1") is None


def test_crashed_instance_that_exists_keeps_its_node(cloud: Any) -> None:
    w = cloud()
    w.machine(Machine(name="n1", powered=False))
    w.edit("Node", "n1", ready="Unknown")
    assert w.settle() == []


def test_node_without_a_known_machine_is_left_alone(world: Any, node: Any) -> None:
    w = world([CloudNodeController()], node("n1", ready="Unknown"))
    assert w.settle() == []


def test_terminated_instance_frees_its_pods_long_before_the_toleration_ends(cloud: Any) -> None:
    w = cloud(NodeLifecycleController(), TaintEvictionController(), PodGarbageCollector())
    w.machine(Machine(name="n1", powered=False, exists=False))
    w.silence("n1")
    w.settle()
    assert w.times("deletes node/n1") == [50]
    assert w.times("force-deletes pod/p") == [100]
    assert w.pod("p") is None


# Stopped instances -------------------------------------------------------------------------------------------


def test_node_of_a_stopped_instance_is_tainted_once_it_is_not_ready(cloud: Any) -> None:
    w = cloud()
    w.until(2)
    w.machine(Machine(name="n1", powered=False, stopped=True))
    assert w.settle() == [], "a ready node is not asked about"
    w.edit("Node", "n1", ready="Unknown")
    assert w.settle() == [(5, "taints node/n1 node.cloudprovider.kubernetes.io/shutdown:NoSchedule")]
    assert w.settle() == [], "once is enough"


@pytest.mark.parametrize("machine", [Machine("n1", powered=False), Machine("n1", stopped=True)])
def test_crashed_or_still_running_instance_is_not_taken_for_stopped(cloud: Any, machine: Machine) -> None:
    w = cloud()
    w.machine(machine)
    w.edit("Node", "n1", ready="Unknown")
    assert w.settle() == []


def test_taint_goes_at_the_next_look_at_a_node_that_is_ready_again(cloud: Any) -> None:
    w = cloud()
    w.machine(Machine(name="n1", powered=False, stopped=True))
    w.edit("Node", "n1", ready="Unknown")
    w.settle()
    w.machine(Machine(name="n1"))
    assert w.settle() == [], "started, but not ready yet"
    w.until(7)
    w.edit("Node", "n1", ready="True")
    assert w.settle() == [(10, f"removes taint {STOPPED} from node/n1")]


def test_stopped_instance_that_is_terminated_loses_its_node_after_all(cloud: Any) -> None:
    w = cloud()
    w.machine(Machine(name="n1", powered=False, stopped=True))
    w.edit("Node", "n1", ready="Unknown")
    w.settle()
    w.machine(Machine(name="n1", powered=False, stopped=True, exists=False))
    w.settle()
    assert w.cluster.store.node("n1") is None


# New nodes ---------------------------------------------------------------------------------------------------


def test_new_node_gets_its_zone_and_loses_its_taint_in_one_write_at_once(world: Any, node: Any) -> None:
    new = uninitialised(node("n1", "a"))
    assert new.zone == ""
    assert new.taints == (Taint("node.cloudprovider.kubernetes.io/uninitialized", "NoSchedule", "true"),)
    w = world([CloudNodeController()], new)
    w.until(3)
    w.machine(Machine(name="n1", zone="b"))
    assert w.settle() == [(3, "initialises node/n1 in zone b")]
    assert (w.cluster.store.node("n1").zone, w.cluster.store.node("n1").taints) == ("b", ())


def test_new_node_whose_instance_is_not_there_is_not_initialised(world: Any, node: Any) -> None:
    w = world([CloudNodeController()], uninitialised(node("n1", "a")))
    w.machine(Machine(name="n1", zone="a", powered=False, exists=False))
    assert w.settle() == []


def test_taints_that_others_add_meanwhile_stay(world: Any, node: Any) -> None:
    w = world([CloudNodeController()], uninitialised(node("n1", "a")))
    w.machine(Machine(name="n1", zone="a"))
    (plan,) = CloudNodeController().sync(w.plane.reading(w.plane.by_name["cloud-node"], w.cluster), None, "n1")
    own = Taint("own", "NoSchedule")
    w.edit("Node", "n1", taints=(*w.cluster.store.node("n1").taints, own))
    after, _ = plan.actions[0].apply(w.cluster)
    node_after = after.store.node("n1")
    assert node_after is not None
    assert node_after.taints == (own,)
