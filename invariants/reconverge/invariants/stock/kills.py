"""Whether what stops a pod, or takes it out of service, has a cause that stands at that moment.

Each loop that can end a pod has its own good reasons; `CAUSES` has one question for each. What operators do, and
containers that exit by themselves, need no reason.
Source: `pkg/controller/tainteviction/taint_eviction.go`, `pkg/controller/nodelifecycle/node_lifecycle_controller.go`,
`pkg/controller/replicaset/replica_set.go`, `pkg/controller/daemon/daemon_controller.go`,
`pkg/kubelet/lifecycle/predicate.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Step
from reconverge.invariants.stock.drains import drains
from reconverge.invariants.stock.facts import (
    begins_to_go,
    count,
    evicting_taint,
    is_updated,
    knew_better,
    local_pod,
    owning_set,
    undisturbed,
    untolerated,
)
from reconverge.invariants.stock.selection import selection_refusals
from reconverge.invariants.stock.waits import in_quarantine, too_soon
from reconverge.model.cluster import Cluster
from reconverge.model.labels import label
from reconverge.model.local_pods import LocalPod
from reconverge.model.loop import MACHINES
from reconverge.model.loops.cluster_autoscaler.writes import to_be_deleted
from reconverge.model.loops.kubelet.actions import Forget, Locally
from reconverge.model.objects import Pod
from reconverge.model.objects.node import NO_EXECUTE, OUT_OF_SERVICE
from reconverge.model.objects.pod import MIRROR
from reconverge.model.store import Change, Store

FEWEST_NODES = 2
"""With a single node, silence of the node cannot be told from silence of all."""


def _taint_stands(step: Step, pod: Pod) -> str:
    """A NoExecute taint on its node that it does not tolerate, or no longer; or the Node object is gone."""
    node = step.before.store.node(pod.node or "")
    if node is None:
        return ""
    if evicting_taint(pod, node) is not None:
        return too_soon(step, pod, node)
    taints = ", ".join(str(taint) for taint in node.taints if taint.effect == NO_EXECUTE)
    return f"{node.name} has {f'only {taints}, which it tolerates' if taints else 'no NoExecute taint'}"


def _is_surplus(step: Step, pod: Pod) -> str:
    """More active pods than its ReplicaSet wants, or a ReplicaSet that is gone."""
    rs = owning_set(step.before.store, pod)
    if rs is None or not undisturbed(step):
        return ""
    active = sum(each.active for each in step.before.store.pods_of(rs.uid))
    return "" if active > rs.replicas else f"{rs.reference} has {count(active, 'pod')} and wants {rs.replicas}"


def _is_preempted(step: Step, pod: Pod) -> str:
    """A pod of higher priority that waits for a node and may preempt."""
    waiting = (each.spec for each in step.before.store.unbound_pods() if each.spec.preemption_policy != "Never")
    return "" if any(each.priority > pod.spec.priority for each in waiting) else "no pod of higher priority waits"


def _is_drained(step: Step, pod: Pod) -> str:
    """A drain of its node."""
    return "" if pod.node in drains(step.before.cluster) else f"no drain of {pod.node} is in progress"


def _is_collectable(step: Step, pod: Pod) -> str:
    """A Node object that has been gone for a while, or an out-of-service taint."""
    node = step.before.store.node(pod.node or "")
    if node is None:
        return in_quarantine(step, pod)
    if any(taint.key == OUT_OF_SERVICE for taint in node.taints):
        return ""
    return f"the Node object {node.name} is there"


def _is_orphan(step: Step, pod: Pod) -> str:
    """An owner that is gone."""
    owner = pod.owner
    found = step.before.store.get(owner.kind, f"{pod.namespace}/{owner.name}") if owner is not None else None
    if owner is None or (found is not None and found.uid == owner.uid):
        return "its owner is there" if owner is not None else "it has no owner"
    return ""


def _is_removed_with_its_node(step: Step, pod: Pod) -> str:
    """A node that is marked as one that goes, and nothing about the pod that keeps its node from going."""
    node = step.before.store.node(pod.node or "")
    if node is not None and not to_be_deleted(node):
        return f"{node.name} is not marked as to be deleted"
    start = step.before.start
    before = start.store.pod(pod.key) if start is not None else None
    # What came to the node after its pods were looked at is evicted with them.
    same = before is not None and before.uid == pod.uid and before.annotations == pod.annotations
    return _held_up(pod) if same and before is not None and before.node == pod.node else ""


def _held_up(pod: Pod) -> str:
    """Why the cluster autoscaler must leave a pod where it is; empty if it may go."""
    said = label(pod.annotations, "cluster-autoscaler.kubernetes.io/safe-to-evict")
    if said == "true" or pod.terminal:
        return ""
    if said == "false":
        return 'it is annotated safe-to-evict: "false"'
    if pod.owner is None:
        return "no controller would create it again"
    return "it has local storage" if {"hostPath", "emptyDir"} & set(pod.spec.volumes) else ""


def _is_of_no_use_there(step: Step, pod: Pod) -> str:
    """A node that it does not suit, another pod of its DaemonSet there, or a newer template."""
    store, owner = step.before.store, pod.owner
    ds = store.get("DaemonSet", f"{pod.namespace}/{owner.name}") if owner is not None else None
    node = store.node(pod.node or "")
    if ds is None or node is None or not is_updated(store, ds, pod) or not knew_better(step):
        return ""
    others = [each for each in store.pods_on(node.name) if each.owner == owner and each.active and each.uid != pod.uid]
    unfit = next(selection_refusals(pod, node), None) is not None
    if unfit or others or untolerated(pod, tuple(taint for taint in node.taints if taint.effect == NO_EXECUTE)):
        return ""
    return f"{node.name} suits it, and it is the only one of {ds.reference} there"


def _is_not_of_its_node(step: Step, pod: Pod) -> str:
    """A pod that another node could have: not a DaemonSet's, nor one of a mirror; what else may go is a setting."""
    if pod.owner is not None and pod.owner.kind == "DaemonSet":
        return "it belongs to its node, as a pod of a DaemonSet"
    return "it is a mirror pod" if label(pod.annotations, MIRROR) is not None else ""


