"""The scheduler: chooses a node for one pod at a time.

Source: `pkg/scheduler/schedule_one.go`, `pkg/scheduler/scheduler.go`, `pkg/scheduler/eventhandlers.go`,
`pkg/scheduler/backend/queue/scheduling_queue.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, ClassVar

from reconverge.model.action import Action, Bind, DeletePod, Patch
from reconverge.model.errors import ApiError, Conflict, NotFound
from reconverge.model.likeness import At, pod_likeness
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.loops.scheduler import hints, messages
from reconverge.model.loops.scheduler.accounting import Accounting
from reconverge.model.loops.scheduler.cycle import Cycle
from reconverge.model.loops.scheduler.memory import Backoff, Binding, Rejection, SchedulerMemory
from reconverge.model.loops.scheduler.nodes import SMALL, NodesCache, in_likeness_order, nodes_wanted
from reconverge.model.loops.scheduler.plugin import Failure, Filter, Score
from reconverge.model.loops.scheduler.plugins import FILTERS, SCORES
from reconverge.model.loops.scheduler.plugins.node_affinity import OTHER_NODES, named_nodes
from reconverge.model.loops.scheduler.preemption import BY_SCHEDULER, Candidate, Outcome, Preemption
from reconverge.model.objects import Node, Pod
from reconverge.model.persistent import EMPTY, Map
from reconverge.model.rules import Rules
from reconverge.model.store import Change
from reconverge.model.value import Seconds

PREEMPTION = Preemption()
ACCOUNTING = Accounting()


class Scheduler(ControlLoop[SchedulerMemory]):
    """kube-scheduler with its default profile. Keys are pod keys.

    Filters, scores, preemption (None: off) and the accounting of what nodes hold can be replaced one by one; everything
    else is a method.
    """

    name: ClassVar[str] = "scheduler"
    watches: ClassVar[frozenset[str]] = frozenset(
        ("Pod", "Node", "PodDisruptionBudget", "Service", "ReplicaSet", "StatefulSet")
    )
    source: ClassVar[str] = "pkg/scheduler/schedule_one.go"
    profile: ClassVar[str] = "default-scheduler"
    """The schedulerName of the pods that it schedules."""

    def __init__(
        self,
        filters: Sequence[Filter] = FILTERS,
        scores: Sequence[Score] = SCORES,
        preemption: Preemption | None = PREEMPTION,
        accounting: Accounting = ACCOUNTING,
    ) -> None:
        self.filters = tuple(filters)
        self.scores = tuple(scores)
        self.preemption = preemption
        self.accounting = accounting
        self._nodes = NodesCache()

    def start(self) -> SchedulerMemory:
        return SchedulerMemory()

    # The queue -----------------------------------------------------------------------------------------------

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
        if (before.spec is not after.spec and before.spec != after.spec) or before.labels != after.labels:
            return True
        # Another pod's preemption has taken its nomination away; its own cycle would have forgotten it first.
        return after.nominated_node is None and bool(memory.nominated) and change.key in (memory.nominated or EMPTY)

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

    # One cycle -----------------------------------------------------------------------------------------------

    def sync(self, reading: Reading, memory: SchedulerMemory, key: str) -> Sequence[Plan[SchedulerMemory]]:
        pod = reading.store.pod(key)
        if memory.refused:
            memory = _pruned(memory, reading)
        if pod is None or not self.responsible(pod):
            return (Plan(self._forgotten(memory, key)),)
        if memory.refused and memory.refused.get(key) == pod.uid:
            return (Plan(memory, note="the API says that the pod is gone; waits for the watch to show it"),)
        binding = memory.assumed.get(key) if memory.assumed else None
        if binding is not None and binding.uid == pod.uid:
            return (Plan(memory, note="is bound already; waits for the watch to show it"),)
        if memory.backoffs and key in memory.backoffs:
            waiting = self._waits(reading, memory, key)
            if waiting is not None:
                return (waiting,)
        if memory.nominated is None:
            memory = memory.with_(nominated=_nominations_in(reading))
        cycle = Cycle(reading, memory, pod, self._nodes.of(reading.store), self.accounting)
        cycle.prepare(self.filters)
        passing, failures, memory = self.passing(cycle, memory)
        if not passing:
            return self.unschedulable(cycle, memory, failures)
        return self.bindings(cycle, memory, passing)

    def passing(
        self, cycle: Cycle, memory: SchedulerMemory
    ) -> tuple[list[Node], Mapping[str, Failure], SchedulerMemory]:
        """The nodes that pass all filters: the nominated one alone if it does, else as many as are wanted."""
        nodes = cycle.nodes
        waited = cycle.pod.nominated_node
        if waited is not None and waited in nodes.by_name:
            nominated = nodes.by_name[waited]
            if cycle.failure(nominated) is None:
                return [nominated], {}, memory
        count = len(nodes.all)
        names = named_nodes(cycle.pod.spec)
        if names is not None:
            some = [nodes.by_name[name] for name in sorted(names) if name in nodes.by_name]
            passing, failures = cycle.search(some, nodes_wanted(count))
            others = {node.name: OTHER_NODES for node in nodes.all if node.name not in names} if not passing else {}
            return passing, {**failures, **others}, memory
        if count < SMALL:
            return (*cycle.search(nodes.all, count), memory)
        start = memory.start % count
        passing, failures = cycle.search((*nodes.all[start:], *nodes.all[:start]), nodes_wanted(count))
        return passing, failures, memory.with_(start=(start + len(passing) + len(failures)) % count)

    def best(self, cycle: Cycle, passing: Sequence[Node]) -> list[Node]:
        """The nodes with the highest total score, ordered by what they are."""
        if len(passing) == 1:
            return list(passing)
        totals = [0] * len(passing)
        for plugin in self.scores:
            scores = plugin.score(cycle, passing)
            if scores is not None:
                weight = plugin.weight
                totals = [total + weight * score for total, score in zip(totals, scores, strict=True)]
        highest = max(totals)
        equal = [node for node, total in zip(passing, totals, strict=True) if total == highest]
        return in_likeness_order(cycle.store, equal, cycle.now)

    def bindings(
        self, cycle: Cycle, memory: SchedulerMemory, passing: Sequence[Node]
    ) -> Sequence[Plan[SchedulerMemory]]:
        """One plan for each node that the pod may get; chance decides between equal scores."""
        pod = cycle.pod
        key = pod.key
        reason = "the only node that fits" if len(passing) == 1 else f"the best of {len(passing)} nodes that fit"
        rejected = memory.rejected.discard(key) if memory.rejected else memory.rejected
        backoffs = memory.backoffs.discard(key) if memory.backoffs else memory.backoffs
        return [
            Plan(
                SchedulerMemory(
                    rejected,
                    memory.assumed.set(key, Binding(pod.uid, node.name)),
                    memory.nominated,
                    backoffs,
                    memory.refused,
                    memory.start,
                ),
                (Bind(key, pod.uid, node.name, reason),),
                choice=node.name,
            )
            for node in self.best(cycle, passing)
        ]

    def unschedulable(
        self, cycle: Cycle, memory: SchedulerMemory, failures: Mapping[str, Failure]
    ) -> Sequence[Plan[SchedulerMemory]]:
        """What is done for a pod that no node has passed: it is told so, and others may be preempted for it."""
        pod = cycle.pod
        plugins = tuple(sorted({failure.plugin for failure in failures.values()}))
        memory = memory.with_(rejected=memory.rejected.set(pod.key, Rejection(pod.uid, plugins)))
        if backs_off(cycle.rules):
            memory = self._backed_off(memory, pod.key, cycle)
        count = len(cycle.nodes.all)
        if not count:
            return (Plan(memory, self._told(pod, messages.NO_NODES, pod.nominated_node)),)
        fit = messages.fit_error(count, failures.values())
        outcome = self.preemption.outcome(cycle, failures) if self.preemption is not None else Outcome()
        if outcome.candidates:
            return [self._preempting(memory, cycle, fit, each) for each in outcome.candidates]
        nominated = None if outcome.withdraws else pod.nominated_node
        message = messages.unschedulable_message(cycle.rules, fit, outcome.message)
        if nominated is None and memory.nominated and pod.key in memory.nominated:
            memory = memory.with_(nominated=memory.nominated.delete(pod.key))
        actions = self._told(pod, message, nominated)
        return (Plan(memory, actions, note="" if actions else message),)

    def _told(self, pod: Pod, message: str, nominated: str | None) -> tuple[Action, ...]:
        """The write of the pod's status, if it says something new."""
        fields: list[tuple[str, Any]] = []
        if pod.unscheduled != (messages.REASON, message):
            fields.append(("unscheduled", (messages.REASON, message)))
        if pod.nominated_node != nominated:
            fields.append(("nominated_node", nominated))
        if not fields:
            return ()
        return (Patch("Pod", pod.key, pod.uid, tuple(fields), reason=message, verb=f"leaves pod/{pod.name} pending"),)

    def _preempting(
        self, memory: SchedulerMemory, cycle: Cycle, fit: str, candidate: Candidate
    ) -> Plan[SchedulerMemory]:
        pod, node = cycle.pod, candidate.node.name
        told = self._told(pod, fit, node)
        displaced: list[Action] = []
        for key in sorted(memory.nominated or EMPTY):
            other = cycle.store.pod(key)
            if other is None or (memory.nominated or EMPTY)[key] != node:
                continue
            if other.spec.priority < pod.spec.priority:
                fields = (("nominated_node", None),)
                displaced.append(Patch("Pod", key, other.uid, fields, f"{pod.reference} comes first"))
        reason = f"makes room for {pod.reference}"
        deletions = [
            DeletePod(victim.key, victim.uid, reason=reason, disruption_target=BY_SCHEDULER)
            for victim in candidate.victims
            if victim.deletion_at is None and memory.refused.get(victim.key) != victim.uid
        ]
        memory = memory.with_(nominated=(memory.nominated or EMPTY).set(pod.key, node))
        return Plan(memory, (*told, *displaced, *deletions), choice=node)

    # Failures ------------------------------------------------------------------------------------------------

    def failed(self, memory: SchedulerMemory, action: Action, error: ApiError) -> SchedulerMemory:
        """A refused binding is forgotten. What the API says of a pod's absence is believed until the watch shows more.

        All reasons for which it refuses a binding are final for that pod. Other errors make the pod wait.
        """
        if not isinstance(action, Bind | Patch | DeletePod):
            return memory
        if isinstance(action, Bind) and action.key in memory.assumed:
            memory = memory.with_(assumed=memory.assumed.delete(action.key))
        if isinstance(error, NotFound | Conflict):
            return memory.with_(refused=memory.refused.set(action.key, action.uid))
        keys = sorted(memory.nominated or EMPTY) if isinstance(action, DeletePod) else [action.key]
        for key in keys:
            memory = memory.with_(backoffs=memory.backoffs.set(key, Backoff(min(_failures(memory, key) + 1, 8))))
        return memory

    def _backed_off(self, memory: SchedulerMemory, key: str, cycle: Cycle) -> SchedulerMemory:
        failures = _failures(memory, key)
        # Once the back-off is at its longest, more failures change nothing and are not counted.
        if not failures or backoff_length(cycle.rules, failures) < cycle.rules.scheduler_backoff_most:
            failures += 1
        until = cycle.now + backoff_length(cycle.rules, failures)
        return memory.with_(backoffs=memory.backoffs.set(key, Backoff(failures, until)))

    def _waits(self, reading: Reading, memory: SchedulerMemory, key: str) -> Plan[SchedulerMemory] | None:
        """The plan of a pod that is woken during its back-off; None if that is over."""
        backoff = memory.backoffs[key]
        until = backoff.until
        if until is None:
            until = reading.now + backoff_length(reading.rules, backoff.failures)
            memory = memory.with_(backoffs=memory.backoffs.set(key, Backoff(backoff.failures, until)))
        if reading.now >= until:
            return None
        return Plan(memory, requeue_at=until, note="is in back-off")

    def _forgotten(self, memory: SchedulerMemory, key: str) -> SchedulerMemory:
        if key not in memory.rejected and key not in memory.backoffs and key not in (memory.nominated or EMPTY):
            return memory
        return memory.with_(
            rejected=memory.rejected.discard(key),
            backoffs=memory.backoffs.discard(key),
            nominated=None if memory.nominated is None else memory.nominated.discard(key),
        )

    def marks(self, memory: SchedulerMemory, reading: Reading) -> Iterable[tuple[str, str, Any]]:
        for key in sorted(memory.rejected):
            rejection = memory.rejected[key]
            queued = None if rejection.queued_at is None else At(rejection.queued_at)
            yield ("Pod", key, ("rejected", rejection.plugins, queued))
        for key in sorted(memory.assumed):
            yield ("Pod", key, "assumed")
            yield ("Node", memory.assumed[key].node, "assumed")
        for key in sorted(memory.nominated or EMPTY):
            yield ("Pod", key, "nominated")
            yield ("Node", (memory.nominated or EMPTY)[key], "nominated")
        for key in sorted(memory.backoffs):
            backoff = memory.backoffs[key]
            until = None if backoff.until is None else At(backoff.until)
            yield ("Pod", key, ("backoff", backoff.failures, until))
        for key in sorted(memory.refused):
            yield ("Pod", key, "refused")
        if memory.start:
            yield ("", "", ("start", memory.start))


