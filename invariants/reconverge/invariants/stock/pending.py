"""Pods that wait for a node although there is one."""

from __future__ import annotations

from collections.abc import Iterable

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Quiet
from reconverge.invariants.stock.disks import volumes_decide
from reconverge.invariants.stock.facts import acts
from reconverge.invariants.stock.oracle import FIXED, Oracle
from reconverge.model.cluster import Cluster
from reconverge.model.objects import Node, Pod
from reconverge.model.store import Store

PATIENCE = 60
"""Seconds after which a pod that waits while loops go on and on counts as waiting for ever."""
PREEMPTED = "PreemptionByScheduler"


@invariant(
    "pending-pods-placed",
    "eventually",
    family="law",
    statement="A pod that fits on some node, or may preempt its way onto one, does not stay pending.",
    why="Room that nobody uses while pods wait is an outage without a cause.",
    remedy="See why the scheduler does not look at the pod again; let one scheduler share out a node.",
    source="pkg/scheduler/backend/queue/scheduling_queue.go; pkg/scheduler/framework/preemption/preemption.go",
)
def pending_pods_placed(quiet: Quiet, _: None) -> Iterable[Violation]:
    """Judges every unbound pod at the end with the placement oracle."""
    if quiet.outcome == "unfinished":
        return ()
    return [
        violation
        for pod in quiet.store.unbound_pods()
        if _waits(quiet, pod) and (violation := _judged(quiet.store, pod)) is not None
    ]


def _waits(quiet: Quiet, pod: Pod) -> bool:
    """Whether it is for the scheduler to place the pod, and it has had its time for it."""
    if pod.deletion_at is not None or pod.spec.scheduling_gates or not _has_scheduler(quiet.cluster, pod):
        return False
    # The oracle knows where bound volumes are, and nothing else of volumes.
    if pod.spec.claims and volumes_decide(quiet.store, pod):
        return False
    if quiet.outcome == "rest":
        return True
    earlier = quiet.before.store.pod(pod.key)
    return (earlier is not None and earlier.uid == pod.uid) or pod.created_at + PATIENCE <= quiet.cluster.now


def _has_scheduler(cluster: Cluster, pod: Pod) -> bool:
    named = pod.spec.scheduler_name
    name = "scheduler" if named == "default-scheduler" else named
    if name not in cluster.loops:
        # Without any loops it is a cluster put together by hand, for which the scheduler is to be thought of.
        return not cluster.loops
    return acts(cluster, name)


def _judged(store: Store, pod: Pod) -> Violation | None:
    nominated = tuple(
        each
        for each in store.unbound_pods()
        if each.nominated_node is not None and each.uid != pod.uid and each.spec.priority >= pod.spec.priority
    )
    oracle = Oracle(store, pod, nominated=nominated)
    said = pod.unscheduled[1] if pod.unscheduled is not None else "it has not been looked at"
    nodes = store.nodes()
    for node in nodes:
        if oracle.fits(node):
            message = f"{pod.reference} stays Pending ({said}), and it fits on {node.name}"
            return Violation(pod.reference, message, {"node": node.name, "said": said})
    if not may_preempt(store, pod):
        return None
    for node in nodes:
        victims = _victims(store, pod, node, oracle)
        if victims and Oracle(store, pod, victims, nominated).fits(node):
            message = (
                f"{pod.reference} of priority {pod.spec.priority} stays Pending ({said}), and it fits on {node.name} "
                f"in place of pods of lower priority"
            )
            return Violation(pod.reference, message, {"node": node.name, "said": said, "lower": len(victims)})
    return None


def may_preempt(store: Store, pod: Pod) -> bool:
    """Whether the pod may preempt now: by its policy, and unless it waits for victims on its nominated node."""
    if pod.spec.preemption_policy == "Never":
        return False
    if pod.nominated_node is None:
        return True
    return not any(
        each.deletion_at is not None and each.disruption_target == PREEMPTED and each.spec.priority < pod.spec.priority
        for each in store.pods_on(pod.nominated_node)
        if not each.terminal
    )


def _victims(store: Store, pod: Pod, node: Node, oracle: Oracle) -> list[int]:
    """The uids of the lower pods on a node whose refusals their going might lift."""
    if any(refusal.kind in FIXED for refusal in oracle.refusals(node)):
        return []
    pods = store.pods_on(node.name)
    return [each.uid for each in pods if not each.terminal and each.spec.priority < pod.spec.priority]
