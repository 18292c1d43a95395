"""Whether rollouts end: Deployments, StatefulSets down to their partition, DaemonSets on every node that is theirs.

Source: `pkg/controller/deployment/{rolling,progress}.go`, `pkg/controller/statefulset/stateful_set_control.go`,
`pkg/controller/daemon/update.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from attrs import frozen

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Quiet, Situation
from reconverge.invariants.stock.facts import can_be_ready, count, held_unready, is_updated, pods_of_sets
from reconverge.invariants.stock.missing import why_missing
from reconverge.invariants.stock.selection import node_refusals
from reconverge.model.cluster import Cluster
from reconverge.model.daemon_pods import daemon_spec, target_node
from reconverge.model.objects import DaemonSet, Deployment, Node, Pod, PodSpec, StatefulSet
from reconverge.model.store import Store

KINDS = ("Deployment", "StatefulSet", "DaemonSet")


@frozen
class Progress:
    """How far a rollout has come: how many updated pods are wanted, there, and available, and the old ones left."""

    wanted: int
    updated: int
    available: int
    old: int
    waits_for: tuple[Pod, ...]
    """Updated pods that are not available, or else pods whose end it may be waiting for."""


def _rolls(workload: Any) -> bool:
    """Whether a rollout of the workload is one that must end."""
    if workload.terminating or not can_be_ready(workload):
        return False
    if isinstance(workload, Deployment):
        return workload.replicas > 0 and not workload.paused
    return workload.strategy == "RollingUpdate" and (isinstance(workload, DaemonSet) or workload.replicas > 0)


def _workloads(store: Store) -> Iterator[Any]:
    return (each for kind in KINDS for each in store.all(kind) if _rolls(each))


def _any_rolls(situation: Situation, _: object) -> bool:
    return next(_workloads(situation.store), None) is not None


@invariant(
    "rollout-completes",
    "eventually",
    statement="A rollout to a template whose pods can become ready ends: all updated and available, no old ones.",
    why="A rollout that hangs leaves two versions running, and the next one waits behind it.",
    remedy="Leave room for the surge, or allow maxUnavailable 1 (maxSurge 0) where pods exclude each other or share a "
    "volume; delete the broken pod of an ordered StatefulSet by hand; remove Nodes that are dead.",
    source="pkg/controller/deployment/{rolling,progress}.go; pkg/controller/statefulset/stateful_set_control.go; "
    "pkg/controller/daemon/update.go",
    applies=_any_rolls,
)
def rollout_completes(quiet: Quiet, _: None) -> Iterable[Violation]:
    """Judges the end of the quiet run by the pods that are there: from the partition on, and on eligible nodes only."""
    if quiet.outcome == "unfinished":
        return ()
    return [violation for each in _workloads(quiet.store) for violation in _of_workload(quiet, each)]


def _of_workload(quiet: Quiet, workload: Any) -> Iterator[Violation]:
    progress = _progress(quiet.cluster, workload)
    if progress is None or not (progress.old or _was_changed(quiet, workload)):
        return
    if not progress.old and progress.available >= progress.wanted:
        return
    reasons = [why_missing(quiet.cluster, pod) for pod in progress.waits_for]
    message = (
        f"the rollout of {workload.reference} does not end: {progress.available} of {progress.wanted} updated pods "
        f"available, {count(progress.old, 'old pod')} left"
    )
    facts = {"updated": progress.updated, "available": progress.available, "old": progress.old, "waiting": reasons}
    yield Violation(workload.reference, f"{message}{f'; {reasons[0]}' if reasons else ''}", facts)


def _was_changed(quiet: Quiet, workload: Any) -> bool:
    """Whether the template is another one than at the start, or a new Deployment has no pods of it yet."""
    if isinstance(workload, Deployment):
        sets = quiet.store.replica_sets_of(workload.uid)
        if all(rs.template.digest != workload.template.digest for rs in sets):
            return True
    start = quiet.after.start
    before = start.store.get(workload.kind, workload.key) if start is not None else None
    return before is not None and before.template.digest != workload.template.digest


def _progress(cluster: Cluster, workload: Any) -> Progress | None:
    """How far the workload's rollout has come; None if an event holds it up."""
    if isinstance(workload, Deployment):
        return _of_deployment(cluster, workload)
    return (
        _of_stateful_set(cluster, workload) if isinstance(workload, StatefulSet) else _of_daemon_set(cluster, workload)
    )


