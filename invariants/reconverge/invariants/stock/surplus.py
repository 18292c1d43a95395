"""Whether what is too many goes: a scale-down ends with as many pods as are wanted.

Source: `pkg/controller/replicaset/replica_set.go` (manageReplicas), `pkg/controller/statefulset/
stateful_set_control.go` (processCondemned), `pkg/controller/daemon/daemon_controller.go` (podsShouldBeOnNode),
`pkg/controller/job/job_controller.go` (manageJob).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Quiet
from reconverge.invariants.stock.facts import acts, count, owning_deployment, pods_of_sets
from reconverge.model.cluster import Cluster
from reconverge.model.objects import DaemonSet, Deployment, Job, Pod, ReplicaSet, StatefulSet
from reconverge.model.rounding import max_surge
from reconverge.model.store import Store

MOST_NAMED = 3
"""How many pods a message names."""


@invariant(
    "no-surplus",
    "eventually",
    family="law",
    statement="In the end no workload has more active pods than it wants.",
    why="Pods that a scale-down leaves behind hold resources, take traffic and cost money.",
    remedy="See why the controller does not delete: what it counts, and what it waits for.",
    source="pkg/controller/replicaset/replica_set.go (manageReplicas); "
    "pkg/controller/statefulset/stateful_set_control.go (processCondemned)",
)
def no_surplus(quiet: Quiet, _: None) -> Iterable[Violation]:
    """Judges the settled state; an ordered StatefulSet may wait for pods that are not available, and keeps more."""
    if quiet.outcome != "rest":
        return ()
    cluster = quiet.cluster
    found: list[Violation] = []
    for kind, (loops, surplus) in _KINDS.items():
        for workload in cluster.store.all(kind):
            if not workload.terminating and all(acts(cluster, loop) for loop in loops):
                found += surplus(cluster, workload)
    return found


def _active(store: Store, workload: Any) -> list[Pod]:
    return [pod for pod in store.pods_of(workload.uid) if pod.active]


def _too_many(workload: Any, pods: list[Pod], wanted: int, why: str = "") -> Violation:
    names = ", ".join(pod.reference for pod in pods[:MOST_NAMED])
    more = f" and {len(pods) - MOST_NAMED} more" if len(pods) > MOST_NAMED else ""
    has = f"{workload.reference} has {count(len(pods), 'active pod')} at rest"
    message = f"{has} and wants {wanted}{why}: {names}{more}"
    return Violation(workload.reference, message, {"active": len(pods), "wanted": wanted})


def _of_set(cluster: Cluster, rs: ReplicaSet) -> Iterator[Violation]:
    active = _active(cluster.store, rs)
    if len(active) > rs.replicas:
        yield _too_many(owning_deployment(cluster.store, rs) or rs, active, rs.replicas, f" in {rs.reference}")


def _of_deployment(cluster: Cluster, deployment: Deployment) -> Iterator[Violation]:
    """Counts the surge only where pods of several templates are there, as in a rollout that hangs."""
    active = [pod for pod in pods_of_sets(cluster.store, deployment) if pod.active]
    rolling = len({pod.template_digest for pod in active}) > 1
    most = deployment.replicas + (max_surge(deployment) if rolling else 0)
    if len(active) > most:
        yield _too_many(deployment, active, most)


def _of_stateful_set(cluster: Cluster, sts: StatefulSet) -> Iterator[Violation]:
    wanted = {f"{sts.name}-{number}" for number in range(sts.first_ordinal, sts.first_ordinal + sts.replicas)}
    pods = cluster.store.pods_of(sts.uid)
    active = [pod for pod in pods if pod.active]
    if wanted.issuperset(pod.name for pod in active) or (sts.policy == "OrderedReady" and _waits(cluster, sts, wanted)):
        return
    yield _too_many(sts, active, sts.replicas)


def _waits(cluster: Cluster, sts: StatefulSet, wanted: set[str]) -> bool:
    """Whether an ordered set may be waiting for a pod: to exist, to be gone, to run, to be available."""
    pods = cluster.store.pods_of(sts.uid)
    if not wanted.issubset(pod.name for pod in pods):
        return True
    now = cluster.now
    return any(not pod.active or pod.phase != "Running" or not pod.available(sts.min_ready, now) for pod in pods)


def _of_daemon_set(cluster: Cluster, ds: DaemonSet) -> Iterator[Violation]:
    """One on each node, or while a rollout with surge hangs two; Terminating and unbound ones apart."""
    most = 1 if ds.max_surge in (0, "0%") else 2
    by_node: dict[str, list[Pod]] = {}
    for pod in _active(cluster.store, ds):
        if pod.node is not None and cluster.store.node(pod.node) is not None:
            by_node.setdefault(pod.node, []).append(pod)
    for node, pods in sorted(by_node.items()):
        if len(pods) > most:
            yield _too_many(ds, pods, most, f" on node/{node}")
            return


def _of_job(cluster: Cluster, job: Job) -> Iterator[Violation]:
    wanted = 0 if job.suspend or job.status.finished else job.parallelism
    active = _active(cluster.store, job)
    if len(active) > wanted:
        yield _too_many(job, active, wanted)


_KINDS: dict[str, tuple[tuple[str, ...], Callable[[Cluster, Any], Iterator[Violation]]]] = {
    "Deployment": (("deployment", "replicaset"), _of_deployment),
    "ReplicaSet": (("replicaset",), _of_set),
    "StatefulSet": (("statefulset",), _of_stateful_set),
    "DaemonSet": (("daemonset",), _of_daemon_set),
    "Job": (("job",), _of_job),
}
"""By kind: the loops that keep its number, and what is too many of it."""
