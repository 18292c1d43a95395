"""The node's own objects: registration, lease, Ready; and who never hears of it."""

from __future__ import annotations

from typing import Any

from reconverge.model.events import NodeCrashes, NodeDeleted, NodePartitioned, NodeReboots, NodeRecovers
from reconverge.model.objects import Taint
from reconverge.model.objects.node import NOT_READY
from reconverge.model.rules import KubeletTimings, Rules


def test_a_crash_is_written_nowhere(host: Any) -> None:
    node = host()
    node.lab.until(7)
    node.lab.happens(NodeCrashes("n1"))
    assert node.lab.get("Node", "n1").ready == "True"
    assert node.lab.get("Lease", "n1").renewed_at == 7
    assert node.lab.written == []


def test_a_node_that_is_back_renews_its_lease_and_reports_ready(host: Any) -> None:
    node = host()
    node.lab.happens(NodePartitioned("n1"))
    node.lab.report("Node", "n1", ready="Unknown", ready_reason="NodeStatusUnknown")
    node.lab.happens(NodeRecovers("n1"))
    found = node.lab.get("Node", "n1")
    assert (found.ready, found.ready_reason) == ("True", "KubeletReady")
    assert node.lab.get("Lease", "n1").renewed_at is None


def test_a_quick_reboot_is_not_noticed_by_the_api(host: Any) -> None:
    node = host()
    node.lab.happens(NodeReboots("n1"))
    assert node.lab.written == []


def test_a_deleted_node_of_a_living_machine_is_registered_again(lab: Any, host: Any) -> None:
    node = host(lab.node("n1", labels={"disk": "ssd"}, taints=(Taint("db", "NoSchedule"),), unschedulable=True))
    uid = node.lab.get("Node", "n1").uid
    node.lab.happens(NodeDeleted("n1"))
    found = node.lab.get("Node", "n1")
    assert found.uid != uid
    assert (found.ready, found.unschedulable) == ("True", False), "a cordon is lost"
    assert dict(found.labels)["disk"] == "ssd"
    assert [taint.key for taint in found.taints] == ["db", NOT_READY]
    assert node.lab.get("Lease", "n1").renewed_at is None


def test_a_deleted_node_of_a_dead_machine_is_registered_when_it_is_back(host: Any) -> None:
    node = host()
    node.lab.happens(NodeCrashes("n1"), NodeDeleted("n1"))
    assert node.lab.get("Node", "n1") is None
    node.lab.happens(NodeRecovers("n1"))
    assert node.lab.get("Node", "n1").ready == "True"


def test_a_joining_node_takes_its_time(host: Any) -> None:
    node = host(rules=Rules(kubelet=KubeletTimings(node_ready=15)))
    node.lab.happens(NodeDeleted("n1"))
    assert node.lab.cluster.now == 15
    assert node.lab.times("reports node/n1 Ready") == [15]
