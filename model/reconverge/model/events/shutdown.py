"""A machine that is shut down in an orderly way, with grace for its pods if its kubelet is set up so.

Source: `pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go`; documentation of node shutdowns.
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.action import Written
from reconverge.model.cluster import Cluster
from reconverge.model.events.machines import NodeEvent
from reconverge.model.machines import Machine
from reconverge.model.power import crashed, with_machine


@frozen
class NodeShutsDown(NodeEvent):
    """A machine is shut down: with the rule shutdown-grace its kubelet stops the pods first, else it just goes off."""

    name = "node-shutdown"
    summary = "a node's machine is shut down; its kubelet stops the pods first if the rule shutdown-grace is set"
    failure = True

    def enabled(self, cluster: Cluster) -> bool:
        """The machine runs and is not going down."""
        machine = self.machine(cluster)
        return machine is not None and machine.powered and machine.stops_at is None

    def apply(self, cluster: Cluster) -> Written:
        """The kubelet hears of it, or the power is gone."""
        return _shut_down(cluster, cluster.machines.by_name[self.node])

    def describe(self) -> str:
        """Node n1 is shut down."""
        return f"node {self.node} is shut down"


@frozen
class InstanceStopped(NodeEvent):
    """The instance behind a node is stopped at the cloud provider, which keeps it and can start it again."""

    name = "instance-stopped"
    summary = "the instance behind a node is stopped; it stays, is tainted as shut down, and can come back"
    failure = True

    def enabled(self, cluster: Cluster) -> bool:
        """The instance runs and is not going down."""
        machine = self.machine(cluster)
        return machine is not None and machine.exists and machine.powered and machine.stops_at is None

    def apply(self, cluster: Cluster) -> Written:
        """As a shutdown, and the provider knows of it."""
        return _shut_down(cluster, cluster.machines.by_name[self.node].with_(stopped=True))

    def describe(self) -> str:
        """The instance of node n1 is stopped."""
        return f"the instance of node {self.node} is stopped"


def _shut_down(cluster: Cluster, machine: Machine) -> Written:
    """The cluster with a machine that goes off, with grace where its kubelet grants some."""
    grace = cluster.rules.kubelet.shutdown_grace
    if grace <= 0 or not machine.works:
        return crashed(cluster, machine)
    return with_machine(cluster, machine.with_(stops_at=cluster.now + grace))
