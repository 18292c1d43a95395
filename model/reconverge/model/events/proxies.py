"""Events of the kube-proxies.

Source: `pkg/proxy/iptables/proxier.go`.
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.action import Written
from reconverge.model.cluster import Cluster
from reconverge.model.events.machines import NodeEvent
from reconverge.model.power import with_machine
from reconverge.model.proxy import Proxy


@frozen
class ProxyEvent(NodeEvent):
    """An event of the kube-proxy of one node."""

    def proxy(self, cluster: Cluster) -> Proxy | None:
        """The node's proxy, on a machine that runs; None if there is none."""
        machine = self.machine(cluster)
        return machine.proxy if machine is not None and machine.powered else None

    def stalled(self, cluster: Cluster, stalled: bool) -> Written:
        """The cluster with the proxy stalled or not."""
        machine = cluster.machines.by_name[self.node]
        assert machine.proxy is not None
        return with_machine(cluster, machine.with_(proxy=machine.proxy.with_(stalled=stalled)))


@frozen
class ProxyStalls(ProxyEvent):
    """The kube-proxy of a node hangs: the rules stay as they are."""

    name = "proxy-stall"
    summary = "the kube-proxy of a node stops updating its rules; traffic goes on by the old ones"
    failure = True

    def enabled(self, cluster: Cluster) -> bool:
        """The proxy works."""
        proxy = self.proxy(cluster)
        return proxy is not None and not proxy.stalled

    def apply(self, cluster: Cluster) -> Written:
        """Nothing else changes."""
        return self.stalled(cluster, True)

    def describe(self) -> str:
        """The kube-proxy of node n1 stalls."""
        return f"the kube-proxy of node {self.node} stalls"


@frozen
class ProxyResumes(ProxyEvent):
    """A stalled kube-proxy goes on: it writes the rules anew."""

    name = "proxy-resume"
    summary = "a stalled kube-proxy goes on"

    def enabled(self, cluster: Cluster) -> bool:
        """The proxy is stalled."""
        proxy = self.proxy(cluster)
        return proxy is not None and proxy.stalled

    def apply(self, cluster: Cluster) -> Written:
        """It notices at once what it has missed."""
        return self.stalled(cluster, False)

    def describe(self) -> str:
        """The kube-proxy of node n1 goes on."""
        return f"the kube-proxy of node {self.node} goes on"
