"""Which objects a change may affect: what lets the checker re-judge only what a step touched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reconverge.invariants.kinds import Invariant
from reconverge.invariants.situation import Situation
from reconverge.model.naming import workload_of
from reconverge.model.objects import ApiObject, CronJob, Pod
from reconverge.model.store import Change


def promised_to(subject: ApiObject) -> str:
    """The reference of the object that a promise is made to: of a CronJob's Jobs, each with a name of its own, that."""
    owner = subject.owner
    if subject.kind != "Job" or owner is None or owner.kind != "CronJob":
        return subject.reference
    return CronJob(name=owner.name, namespace=subject.namespace).reference


def may_touch(invariant: Invariant, kind: str) -> bool:
    """Whether changes of a kind can affect any object of the invariant's kind at all."""
    if invariant.watches:
        return kind in invariant.watches
    if invariant.touched_by is not None or invariant.for_each in ("", kind) or kind == "Pod":
        return True
    return (kind, invariant.for_each) in (("ReplicaSet", "Deployment"), ("EndpointSlice", "Service"))


def touched(invariant: Invariant, situation: Situation, change: Change) -> Iterable[str]:
    """Keys of the objects of the invariant's kind that a change may affect."""
    if invariant.touched_by is not None:
        return invariant.touched_by(situation, change)
    if invariant.for_each == "":
        return ("",)
    if change.kind == invariant.for_each:
        return (change.key,)
    return tuple(_related(invariant.for_each, situation, change))


def _related(kind: str, situation: Situation, change: Change) -> Iterator[str]:
    if change.kind == "Pod":
        for pod in (change.before, change.after):
            if isinstance(pod, Pod):
                yield from _of_pod(kind, situation, pod)
    elif change.kind == "ReplicaSet" and kind == "Deployment":
        owner = change.object.owner
        if owner is not None and owner.kind == "Deployment":
            yield f"{change.object.namespace}/{owner.name}"
    elif change.kind == "EndpointSlice" and kind == "Service":
        yield change.key


def _of_pod(kind: str, situation: Situation, pod: Pod) -> Iterator[str]:
    store = situation.store
    if kind == "Node":
        if pod.node is not None:
            yield pod.node
    elif kind in ("PodDisruptionBudget", "Service"):
        for each in store.in_namespace(kind, pod.namespace):
            if each.selector is not None and each.selector.matches(pod.labels):
                yield each.key
    else:
        workload = workload_of(store, pod)
        if workload is not None and workload.kind == kind:
            yield workload.key
        elif pod.owner is not None and pod.owner.kind == kind:
            yield f"{pod.namespace}/{pod.owner.name}"
