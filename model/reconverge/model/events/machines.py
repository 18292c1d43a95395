"""Events of machines and their kubelets: what the API is not told.

Source: `pkg/kubelet`; what the control loops make of these is theirs.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from reconverge.model.action import Written
from reconverge.model.cluster import Cluster
from reconverge.model.events.base import Event, Options, choices, combined
from reconverge.model.local_pods import LocalPod
from reconverge.model.machines import Machine
from reconverge.model.persistent import Map
from reconverge.model.power import crashed, halted, silenced, with_machine


@frozen
class NodeEvent(Event):
    """An event at one node."""

    node: str

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """One per node where it can happen."""
        for name in choices(options, "node", sorted(cluster.machines.by_name)):
            event = cls(name)
            if event.enabled(cluster):
                yield event

    def machine(self, cluster: Cluster) -> Machine | None:
        """The node's machine, or None."""
        return cluster.machines.get(self.node)


@frozen
class NodeCrashes(NodeEvent):
    """A machine loses power or hangs: everything on it is dead, and nobody is told."""

    name = "node-crash"
    summary = "a node's machine dies without a word"
    failure = True

    def enabled(self, cluster: Cluster) -> bool:
        """The machine runs."""
        machine = self.machine(cluster)
        return machine is not None and machine.powered

    def apply(self, cluster: Cluster) -> Written:
        """Containers die, heartbeats end; the API still says Ready."""
        machine = cluster.machines.by_name[self.node]
        return crashed(cluster, machine)

    def describe(self) -> str:
        """Node n1 crashes."""
        return f"node {self.node} crashes"


@frozen
class InstanceTerminated(NodeEvent):
    """The cloud provider takes a machine away for good."""

    name = "instance-terminated"
    summary = "the instance behind a node is terminated; its Node object will be removed"
    failure = True

    def enabled(self, cluster: Cluster) -> bool:
        """The instance exists."""
        machine = self.machine(cluster)
        return machine is not None and machine.exists

    def apply(self, cluster: Cluster) -> Written:
        """As a crash, and the instance is gone."""
        return crashed(cluster, cluster.machines.by_name[self.node], exists=False)

    def describe(self) -> str:
        """The instance of node n1 is terminated."""
        return f"the instance of node {self.node} is terminated"


@frozen
class NodePartitioned(NodeEvent):
    """A kubelet loses its way to the API server; its pods run on."""

    name = "node-partition"
    summary = "a node's kubelet cannot reach the API server; its containers keep running"
    failure = True

    def enabled(self, cluster: Cluster) -> bool:
        """The kubelet is connected."""
        machine = self.machine(cluster)
        return machine is not None and machine.connected

    def apply(self, cluster: Cluster) -> Written:
        """Only heartbeats end."""
        machine = cluster.machines.by_name[self.node]
        cut = with_machine(cluster, machine.with_(reachable=False))
        return combined(cut, silenced(cut[0], self.node))

    def describe(self) -> str:
        """Node n1 is cut off from the API server."""
        return f"node {self.node} is cut off from the API server"


@frozen
class NodeRecovers(NodeEvent):
    """A crashed or partitioned node comes back."""

    name = "node-recover"
    summary = "a crashed, stopped, cut off or hung node comes back"

    def enabled(self, cluster: Cluster) -> bool:
        """The instance exists, something is wrong with it, and its zone is up."""
        machine = self.machine(cluster)
        return (
            machine is not None
            and machine.exists
            and machine.boots_at is None
            and not (machine.connected and machine.runtime and machine.network)
            and machine.zone not in cluster.machines.zones_down
        )

    def apply(self, cluster: Cluster) -> Written:
        """Power, connection, kubelet, runtime and network are there again; a stopped instance is started."""
        machine = cluster.machines.by_name[self.node]
        well = machine.with_(powered=True, reachable=True, kubelet=True, runtime=True, network=True, stopped=False)
        return with_machine(cluster, well)

    def describe(self) -> str:
        """Node n1 comes back."""
        return f"node {self.node} comes back"


@frozen
class NodeReboots(NodeEvent):
    """A machine restarts within seconds: containers restart in the same pods."""

    name = "node-reboot"
    summary = "a node restarts quickly; its containers are restarted in place"
    failure = True

    def enabled(self, cluster: Cluster) -> bool:
        """The machine runs."""
        machine = self.machine(cluster)
        return machine is not None and machine.connected

    def apply(self, cluster: Cluster) -> Written:
        """Containers have died, the kubelet is up again and admits its pods anew."""
        machine = cluster.machines.by_name[self.node]
        return with_machine(cluster, halted(cluster, machine))

    def describe(self) -> str:
        """Node n1 reboots."""
        return f"node {self.node} reboots"


@frozen
class KubeletRestarts(NodeEvent):
    """The kubelet process restarts; containers are untouched, but every pod is admitted again."""

    name = "kubelet-restart"
    summary = "a kubelet restarts and admits its pods again; containers go on"
    failure = True

    def enabled(self, cluster: Cluster) -> bool:
        """The kubelet runs."""
        machine = self.machine(cluster)
        return machine is not None and machine.connected

    def apply(self, cluster: Cluster) -> Written:
        """Local pods are to be checked again; how long containers were to wait for a restart is forgotten."""
        machine = cluster.machines.by_name[self.node]
        pods = {uid: _restarted_under(pod) for uid, pod in machine.pods.items()}
        return with_machine(cluster, machine.with_(pods=Map(pods)))

    def describe(self) -> str:
        """The kubelet of node n1 restarts."""
        return f"the kubelet of node {self.node} restarts"


@frozen
class RuntimeHangs(NodeEvent):
    """The container runtime hangs: nothing starts or stops, the node stays Ready."""

    name = "runtime-hang"
    summary = "a node's container runtime hangs; the node stays Ready"
    failure = True

    def enabled(self, cluster: Cluster) -> bool:
        """The runtime works."""
        machine = self.machine(cluster)
        return machine is not None and machine.powered and machine.runtime

    def apply(self, cluster: Cluster) -> Written:
        """Only the runtime stops answering."""
        return with_machine(cluster, cluster.machines.by_name[self.node].with_(runtime=False))

    def describe(self) -> str:
        """The container runtime of node n1 hangs."""
        return f"the container runtime of node {self.node} hangs"


def _restarted_under(pod: LocalPod) -> LocalPod:
    """A pod whose kubelet has restarted: to be admitted again, and without its back-offs."""
    return pod.with_(checked=False, containers=tuple(each.with_(backoff=0) for each in pod.containers))
