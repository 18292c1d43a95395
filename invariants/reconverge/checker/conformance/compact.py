"""Objects of the model in the compact fields of a recording, under recorded names.

Only kinds that have a projection here are observed; writes of others, and writes that change none of the fields, are
inner steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

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
from reconverge.model.objects.pod import DELETION_COST
from reconverge.model.store import Change

Compact = dict[str, Any]


@frozen
class Seen:
    """A change as a watcher sees it: the event, the object's kind and name in the model, its compact fields."""

    event: str
    kind: str
    name: str
    fields: Mapping[str, Any]


def compact(each: ApiObject, names: Names) -> Compact:
    """The compact fields of an object. Raises KeyError for a kind that is not observed."""
    return PROJECTIONS[each.kind](each, names)


def seen(changes: tuple[Change, ...], names: Names) -> list[Seen]:
    """What a watcher sees of some changes: those of observed kinds that change a compact field."""
    found = []
    for change in changes:
        if change.kind not in PROJECTIONS:
            continue
        name = change.object.name
        if change.before is None:
            found.append(Seen("ADDED", change.kind, name, compact(change.after, names)))
        elif change.after is None:
            found.append(Seen("DELETED", change.kind, name, compact(change.before, names)))
        else:
            after = compact(change.after, names)
            if after != compact(change.before, names):
                found.append(Seen("MODIFIED", change.kind, name, after))
    return found


def differences(fields: Mapping[str, Any], recorded: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """(model, recorded) by field where they differ. A field that the model does not know is not compared."""
    found = {}
    for name in sorted({*fields, *recorded}):
        if name in UNKNOWN:
            continue
        mine, theirs = fields.get(name), _plain(name, recorded.get(name))
        if mine != theirs:
            found[name] = (mine, theirs)
    return found


UNKNOWN = frozenset({"rev"})
"""Fields that are not compared: a pod's `rev` says again what its owner is."""


def _plain(name: str, value: Any) -> Any:
    return str(value) if name == "deletionCost" and value is not None else value


def _given(**fields: Any) -> Compact:
    """The fields that are present: not None, False or empty."""
    return {name: value for name, value in fields.items() if value not in (None, False, "", (), [], {})}


def owner_name(each: ApiObject, names: Names) -> str | None:
    """The owner as recordings write it, `ReplicaSet/web-<rs1>`; None without one."""
    if each.owner is None:
        return None
    return f"{each.owner.kind}/{names.of_model(each.owner.kind, each.owner.name)}"


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


PROJECTIONS: dict[str, Callable[[Any, Names], Compact]] = {
    "Pod": _pod,
    "Node": _node,
    "ReplicaSet": _replica_set,
    "Deployment": _deployment,
    "PodDisruptionBudget": _budget,
    "EndpointSlice": _endpoint_slice,
}
"""The projection of each observed kind."""
