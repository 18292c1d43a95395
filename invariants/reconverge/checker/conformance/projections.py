"""Each observed kind in the compact fields of a recording, under recorded names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reconverge.checker.conformance.names import Names
from reconverge.model.labels import label
from reconverge.model.objects import (
    ApiObject,
    Condition,
    Deployment,
    EndpointSlice,
    Node,
    Pod,
    PodDisruptionBudget,
    ReplicaSet,
)
from reconverge.model.objects.daemonset import DaemonSet
from reconverge.model.objects.job import Job
from reconverge.model.objects.pod import DELETION_COST
from reconverge.model.objects.revision import REVISION_HASH
from reconverge.model.objects.statefulset import StatefulSet

Compact = dict[str, Any]


class Revision(str):
    """A revision of the model that has no recorded name yet."""

    __slots__ = ()


REVISION = "Revision"
"""The kind under which names of revisions are paired."""


def _revision(name: str, names: Names) -> str | None:
    """The recorded name of a revision, or the model's, marked as such; None for none."""
    if not name:
        return None
    return names.of_model(REVISION, name) if names.known(REVISION, name) else Revision(name)


def _given(**fields: Any) -> Compact:
    """The fields that are present: not None, False or empty."""
    return {name: value for name, value in fields.items() if value not in (None, False, "", (), [], {})}


def owner_name(each: ApiObject, names: Names) -> str | None:
    """The owner as recordings write it, `ReplicaSet/web-<rs1>`; None without one."""
    if each.owner is None:
        return None
    return f"{each.owner.kind}/{names.of_model(each.owner.kind, each.owner.name)}"


def _pod_revision(pod: Pod, names: Names) -> Compact:
    """The revision of a StatefulSet's or DaemonSet's pod."""
    if pod.owner is None or pod.owner.kind not in ("StatefulSet", "DaemonSet"):
        return {}
    told = label(pod.labels, REVISION_HASH) or ""
    # A StatefulSet labels its pods with the name of the revision, a DaemonSet with its hash.
    return {"rev": _revision(told if pod.owner.kind == "StatefulSet" else f"{pod.owner.name}-{told}", names)}


def _pod(pod: Pod, names: Names) -> Compact:
    unscheduled = None
    if pod.unscheduled is not None:
        unscheduled = {"reason": pod.unscheduled[0], "message": pod.unscheduled[1]}
    return {
        "owner": owner_name(pod, names),
        "node": pod.node,
        "phase": pod.phase,
        "ready": pod.ready,
        "terminating": pod.terminating,
        **_pod_revision(pod, names),
        **_given(
            unscheduled=unscheduled,
            reason=pod.reason,
            message=pod.message,
            nominatedNode=pod.nominated_node,
            disruptionTarget=pod.disruption_target,
            waiting=pod.waiting,
            restarts=pod.restarts,
            jobFinalizer=any("job-tracking" in each for each in pod.finalizers),
            deletionCost=label(pod.annotations, DELETION_COST),
        ),
    }


def _node(node: Node, names: Names) -> Compact:
    return {
        "ready": node.ready,
        "reason": node.ready_reason,
        "unschedulable": node.unschedulable,
        "taints": [str(taint) for taint in node.taints],
    }


def _replica_set(rs: ReplicaSet, names: Names) -> Compact:
    status = rs.status
    fields: Compact = {
        "owner": owner_name(rs, names),
        "spec": rs.replicas,
        "replicas": status.replicas,
        "ready": status.ready,
        "available": status.available,
        "revision": rs.deployment_revision,
        "desired": rs.desired_replicas,
        "max": rs.max_replicas,
    }
    if status.terminating is not None:
        fields["terminatingReplicas"] = status.terminating
    return fields


def _conditions(conditions: tuple[Condition, ...]) -> Compact:
    return {each.type: [each.status, each.reason] for each in conditions}


def _deployment(deployment: Deployment, names: Names) -> Compact:
    status = deployment.status
    fields: Compact = {
        "spec": deployment.replicas,
        "revision": deployment.deployment_revision,
        "generation": deployment.generation,
        "observed": status.observed_generation,
        "replicas": status.replicas,
        "updated": status.updated,
        "ready": status.ready,
        "available": status.available,
        "unavailable": status.unavailable,
        "conditions": _conditions(status.conditions),
        **_given(paused=deployment.paused),
    }
    if status.terminating is not None:
        fields["terminatingReplicas"] = status.terminating
    return fields


def _budget(budget: PodDisruptionBudget, names: Names) -> Compact:
    status = budget.status
    fields: Compact = {
        "currentHealthy": status.current_healthy,
        "desiredHealthy": status.desired_healthy,
        "disruptionsAllowed": status.disruptions_allowed,
        "expectedPods": status.expected_pods,
        "disruptedPods": sorted(names.of_model("Pod", name) for name, _ in status.disrupted_pods),
    }
    if budget.min_available is not None:
        fields["minAvailable"] = budget.min_available
    if budget.max_unavailable is not None:
        fields["maxUnavailable"] = budget.max_unavailable
    if status.condition is not None:
        fields["condition"] = list(status.condition)
    return fields


def _endpoint_slice(slice_: EndpointSlice, names: Names) -> Compact:
    endpoints = {
        names.of_model("Pod", each.pod.partition("/")[2]): {
            "ready": each.ready,
            "serving": each.serving,
            "terminating": each.terminating,
        }
        for each in slice_.endpoints
    }
    return {"service": slice_.service, "endpoints": endpoints}


def _stateful_set(sts: StatefulSet, names: Names) -> Compact:
    status = sts.status
    return {
        "spec": sts.replicas,
        "generation": sts.generation,
        "observed": status.observed_generation,
        "replicas": status.replicas,
        "ready": status.ready,
        "available": status.available,
        "current": status.current,
        "updated": status.updated,
        "currentRevision": _revision(status.current_revision, names),
        "updateRevision": _revision(status.update_revision, names),
        **_given(partition=sts.partition or None),
    }


def _daemon_set(ds: DaemonSet, names: Names) -> Compact:
    status = ds.status
    return {
        "generation": ds.generation,
        "observed": status.observed_generation,
        "desired": status.desired,
        "current": status.current,
        "ready": status.ready,
        "available": status.available,
        "updated": status.updated,
        "misscheduled": status.misscheduled,
        "unavailable": status.unavailable,
    }


def _job(job: Job, names: Names) -> Compact:
    status = job.status
    uncounted = {"succeeded": len(status.uncounted_succeeded), "failed": len(status.uncounted_failed)}
    return {
        "parallelism": job.parallelism,
        "completions": job.completions,
        "backoffLimit": job.backoff_limit,
        "active": status.active,
        "ready": status.ready,
        "succeeded": status.succeeded,
        "failed": status.failed,
        "terminating": status.terminating,
        "conditions": _conditions(status.conditions),
        "uncounted": uncounted,
    }


PROJECTIONS: dict[str, Callable[[Any, Names], Compact]] = {
    "Pod": _pod,
    "Node": _node,
    "ReplicaSet": _replica_set,
    "Deployment": _deployment,
    "PodDisruptionBudget": _budget,
    "EndpointSlice": _endpoint_slice,
    "StatefulSet": _stateful_set,
    "DaemonSet": _daemon_set,
    "Job": _job,
}
"""The projection of each observed kind."""