def backs_off(rules: Rules) -> bool:
    """Whether a rejected pod has to wait out its back-off; since 1.33 an idle scheduler takes it at once."""
    return messages.version_of(rules) < (1, 33)


def backoff_length(rules: Rules, failures: int) -> Seconds:
    """How long a pod waits after so many failures: the first time doubled each time, up to the longest."""
    doubled: Seconds = rules.scheduler_backoff_first * 2 ** (failures - 1)
    return min(doubled, rules.scheduler_backoff_most)


def _failures(memory: SchedulerMemory, key: str) -> int:
    backoff = memory.backoffs.get(key)
    return backoff.failures if backoff is not None else 0


def _pruned(memory: SchedulerMemory, reading: Reading) -> SchedulerMemory:
    """The memory without what the API has said of pods that the watch no longer shows."""
    refused = memory.refused
    for key in sorted(refused):
        pod = reading.store.pod(key)
        if pod is None or pod.uid != refused[key]:
            refused = refused.delete(key)
    return memory if refused is memory.refused else memory.with_(refused=refused)


def _nominations_in(reading: Reading) -> Map[str, str]:
    """The nominations in the store, for a scheduler that has just started."""
    return Map((pod.key, pod.nominated_node) for pod in reading.store.unbound_pods() if pod.nominated_node is not None)


@lru_cache(maxsize=16384)
def _likeness(pod: Pod, now: Seconds) -> str:
    return repr(pod_likeness(pod, now))
