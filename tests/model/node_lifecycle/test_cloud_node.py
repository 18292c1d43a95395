"""Cloud node lifecycle: Node objects of instances that are gone."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.loops.cloud_node import CloudNodeController
from reconverge.model.loops.node_lifecycle import NodeLifecycleController
from reconverge.model.loops.pod_gc import PodGarbageCollector
from reconverge.model.loops.taint_eviction import TaintEvictionController
from reconverge.model.machines import Machine


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
