"""On which nodes a DaemonSet has pods. Recording 40."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.daemon_pods import daemon_spec, only_node, pinned
from reconverge.model.events.loops import LoopRestarts, WatchCatchesUp, WatchStalls
from reconverge.model.events.machines import NodeCrashes, NodeRecovers
from reconverge.model.events.nodes import Cordon, Drain, LabelChanges, NodeDeleted, TaintAdded, TaintRemoved
from reconverge.model.events.objects import ObjectDeleted
from reconverge.model.events.pods import PodDeleted
from reconverge.model.labels import labels_of
from reconverge.model.loop import Plan, Reading
from reconverge.model.loops.daemonset import DaemonSetController, Manager
from reconverge.model.loops.daemonset.manage import Backoff
from reconverge.model.loops.kubelet import Kubelet
from reconverge.model.machines import Machine
from reconverge.model.objects import Node, Pod, PodSpec, Taint, Toleration

Make = Callable[..., Any]
Places = Callable[[Any], dict[str, str]]


def test_a_cordoned_node_gets_a_pod_and_a_tainted_one_does_not(
    lab: Make, agent: Make, nodes: Make, places: Places
) -> None:
    one, two, three = nodes()
    w = lab(one, two, three.with_(taints=(Taint("dedicated", "NoSchedule", "x"),)), agent())
    w.strike(Cordon("n2"))
    w.settle()
    assert places(w) == {"n1": "+", "n2": "+"}
    status = w.get("DaemonSet", "agent").status
    assert (status.desired, status.current, status.ready, status.available, status.updated) == (2, 2, 2, 2, 2)
    assert (status.unavailable, status.misscheduled, status.observed_generation) == (0, 0, 1)
    w.after(TaintRemoved("n3", "dedicated"))
    assert places(w) == {"n1": "+", "n2": "+", "n3": "+"}
    assert w.get("DaemonSet", "agent").status.desired == 3


def test_a_node_that_joins_gets_a_pod(lab: Make, agent: Make, nodes: Make, places: Places) -> None:
    w = lab(*nodes(2), agent())
    w.settle()
    w.put(Node(name="n9"))
    w.settle()
    assert places(w) == {"n1": "+", "n2": "+", "n9": "."}
    assert w.get("DaemonSet", "agent").status.desired == 3


def test_pods_are_bound_by_the_scheduler_to_the_node_they_name(lab: Make, agent: Make, nodes: Make) -> None:
    w = lab(*nodes(), agent())
    w.settle()
    assert len(w.times("binds pod/agent-")) == 3
    for pod in w.cluster.store.all("Pod"):
        assert only_node(pod.spec) == pod.node
        assert dict(pod.labels)["controller-revision-hash"] == "t1"
        assert pod.name.startswith("agent-")


def test_the_automatic_tolerations_and_the_affinity() -> None:
    spec = daemon_spec(PodSpec())
    tolerated = {(each.key.removeprefix("node.kubernetes.io/"), each.effect) for each in spec.tolerations}
    assert tolerated == {
        ("not-ready", "NoExecute"), ("unreachable", "NoExecute"), ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"), ("pid-pressure", "NoSchedule"), ("unschedulable", "NoSchedule"),
    }  # fmt: skip
    assert all(each.operator == "Exists" and each.seconds is None for each in spec.tolerations)
    on_host = daemon_spec(PodSpec(host_network=True)).tolerations
    assert "node.kubernetes.io/network-unavailable" in {each.key for each in on_host}
    assert only_node(pinned(spec, "n7")) == "n7"
    assert only_node(spec) is None


def test_selectors_and_labels_of_nodes_decide(lab: Make, agent: Make, nodes: Make, places: Places) -> None:
    one, two, three = nodes()
    w = lab(
        one.with_(labels=labels_of({"disk": "ssd"})), two, three,
        agent(pod={"node_selector": labels_of({"disk": "ssd"})}),
    )  # fmt: skip
    w.settle()
    assert places(w) == {"n1": "+"}
    w.after(LabelChanges("n2", (("disk", "ssd"),)))
    assert places(w) == {"n1": "+", "n2": "+"}
    w.after(LabelChanges("n1", (("disk", None),)))
    assert places(w) == {"n2": "+"}


def test_a_no_execute_taint_drives_a_pod_out_and_a_no_schedule_taint_does_not(
    lab: Make, agent: Make, nodes: Make, places: Places
) -> None:
    w = lab(*nodes(), agent())
    w.settle()
    w.after(TaintAdded("n1", "a"))
    assert places(w)["n1"] == "+"
    status = w.get("DaemonSet", "agent").status
    assert (status.desired, status.misscheduled) == (2, 1)
    w.after(TaintAdded("n1", "b", effect="NoExecute"))
    assert "n1" not in places(w)
    assert w.get("DaemonSet", "agent").status.misscheduled == 0


def test_a_node_that_is_not_ready_keeps_its_pod_but_is_not_desired(
    lab: Make, agent: Make, nodes: Make, places: Places
) -> None:
    w = lab(*nodes(), agent())
    w.settle()
    w.after(NodeCrashes("n1"))
    assert places(w) == {"n1": ".", "n2": "+", "n3": "+"}
    status = w.get("DaemonSet", "agent").status
    assert (status.desired, status.misscheduled, status.unavailable) == (2, 1, 0)
    w.after(NodeRecovers("n1"))
    assert places(w) == {"n1": "+", "n2": "+", "n3": "+"}


class NeverReady(Kubelet):
    """A kubelet that does not report n9 ready."""

    def report_node(self, reading: Reading, machine: Machine) -> Plan[None]:
        return Plan(None) if machine.name == "n9" else super().report_node(reading, machine)


class Rejecting(Kubelet):
    """A kubelet that admits nothing."""

    def rejected(self, machine: Machine, node: Node, pod: Pod) -> tuple[str, str] | None:
        return "NodeHasDiskPressure", "the node was low on resource: ephemeral-storage"


@pytest.mark.parametrize("blanket", [False, True])
def test_only_a_blanket_toleration_brings_a_pod_to_a_node_that_is_not_ready(
    lab: Make, agent: Make, nodes: Make, blanket: bool, places: Places
) -> None:
    """As network plugins have it, without which a node could never become ready."""
    tolerations = (Toleration(operator="Exists"),) if blanket else ()
    not_ready = Node(name="n9", ready="False", taints=(Taint("node.kubernetes.io/not-ready", "NoSchedule"),))
    w = lab(*nodes(1), not_ready, agent(pod={"tolerations": tolerations}), loops=(NeverReady(),))
    w.settle()
    pods = [only_node(each.spec) for each in w.cluster.store.all("Pod")]
    assert ("n9" in pods) == blanket


def test_a_drain_leaves_the_pods(lab: Make, agent: Make, nodes: Make, places: Places) -> None:
    w = lab(*nodes(), agent())
    w.settle()
    before = {each.uid for each in w.cluster.store.all("Pod")}
    w.after(Drain("n1"))
    assert {each.uid for each in w.cluster.store.all("Pod")} == before
    assert places(w) == {"n1": "+", "n2": "+", "n3": "+"}


def test_a_pod_deleted_by_hand_comes_again_on_the_same_node(lab: Make, agent: Make, nodes: Make) -> None:
    w = lab(*nodes(), agent())
    w.settle()
    node = w.pod("agent-b").node
    w.after(PodDeleted("pod/agent-b"))
    assert w.pod("agent-d").node == node


def test_of_two_pods_on_a_node_the_oldest_stays(lab: Make, agent: Make, nodes: Make, places: Places) -> None:
    w = lab(*nodes(1), agent())
    w.settle()
    w.put(w.pod("agent-a").with_(name="agent-x", uid=0, created_at=5, phase="Pending", ready=False))
    w.settle()
    assert w.pods() == ["agent-a+"]


def test_a_pending_pod_of_a_vanished_node_is_deleted(lab: Make, agent: Make, nodes: Make, places: Places) -> None:
    w = lab(*nodes(2), agent(pod={"cpu": 5000}))
    w.settle()
    assert places(w) == {"-": ".."}
    w.after(NodeDeleted("n2"))
    w.edit("DaemonSet", "agent", min_ready=1)
    w.settle()
    assert {only_node(each.spec) for each in w.cluster.store.all("Pod")} == {
        each.name for each in w.cluster.store.nodes()
    }


def test_failed_pods_are_deleted_with_a_growing_back_off(lab: Make, agent: Make, nodes: Make) -> None:
    """1, 2, 4 ... seconds between the deletions of what a kubelet rejects again and again."""
    w = lab(*nodes(1), agent(), loops=(Rejecting(),))
    w.until(40)
    deleted = [at for at, by, what, _ in w.written if by == "daemonset" and what.startswith("deletes")]
    assert deleted == [0, 1, 3, 7, 15, 31]
    assert len(w.cluster.store.all("Pod")) == 1
    backoff = Backoff(512, 0)
    assert Manager().next_backoff(backoff, 600).seconds == 900
    assert not backoff.expired(1800)
    assert backoff.expired(1801)


def test_an_old_view_does_not_make_pods_twice(lab: Make, agent: Make, nodes: Make, places: Places) -> None:
    w = lab(*nodes(), agent())
    w.settle()
    w.after(TaintAdded("n1", "a", effect="NoExecute"))
    w.strike(WatchStalls("daemonset", "Pod"))
    w.after(TaintRemoved("n1", "a"))
    w.edit("DaemonSet", "agent", min_ready=1)
    w.settle()
    assert len(w.cluster.store.all("Pod")) == 3
    w.after(WatchCatchesUp("daemonset", "Pod"))
    assert places(w) == {"n1": "+", "n2": "+", "n3": "+"}


def test_what_a_set_owns_goes_with_it(lab: Make, agent: Make, nodes: Make) -> None:
    w = lab(*nodes(), agent())
    w.settle()
    w.after(LoopRestarts("daemonset"), ObjectDeleted("daemonset/agent"))
    assert w.cluster.store.all("Pod") == w.cluster.store.all("ControllerRevision") == []
    assert w.cluster.loops["daemonset"].memory == DaemonSetController().start()
