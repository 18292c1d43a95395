"""The scheduler: chooses a node for one pod at a time.

Source: `pkg/scheduler/schedule_one.go`, `pkg/scheduler/scheduler.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from reconverge.model.action import Action, Bind, DeletePod, MarkDisrupted, Patch
from reconverge.model.errors import ApiError, Conflict, NotFound
from reconverge.model.loop import Plan, Reading
from reconverge.model.loops.scheduler import messages
from reconverge.model.loops.scheduler.accounting import Accounting
from reconverge.model.loops.scheduler.alternatives import Bindings
from reconverge.model.loops.scheduler.backoff import backs_off, failed_again, postponed, waiting_until
from reconverge.model.loops.scheduler.cycle import Cycle
from reconverge.model.loops.scheduler.memory import Rejection, SchedulerMemory, marks
from reconverge.model.loops.scheduler.nodes import SMALL, NodesCache, nodes_wanted
from reconverge.model.loops.scheduler.plugin import Failure, Filter, Score
from reconverge.model.loops.scheduler.plugins import FILTERS, SCORES
from reconverge.model.loops.scheduler.plugins.node_affinity import OTHER_NODES, named_nodes
from reconverge.model.loops.scheduler.plugins.volumes import PreBind
from reconverge.model.loops.scheduler.preemption import BY_SCHEDULER, Candidate, Outcome, Preemption
from reconverge.model.loops.scheduler.queue import VOLUME_KINDS, SchedulingQueue
from reconverge.model.objects import Node, Pod
from reconverge.model.persistent import EMPTY, Map

PREEMPTION = Preemption()
ACCOUNTING = Accounting()

MemoryPlan = Plan[SchedulerMemory]


class Scheduler(SchedulingQueue):
    """kube-scheduler with its default profile. Keys are pod keys.

    Filters, scores, preemption (None: off) and the accounting of what nodes hold can be replaced one by one; everything
    else is a method.
    """

    name: ClassVar[str] = "scheduler"
    watches: ClassVar[frozenset[str]] = frozenset(
        ("Pod", "Node", "PodDisruptionBudget", "Service", "ReplicaSet", "StatefulSet", *VOLUME_KINDS)
    )
    source: ClassVar[str] = "pkg/scheduler/schedule_one.go"

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

    # One cycle -----------------------------------------------------------------------------------------------

    def sync(self, reading: Reading, memory: SchedulerMemory, key: str) -> Sequence[MemoryPlan]:
        if memory.refused:
            memory = _pruned(memory, reading)
        pod = reading.store.pod(key)
        if pod is None or not self.responsible(pod):
            return (Plan(self._forgotten(memory, key)),)
        waiting = self._not_now(reading, memory, pod)
        if waiting is not None:
            return (waiting,)
        cycle = self.cycle(reading, memory, pod)
        passing, failures, memory = self.passing(cycle)
        if not passing:
            return self.unschedulable(cycle, memory, failures)
        return self.bindings(cycle, memory, passing)

    def cycle(self, reading: Reading, memory: SchedulerMemory, pod: Pod) -> Cycle:
        """A cycle for a pod, with PreFilter done."""
        if memory.nominated is None:
            memory = memory.with_(nominated=_nominations_in(reading))
        cycle = Cycle(reading, memory, pod, self._nodes.of(reading.store), self.accounting)
        cycle.prepare(self.filters)
        return cycle

    def _not_now(self, reading: Reading, memory: SchedulerMemory, pod: Pod) -> MemoryPlan | None:
        """The plan of a pod that is not to be tried: it is bound or gone and the view is old, or it is in back-off."""
        key = pod.key
        if memory.refused and memory.refused.get(key) == pod.uid:
            return Plan(memory, note="the API says that the pod is gone; waits for the watch to show it")
        binding = memory.assumed.get(key) if memory.assumed else None
        if binding is not None and binding.uid == pod.uid:
            return Plan(memory, note="is bound already; waits for the watch to show it")
        if memory.backoffs and key in memory.backoffs:
            memory, until = waiting_until(memory, key, reading.rules, reading.now)
            if until is not None:
                return Plan(memory, requeue_at=until, note="is in back-off")
        return None

    def passing(self, cycle: Cycle) -> tuple[list[Node], Mapping[str, Failure], SchedulerMemory]:
        """The nodes that pass all filters: the nominated one alone if it does, else as many as are wanted.

        Up to 99 nodes all are tried. In larger clusters the search begins where the last one ended.
        """
        nodes, memory = cycle.nodes, cycle.memory
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

    def totals(self, cycle: Cycle, passing: Sequence[Node]) -> list[int]:
        """The weighted sum of all scores of each node."""
        totals = [0] * len(passing)
        for plugin in self.scores:
            scores = plugin.score(cycle, passing)
            if scores is not None:
                weight = plugin.weight
                totals = [total + weight * score for total, score in zip(totals, scores, strict=True)]
        return totals

    def best(self, cycle: Cycle, passing: Sequence[Node]) -> list[Node]:
        """The nodes with the highest total; chance decides between them."""
        if len(passing) == 1:
            return list(passing)
        totals = self.totals(cycle, passing)
        highest = max(totals)
        return [node for node, total in zip(passing, totals, strict=True) if total == highest]

    def bindings(self, cycle: Cycle, memory: SchedulerMemory, passing: Sequence[Node]) -> Sequence[MemoryPlan]:
        """One plan for each node that the pod may get."""
        key = cycle.pod.key
        if key in memory.rejected or key in memory.backoffs:
            memory = memory.with_(rejected=memory.rejected.discard(key), backoffs=memory.backoffs.discard(key))
        reason = "the only node that fits" if len(passing) == 1 else f"the best of {len(passing)} nodes that fit"
        return Bindings(cycle, memory, self.best(cycle, passing), reason)

    # A pod that fits nowhere ---------------------------------------------------------------------------------

    def unschedulable(
        self, cycle: Cycle, memory: SchedulerMemory, failures: Mapping[str, Failure]
    ) -> Sequence[MemoryPlan]:
        """What is done for a pod that no node has passed: it is told so, and others may be preempted for it."""
        pod = cycle.pod
        plugins = tuple(sorted({failure.plugin for failure in failures.values()}))
        memory = memory.with_(rejected=memory.rejected.set(pod.key, Rejection(pod.uid, plugins)))
        if backs_off(cycle.rules):
            memory = failed_again(memory, pod.key, cycle.rules, cycle.now)
        count = len(cycle.nodes.all)
        if not count:
            return (self._pending(memory, pod, messages.NO_NODES, pod.nominated_node),)
        fit = messages.fit_error(count, failures.values())
        outcome = self.preemption.outcome(cycle, failures) if self.preemption is not None else Outcome()
        if outcome.candidates:
            return [self._preempting(memory, cycle, fit, each) for each in outcome.candidates]
        message = messages.unschedulable_message(cycle.rules, fit, outcome.message)
        return (self._pending(memory, pod, message, None if outcome.withdraws else pod.nominated_node),)

    def _pending(self, memory: SchedulerMemory, pod: Pod, message: str, nominated: str | None) -> MemoryPlan:
        if nominated is None and memory.nominated and pod.key in memory.nominated:
            memory = memory.with_(nominated=memory.nominated.delete(pod.key))
        actions = _told(pod, message, nominated)
        return Plan(memory, actions, note="" if actions else message)

    def _preempting(self, memory: SchedulerMemory, cycle: Cycle, fit: str, candidate: Candidate) -> MemoryPlan:
        """The pod is nominated, lower ones that wait for the node are not any more, then the victims are deleted."""
        pod, node = cycle.pod, candidate.node.name
        nominated: Map[str, str] = memory.nominated or EMPTY
        displaced: list[Action] = []
        for key in sorted(nominated):
            other = cycle.store.pod(key) if nominated[key] == node else None
            if other is not None and other.node is None and other.spec.priority < pod.spec.priority:
                fields = (("nominated_node", None),)
                displaced.append(Patch("Pod", key, other.uid, fields, f"{pod.reference} comes first"))
        reason = f"makes room for {pod.reference}"
        deletions = [
            write
            for victim in candidate.victims
            if victim.deletion_at is None and memory.refused.get(victim.key) != victim.uid
            for write in (
                MarkDisrupted(victim.key, victim.uid, BY_SCHEDULER, reason),
                DeletePod(victim.key, victim.uid, reason=reason, disruption_target=BY_SCHEDULER),
            )
        ]
        memory = memory.with_(nominated=nominated.set(pod.key, node))
        return Plan(memory, (*_told(pod, fit, node), *displaced, *deletions), choice=node)

    # Failures and memory -------------------------------------------------------------------------------------

    def failed(self, memory: SchedulerMemory, action: Action, error: ApiError) -> SchedulerMemory:
        """A refused binding is forgotten. What the API says of a pod's absence is believed until the watch shows more.

        All reasons for which it refuses a binding are final for that pod. Other errors make the pod wait.
        """
        if isinstance(action, PreBind):
            return postponed(memory.with_(assumed=memory.assumed.discard(action.key)), [action.key])
        if not isinstance(action, Bind | Patch | DeletePod | MarkDisrupted):
            return memory
        if isinstance(action, Bind) and action.key in memory.assumed:
            memory = memory.with_(assumed=memory.assumed.delete(action.key))
        if isinstance(error, NotFound | Conflict):
            return memory.with_(refused=memory.refused.set(action.key, action.uid))
        of_victim = isinstance(action, DeletePod | MarkDisrupted)
        keys = sorted(memory.nominated or EMPTY) if of_victim else [action.key]
        return postponed(memory, keys)

    def _forgotten(self, memory: SchedulerMemory, key: str) -> SchedulerMemory:
        if key not in memory.rejected and key not in memory.backoffs and key not in (memory.nominated or EMPTY):
            return memory
        return memory.with_(
            rejected=memory.rejected.discard(key),
            backoffs=memory.backoffs.discard(key),
            nominated=None if memory.nominated is None else memory.nominated.discard(key),
        )

    def marks(self, memory: SchedulerMemory, reading: Reading) -> Iterable[tuple[str, str, Any]]:
        return marks(memory)


def _told(pod: Pod, message: str, nominated: str | None) -> tuple[Action, ...]:
    """The write of the pod's status, if it says something new."""
    fields: list[tuple[str, Any]] = []
    if pod.unscheduled != (messages.REASON, message):
        fields.append(("unscheduled", (messages.REASON, message)))
    if pod.nominated_node != nominated:
        fields.append(("nominated_node", nominated))
    if not fields:
        return ()
    name = pod.reference
    verb = f"leaves {name} pending" if nominated is None else f"leaves {name} pending, nominated to {nominated}"
    return (Patch("Pod", pod.key, pod.uid, tuple(fields), reason=message, verb=verb),)


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
