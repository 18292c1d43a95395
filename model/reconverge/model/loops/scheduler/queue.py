"""The scheduling queue: which pods wait, what wakes them, and in which order they are taken.

Source: `pkg/scheduler/backend/queue/scheduling_queue.go`, `pkg/scheduler/eventhandlers.go`,
`pkg/scheduler/framework/plugins/queuesort/priority_sort.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby
from typing import ClassVar

from reconverge.model.likeness import pod_likeness
from reconverge.model.loop import ControlLoop, Reading
from reconverge.model.loops.scheduler import hints
from reconverge.model.loops.scheduler.memory import SchedulerMemory
from reconverge.model.loops.scheduler.plugin import Filter
from reconverge.model.objects import Pod
from reconverge.model.objects.storage import CLAIM, CLASS, VOLUME
from reconverge.model.store import Change
from reconverge.model.value import Seconds

VOLUME_KINDS = frozenset({CLAIM, VOLUME, CLASS})


class SchedulingQueue(ControlLoop[SchedulerMemory]):
    """The half of the scheduler that watches. Pods that fit nowhere rest until an event may help them.

    The flush after five minutes in the pool of unschedulable pods is left out: no event that helps is missed here.
    """

    profile: ClassVar[str] = "default-scheduler"
    """The schedulerName of the pods that it schedules."""
    filters: Sequence[Filter]

    def start(self) -> SchedulerMemory:
        return SchedulerMemory()

    def responsible(self, pod: Pod) -> bool:
        """Whether the pod is to be scheduled by this scheduler: unbound, living, its own, without gates."""
        return (
            pod.node is None
            and pod.deletion_at is None
            and not pod.spec.scheduling_gates
            and pod.spec.scheduler_name == self.profile
            and not pod.terminal
        )

    def relist(self, reading: Reading) -> Iterable[str]:
        return [pod.key for pod in reading.store.unbound_pods() if self.responsible(pod)]

    def observe(
        self, memory: SchedulerMemory, change: Change, reading: Reading
    ) -> tuple[SchedulerMemory, Iterable[str]]:
        if change.kind == "Node":
            return self._wake(memory, reading, hints.node_event(change), None) if memory.rejected else (memory, ())
        if change.kind in VOLUME_KINDS and memory.rejected:
            return self._wake(memory, reading, hints.Event.VOLUME, None)
        if change.kind != "Pod":
            return memory, ()
        freed = self._gives_up(memory, change)
        updated = self._updated(memory, change)
        own = self._wakes_itself(memory, change)
        keys: list[str] = []
        if updated.rejected:
            event = hints.Event.FREED if freed else hints.pod_event(change)
            updated, woken = self._wake(updated, reading, event, change.object)
            keys.extend(woken)
        if own:
            updated = self._queued(updated, change.key, reading.now)
            keys.append(change.key)
        return updated, keys

    def _wake(
        self, memory: SchedulerMemory, reading: Reading, event: hints.Event, pod: Pod | None
    ) -> tuple[SchedulerMemory, list[str]]:
        keys = list(hints.woken(memory, reading.store, self.filters, event, pod))
        for key in keys:
            memory = self._queued(memory, key, reading.now)
        return memory, keys

    def _queued(self, memory: SchedulerMemory, key: str, now: Seconds) -> SchedulerMemory:
        """The memory with the queue timestamp of a rejected pod set, unless it is in the queue already."""
        rejection = memory.rejected.get(key)
        if rejection is None or rejection.queued_at is not None:
            return memory
        return memory.with_(rejected=memory.rejected.set(key, rejection.with_(queued_at=now)))

    def _wakes_itself(self, memory: SchedulerMemory, change: Change) -> bool:
        """Whether a pod is new to the queue, or its author changed it. Its status does not count."""
        before: Pod | None = change.before
        after: Pod | None = change.after
        if after is None or after.node is not None or not self.responsible(after):
            return False
        if before is None or before.uid != after.uid or not self.responsible(before):
            return True
        # A nomination that another pod's preemption has taken away is an event for all that wait, see `_gives_up`.
        return (before.spec is not after.spec and before.spec != after.spec) or before.labels != after.labels

    def _gives_up(self, memory: SchedulerMemory, change: Change) -> bool:
        """Whether the pod no longer waits for the node that it was nominated to, without having come to it."""
        waited = memory.nominated.get(change.key) if memory.nominated else None
        if waited is None:
            return False
        after: Pod | None = change.after
        return after is None or (after.node or after.nominated_node) != waited

    def _updated(self, memory: SchedulerMemory, change: Change) -> SchedulerMemory:
        """The memory after what a pod's change says of itself."""
        key = change.key
        after: Pod | None = change.after
        memory = self._nominations(memory, key, after)
        uid = after.uid if after is not None else -1
        binding = memory.assumed.get(key) if memory.assumed else None
        if binding is not None and (after is None or after.node is not None or uid != binding.uid):
            memory = memory.with_(assumed=memory.assumed.delete(key))
        if memory.refused and key in memory.refused:
            memory = memory.with_(refused=memory.refused.delete(key))
        rejection = memory.rejected.get(key) if memory.rejected else None
        if rejection is not None and (after is None or uid != rejection.uid or not self.responsible(after)):
            memory = memory.with_(rejected=memory.rejected.delete(key))
        if memory.backoffs and key in memory.backoffs and (after is None or after.node is not None):
            memory = memory.with_(backoffs=memory.backoffs.delete(key))
        return memory

    def _nominations(self, memory: SchedulerMemory, key: str, after: Pod | None) -> SchedulerMemory:
        nominated = memory.nominated
        if nominated is None:
            return memory
        wanted = after.nominated_node if after is not None and after.node is None and not after.terminal else None
        if wanted == nominated.get(key):
            return memory
        return memory.with_(nominated=nominated.discard(key) if wanted is None else nominated.set(key, wanted))

    def order(self, reading: Reading, memory: SchedulerMemory, keys: Iterable[str]) -> list[str]:
        """Higher priority first, then longer in the queue, then by what the pods are, then by key."""
        store, now = reading.store, reading.now
        gone = []
        ranked = []
        for key in keys:
            pod = store.pod(key)
            if pod is None:
                gone.append(key)
                continue
            rejection = memory.rejected.get(key)
            queued = rejection.queued_at if rejection is not None else None
            ranked.append((-pod.spec.priority, pod.created_at if queued is None else queued, key, pod))
        ranked.sort(key=lambda each: each[:2])
        ordered = sorted(gone)
        for _, alike in groupby(ranked, key=lambda each: each[:2]):
            group = [(key, pod) for _, _, key, pod in alike]
            if len(group) > 1:
                group.sort(key=lambda each: (_likeness(each[1], now), each[0]))
            ordered.extend(key for key, _ in group)
        return ordered


@lru_cache(maxsize=16384)
def _likeness(pod: Pod, now: Seconds) -> str:
    return repr(pod_likeness(pod, now))