def _is_available(cluster: Cluster, workload: Any, pod: Pod) -> bool:
    """Whether it is available; a pod whose readiness an event holds down is no rollout's fault."""
    return pod.available(workload.min_ready, cluster.now) or held_unready(cluster, pod)


def _of_deployment(cluster: Cluster, deployment: Deployment) -> Progress:
    digest = deployment.template.digest
    sets = cluster.store.replica_sets_of(deployment.uid)
    present = {rs.uid for rs in sets if rs.template.digest == digest}
    pods = pods_of_sets(cluster.store, deployment)
    new = [pod for pod in pods if pod.active and pod.owner is not None and pod.owner.uid in present]
    old = [pod for pod in pods if pod.active and pod not in new]
    waiting = [pod for pod in new if not _is_available(cluster, deployment, pod)]
    # Recreate waits for old pods until the last of them has stopped.
    ending = [pod for pod in pods if pod.deletion_at is not None and not pod.terminal]
    available = len(new) - len(waiting)
    return Progress(deployment.replicas, len(new), available, len(old), tuple(waiting or ending))


def _of_stateful_set(cluster: Cluster, sts: StatefulSet) -> Progress | None:
    """The ordinals from the partition on. A set waits for any pod that is not ready, also where an event holds it."""
    store = cluster.store
    pods = {pod.name: pod for pod in store.pods_of(sts.uid)}
    if any(held_unready(cluster, pod) for pod in pods.values()):
        return None
    numbers = range(sts.first_ordinal + (sts.partition or 0), sts.first_ordinal + sts.replicas)
    there = [pods[name] for name in (f"{sts.name}-{number}" for number in numbers) if name in pods]
    old = [pod for pod in there if not is_updated(store, sts, pod)]
    new = [pod for pod in there if pod not in old]
    waiting = [pod for pod in new if not (pod.active and _is_available(cluster, sts, pod))]
    return Progress(len(numbers), len(new), len(new) - len(waiting), len(old), tuple(waiting or old))


def _of_daemon_set(cluster: Cluster, ds: DaemonSet) -> Progress | None:
    """The nodes that the template selects and tolerates. Pods that go or fail on the others may hold it up, too."""
    store = cluster.store
    nodes = {node.name for node in store.nodes() if is_eligible(ds.template.spec, node)}
    pods = [pod for pod in store.pods_of(ds.uid) if not pod.terminal]
    here = [pod for pod in pods if target_node(pod) in nodes]
    old = [pod for pod in here if not is_updated(store, ds, pod)]
    new = [pod for pod in here if pod not in old and pod.active]
    if any(held_unready(cluster, pod) for pod in new):
        return None
    waiting = [pod for pod in new if not _is_available(cluster, ds, pod)]
    elsewhere = [pod for pod in pods if pod not in here]
    return Progress(len(nodes), len(new), len(new) - len(waiting), len(old), tuple(waiting or elsewhere or old))


def is_eligible(spec: PodSpec, node: Node) -> bool:
    """Whether a DaemonSet's pod should run on a node, whatever room there is."""
    if spec.node_name not in (None, node.name):
        return False
    return next(node_refusals(_daemon_pod(spec), node), None) is None


@lru_cache(maxsize=1024)
def _daemon_pod(spec: PodSpec) -> Pod:
    return Pod(name="daemon", spec=daemon_spec(spec))
