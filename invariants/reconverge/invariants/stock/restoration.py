"""Whether every workload gets its replicas back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Quiet
from reconverge.invariants.stock.facts import can_be_ready, held_unready, is_powered, runs_ready
from reconverge.invariants.stock.missing import why_missing
from reconverge.invariants.stock.rollout_ends import is_eligible
from reconverge.model.action import Action, DeletePod, Patch
from reconverge.model.cluster import Cluster
from reconverge.model.eviction import Evict
from reconverge.model.loops.kubelet.actions import FromNode
from reconverge.model.naming import pods_of, workloads
from reconverge.model.objects import DaemonSet, Deployment, Pod
from reconverge.model.store import Store

MOST_REASONS = 3
"""How many missing replicas a message tells of one by one."""


@invariant(
    "replicas-restored",
    "eventually",
    statement="In the end every workload has as many pods ready, and really running, as it wants; a "
    "DaemonSet none on machines that are down.",
    why="It is what one runs several replicas for.",
    remedy="Leave room for the loss of a node or zone, rules of placement that the nodes left can satisfy, and a "
    "startup probe where a program is slow; remove Nodes that are dead, since StatefulSets and Recreate wait for "
    "their pods.",
    source="documentation of ReplicaSets and Deployments (desired state)",
)
def replicas_restored(quiet: Quiet, _: None) -> Iterable[Violation]:
    """Judges workloads whose pods can become ready. In a loop, replicas that come and go are not restored.

    A DaemonSet's pod on a node whose machine is down is the node's loss: it cannot run elsewhere.
    """
    if quiet.outcome == "unfinished":
        return ()
    found = []
    for workload in workloads(quiet.store):
        wanted = wanted_replicas(workload)
        if wanted and can_be_ready(workload) and not _held_back(quiet.store, workload):
            violation = _missing(quiet.cluster, workload, wanted) or _unstable(quiet, workload)
            if violation is not None:
                found.append(violation)
    return found


def wanted_replicas(workload: Any) -> int:
    """How many ready pods a workload wants for good; 0 for kinds that want none, such as Jobs."""
    replicas = getattr(workload, "replicas", None)
    if replicas is None:
        # A DaemonSet's count is what its controller found nodes for.
        replicas = getattr(getattr(workload, "status", None), "desired", 0)
    return int(replicas or 0)


def _on_dead_nodes(cluster: Cluster, workload: Any) -> int:
    """How many of the nodes that a DaemonSet counts are down: no other node can run the pods that are for them."""
    if not isinstance(workload, DaemonSet):
        return 0
    dead = (node for node in cluster.store.nodes() if not is_powered(cluster, node.name))
    return sum(is_eligible(workload.template.spec, node) for node in dead)


def _held_back(store: Store, workload: Any) -> bool:
    """Whether a Deployment was paused in the middle of a rollout."""
    if not isinstance(workload, Deployment) or not workload.paused:
        return False
    sets = store.replica_sets_of(workload.uid)
    return any(rs.template.digest != workload.template.digest and rs.replicas > 0 for rs in sets)


def _missing(cluster: Cluster, workload: Any, wanted: int) -> Violation | None:
    pods = pods_of(cluster.store, workload)
    running = [pod for pod in pods if runs_ready(cluster, pod) or held_unready(cluster, pod)]
    if len(running) >= wanted or len(running) >= (wanted := wanted - _on_dead_nodes(cluster, workload)):
        return None
    others = [pod for pod in pods if pod not in running]
    # Those that are going have a successor, which is the one to tell of.
    others.sort(key=lambda pod: pod.deletion_at is not None)
    reasons = [why_missing(cluster, pod) for pod in others] or _failed(cluster, workload)
    lacking = wanted - len(running)
    absent = lacking - sum(pod.active for pod in others)
    if absent > 0:
        reasons.append(f"{absent} more {'does' if absent == 1 else 'do'} not exist")
    shown = "; ".join(reasons[:MOST_REASONS])
    message = f"{len(running)} of {wanted} replicas of {workload.reference} are ready and running: {shown}"
    return Violation(workload.reference, message, {"wanted": wanted, "running": len(running), "missing": reasons})


def _failed(cluster: Cluster, workload: Any) -> list[str]:
    uids = {workload.uid, *(rs.uid for rs in cluster.store.replica_sets_of(workload.uid))}
    failed = [pod for pod in cluster.store.all("Pod") if pod.phase == "Failed" and _owned(pod, uids)]
    return [f"{len(failed)} have Failed, the last one: {failed[-1].message or failed[-1].reason}"] if failed else []


def _owned(pod: Pod, uids: set[int]) -> bool:
    return pod.owner is not None and pod.owner.uid in uids


def _unstable(quiet: Quiet, workload: Any) -> Violation | None:
    """Whether the loop in which the run ends takes away pods of the workload again and again."""
    prefixes = [f"{rs.key}-" for rs in quiet.store.replica_sets_of(workload.uid)] or [f"{workload.key}-"]
    for actor, action in quiet.repeating:
        key = removed_key(action)
        if key is not None and any(key.startswith(prefix) for prefix in prefixes):
            message = f"replicas of {workload.reference} come and go without end: {actor} {action.describe()}"
            return Violation(workload.reference, message, {"by": actor, "action": action.describe()})
    return None


def removed_key(action: Action) -> str | None:
    """The key of the pod that an action ends, or None."""
    if isinstance(action, FromNode):
        patch = action.action
        fails = isinstance(patch, Patch) and patch.kind == "Pod" and dict(patch.fields).get("phase") == "Failed"
        return patch.key if isinstance(patch, Patch) and fails else None
    return action.key if isinstance(action, DeletePod | Evict) else None
