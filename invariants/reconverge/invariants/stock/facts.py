"""What several stock invariants ask of a step or a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reconverge.invariants.situation import Step
from reconverge.model.cluster import Cluster
from reconverge.model.labels import label
from reconverge.model.local_pods import LocalPod
from reconverge.model.objects import Deployment, Node, Pod, ReplicaSet, Taint
from reconverge.model.objects.node import NO_EXECUTE
from reconverge.model.objects.revision import REVISION_HASH
from reconverge.model.parts import Part, parts
from reconverge.model.store import Change, Store

CAN_BE_READY = frozenset({"ready", "not-ready-first"})
"""Behaviours of containers that become ready and stay so."""


def begins_to_go(change: Change) -> bool:
    """Whether a change of a pod begins its end: it was not being deleted and now is, or is gone."""
    before = change.before
    if change.kind != "Pod" or before is None or before.deletion_at is not None:
        return False
    after = change.after
    return after is None or after.deletion_at is not None or after.uid != before.uid


def removals(step: Step) -> Iterator[Change]:
    """The changes of a step by which pods begin to go."""
    for change in step.changes:
        if begins_to_go(change):
            yield change


def undisturbed(step: Step) -> bool:
    """Whether nothing but the pass itself happened between what its loop read and this write of it.

    A pass that an event or another loop came in between decided on what it had read: what has changed since is no
    mistake of the loop.
    """
    state = step.before.cluster.loops.get(step.actor)
    flight = state.in_flight if state is not None else None
    return flight is None or flight.revision == step.before.store.revision


def knew_better(step: Step) -> bool:
    """Whether the loop had the cluster before it as it was: nothing came between, and no view of a loop was hindered.

    To be asked last, when something is wrong: it looks at all events.
    """
    state = step.before.cluster.loops.get(step.actor)
    if (state is not None and state.stalled) or not undisturbed(step):
        return False
    return not any(hasattr(event, "loop") for event in step.before.events)


def acts(cluster: Cluster, loop: str) -> bool:
    """Whether a loop does its work: it is not paused, sees everything, and has a leader and a store to write to."""
    state = cluster.loops.get(loop)
    hindered = state is not None and (state.paused or state.stalled)
    return not hindered and not cluster.machines.control_plane.halts(loop)


def local_pod(cluster: Cluster, pod: Pod) -> LocalPod | None:
    """The pod as the kubelet of its node holds it, on a machine that has power; None if it is not there."""
    machine = cluster.machines.get(pod.node) if pod.node is not None else None
    return machine.pods.get(pod.uid) if machine is not None and machine.powered else None


def is_powered(cluster: Cluster, node: str) -> bool:
    """Whether the machine of a node is there and has power."""
    machine = cluster.machines.get(node)
    return machine is not None and machine.exists and machine.powered


def runs_ready(cluster: Cluster, pod: Pod) -> bool:
    """Whether the API calls the pod ready, it is not going, and its containers really run and are ready."""
    if not pod.ready or not pod.active:
        return False
    local = local_pod(cluster, pod)
    return local is not None and local.alive and local.ready


def held_unready(cluster: Cluster, pod: Pod) -> bool:
    """Whether an event makes the readiness probe of a running pod fail, so that no control loop can help it."""
    local = local_pod(cluster, pod)
    return local is not None and local.alive and local.forced_ready is False


def can_be_ready(workload: object) -> bool:
    """Whether pods of the workload's template become ready where they run, and may be scheduled at all."""
    template = getattr(workload, "template", None)
    return template is not None and not template.spec.scheduling_gates and all(map(_gets_ready, parts(template.spec)))


def _gets_ready(part: Part) -> bool:
    """Whether a program does its part for a pod to become ready; whether its probes let it is another question."""
    return part.behaviour.kind == "exit-0" if part.role == "init" else part.behaviour.kind in CAN_BE_READY


def owning_set(store: Store, pod: Pod) -> ReplicaSet | None:
    """The ReplicaSet that owns the pod, or None."""
    owner = pod.owner
    if owner is None or owner.kind != "ReplicaSet":
        return None
    found = store.replica_set(f"{pod.namespace}/{owner.name}")
    return found if found is not None and found.uid == owner.uid else None


def owning_deployment(store: Store, rs: ReplicaSet) -> Deployment | None:
    """The Deployment that owns the ReplicaSet, or None."""
    owner = rs.owner
    if owner is None or owner.kind != "Deployment":
        return None
    found = store.deployment(f"{rs.namespace}/{owner.name}")
    return found if found is not None and found.uid == owner.uid else None


def pods_of_sets(store: Store, deployment: Deployment) -> list[Pod]:
    """All pods of a Deployment's ReplicaSets, finished and Terminating ones too, by set and key."""
    return [pod for rs in store.replica_sets_of(deployment.uid) for pod in store.pods_of(rs.uid)]


def is_updated(store: Store, workload: Any, pod: Pod) -> bool:
    """Whether a pod of a StatefulSet or DaemonSet is of the present template, by its digest and its revision label."""
    digest, revision = workload.template.digest, label(pod.labels, REVISION_HASH)
    if pod.template_digest != digest:
        return False
    owned = store.in_namespace("ControllerRevision", workload.namespace)
    names = [each for each in owned if each.owner is not None and each.owner.uid == workload.uid]
    present = {name for each in names if each.template.digest == digest for name in (each.name, each.hash)}
    return revision is None or not present or revision in present


def untolerated(pod: Pod, taints: tuple[Taint, ...]) -> Taint | None:
    """The first of some taints that the pod does not tolerate at all, or None."""
    for taint in taints:
        if not any(each.tolerates(taint) for each in pod.spec.tolerations):
            return taint
    return None


def evicting_taint(pod: Pod, node: Node) -> Taint | None:
    """A NoExecute taint on the node now that the pod does not tolerate, or only for some time; else None.

    Source: `pkg/controller/tainteviction/taint_eviction.go`.
    """
    for taint in node.taints:
        if taint.effect != NO_EXECUTE:
            continue
        matching = [each for each in pod.spec.tolerations if each.tolerates(taint)]
        if not matching or any(each.seconds is not None for each in matching):
            return taint
    return None


def count(number: int, noun: str, several: str = "") -> str:
    """`1 pod`, `2 pods`; `several` is the plural of a noun that does not end in `s`."""
    return f"{number} {noun if number == 1 else several or f'{noun}s'}"
