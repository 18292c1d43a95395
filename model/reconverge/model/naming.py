"""Stable symbols: how events and scenarios name workloads and pods.

Workloads are `kind/name` or `kind/namespace/name`; pods are named by owner and place among its pods
(`deployment/web#2`, from 0, in order of creation) or by their own name (`pod/web-0`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reconverge.model.objects import ApiObject, Pod
from reconverge.model.store import Store

WORKLOADS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob")
"""Kinds that have a pod template, in the order in which they are listed."""

KINDS = (
    *WORKLOADS,
    "Pod",
    "Node",
    "PodDisruptionBudget",
    "Service",
    "PriorityClass",
    "HorizontalPodAutoscaler",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "StorageClass",
    "Ingress",
    "IngressClass",
)


def kind_named(word: str) -> str | None:
    """The kind whose lower-case name is `word`, or None."""
    lowered = word.lower()
    return next((kind for kind in KINDS if kind.lower() == lowered), None)


def resolve(store: Store, symbol: str) -> Any:
    """The object that `kind/name` or `kind/namespace/name` names, or None."""
    kind, key = split(symbol)
    if kind is None:
        return None
    if kind in ("Node", "PriorityClass", "PersistentVolume", "StorageClass", "IngressClass"):
        return store.get(kind, key.removeprefix("default/"))
    return store.get(kind, key)


def split(symbol: str) -> tuple[str | None, str]:
    """(kind, key) that a symbol names; kind None if it is not known."""
    parts = symbol.split("/")
    kind = kind_named(parts[0])
    key = f"default/{parts[1]}" if len(parts) == 2 else "/".join(parts[1:])
    return kind, key


def pod_named(store: Store, symbol: str) -> Pod | None:
    """The pod at `owner#place`, `pod/name`, `pod/namespace/name`, or a bare pod name in the default namespace."""
    owner, mark, place = symbol.rpartition("#")
    if mark:
        found = resolve(store, owner)
        pods = pods_of(store, found) if found is not None else []
        return pods[int(place)] if place.isdigit() and int(place) < len(pods) else None
    if "/" not in symbol:
        return store.pod(f"default/{symbol}")
    found = resolve(store, symbol)
    return found if isinstance(found, Pod) else None


def pods_of(store: Store, workload: ApiObject) -> list[Pod]:
    """A workload's pods that are not finished, in order of creation; a Deployment's through its ReplicaSets."""
    uids = [workload.uid]
    if workload.kind == "Deployment":
        uids = [rs.uid for rs in store.replica_sets_of(workload.uid)]
    elif workload.kind == "CronJob":
        uids = [job.uid for job in store.jobs_of(workload.uid)]
    pods = [pod for uid in uids for pod in store.pods_of(uid) if not pod.terminal]
    return sorted(pods, key=lambda pod: (pod.created_at, pod.uid))


def workload_of(store: Store, pod: Pod) -> ApiObject | None:
    """The workload that people think of as the pod's: the Deployment above its ReplicaSet, else its owner."""
    if pod.owner is None:
        return None
    owner = store.get(pod.owner.kind, f"{pod.namespace}/{pod.owner.name}")
    if isinstance(owner, ApiObject) and owner.owner is not None:
        above = store.get(owner.owner.kind, f"{owner.namespace}/{owner.owner.name}")
        if isinstance(above, ApiObject):
            return above
    return owner if isinstance(owner, ApiObject) else None


def symbol_of(store: Store, pod: Pod) -> str:
    """The stable symbol of a pod: by owner and place, or by its own name."""
    workload = workload_of(store, pod)
    if workload is None:
        return pod.reference
    pods = [each.uid for each in pods_of(store, workload)]
    return f"{workload.reference}#{pods.index(pod.uid)}" if pod.uid in pods else pod.reference


def workloads(store: Store) -> Iterator[Any]:
    """Every workload that no other one owns, by kind and key."""
    for kind in WORKLOADS:
        for each in store.all(kind):
            if each.owner is None:
                yield each
