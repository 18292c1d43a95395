"""Control loops with one rule deliberately wrong, and the recordings that have to fail with it.

Each is a subclass with one method replaced, so that the table says what the recordings can tell apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import evolve

from reconverge.checker.conformance.simulated import SimulatedKubelet
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.loops.daemonset import DaemonSetController
from reconverge.model.loops.deployment import DeploymentController
from reconverge.model.loops.deployment.rolling import RollingUpdate
from reconverge.model.loops.disruption import DisruptionController, Expected
from reconverge.model.loops.drain import DrainLoop
from reconverge.model.loops.endpoints import EndpointsController
from reconverge.model.loops.garbage_collector import GarbageCollector
from reconverge.model.loops.job import JobController
from reconverge.model.loops.node_lifecycle import NodeLifecycleController
from reconverge.model.loops.pod_gc import PodGarbageCollector
from reconverge.model.loops.replicaset import ReplicaSetController
from reconverge.model.loops.scheduler import Scheduler
from reconverge.model.loops.scheduler.plugins import FILTERS
from reconverge.model.loops.statefulset import StatefulSetController
from reconverge.model.loops.taint_eviction import TaintEvictionController
from reconverge.model.objects import Pod

# Deployment -------------------------------------------------------------------------------------------------------


class SurgeDown(RollingUpdate):
    """maxSurge rounded down."""

    def surge(self, deployment: Any) -> int:
        text = deployment.max_surge
        return text if isinstance(text, int) else deployment.replicas * int(text[:-1]) // 100


class UnavailableUp(RollingUpdate):
    """maxUnavailable rounded up."""

    def unavailable(self, deployment: Any) -> int:
        text = deployment.max_unavailable
        return text if isinstance(text, int) else -(-deployment.replicas * int(text[:-1]) // 100)


class BlindRollout(RollingUpdate):
    """Old replicas go whatever is available."""

    def reconcile_old(self, work: Any, new: Any) -> bool:
        scaled = [work.scale(rs, 0, "") for rs in work.active_old]
        return any(scaled)


def rolling(rules: type[RollingUpdate]) -> Callable[[], ControlLoop[Any]]:
    """A Deployment controller with other rules for rolling updates."""
    return lambda: DeploymentController(rolling=rules())


class ImpatientRecreate(DeploymentController):
    """Recreate does not wait for the old pods to end."""

    def old_pods_running(self, work: Any) -> bool:
        return False


class HesitantRecreate(DeploymentController):
    """Recreate waits until the old pods are gone, terminal ones, too."""

    def old_pods_running(self, work: Any) -> bool:
        return any(work.reading.store.pods_of(rs.uid) for rs in work.old)


# ReplicaSet -------------------------------------------------------------------------------------------------------


class OldestFirst(ReplicaSetController):
    """The first pods by name go, whatever their state."""

    def deletions(self, reading: Reading, rs: Any, active: list[Pod], count: int) -> Any:
        everything = super().deletions(reading, rs, active, len(active))[0][1]
        return [("", tuple(sorted(everything, key=lambda each: each.key)[:count]))]  # type: ignore[attr-defined]


class TerminatingCount(ReplicaSetController):
    """Terminating pods count as replicas until they are gone."""

    def manage(self, reading: Reading, rs: Any, active: list[Pod]) -> Any:
        return super().manage(reading, rs, [pod for pod in reading.store.pods_of(rs.uid) if not pod.terminal])


class NoReplacement(ReplicaSetController):
    """Failed pods are not replaced."""

    def manage(self, reading: Reading, rs: Any, active: list[Pod]) -> Any:
        failed = [pod for pod in reading.store.pods_of(rs.uid) if pod.phase == "Failed"]
        return super().manage(reading, rs, [*active, *failed])


# Endpoints, budgets, drains ---------------------------------------------------------------------------------------


class TerminatingReady(EndpointsController):
    """Terminating endpoints stay ready."""

    def ready(self, serving: bool, terminating: bool, publish_not_ready: bool) -> bool:
        return serving


class UnlistedUnready(EndpointsController):
    """Endpoints that are not ready are not listed."""

    def listed(self, pod: Pod) -> bool:
        return super().listed(pod) and pod.ready


class RoundedDown(DisruptionController):
    """Percentages of a budget are rounded down."""

    def scaled(self, value: Any, total: int) -> int:
        return value if isinstance(value, int) else total * int(value[:-1]) // 100


class ScaleForNumbers(DisruptionController):
    """A number as minAvailable is compared with the scale, not with the pods that match."""

    def expected(self, store: Any, budget: Any, pods: Sequence[Pod]) -> Expected:
        found = super().expected(store, budget, pods)
        return evolve(found, pods=self.expected_scale(store, pods)) if isinstance(budget.min_available, int) else found


class TerminatingHealthy(DisruptionController):
    """Terminating pods count as healthy while they are ready."""

    def healthy(self, pod: Pod, disrupted: bool) -> bool:
        return pod.ready and not disrupted


class EveryBudget(DisruptionController):
    """Evictions are forgotten as soon as the status is computed again."""

    def still_disrupted(self, before: Any, pods: Any, reading: Reading) -> Any:
        return ()


class SlowRetry(DrainLoop):
    """A refused request is repeated only after a minute."""

    def retry_at(self, asked_at: float, reading: Reading) -> float:
        return asked_at + 60


class DrainsDaemons(DrainLoop):
    """DaemonSet pods are evicted, too."""

    def of_daemon_set(self, pod: Pod) -> bool:
        return False


# Scheduler --------------------------------------------------------------------------------------------------------


def without(plugin: str) -> Callable[[], ControlLoop[Any]]:
    """A scheduler without one filter."""
    return lambda: Scheduler(filters=[each for each in FILTERS if each.name != plugin])


def without_preemption() -> ControlLoop[Any]:
    return Scheduler(preemption=None)


def without_scores() -> ControlLoop[Any]:
    class First(Scheduler):
        """The first node in name order, whatever its score."""

        def best(self, cycle: Any, passing: Any) -> Any:
            return list(passing)[:1]

    return First()


# Machines and nodes -----------------------------------------------------------------------------------------------


class TakesEverything(SimulatedKubelet):
    """A kubelet that admits whatever is bound to its node."""

    def rejected(self, machine: Any, node: Any, pod: Pod) -> None:
        return None


class QuickToStop(SimulatedKubelet):
    """A kubelet whose containers end before they were told to."""

    def probe(self, reading: Reading, local: Any) -> bool:
        return bool(local.state == "running")


class KeepsReady(NodeLifecycleController):
    """Pods of a silent node stay ready."""

    def pods_to_mark(self, reading: Reading, node: Any) -> list[Pod]:
        return []


class AlwaysTaints(NodeLifecycleController):
    """A disrupted zone is tainted on."""

    def zone_rate(self, state: str, counted: int, rules: Any) -> float:
        return float(rules.eviction_rate)


class NeverStops(NodeLifecycleController):
    """Zones are always in order, even if all nodes are silent."""

    def zone_state(self, counted: int, not_ready: int, rules: Any) -> str:
        return "Normal"


class Impatient(NodeLifecycleController):
    """A node is Unknown after half of its grace period."""

    def unknown_at(self, reading: Reading, memory: Any, node: Any) -> float | None:
        due = super().unknown_at(reading, memory, node)
        return None if due is None else due - reading.rules.node_monitor_grace / 2


class Patient(NodeLifecycleController):
    """A node is Unknown after twice its grace period."""

    def unknown_at(self, reading: Reading, memory: Any, node: Any) -> float | None:
        due = super().unknown_at(reading, memory, node)
        return None if due is None else due + reading.rules.node_monitor_grace


class Intolerant(TaintEvictionController):
    """tolerationSeconds are not waited for."""

    def tolerated_for(self, used: Any) -> Any:
        found = super().tolerated_for(used)
        return None if found is None else (0, found[1])


class TooTolerant(TaintEvictionController):
    """tolerationSeconds are waited for twice."""

    def tolerated_for(self, used: Any) -> Any:
        found = super().tolerated_for(used)
        return None if found is None else (2 * found[0], found[1])


class Relentless(TaintEvictionController):
    """An eviction that is planned is made though the taint has gone."""

    def after_untainted(self, planned: Any) -> Any:
        return planned


class NoQuarantine(PodGarbageCollector):
    """Pods of a vanished node are collected at the next look."""

    def collected_at(self, noticed: float, reading: Reading) -> float:
        return noticed


class LongQuarantine(PodGarbageCollector):
    """Pods of a vanished node are kept for an hour."""

    def collected_at(self, noticed: float, reading: Reading) -> float:
        return noticed + 3600


class KeepsOrphans(GarbageCollector):
    """Dependents of a vanished owner stay."""

    def collects(self, store: Any, dependent: Any) -> bool:
        return False


# StatefulSet, DaemonSet, Job --------------------------------------------------------------------------------------


class AllAtOnce(StatefulSetController):
    """No pod waits for another."""

    def blocks(self, work: Any, pod: Pod) -> bool:
        return False


class FromTheBottom(StatefulSetController):
    """A rolling update begins with the lowest ordinal."""

    def roll(self, work: Any) -> None:
        pods = [work.pods[number] for number in sorted(work.pods)]
        work.pods = dict(zip(sorted(work.pods), reversed(pods), strict=True))
        super().roll(work)


class TerminatingGone(StatefulSetController):
    """The status does not count Terminating pods."""

    def status(self, work: Any) -> Any:
        found = super().status(work)
        return found.with_(replicas=sum(pod.deletion_at is None for pod in work.all))


class HealedBySkipping(StatefulSetController):
    """A rolling update does not wait for broken pods."""

    def roll(self, work: Any) -> None:
        for pod in work.all:
            if pod.labels != () and dict(pod.labels).get("controller-revision-hash") != work.update.name:
                work.delete(pod, "")


class LateReport(DaemonSetController):
    """The status is one node behind."""

    def status(self, work: Any) -> Any:
        found = super().status(work)
        return found.with_(updated=max(0, found.updated - 1))


class Idle(JobController):
    """A Job makes no pods."""

    def sync(self, reading: Reading, memory: Any, key: str) -> Sequence[Plan[Any]]:
        return (Plan(memory),)


Made = Callable[[], ControlLoop[Any]]

WRONG: dict[str, tuple[Made, tuple[str, ...]]] = {
    "deployment: maxSurge rounded down": (rolling(SurgeDown), ("07",)),
    "deployment: maxUnavailable rounded up": (rolling(UnavailableUp), ("07",)),
    "deployment: old replicas go at once": (rolling(BlindRollout), ("07", "09")),
    "deployment: Recreate does not wait": (ImpatientRecreate, ("16",)),
    "deployment: Recreate waits too long": (HesitantRecreate, ("16",)),
    "replicaset: victims by name": (OldestFirst, ("03", "04", "05")),
    "replicaset: Terminating pods count": (TerminatingCount, ("09", "18")),
    "replicaset: failed pods are not replaced": (NoReplacement, ("57",)),
    "endpoints: ready while Terminating": (TerminatingReady, ("28", "62")),
    "endpoints: unready ones are not listed": (UnlistedUnready, ("28",)),
    "disruption: percentages rounded down": (RoundedDown, ("20",)),
    "disruption: the scale for numbers": (ScaleForNumbers, ("18",)),
    "disruption: Terminating pods are healthy": (TerminatingHealthy, ("18",)),
    "disruption: evictions forgotten": (EveryBudget, ("18", "20", "64")),
    "drain: retries late": (SlowRetry, ("64",)),
    "drain: evicts DaemonSet pods": (DrainsDaemons, ("25",)),
    "scheduler: no NodeResourcesFit": (without("NodeResourcesFit"), ("13",)),
    "scheduler: no TaintToleration": (without("TaintToleration"), ("50",)),
    "scheduler: no InterPodAffinity": (without("InterPodAffinity"), ("17",)),
    "scheduler: no PodTopologySpread": (without("PodTopologySpread"), ("48",)),
    "scheduler: no NodeUnschedulable": (without("NodeUnschedulable"), ("48",)),
    "scheduler: no preemption": (without_preemption, ("51",)),
    "scheduler: no scores": (without_scores, ("01", "56")),
    "kubelet: rejects nothing": (TakesEverything, ("57",)),
    "kubelet: running is ready": (QuickToStop, ("04", "14")),
    "node-lifecycle: pods stay ready": (KeepsReady, ("28",)),
    "node-lifecycle: disrupted zones are tainted": (AlwaysTaints, ("31", "66")),
    "node-lifecycle: all zones are in order": (NeverStops, ("32",)),
    "node-lifecycle: half the grace": (Impatient, ("28",)),
    "node-lifecycle: twice the grace": (Patient, ("28",)),
    "taint-eviction: no time tolerated": (Intolerant, ("28", "54")),
    "taint-eviction: twice the time tolerated": (TooTolerant, ("28", "54")),
    "taint-eviction: not cancelled": (Relentless, ("54",)),
    "pod-gc: no quarantine": (NoQuarantine, ("30",)),
    "pod-gc: an hour of quarantine": (LongQuarantine, ("30",)),
    "garbage-collector: keeps dependents": (KeepsOrphans, ("62",)),
    "statefulset: nobody waits": (AllAtOnce, ("34", "35")),
    "statefulset: from the lowest": (FromTheBottom, ("35",)),
    "statefulset: Terminating pods are gone": (TerminatingGone, ("34",)),
    "statefulset: broken pods are skipped": (HealedBySkipping, ("36",)),
    "daemonset: status behind": (LateReport, ("41",)),
    "job: makes no pods": (Idle, ("44",)),
}
"""By what is wrong: the loop, and the numbers of the recordings of which at least one fails."""
