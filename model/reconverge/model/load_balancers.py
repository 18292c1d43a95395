"""To which nodes a load balancer of the cloud sends the traffic of a Service of type LoadBalancer.

Cordoned nodes and nodes that are not Ready stay in its set: which of them get traffic is left to its health checks.
Source: cloud-provider `controllers/service/controller.go` (node predicates), `pkg/proxy/healthcheck/proxy_health.go`,
`pkg/proxy/healthcheck/service_health.go`.
"""

from __future__ import annotations

from reconverge.model.labels import label
from reconverge.model.loops.cluster_autoscaler.writes import TO_BE_DELETED
from reconverge.model.machines import Machine
from reconverge.model.objects import Node, Service
from reconverge.model.objects.service import LOCAL
from reconverge.model.store import Store

EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers"


def balanced(node: Node) -> bool:
    """Whether a node is in the set of load balancers: not being deleted or removed, and not excluded by its label."""
    return node.deletion_at is None and label(node.labels, EXCLUDED) is None and not _leaves(node)


def balanced_nodes(store: Store) -> list[Node]:
    """The nodes that load balancers know, ordered by name."""
    return [node for node in store.nodes() if balanced(node)]


def passes_check(service: Service, node: Node, machine: Machine) -> bool:
    """Whether the health check of a load balancer finds a node fit for the traffic of a Service.

    Under the policy Cluster the node's proxy answers unless the node is about to go; under Local it answers for the
    Service: whether a ready endpoint is on the node.
    """
    if not machine.powered or machine.proxy is None:
        return False
    if service.external_traffic_policy == LOCAL:
        route = machine.proxy.routes.get(service.key)
        return route is not None and route.local_ready
    return node.deletion_at is None and not _leaves(node)


def _leaves(node: Node) -> bool:
    """Whether the cluster autoscaler is about to remove a node."""
    return any(taint.key == TO_BE_DELETED.key for taint in node.taints)
