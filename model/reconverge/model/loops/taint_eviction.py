"""The taint eviction controller: deletes pods that do not tolerate a NoExecute taint of their node, or not for so long.

Source: `pkg/controller/tainteviction/taint_eviction.go`, `pkg/controller/tainteviction/timed_workers.go`,
component-helpers `scheduling/corev1/helpers.go` (GetMatchingTolerations).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from attrs import frozen

from reconverge.model.action import DeletePod, MarkDisrupted
from reconverge.model.likeness import At, pod_likeness
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.objects import Node, Pod, Taint, Toleration
from reconverge.model.objects.node import NO_EXECUTE
from reconverge.model.persistent import EMPTY, Map
from reconverge.model.store import Change, Store
from reconverge.model.value import Seconds

Taints = tuple[Taint, ...]
FOREVER = None
BY_TAINT_MANAGER = "DeletionByTaintManager"
"""Reason of the DisruptionTarget condition."""


@frozen
class PlannedEviction:
    """A deletion that is scheduled: of which incarnation, since when, for when, and the taint that it is for."""

    uid: int
    since: Seconds
    due: Seconds
    taint: str = ""

    @property
    def reason(self) -> str:
        """Why the pod is deleted, as a clause for people."""
        waited = self.due - self.since
        return f"does not tolerate {self.taint}" + (f" (tolerated for {waited:g} s)" if waited else "")


Schedule = Map[str, PlannedEviction]
"""Planned evictions by pod key; lost at a restart, so that every countdown begins anew."""


def no_execute_taints(node: Node | None) -> Taints:
    """The NoExecute taints of a node; none if it is gone."""
    return () if node is None else tuple(taint for taint in node.taints if taint.effect == NO_EXECUTE)


class TaintEvictionController(ControlLoop[Schedule]):
    """Plans, cancels and makes evictions by taint; keys are pods. Budgets are not asked: it deletes, plainly.

    Source: `pkg/controller/tainteviction/taint_eviction.go`.
    """

    name: ClassVar[str] = "taint-eviction"
    watches: ClassVar[frozenset[str]] = frozenset({"Node", "Pod"})
    source: ClassVar[str] = "pkg/controller/tainteviction/taint_eviction.go"

    # Rules ---------------------------------------------------------------------------------------------------

    def used_tolerations(self, pod: Pod, taints: Taints) -> list[tuple[Taint, Toleration]] | Taint:
        """The first matching toleration of each taint, or the first taint that is not tolerated."""
        used = []
        for taint in taints:
            match = next((each for each in pod.spec.tolerations if each.tolerates(taint)), None)
            if match is None:
                return taint
            used.append((taint, match))
        return used

    def tolerated_for(self, used: list[tuple[Taint, Toleration]]) -> tuple[Seconds, Taint] | None:
        """The shortest time among the tolerations used, not below 0, and its taint; None for ever."""
        limits = [(max(each.seconds, 0), taint) for taint, each in used if each.seconds is not None]
        return min(limits, key=lambda limit: limit[0]) if limits else FOREVER

    def kept(self, planned: PlannedEviction, now: Seconds) -> bool:
        """Whether an eviction planned before stays as it is: neither later nor sooner, whatever the taints are now."""
        return planned.since < now

    def after_untainted(self, planned: PlannedEviction) -> PlannedEviction | None:
        """What becomes of a planned eviction when the node has no NoExecute taint any more: it is cancelled."""
        return None

    def after_tolerated(self, reading: Reading, planned: PlannedEviction) -> PlannedEviction | None:
        """What becomes of a planned eviction when the taints that are left are tolerated for ever: it is cancelled.

        Before kubernetes/kubernetes#93722 it stood, and the pod was deleted on a healthy node.
        """
        return None if reading.rules.taint_eviction_cancelled else planned

    def after_node_gone(self, planned: PlannedEviction) -> PlannedEviction | None:
        """What becomes of a planned eviction when the Node object is deleted: it stands (handleNodeUpdate)."""
        return planned

    def deletes(self, pod: Pod) -> bool:
        """Whether the controller has anything to do with the pod: a Terminating one would only be deleted again."""
        return pod.deletion_at is None and pod.node is not None

    def decided(self, reading: Reading, pod: Pod, planned: PlannedEviction | None) -> PlannedEviction | None:
        """What is planned for a pod, from the taints of its node as they are now (processPodOnNode)."""
        node = reading.store.node(pod.node or "")
        taints = no_execute_taints(node)
        if node is None:
            return self.after_node_gone(planned) if planned is not None else None
        if not taints:
            return self.after_untainted(planned) if planned is not None else None
        used = self.used_tolerations(pod, taints)
        if isinstance(used, Taint):
            return PlannedEviction(pod.uid, reading.now, reading.now, str(used))
        limit = self.tolerated_for(used)
        if limit is None:
            return self.after_tolerated(reading, planned) if planned is not None else None
        if planned is not None and self.kept(planned, reading.now):
            return planned
        seconds, taint = limit
        return PlannedEviction(pod.uid, reading.now, reading.now + seconds, str(taint))

    # The loop ------------------------------------------------------------------------------------------------

    def start(self) -> Schedule:
        """No eviction is planned."""
        return EMPTY

    def relist(self, reading: Reading) -> Iterable[str]:
        """All pods on nodes with NoExecute taints."""
        for node in reading.store.nodes():
            if no_execute_taints(node):
                yield from (pod.key for pod in reading.store.pods_on(node.name) if self.deletes(pod))

    def observe(self, memory: Schedule, change: Change, reading: Reading) -> tuple[Schedule, Iterable[str]]:
        """Wakes the pods of a node whose NoExecute taints changed, pods newly bound to one, and deleted pods."""
        if change.kind == "Node":
            return memory, self._on_node(memory, change, reading.store)
        return memory, (change.key,) if self._pod_matters(memory, change, reading.store) else ()

    def order(self, reading: Reading, memory: Schedule, keys: Iterable[str]) -> list[str]:
        """By what the pods are: the first deletion decides whose replacement comes first."""
        pods = {key: reading.store.pod(key) for key in sorted(keys)}
        return sorted(pods, key=lambda key: (_likeness(pods[key], reading.now), key))

    def sync(self, reading: Reading, memory: Schedule, key: str) -> Sequence[Plan[Schedule]]:
        """Decide anew for one pod; delete it if its time has come."""
        pod = reading.store.pod(key)
        if pod is None or not self.deletes(pod):
            return (Plan(memory.discard(key)),)
        planned = memory.get(key)
        if planned is not None and planned.uid != pod.uid:
            planned = None
        wanted = self.decided(reading, pod, planned)
        if wanted is None:
            return (Plan(memory.discard(key)),)
        after = memory if wanted == planned else memory.set(key, wanted)
        if wanted.due > reading.now:
            return (Plan(after, requeue_at=wanted.due, note=wanted.reason),)
        mark = MarkDisrupted(key, pod.uid, BY_TAINT_MANAGER, wanted.reason)
        delete = DeletePod(key, pod.uid, reason=wanted.reason, disruption_target=BY_TAINT_MANAGER)
        return (Plan(after, (mark, delete)),)

    def marks(self, memory: Schedule, reading: Reading) -> Iterable[tuple[str, str, Any]]:
        """When each planned eviction is due; when it began matters only through that."""
        for key in sorted(memory):
            yield ("Pod", key, ("eviction", At(memory[key].due)))

    # Inside --------------------------------------------------------------------------------------------------

    def _on_node(self, memory: Schedule, change: Change, store: Store) -> list[str]:
        """Pods to look at after a node changed. A deleted node wakes nobody (handleNodeUpdate)."""
        if change.after is None:
            return []
        taints = no_execute_taints(change.after)
        if change.before is not None and no_execute_taints(change.before) == taints:
            return []
        pods = store.pods_on(change.key)
        return [pod.key for pod in pods if (taints and self.deletes(pod)) or pod.key in memory]

    def _pod_matters(self, memory: Schedule, change: Change, store: Store) -> bool:
        before, after = change.before, change.after
        if change.key in memory and (after is None or not self.deletes(after)):
            return True
        if after is None or not self.deletes(after):
            return False
        known = before is not None and before.uid == after.uid and before.node == after.node
        if known and before.spec.tolerations == after.spec.tolerations:
            return False
        return bool(no_execute_taints(store.node(after.node)))


def _likeness(pod: Pod | None, now: Seconds) -> str:
    return "" if pod is None else repr(pod_likeness(pod, now))
