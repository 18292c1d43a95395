"""What a rollout promises on its way: how many pods at most, how many available at least.

Source: `pkg/controller/deployment/{rolling,sync}.go`; the documentation of Deployments (maxSurge, maxUnavailable).
"""

from __future__ import annotations

from collections.abc import Iterable

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Situation, Step
from reconverge.invariants.stock.facts import (
    begins_to_go,
    count,
    owning_deployment,
    owning_set,
    pods_of_sets,
    removals,
    undisturbed,
)
from reconverge.model.events import Scale
from reconverge.model.objects import Deployment, Pod, ReplicaSet
from reconverge.model.rounding import max_surge, max_unavailable
from reconverge.model.store import Change, Store


def _created(step: Step) -> Pod | None:
    """The owned pod that a control loop creates in this step, or None."""
    if step.event is not None:
        return None
    for change in step.changes:
        if change.kind == "Pod" and change.before is None and change.after.owner is not None:
            return change.after  # type: ignore[no-any-return]
    return None


def _counted(store: Store, rs: ReplicaSet, terminating: bool, *, whole: bool) -> int:
    """The pods of a ReplicaSet: all that have not ended, or those that are active, unless `whole` up to its size."""
    pods = store.pods_of(rs.uid)
    if terminating:
        return sum(not each.terminal for each in pods)
    active = sum(each.active for each in pods)
    return active if whole else min(active, rs.replicas)


def _ceiling(rs: ReplicaSet, deployment: Deployment | None) -> int:
    """How many pods there may be. A ReplicaSet sized before its Deployment was scaled still goes by its old size."""
    if deployment is None:
        return rs.replicas
    most = deployment.replicas + max_surge(deployment)
    if rs.desired_replicas is not None and rs.desired_replicas != deployment.replicas:
        most = max(most, rs.max_replicas or 0)
    return most


def _above(step: Step, *, terminating: bool) -> Iterable[Violation]:
    pod = _created(step)
    store = step.after.store
    rs = owning_set(store, pod) if pod is not None else None
    if pod is None or rs is None:
        return ()
    deployment = owning_deployment(store, rs)
    sets = [rs] if deployment is None else store.replica_sets_of(deployment.uid)
    # Pods that another ReplicaSet has too many are on their way out already: the new one comes in their stead.
    there = sum(_counted(store, each, terminating, whole=each.uid == rs.uid) for each in sets)
    most = _ceiling(rs, deployment)
    if there <= most:
        return ()
    workload = rs if deployment is None else deployment
    counted = "Terminating ones included" if terminating else "Terminating ones apart"
    surge = 0 if deployment is None else max_surge(deployment)
    message = (
        f"{pod.reference} is created as pod {there} of {workload.reference} ({counted}), which may have {most}: "
        f"{workload.replicas} replicas and {surge} in surge"
    )
    return (Violation(workload.reference, message, {"pods": there, "most": most, "created": pod.reference}),)


@invariant(
    "rollout-ceiling",
    "on_step",
    statement="No pod is created above replicas + maxSurge, Terminating pods apart.",
    why="More pods than were planned for take room that others count on.",
    remedy="See why the controller did not know of the pods that were there.",
    source="pkg/controller/deployment/util/deployment_util.go (NewRSNewReplicas)",
    watches=("Pod",),
)
def rollout_ceiling(step: Step, _: None) -> Iterable[Violation]:
    """Judges creations: after a scale-down there may be more pods for a moment, but none is added to them.

    A pass that was planned before the scale-down and comes to its writes after it is excused.
    """
    return _above(step, terminating=False) if undisturbed(step) else ()


@invariant(
    "rollout-ceiling-terminating",
    "on_step",
    statement="No pod is created above replicas + maxSurge, counting Terminating pods, too.",
    why="Terminating pods hold their resources until they have stopped: a full cluster has no room for both.",
    remedy="Plan for the surge and as many Terminating pods, shorten the grace period, or choose Recreate.",
    source="documentation of Deployments (Terminating pods are not counted)",
    default=False,
    watches=("Pod",),
)
def rollout_ceiling_terminating(step: Step, _: None) -> Iterable[Violation]:
    """Broken by most rollouts of pods that take a while to stop, so it is judged only where it is asked for."""
    return _above(step, terminating=True)


def _deployments_of_removal(situation: Situation, change: Change) -> Iterable[str]:
    """The Deployment of a pod that begins to go."""
    if change.kind != "Pod" or not begins_to_go(change):
        return ()
    rs = owning_set(situation.store, change.before)
    deployment = owning_deployment(situation.store, rs) if rs is not None else None
    return () if deployment is None else (deployment.key,)


@invariant(
    "rollout-floor",
    "on_step",
    for_each="Deployment",
    statement="A rollout never takes away an available pod so that fewer than replicas - maxUnavailable are left.",
    why="It is what maxUnavailable promises: an update that costs no more capacity than was agreed to.",
    remedy="Set maxUnavailable to 0, and minReadySeconds so that new pods count only when they have proved themselves.",
    source="pkg/controller/deployment/rolling.go (reconcileOldReplicaSets)",
    applies=lambda _, deployment: deployment.strategy == "RollingUpdate",
    touched_by=_deployments_of_removal,
    watches=("Pod",),
)
def rollout_floor(step: Step, deployment: Deployment) -> Iterable[Violation]:
    """Judges each available pod of an old ReplicaSet that is scaled down, whatever else is down.

    A scaling up in the middle of the rollout does not raise the floor: those pods have never been there.
    """
    if step.actor != "replicaset":
        return ()
    now = step.before.cluster.now
    for change in removals(step):
        pod: Pod = change.before
        rs = owning_set(step.before.store, pod)
        if rs is None or rs.owner is None or rs.owner.uid != deployment.uid or not _is_old(rs, deployment):
            continue
        if not pod.available(deployment.min_ready, now):
            continue
        left = sum(each.available(deployment.min_ready, now) for each in _active(step.after.store, deployment))
        least = _floor(step.before, deployment)
        if left < least:
            message = (
                f"the rollout removes {pod.reference}, which leaves {count(left, 'available pod')} of "
                f"{deployment.reference} where {least} are the least"
            )
            facts = {"pod": pod.reference, "available": left, "least": least}
            return (Violation(deployment.reference, message, facts),)
    return ()


def _floor(before: Situation, deployment: Deployment) -> int:
    """How many available pods there must be: by the fewest replicas since the rollout began.

    A Deployment that is scaled up in the middle cannot keep pods that it has not got yet.
    """
    start = before.start
    at_start = start.store.get("Deployment", deployment.key) if start is not None else None
    fewest = present = at_start.replicas if at_start is not None else deployment.replicas
    for event in before.events:
        if not isinstance(event, Scale):
            fewest = present
        elif event.workload == deployment.reference:
            present = event.replicas
            fewest = min(fewest, present)
    smallest = deployment.with_(replicas=min(fewest, deployment.replicas))
    return min(each.replicas - max_unavailable(each) for each in (deployment, smallest))


def _is_old(rs: ReplicaSet, deployment: Deployment) -> bool:
    return rs.template.digest != deployment.template.digest


def _active(store: Store, deployment: Deployment) -> list[Pod]:
    return [pod for pod in pods_of_sets(store, deployment) if pod.active]