CAUSES: dict[str, Callable[[Step, Pod], str]] = {
    "cluster-autoscaler": _is_removed_with_its_node,
    "daemonset": _is_of_no_use_there,
    "descheduler": _is_not_of_its_node,
    "taint-eviction": _taint_stands,
    "replicaset": _is_surplus,
    "scheduler": _is_preempted,
    "drain": _is_drained,
    "pod-gc": _is_collectable,
    "garbage-collector": _is_orphan,
}
"""By control loop: a function that says what is wrong with its removal of a bound pod; empty if a cause stands."""


@invariant(
    "no-unprovoked-kill",
    "on_step",
    family="law",
    statement="A bound pod is stopped, deleted or marked not ready only for a cause that stands at that moment.",
    why="Where a loop acts on what is no longer so, healthy pods are lost for nothing, often many at once.",
    remedy="See what the loop believed: an old plan, an old view, or silence taken for death.",
    source="pkg/controller/tainteviction/taint_eviction.go; pkg/kubelet/lifecycle/predicate.go; "
    "pkg/controller/nodelifecycle/node_lifecycle_controller.go",
    watches=(
        "Pod",
        MACHINES,
    ),
)
def no_unprovoked_kill(step: Step, _: None) -> Iterable[Violation]:
    """Judges removals, ends and not-ready marks of bound pods, also of those that do not run yet."""
    if step.event is not None:
        return ()
    action = step.action
    kind = type(action)
    if kind is Locally:
        return _let_go(step, action.node, action.pod.uid) if action.pod.state == "stopped" else ()  # type: ignore[union-attr]
    if kind is Forget:
        return _let_go(step, action.node, action.uid) if _holds(step, action.node, action.uid) else ()  # type: ignore[union-attr]
    found = []
    for change in step.changes:
        if change.kind == "Pod" and change.before is not None and change.before.node is not None:
            wrong = _of_change(step, change)
            if wrong:
                found.append(_unprovoked(step, change.before, *wrong))
    return found


