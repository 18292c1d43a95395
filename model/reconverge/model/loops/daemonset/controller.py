"""The DaemonSet controller's pass: pods on nodes, then the rolling update, then status.

Source: `pkg/controller/daemon/daemon_controller.go` (syncDaemonSet), `pkg/controller/daemon/update.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from attrs import frozen

from reconverge.model.action import Action, Patch
from reconverge.model.errors import ApiError
from reconverge.model.labels import label
from reconverge.model.likeness import At
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.loops import expectations
from reconverge.model.loops.daemonset.manage import Backoffs, Manager
from reconverge.model.loops.daemonset.nodes import fits, updated
from reconverge.model.loops.daemonset.rolling import RollingUpdate
from reconverge.model.loops.daemonset.work import Change as PodChange
from reconverge.model.loops.daemonset.work import Work
from reconverge.model.loops.expectations import Expectations
from reconverge.model.loops.owned_pods import claimed, woken_by_pod
from reconverge.model.loops.revisions import revisions_of, truncated, update_revision
from reconverge.model.objects import ControllerRevision, DaemonSet, DaemonSetStatus, Node, Pod
from reconverge.model.objects.revision import REVISION_HASH
from reconverge.model.persistent import EMPTY
from reconverge.model.store import Change
from reconverge.model.value import Seconds, Value


@frozen
class DaemonMemory(Value):
    """Expectations by DaemonSet, and back-offs of failed pods by DaemonSet and node."""

    expected: Expectations = EMPTY
    backoffs: Backoffs = EMPTY


class DaemonSetController(ControlLoop[DaemonMemory]):
    """Keeps one pod on every node that should run one. The default scheduler binds them."""

    name = "daemonset"
    watches = frozenset({"DaemonSet", "Pod", "Node"})
    guarded = True
    source = "pkg/controller/daemon/daemon_controller.go"

    def __init__(self, manager: Manager | None = None, rolling: RollingUpdate | None = None) -> None:
        self.manager = manager if manager is not None else Manager()
        self.rolling = rolling if rolling is not None else RollingUpdate()

    # Waking --------------------------------------------------------------------------------------------------

    def start(self) -> DaemonMemory:
        """Nothing expected, no back-off."""
        return DaemonMemory()

    def relist(self, reading: Reading) -> Iterable[str]:
        """All DaemonSets."""
        return sorted(reading.store.table("DaemonSet").objects)

    def observe(self, memory: DaemonMemory, change: Change, reading: Reading) -> tuple[DaemonMemory, Iterable[str]]:
        """A DaemonSet wakes itself, a pod its owner, a node those whose pods it is or was fit for."""
        if change.kind == "DaemonSet":
            return (memory if change.after is not None else self.forgotten(memory, change.key)), (change.key,)
        if change.kind == "Node":
            return memory, self.woken_by_node(change, reading)
        expected = expectations.lowered(memory.expected, "DaemonSet", change)
        if expected is not memory.expected:
            memory = memory.with_(expected=expected)
        return memory, woken_by_pod("DaemonSet", change, reading)

    def woken_by_node(self, change: Change, reading: Reading) -> list[str]:
        """DaemonSets that a new node is fit for, or whose answer a change of labels or taints alters.

        The removal of a node wakes none, as upstream.
        """
        before: Node | None = change.before
        after: Node | None = change.after
        if after is None or (
            before is not None and (before.labels, before.taints, before.uid) == (after.labels, after.taints, after.uid)
        ):
            return []
        sets: list[DaemonSet] = reading.store.all("DaemonSet")
        if before is None or before.uid != after.uid:
            return [ds.key for ds in sets if fits(ds, after)[0]]
        return [ds.key for ds in sets if fits(ds, before) != fits(ds, after)]

    def failed(self, memory: DaemonMemory, action: Action, error: ApiError) -> DaemonMemory:
        """A refused write is expected no longer."""
        expected = expectations.withdrawn(memory.expected, action)
        return memory if expected is memory.expected else memory.with_(expected=expected)

    def forgotten(self, memory: DaemonMemory, key: str) -> DaemonMemory:
        """The memory without a DaemonSet that is gone."""
        backoffs = memory.backoffs
        for each in list(backoffs):
            if each.startswith(f"{key}|"):
                backoffs = backoffs.delete(each)
        return DaemonMemory(memory.expected.discard(key), backoffs)

    # A pass --------------------------------------------------------------------------------------------------

    def sync(self, reading: Reading, memory: DaemonMemory, key: str) -> Sequence[Plan[DaemonMemory]]:
        """Manage, or if there is nothing to do roll; status from what was read."""
        ds: DaemonSet | None = reading.store.get("DaemonSet", key)
        if ds is None:
            return (Plan(self.forgotten(memory, key)),)
        if ds.terminating or ds.selector.empty:
            return (Plan(memory),)
        pods, claims = claimed(reading, ds)
        revisions = revisions_of(reading.store, ds)
        current, revised = update_revision(ds, revisions, self.known_hash(ds, pods))
        work = Work(reading, ds, pods, current.hash)
        if not expectations.satisfied(memory.expected, key, reading):
            observed = ds.status.observed_generation
            report = self.report(ds, self.status(work).with_(observed_generation=observed))
            return (Plan(memory, (*claims, *revised, *report), self.next_available(work, pods)),)
        changes, backoffs, again = self.changes(work, memory.backoffs)
        before = (*claims, *revised)
        after = (*self.report(ds, self.status(work)), *self.history(work, revisions, current))
        requeue = min((at for at in (self.next_available(work, pods), again) if at is not None), default=None)
        plans = []
        for change in changes:
            writes = change.actions(work)
            expected = expectations.expecting(memory.expected, key, writes, reading)
            plans.append(Plan(DaemonMemory(expected, backoffs), (*before, *writes, *after), requeue, change.choice))
        return plans

    def changes(self, work: Work, backoffs: Backoffs) -> tuple[Sequence[PodChange], Backoffs, Seconds | None]:
        """What the pass does about pods: a rollout goes on only where nothing else is to be done."""
        change, backoffs, again = self.manager.change(work, backoffs)
        if change.create or change.delete or work.ds.strategy != "RollingUpdate":
            return [change], backoffs, again
        return self.rolling.changes(work), backoffs, again

    def known_hash(self, ds: DaemonSet, pods: list[Pod]) -> str:
        """What the cluster calls the present template where it has no revisions: the hash of its youngest pods.

        Only where the controller has seen the template, and has made a pod of it.
        """
        if ds.status.observed_generation != ds.generation or not ds.status.updated:
            return ""
        youngest = max(pods, key=lambda pod: (pod.created_at, pod.uid), default=None)
        return (label(youngest.labels, REVISION_HASH) or "") if youngest is not None else ""

    def history(
        self, work: Work, revisions: list[ControllerRevision], current: ControllerRevision
    ) -> tuple[Action, ...]:
        """Deletes old revisions beyond the limit that no pod has (cleanupHistory)."""
        live = {label(pod.labels, REVISION_HASH) for pods in work.pods.values() for pod in pods}
        names = [each.name for each in revisions if each.hash in live]
        return truncated(revisions, (*names, current.name), work.ds.history_limit)

    # Status --------------------------------------------------------------------------------------------------

    def status(self, work: Work) -> DaemonSetStatus:
        """Counts of nodes, each by its oldest pod (updateDaemonSetStatus)."""
        first = {node.name: pods[0] for node in work.nodes if (pods := work.pods.get(node.name))}
        counted = [pod for name, pod in first.items() if work.fits[name][0]]
        ready = [pod for pod in counted if pod.ready]
        available = sum(work.available(pod) for pod in ready)
        return DaemonSetStatus(
            desired=work.desired,
            current=len(counted),
            ready=len(ready),
            available=available,
            unavailable=work.desired - available,
            updated=sum(updated(pod, work.hash) for pod in counted),
            misscheduled=len(first) - len(counted),
            observed_generation=work.ds.generation,
            conditions=work.ds.status.conditions,
        )

    def report(self, ds: DaemonSet, status: DaemonSetStatus) -> tuple[Action, ...]:
        """The status write, if it differs."""
        if status == ds.status:
            return ()
        counts = f"{status.updated} of {status.desired} updated, {status.available} available"
        fields = (("status", status),)
        return (Patch("DaemonSet", ds.key, ds.uid, fields, counts, f"updates status of {ds.reference}"),)

    def next_available(self, work: Work, pods: list[Pod]) -> Seconds | None:
        """When the next ready pod will have been ready for minReadySeconds."""
        moments = [pod.ready_since + work.ds.min_ready for pod in pods if pod.ready]
        return min((moment for moment in moments if moment > work.now), default=None)

    def marks(self, memory: DaemonMemory, reading: Reading) -> Iterable[tuple[str, str, Any]]:
        """Unsatisfied expectations, and back-offs that are not forgotten yet."""
        for key, expected in memory.expected.items():
            if not expected.satisfied(reading.now):
                yield "DaemonSet", key, (expected.creations, len(expected.deletions))
        for key, backoff in memory.backoffs.items():
            name, _, node = key.partition("|")
            if not backoff.expired(reading.now):
                yield "Node", node, ("failed pods", name, backoff.seconds, At(backoff.since))
