"""What a kubelet writes: to its own machine, and to the API while it is connected.

Source: `pkg/kubelet/kubelet.go`, `pkg/kubelet/status/status_manager.go`.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from reconverge.model.action import Action, Written
from reconverge.model.cluster import Cluster
from reconverge.model.errors import Conflict, NotFound, StoreUnavailable, Unreachable
from reconverge.model.local_pods import LocalPod
from reconverge.model.loop import MACHINES
from reconverge.model.machines import Machine
from reconverge.model.objects import Lease, Node
from reconverge.model.objects.node import NO_SCHEDULE, NOT_READY, Taint
from reconverge.model.store import Change

NO_QUORUM = "etcdserver: no leader: etcd has lost its quorum"


@frozen
class Locally(Action):
    """Set the state of one pod on the machine.

    Raises Unreachable if the kubelet cannot do it any more, and Conflict if something has happened to the pod since
    it was looked at: a crash or a reboot is not undone by a pass that does not know of it.
    """

    node: str
    pod: LocalPod
    verb: str
    reason: str = ""
    seen: LocalPod | None = None
    """The pod as the pass knew it; None where that does not matter."""

    def apply(self, cluster: Cluster) -> Written:
        """Needs the machine, the kubelet and the container runtime, not the API server."""
        machine = _working(cluster, self.node)
        known = machine.pods.get(self.pod.uid)
        if self.seen is not None and known is not self.seen and known != self.seen:
            raise Conflict(f"what runs of pod/{self.pod.key.removeprefix('default/')} on {self.node} has changed")
        return _with_machine(cluster, machine, machine.with_pod(self.pod))

    def describe(self) -> str:
        """What happens to the pod's containers."""
        return f"{self.verb} pod/{self.pod.key.removeprefix('default/')} on {self.node}"


@frozen
class Forget(Action):
    """Drop a pod from the machine: its resources are free again."""

    node: str
    uid: int
    key: str
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """Needs the machine and the kubelet."""
        machine = _working(cluster, self.node)
        return _with_machine(cluster, machine, machine.without_pod(self.uid))

    def describe(self) -> str:
        """Names the pod."""
        return f"cleans up pod/{self.key.removeprefix('default/')} on {self.node}"


@frozen
class FromNode(Action):
    """A write to the API made by a kubelet. Raises Unreachable while it is cut off, StoreUnavailable without quorum."""

    node: str
    action: Action
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """The write itself, if the kubelet reaches the API server."""
        machine = cluster.machines.get(self.node)
        if machine is None or not machine.connected:
            raise Unreachable(f"the kubelet of {self.node} does not reach the API server")
        if not cluster.machines.control_plane.writable:
            raise StoreUnavailable(NO_QUORUM)
        return self.action.apply(cluster)

    def describe(self) -> str:
        """As the write describes itself."""
        return self.action.describe()


@frozen
class Register(Action):
    """Create the Node object of a machine. Admission taints it not-ready until its kubelet reports Ready.

    Source: `pkg/kubelet/kubelet_node_status.go` (registerWithAPIServer), `plugin/pkg/admission/nodetaint/admission.go`.
    """

    node: Node
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """Nothing if the Node is there."""
        if cluster.store.node(self.node.name) is not None:
            return cluster, ()
        not_ready = Taint(NOT_READY, NO_SCHEDULE)
        new = self.node.with_(
            uid=0,
            created_at=cluster.now,
            ready="False",
            ready_reason="KubeletNotReady",
            unschedulable=False,
            taints=(*(each for each in self.node.taints if each.key != NOT_READY), not_ready),
        )
        store, change = cluster.store.put(new)
        if store.lease(new.name) is not None:
            return cluster.with_(store=store), (change,)
        store, lease = store.put(Lease(name=new.name))
        return cluster.with_(store=store), (change, lease)

    def describe(self) -> str:
        """Names the node."""
        return f"registers node/{self.node.name}"


def from_node(machine: Machine, actions: Iterable[Action]) -> tuple[Action, ...]:
    """Writes to the API as ones of a machine's kubelet."""
    return tuple(FromNode(machine.name, action, getattr(action, "reason", "")) for action in actions)


def _working(cluster: Cluster, node: str) -> Machine:
    machine = cluster.machines.get(node)
    if machine is None:
        raise NotFound(f"machine {node} not found")
    if not machine.works:
        raise Unreachable(f"the kubelet of {node} does not run")
    return machine


def _with_machine(cluster: Cluster, before: Machine, after: Machine) -> Written:
    # Loops that live on machines watch these changes; a kubelet does not wake itself by what it did itself.
    change = Change(MACHINES, before.name, before, after)
    return cluster.with_(machines=cluster.machines.put(after)), (change,)