def _unprovoked(step: Step, pod: Pod, done: str, wrong: str) -> Violation:
    message = f"{step.actor} {done} {pod.reference} on {pod.node} without a cause that stands: {wrong}"
    return Violation(pod.reference, message, {"by": step.actor, "node": pod.node, "why_not": wrong})


def _of_change(step: Step, change: Change) -> tuple[str, str] | None:
    """(what was done, what is wrong with it) of a change of a bound pod; None if it is in order."""
    before: Pod = change.before
    after: Pod | None = change.after
    if before.terminal:
        return None
    if begins_to_go(change):
        wrong = CAUSES[step.actor](step, before) if step.actor in CAUSES else ""
        return ("removes", wrong) if wrong else None
    if after is None or before.deletion_at is not None:
        return None
    if after.phase == "Failed":
        return _of_failure(step, before)
    if before.ready and not after.ready and step.actor == "node-lifecycle":
        return _of_mark(step, before)
    return None


def _of_failure(step: Step, pod: Pod) -> tuple[str, str] | None:
    if step.actor == "pod-gc":
        wrong = _is_collectable(step, pod)
        return ("fails", wrong) if wrong else None
    local = local_pod(step.before.cluster, pod)
    if step.actor != "kubelet" or local is None or local.state not in ("admitted", "running"):
        return None
    wrong = _no_reason_on_node(step.before.store, pod)
    return ("fails", wrong) if wrong else None


def _holds(step: Step, node: str, uid: int) -> bool:
    """Whether the machine holds the pod as one that has not stopped."""
    machine = step.before.cluster.machines.get(node)
    local = machine.pods.get(uid) if machine is not None else None
    return local is not None and local.state != "stopped"


def _let_go(step: Step, node: str, uid: int) -> Iterable[Violation]:
    """Judges a kubelet that stops or drops a pod which the API wants there."""
    machine = step.before.cluster.machines.get(node)
    local: LocalPod | None = machine.pods.get(uid) if machine is not None else None
    pod = step.before.store.pod(local.key) if local is not None else None
    if pod is None or pod.uid != uid or pod.node != node or pod.terminal or pod.deletion_at is not None:
        return ()
    if machine is not None and (machine.stops_at is not None or (machine.strain is not None and machine.strain.known)):
        # The kubelet knows of pressure before the Node says so, and of a shutdown.
        return ()
    wrong = _no_reason_on_node(step.before.store, pod)
    return (_unprovoked(step, pod, "stops", wrong),) if wrong else ()


def _no_reason_on_node(store: Store, pod: Pod) -> str:
    """What is wrong with a kubelet that ends a pod it had taken in; empty under pressure or an untolerated taint."""
    node = store.node(pod.node or "")
    if node is None or node.pressure:
        return ""
    if untolerated(pod, tuple(taint for taint in node.taints if taint.effect == NO_EXECUTE)) is not None:
        return ""
    return "it had been admitted, and what was asked at its scheduling is not asked again of pods that run"


def _of_mark(step: Step, pod: Pod) -> tuple[str, str] | None:
    """Judges a pod that is marked not ready for its node's silence: a node that is heard from is not silent.

    When all nodes are silent, no node is to blame.
    """
    cluster = step.before.cluster
    local = local_pod(cluster, pod)
    if local is None or not local.ready:
        return None
    if _heard(cluster, pod.node or "") and knew_better(step):
        return "marks not ready", f"it runs and is ready, and {pod.node} is Ready and heard from"
    nodes = cluster.store.nodes()
    if len(nodes) < FEWEST_NODES or not all(_silent(cluster, each.name) for each in nodes):
        return None
    return "marks not ready", f"it runs and is ready, and none of {len(nodes)} nodes is heard from any more"


def _heard(cluster: Cluster, node: str) -> bool:
    """Whether the kubelet renews its lease and has reported Ready."""
    lease, found = cluster.store.lease(node), cluster.store.node(node)
    return lease is not None and lease.renewed_at is None and found is not None and found.ready == "True"


def _silent(cluster: Cluster, node: str) -> bool:
    lease = cluster.store.lease(node)
    if lease is not None:
        return lease.renewed_at is not None
    found = cluster.store.node(node)
    return found is not None and found.ready != "True"
