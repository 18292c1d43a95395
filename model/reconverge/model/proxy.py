"""The rules by which a machine sends the traffic of Services to pods, as its kube-proxy has last written them.

Source: `pkg/proxy/iptables/proxier.go` (syncProxyRules).
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.persistent import EMPTY, Map
from reconverge.model.value import Value


@frozen
class Backend:
    """One address that a rule sends traffic to: that of a pod with this uid, on its node."""

    pod: str
    """Key of the pod, for people."""
    uid: int
    node: str


@frozen
class Route:
    """What a node does with the traffic of one Service: each connection goes to any of the backends, or is refused."""

    internal: tuple[Backend, ...] = ()
    """For the Service's address inside the cluster."""
    external: tuple[Backend, ...] = ()
    """For what comes in from outside at this node (NodePort, LoadBalancer)."""
    local_ready: bool = False
    """Whether a ready endpoint is on this node: what a health check of a Local policy is told."""

    @property
    def backends(self) -> tuple[Backend, ...]:
        """All backends, whatever the way."""
        return (
            self.internal if self.external == self.internal else tuple(dict.fromkeys((*self.internal, *self.external)))
        )


@frozen
class Proxy(Value):
    """The kube-proxy of a machine: its rules by key of the Service, and whether it has stopped updating them."""

    routes: Map[str, Route] = EMPTY
    stalled: bool = False
