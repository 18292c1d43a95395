"""Building the cluster from which a check starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from reconverge.checker.rest import RestDetector
from reconverge.checker.schedule import Taken
from reconverge.model.action import Bind
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane, Move, Read, Wait
from reconverge.model.loop import Plan
from reconverge.model.naming import workload_of
from reconverge.model.node_groups import NodeGroup
from reconverge.model.objects import ApiObject
from reconverge.model.rules import Rules
from reconverge.model.standard import cluster_of
from reconverge.model.value import Seconds

SETTLED_FOR: Seconds = 4400
"""How long a settled start has been at rest: more than any timer looks back, and, in the logarithmic buckets in which
ages are compared (2^42 ns = 4398 s), with as much time again before the next bucket."""

Placement = Mapping[str, tuple[str, ...]]
"""By workload reference: the nodes of its pods, in order of creation."""


def started(
    plane: ControlPlane, objects: Iterable[ApiObject], rules: Rules, groups: Iterable[NodeGroup] = ()
) -> Cluster:
    """A cluster in which the objects have just been created (or stand as a dump shows them) and all loops start."""
    return plane.start(cluster_of(objects, rules, groups))


def settled(plane: ControlPlane, cluster: Cluster, placement: Placement | None = None) -> Cluster | None:
    """The cluster after it has come to rest and rested for a while; None if it does not come to rest."""
    detector = RestDetector(plane, cluster)
    left = {name: list(nodes) for name, nodes in (placement or {}).items()}
    while (move := plane.next(cluster)) is not None:
        before = cluster
        cluster = _step(plane, cluster, move, left)
        if detector.look(Taken(move, before, cluster)) is not None:
            return None
    return plane.wait(cluster, cluster.now + SETTLED_FOR)


PUBLISHING = ("endpoints", "kube-proxy")
"""Loops whose work a dump does not hold: slices are not read from it, and the rules on nodes are in no object."""


def published(plane: ControlPlane, cluster: Cluster) -> Cluster:
    """The cluster of a dump with what its Services had by then: their slices, and the nodes' rules for them."""
    for name in PUBLISHING:
        while (move := next((each for each in plane.ready(cluster) if each.loop == name), None)) is not None:
            cluster = _step(plane, cluster, move, {})
    return cluster.with_(turn=0)


def _step(plane: ControlPlane, cluster: Cluster, move: Move, left: dict[str, list[str]]) -> Cluster:
    if isinstance(move, Wait):
        return plane.wait(cluster, move.until)
    if not isinstance(move, Read):
        return plane.write(cluster, move).cluster
    plans = plane.plans(cluster, move)
    placed = left and move.loop == "scheduler"
    return plane.begin(cluster, move, _placed(cluster, move.key, plans, left) if placed else plans[0])


def _placed(cluster: Cluster, key: str, plans: Sequence[Plan[object]], left: dict[str, list[str]]) -> Plan[object]:
    """The plan with the node that the placement names for the pod, if it names one."""
    plan = plans[0]
    pod = cluster.store.pod(key)
    workload = workload_of(cluster.store, pod) if pod is not None else None
    nodes = left.get(workload.reference) if workload is not None else None
    if pod is None or pod.node is not None or not nodes or not plan.actions:
        return plan
    node = nodes.pop(0)
    if pod.spec.claims and (own := next((each for each in plans if each.choice == node), None)) is not None:
        # With what is written of its claims before the pod is bound.
        return own
    return plan.with_(actions=(Bind(pod.key, pod.uid, node, "placed there by the scenario"),), choice=node)
