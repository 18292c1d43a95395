"""A disk is attached to one node at a time, and leaves a node only when nothing there uses it, or by force."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.canonical import fingerprint
from reconverge.model.events import NodeCrashes, NodePartitioned, NodeRecovers, PodForceDeleted
from reconverge.model.objects.node import OUT_OF_SERVICE, Taint
from reconverge.model.objects.storage import ATTACHMENT, CLAIM, PersistentVolume, VolumeAttachment

Make = Callable[..., Any]
MOUNTS = {"claims": ("data",)}


@pytest.fixture
def two_nodes(start: Make, lab: Any, claim: Make) -> Any:
    """A pod on n1 with a disk, and n2."""
    volume = PersistentVolume(name="v", claim="default/data", phase="Bound")
    pod = lab.pod("old", node="n1", spec=MOUNTS)
    cluster = start(lab.node("n1"), lab.node("n2"), volume, claim(volume="v", phase="Bound"), pod)
    cluster.settle()
    assert cluster.get(ATTACHMENT, "v").node == "n1"
    return cluster


def test_a_pod_on_another_node_waits_for_the_disk(two_nodes: Any, lab: Any) -> None:
    two_nodes.put(lab.pod("new", node="n2", spec=MOUNTS))
    two_nodes.settle()
    new = two_nodes.get("Pod", "new")
    assert (new.phase, new.waiting, new.ready) == ("Pending", "ContainerCreating", False)
    assert two_nodes.pass_of("attach-detach", "v").note == "Multi-Attach error: n2 wants it, and it is attached to n1"
    two_nodes.report("Pod", "old", deletion_at=two_nodes.cluster.now + 30, grace=30)
    two_nodes.settle()
    new = two_nodes.get("Pod", "new")
    assert (new.phase, new.waiting, new.ready) == ("Running", "", True)
    assert two_nodes.get(ATTACHMENT, "v").node == "n2"


def test_a_pod_on_the_same_node_shares_the_disk(two_nodes: Any, lab: Any) -> None:
    two_nodes.put(lab.pod("new", node="n1", spec=MOUNTS))
    two_nodes.settle()
    assert two_nodes.get("Pod", "new").ready


def test_a_shared_volume_is_not_attached(start: Make, lab: Any, claim: Make) -> None:
    volume = PersistentVolume(name="v", claim="default/data", phase="Bound", access_modes=("ReadWriteMany",))
    pods = [lab.pod(f"p{node}", node=node, spec=MOUNTS) for node in ("n1", "n2")]
    cluster = start(lab.node("n1"), lab.node("n2"), volume, claim(volume="v", phase="Bound"), *pods)
    cluster.settle()
    assert all(pod.ready for pod in cluster.pods())
    assert cluster.get(ATTACHMENT, "v") is None


@pytest.mark.parametrize("event", [NodeCrashes, NodePartitioned])
def test_a_disk_is_taken_from_a_silent_node_by_force_after_six_minutes(two_nodes: Any, lab: Any, event: Any) -> None:
    two_nodes.strikes(event("n1"))
    two_nodes.until(100)
    two_nodes.strikes(PodForceDeleted("pod/old"))
    two_nodes.put(lab.pod("new", node="n2", spec=MOUNTS))
    two_nodes.until(459)
    assert two_nodes.get(ATTACHMENT, "v").node == "n1"
    two_nodes.until(460)
    assert two_nodes.get(ATTACHMENT, "v").node == "n2"
    assert two_nodes.get("Pod", "new").phase == "Running"


def test_a_terminating_pod_keeps_the_disk_on_a_silent_node(two_nodes: Any) -> None:
    two_nodes.happens(NodeCrashes("n1"))
    assert two_nodes.get("Pod", "old").deletion_at is not None
    assert two_nodes.get(ATTACHMENT, "v").node == "n1"


def test_a_node_out_of_service_or_gone_loses_the_disk_at_once(two_nodes: Any) -> None:
    two_nodes.happens(NodeCrashes("n1"), PodForceDeleted("pod/old"))
    assert two_nodes.get(ATTACHMENT, "v") is None
    controller = two_nodes.plane.by_name["attach-detach"]
    node = two_nodes.get("Node", "n1")
    assert controller.may_detach(node, True, 359) == ""
    assert controller.may_detach(node.with_(ready="True"), True, 999) == ""
    out = node.with_(taints=(*node.taints, Taint(OUT_OF_SERVICE, "NoExecute")))
    assert controller.may_detach(out, True, 0) == "the node is out of service"
    assert controller.may_detach(None, True, 0) == "the node is gone"


def test_which_of_several_nodes_gets_a_free_disk_is_open(start: Make, lab: Any, claim: Make) -> None:
    volume = PersistentVolume(name="v", claim="default/data", phase="Bound")
    pods = [lab.pod(f"p{node}", node=node, spec=MOUNTS) for node in ("n1", "n2")]
    cluster = start(lab.node("n1"), lab.node("n2"), volume, claim(volume="v", phase="Bound"), *pods)
    assert [plan.choice for plan in cluster.passes_of("attach-detach", "v")] == ["n1", "n2"]


def test_clusters_are_alike_wherever_the_disk_is_attached_as_long_as_its_node_is(two_nodes: Any) -> None:
    def mark(node: str, holder: str) -> bytes:
        cluster = two_nodes.cluster
        store, _ = cluster.store.put(cluster.store.pod("default/old").with_(node=holder))
        store, _ = store.put(VolumeAttachment(name="v", node=node))
        store, _ = store.put(store.get(CLAIM, "default/data").with_(selected_node=node))
        machines = cluster.machines
        for each in ("n1", "n2"):
            machines = machines.put(machines.get(each).with_(pods=type(machines.get(each).pods)()))
        return fingerprint(two_nodes.plane, cluster.with_(store=store, machines=machines))

    assert mark("n1", "n1") == mark("n2", "n2")
    assert mark("n1", "n1") != mark("n2", "n1")


def test_a_kubelet_that_is_cut_off_starts_nothing_that_needs_a_disk(two_nodes: Any, lab: Any) -> None:
    two_nodes.put(lab.pod("new", node="n2", spec=MOUNTS))
    two_nodes.quiet_now()
    two_nodes.strikes(NodePartitioned("n2"))
    two_nodes.remove("Pod", "old")
    two_nodes.quiet_now()
    assert two_nodes.get(ATTACHMENT, "v").node == "n2"
    assert two_nodes.local("new").state == "admitted"
    two_nodes.strikes(NodeRecovers("n2"))
    two_nodes.quiet_now()
    assert two_nodes.get("Pod", "new").ready
