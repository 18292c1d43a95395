"""Pods that are for one named node: how a DaemonSet's pods are tied to theirs.

Source: `pkg/controller/daemon/util/daemonset_util.go`.
"""

from __future__ import annotations

from functools import lru_cache

from attrs import evolve

from reconverge.model.labels import Requirement
from reconverge.model.objects import NodeSelectorTerm, Pod, PodSpec, Toleration
from reconverge.model.objects.node import (
    DISK_PRESSURE,
    MEMORY_PRESSURE,
    NETWORK_UNAVAILABLE,
    NO_EXECUTE,
    NO_SCHEDULE,
    NOT_READY,
    PID_PRESSURE,
    UNREACHABLE,
    UNSCHEDULABLE,
)

NODE_NAME = "metadata.name"

_TOLERATED = (
    (NOT_READY, NO_EXECUTE),
    (UNREACHABLE, NO_EXECUTE),
    (DISK_PRESSURE, NO_SCHEDULE),
    (MEMORY_PRESSURE, NO_SCHEDULE),
    (PID_PRESSURE, NO_SCHEDULE),
    (UNSCHEDULABLE, NO_SCHEDULE),
)
"""What every pod of a DaemonSet tolerates; `not-ready:NoSchedule` is not among it."""


@lru_cache(maxsize=4096)
def daemon_spec(spec: PodSpec) -> PodSpec:
    """A DaemonSet's pod spec with the automatic tolerations (AddOrUpdateDaemonPodTolerations)."""
    tolerated = (*_TOLERATED, *(((NETWORK_UNAVAILABLE, NO_SCHEDULE),) if spec.host_network else ()))
    wanted = [Toleration(key=key, operator="Exists", effect=effect) for key, effect in tolerated]
    missing = tuple(each for each in wanted if each not in spec.tolerations)
    return spec.with_(tolerations=(*spec.tolerations, *missing)) if missing else spec


@lru_cache(maxsize=65536)
def pinned(spec: PodSpec, node: str) -> PodSpec:
    """The spec for one node: any required node affinity is replaced (ReplaceDaemonSetPodNodeNameNodeAffinity)."""
    term = NodeSelectorTerm(fields=(Requirement(NODE_NAME, "In", (node,)),))
    return spec.with_(affinity=evolve(spec.affinity, node_required=(term,)))


@lru_cache(maxsize=65536)
def unpinned(spec: PodSpec) -> PodSpec:
    """The spec without the name of the only node on which it may run."""
    return spec.with_(affinity=evolve(spec.affinity, node_required=()))


@lru_cache(maxsize=65536)
def only_node(spec: PodSpec) -> str | None:
    """The one node on which a pod may run by its required node affinity, if that says just this."""
    terms = spec.affinity.node_required
    if terms is None or len(terms) != 1 or terms[0].expressions or len(terms[0].fields) != 1:
        return None
    (field,) = terms[0].fields
    named = field.key == NODE_NAME and field.operator == "In" and len(field.values) == 1
    return field.values[0] if named else None


def target_node(pod: Pod) -> str | None:
    """The node that a pod is on, or is for (GetTargetNodeName)."""
    return pod.node if pod.node is not None else only_node(pod.spec)
