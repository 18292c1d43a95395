"""Networks of nodes that fail: the container network that a kubelet sees, and the route that the cloud's agent sees.

Source: `pkg/kubelet/kubelet.go` (networkErrors), `pkg/kubelet/nodestatus/setters.go` (ReadyCondition),
cloud-provider `controllers/route/route_controller.go` (updateNetworkingCondition).
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from reconverge.model.action import Written
from reconverge.model.cluster import Cluster
from reconverge.model.events.base import Event, Options, choices
from reconverge.model.events.machines import NodeEvent
from reconverge.model.power import with_machine

NETWORK_UNAVAILABLE = "NetworkUnavailable"


@frozen
class NetworkPluginFails(NodeEvent):
    """A node's container network fails. Its kubelet lives and says so: the node is not ready, its pods run on."""

    name = "network-plugin-down"
    summary = "a node's container network fails: its kubelet reports not Ready and starts nothing; its pods run on"
    failure = True

    def enabled(self, cluster: Cluster) -> bool:
        """The machine runs, and its network is ready."""
        machine = self.machine(cluster)
        return machine is not None and machine.powered and machine.network

    def apply(self, cluster: Cluster) -> Written:
        """Only the machine knows so far."""
        return with_machine(cluster, cluster.machines.by_name[self.node].with_(network=False))

    def describe(self) -> str:
        """The container network of node n1 fails."""
        return f"the container network of node {self.node} fails"


@frozen
class NetworkUnavailable(NodeEvent):
    """The agent of the network reports that a node has no route, or has one again."""

    name = "network-unavailable"
    summary = "a node's condition NetworkUnavailable becomes True, or (on: false) no longer is"
    failure = True

    on: bool = True

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """Each node that has a route, and each that has none."""
        for name in choices(options, "node", sorted(cluster.machines.by_name)):
            for on in choices(options, "on", (True, False)):
                event = cls(name, on)
                if event.enabled(cluster):
                    yield event

    def enabled(self, cluster: Cluster) -> bool:
        """The Node is there, and it is not so yet."""
        node = cluster.store.node(self.node)
        return node is not None and (NETWORK_UNAVAILABLE in node.pressure) is not self.on

    def apply(self, cluster: Cluster) -> Written:
        """The condition, and nothing else."""
        node = cluster.store.node(self.node)
        assert node is not None
        changed = {NETWORK_UNAVAILABLE}
        conditions = node.pressure | changed if self.on else node.pressure - changed
        store, change = cluster.store.put(node.with_(pressure=conditions))
        return cluster.with_(store=store), (change,)

    def describe(self) -> str:
        """Node n1 has no route."""
        return f"node {self.node} {'has no route' if self.on else 'has a route again'}"
