"""Starts from an old state of the store: lists that an API server answers from a watch cache that lags.

The store's past is kept only where a scenario says that somebody may see it (`remembering`), one state per event.
Source: client-go `tools/cache/reflector.go` (first list with resourceVersion 0), apiserver
`pkg/storage/cacher/cacher.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconverge.model.cluster import Cluster
from reconverge.model.elections import with_health
from reconverge.model.local_pods import running_pod
from reconverge.model.loop import InFlight
from reconverge.model.loops.kubelet import containers
from reconverge.model.loops.kubelet.actions import Locally
from reconverge.model.loops.kubelet.loop import pod_key
from reconverge.model.objects import Pod

if TYPE_CHECKING:
    from reconverge.model.control_plane import ControlPlane

FROM_OLD_LIST = "the first list after its restart is an old one"


def remembering(cluster: Cluster, events: int) -> Cluster:
    """The cluster with the state of its store kept for so many events."""
    return with_health(cluster, cluster.machines.control_plane.with_(remembers=events + 1))


def with_old_view(plane: ControlPlane, cluster: Cluster, loop: str, back: int) -> Cluster:
    """The cluster with a loop started anew on the state of the store that lies so far back in the past.

    It keeps that view of all that has changed since, kind by kind, until each watch catches up.
    """
    old = cluster.machines.control_plane.past[back]
    kinds = sorted(plane.by_name[loop].watches & {*old.tables, *cluster.store.tables})
    stalled = {kind: old.table(kind) for kind in kinds if old.table(kind) is not cluster.store.tables.get(kind)}
    return plane.restart(cluster, loop, stalled)


def revived(cluster: Cluster, node: str, back: int) -> list[Pod]:
    """The pods that a kubelet would start from an old list: bound to its node then, and not running there now."""
    past = cluster.machines.control_plane.past
    machine = cluster.machines.get(node)
    if machine is None or back >= len(past):
        return []
    return [pod for pod in past[back].pods_on(node) if pod.active and pod.uid not in machine.pods]


def with_old_kubelet(plane: ControlPlane, cluster: Cluster, node: str, back: int) -> Cluster:
    """The cluster with a kubelet that starts what an old list shows, and then sees the present.

    What the old list lacks and the node runs is left alone; a real kubelet might stop it for a moment.
    """
    starts = tuple(_starts(cluster, node, pod) for pod in revived(cluster, node, back))
    state = cluster.loops["kubelet"]
    before = state.in_flight.actions if state.in_flight is not None else ()
    keys = [pod_key(node, start.pod.key) for start in starts]
    flight = InFlight(keys[0], (*before, *starts), cluster.store.revision) if starts else state.in_flight
    loops = {**cluster.loops, "kubelet": state.with_(in_flight=flight)}
    return plane.rewake(cluster.with_(loops=loops), "kubelet", [pod_key(node, ""), *keys])


def _starts(cluster: Cluster, node: str, pod: Pod) -> Locally:
    local = running_pod(pod.key, pod.uid, pod.spec, cluster.now, restarts=pod.restarts)
    ready = containers.desired_readiness(local, cluster.rules.kubelet, cluster.now)
    return Locally(node, local.with_(ready=ready), "starts", FROM_OLD_LIST)
