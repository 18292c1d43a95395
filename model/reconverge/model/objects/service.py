"""Service and EndpointSlice.

Source: `pkg/apis/core/types.go`, `pkg/apis/core/v1/defaults.go`, `endpointslice/utils.go`.
"""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen

from reconverge.model.labels import Selector
from reconverge.model.objects.meta import ApiObject
from reconverge.model.value import Value

CLUSTER_IP, NODE_PORT, LOAD_BALANCER, EXTERNAL_NAME = "ClusterIP", "NodePort", "LoadBalancer", "ExternalName"
CLUSTER, LOCAL = "Cluster", "Local"
"""Traffic policies: endpoints anywhere, or only those of the node that the traffic comes to."""
SAME_NODE = "PreferSameNode"
DISTRIBUTIONS = ("PreferClose", "PreferSameZone", SAME_NODE)
"""What a Service may prefer: endpoints of the same zone (the first two), or of the same node and then zone."""


@frozen
class ServicePort:
    """A port of a Service: its name (empty for none) and its number."""

    name: str
    port: int


@frozen(kw_only=True)
class Service(ApiObject):
    """A Service; without a selector nothing keeps its endpoints."""

    kind: ClassVar[str] = "Service"

    type: str = CLUSTER_IP
    selector: Selector | None = None
    ports: tuple[ServicePort, ...] = ()
    publish_not_ready: bool = False
    headless: bool = False
    external_traffic_policy: str = CLUSTER
    internal_traffic_policy: str = CLUSTER
    session_affinity: str = "None"
    traffic_distribution: str = ""
    """Which endpoints are preferred, one of DISTRIBUTIONS; empty for none."""

    @property
    def proxied(self) -> bool:
        """Whether nodes have rules for it: it has an address of its own."""
        return not self.headless and self.type != EXTERNAL_NAME

    @property
    def external(self) -> bool:
        """Whether traffic from outside the cluster comes in at the nodes."""
        return self.proxied and self.type in (NODE_PORT, LOAD_BALANCER)


@frozen
class Endpoint(Value):
    """One pod behind a Service. `ready` is serving and not terminating (or published regardless)."""

    pod: str
    """Key of the pod."""
    node: str
    ready: bool
    serving: bool
    terminating: bool
    zone: str = ""
    """The zone of its node; empty if that is not known."""
    uid: int = 0
    """The pod's uid, which stands for its address: another pod of that name has another one."""


@frozen(kw_only=True)
class EndpointSlice(ApiObject):
    """The endpoints of one Service. The model keeps one slice per Service instead of one per 100 endpoints."""

    kind: ClassVar[str] = "EndpointSlice"

    service: str = ""
    endpoints: tuple[Endpoint, ...] = ()
