"""Which loops can make which changes: what the walker tries, so that it does not try everything."""

from __future__ import annotations

from reconverge.checker.conformance.names import Names
from reconverge.checker.conformance.recording import Observed
from reconverge.model.cluster import Cluster
from reconverge.model.objects import ApiObject

WORKLOAD_LOOPS = {"replicaset": "ReplicaSet", "statefulset": "StatefulSet", "daemonset": "DaemonSet", "job": "Job"}
"""Loops that own pods directly, and the kind whose keys they serve."""

WRITES = {
    "kubelet": frozenset({"Pod", "Node"}),
    "node-lifecycle": frozenset({"Pod", "Node"}),
    "taint-eviction": frozenset({"Pod"}),
    "deployment": frozenset({"Deployment", "ReplicaSet"}),
    "endpoints": frozenset({"EndpointSlice"}),
    "disruption": frozenset({"PodDisruptionBudget"}),
    "scheduler": frozenset({"Pod"}),
    "pod-gc": frozenset({"Pod"}),
    **{loop: frozenset({kind, "Pod"}) for loop, kind in WORKLOAD_LOOPS.items()},
}
"""Observed kinds that a loop writes; loops that are not listed may write any."""


def may_write(cluster: Cluster, loop: str, key: str, observed: Observed, names: Names) -> bool:
    """Whether a pass of a loop for a key may make the observed change."""
    if observed.kind not in WRITES.get(loop, {observed.kind}):
        return False
    name = names.of_recording(observed.kind, observed.name)
    if loop == "kubelet":
        node, _, pod = key.partition("|")
        return pod == f"default/{name}" if observed.kind == "Pod" else (node, pod) == (name, "")
    if loop == "taint-eviction":
        return key == f"default/{name}"
    if loop == "scheduler":
        # Victims of a preemption are written by the pass of the pod that comes in their place.
        return key == f"default/{name}" or bool(observed.fields.get("disruptionTarget"))
    if loop in WORKLOAD_LOOPS:
        return _of_workload(cluster, WORKLOAD_LOOPS[loop], key, observed, names, name)
    return True


def _of_workload(cluster: Cluster, kind: str, key: str, observed: Observed, names: Names, name: str) -> bool:
    if observed.kind == kind:
        return key == f"default/{name}"
    owner_kind, _, owner = str(observed.fields.get("owner") or "").partition("/")
    if owner_kind:
        return owner_kind == kind and key == f"default/{names.of_recording(kind, owner)}"
    found: ApiObject | None = cluster.store.get("Pod", f"default/{name}")
    return found is not None and found.owner is not None and found.owner.kind == kind
