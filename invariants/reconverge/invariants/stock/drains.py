"""Whether drains end, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Quiet, Situation, Step
from reconverge.invariants.stock.facts import is_powered, removals
from reconverge.model.cluster import Cluster
from reconverge.model.events import Drain, ManifestApplied, RollBack, RollOut, Scale, Uncordon
from reconverge.model.eviction import EVICTED
from reconverge.model.labels import label
from reconverge.model.loops.drain import DrainMemory, DrainStatus, drain_status
from reconverge.model.naming import workload_of
from reconverge.model.objects import Node, Pod
from reconverge.model.objects.pod import MIRROR
from reconverge.model.persistent import EMPTY

MOST_NAMED = 3
"""How many pods a message names."""


def drains(cluster: Cluster) -> DrainMemory:
    """The drains that run or have ended, by node."""
    state = cluster.loops.get("drain")
    return state.memory if state is not None and state.memory is not None else EMPTY


def _is_judged(situation: Situation, node: Node) -> bool:
    """Whether a node is drained, and the drain waits for something else than a machine that is down.

    No configuration would end such a wait, only the deletion of the Node.
    """
    status = drain_status(drains(situation.cluster), node.name)
    if status is None:
        return False
    return bool(status.error) or not status.waiting or bool(_open(situation.cluster, node, status))


@invariant(
    "drain-completes",
    "eventually",
    for_each="Node",
    statement="A drain ends, with the node cordoned and all pods gone that it had to evict; one that waits only for a "
    "machine that is down is not judged.",
    why="A drain that does not end holds up node upgrades and repairs, often unnoticed.",
    remedy="Let the budget allow one disruption (more replicas than minAvailable, maxUnavailable 1), have one budget "
    "per pod, and use unhealthyPodEvictionPolicy: AlwaysAllow.",
    source="kubectl/pkg/drain/drain.go; pkg/registry/core/pod/storage/eviction.go",
    applies=_is_judged,
)
def drain_completes(quiet: Quiet, node: Node) -> Iterable[Violation]:
    """Says what the eviction API answered for the pods that the drain waits for, or what a finished one has left."""
    if quiet.outcome == "unfinished":
        return ()
    status = drain_status(drains(quiet.cluster), node.name)
    if status is None:
        return ()
    if status.state == "drained":
        left = _left(quiet, node)
        message = f"the drain of {node.reference} has ended, and {left}"
        return (Violation(node.reference, message, {"waiting": []}),) if left else ()
    open_ = _open(quiet.cluster, node, status)
    waiting = [f"pod/{key.removeprefix('default/')}: {answer}" for key, answer in open_]
    does = "fails" if status.state == "failed" else "does not end"
    more = [f"and {len(waiting) - MOST_NAMED} more"] if len(waiting) > MOST_NAMED else []
    said = [*([status.error] if status.error else []), *waiting[:MOST_NAMED], *more]
    reasons = "; ".join(said) or "pods come back to the node"
    return (Violation(node.reference, f"the drain of {node.reference} {does}: {reasons}", {"waiting": waiting}),)


def _open(cluster: Cluster, node: Node, status: DrainStatus) -> list[tuple[str, str]]:
    """The pods that a drain waits for with their answers, but for those evicted whose machine is down."""
    if is_powered(cluster, node.name):
        return list(status.waiting)
    pods = ((key, answer, cluster.store.pod(key)) for key, answer in status.waiting)
    return [(key, answer) for key, answer, pod in pods if pod is None or pod.deletion_at is None]


def _left(quiet: Quiet, node: Node) -> str:
    """What a finished drain has left undone: a node that pods may come to, or pods that were there from the start.

    Nodes that have been uncordoned, edited or registered anew since are left alone, and pods that came later: kubectl
    lists once.
    """
    start = quiet.after.start
    before = start.store.node(node.name) if start is not None else None
    begun = [place for place, event in enumerate(quiet.events) if event == Drain(node.name)]
    if start is None or before is None or before.uid != node.uid or not begun:
        return ""
    since = quiet.events[begun[-1] + 1 :]
    if not node.unschedulable and not any(isinstance(event, Uncordon | ManifestApplied) for event in since):
        return "pods may still be scheduled to the node"
    there = {pod.uid for pod in start.store.pods_on(node.name)}
    pods = [pod for pod in quiet.store.pods_on(node.name) if pod.uid in there and pod.active and _is_evicted(pod)]
    verb = "is" if len(pods) == 1 else "are"
    return f"{', '.join(pod.reference for pod in pods[:MOST_NAMED])} {verb} still there" if pods else ""


def _is_evicted(pod: Pod) -> bool:
    """Whether a drain has to evict the pod: not one of a DaemonSet, nor a static one."""
    return label(pod.annotations, MIRROR) is None and (pod.owner is None or pod.owner.kind != "DaemonSet")


@invariant(
    "moved-once",
    "on_step",
    statement="Draining several nodes one after the other evicts a replica at most once.",
    why="Every move costs a start-up, and a replica that lands on the next node to be drained is moved again.",
    remedy="Cordon all nodes to be drained before the first is drained.",
    source="documentation of safely draining a node",
    default=False,
    watches=("Pod",),
)
def moved_once(step: Step, _: None) -> Iterable[Violation]:
    """Judges evictions by drains: of a pod that was created after another drain of the same run had begun."""
    if step.actor != "drain":
        return ()
    found = []
    for change in removals(step):
        pod: Pod = change.before
        if change.after is not None and change.after.disruption_target == EVICTED and pod.node is not None:
            other = _replacement_of(step, pod)
            if other is not None:
                message = f"{pod.reference} replaced a pod that the drain of {other} had evicted, and is evicted itself"
                found.append(Violation(pod.reference, message, {"node": pod.node, "earlier_drain": other}))
    return found


def _replacement_of(step: Step, pod: Pod) -> str | None:
    """The node whose drain had begun before the pod was created, if nothing but a drain can have made it."""
    start = step.before.start
    if start is not None and start.store.get("Pod", pod.key) is not None:
        return None
    workload = workload_of(step.before.store, pod)
    changing = (Scale, RollOut, RollBack)
    if workload is None or any(
        isinstance(event, changing) and event.workload == workload.reference for event in step.before.events
    ):
        return None
    memory = drains(step.before.cluster)
    earlier = [name for name in sorted(memory) if name != pod.node and memory[name].begun_at <= pod.created_at]
    return earlier[0] if earlier else None
