"""Whether drains end, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Quiet, Situation, Step
from reconverge.invariants.stock.facts import removals
from reconverge.model.cluster import Cluster
from reconverge.model.events import RollBack, RollOut, Scale
from reconverge.model.eviction import EVICTED
from reconverge.model.loops.drain import DrainMemory, drain_status
from reconverge.model.naming import workload_of
from reconverge.model.objects import Node, Pod
from reconverge.model.persistent import EMPTY


def drains(cluster: Cluster) -> DrainMemory:
    """The drains that run or have ended, by node."""
    state = cluster.loops.get("drain")
    return state.memory if state is not None and state.memory is not None else EMPTY


def _is_drained(situation: Situation, node: Node) -> bool:
    return node.name in drains(situation.cluster)


@invariant(
    "drain-completes",
    "eventually",
    for_each="Node",
    statement="A drain ends, with all pods gone that it had to evict.",
    why="A drain that does not end holds up node upgrades and repairs, often unnoticed.",
    remedy="Let the budget allow one disruption (more replicas than minAvailable, maxUnavailable 1), have one budget "
    "per pod, and use unhealthyPodEvictionPolicy: AlwaysAllow.",
    source="kubectl/pkg/drain/drain.go; pkg/registry/core/pod/storage/eviction.go",
    applies=_is_drained,
)
def drain_completes(quiet: Quiet, node: Node) -> Iterable[Violation]:
    """Says what the eviction API answered for each pod that the drain waits for."""
    if quiet.outcome == "unfinished":
        return ()
    status = drain_status(drains(quiet.cluster), node.name)
    if status is None or status.state == "drained":
        return ()
    waiting = [f"pod/{key.removeprefix('default/')}: {answer}" for key, answer in status.waiting]
    does = "fails" if status.state == "failed" else "does not end"
    reasons = "; ".join([*([status.error] if status.error else []), *waiting]) or "pods come back to the node"
    return (Violation(node.reference, f"the drain of {node.reference} {does}: {reasons}", {"waiting": waiting}),)


@invariant(
    "moved-once",
    "on_step",
    statement="Draining several nodes one after the other evicts a replica at most once.",
    why="Every move costs a start-up, and a replica that lands on the next node to be drained is moved again.",
    remedy="Cordon all nodes to be drained before the first is drained.",
    source="documentation of safely draining a node",
    default=False,
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
