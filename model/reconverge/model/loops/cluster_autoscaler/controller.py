"""The cluster autoscaler: adds nodes for pods that fit nowhere, and removes nodes that nobody needs.

It looks every ten seconds. The model looks at the first of these moments after something has changed or is due, so
that a cluster in which nothing more can happen comes to rest.
Source: autoscaler `cluster-autoscaler/core/static_autoscaler.go` (RunOnce), `cluster-autoscaler/clusterstate/`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import floor
from typing import Any, ClassVar

from reconverge.model.action import Action, DeletePod
from reconverge.model.errors import ApiError, Conflict, NotFound
from reconverge.model.eviction import Evict
from reconverge.model.loop import MACHINES, ControlLoop, Plan, Reading
from reconverge.model.loops.cluster_autoscaler import bookkeeping
from reconverge.model.loops.cluster_autoscaler.actuation import ActuationRules
from reconverge.model.loops.cluster_autoscaler.memory import ABORTING, MARKING, AutoscalerMemory, marks
from reconverge.model.loops.cluster_autoscaler.options import AutoscalerOptions
from reconverge.model.loops.cluster_autoscaler.scale_down import ScaleDownRules, Unneeded
from reconverge.model.loops.cluster_autoscaler.scale_up import Help, ScaleUpRules
from reconverge.model.loops.cluster_autoscaler.simulation import Simulation
from reconverge.model.loops.cluster_autoscaler.view import View
from reconverge.model.loops.cluster_autoscaler.writes import CANDIDATE, MarkToBeDeleted, Unmark, to_be_deleted
from reconverge.model.loops.node_group.actions import TerminateInstance
from reconverge.model.loops.node_lifecycle.taints import has_taint
from reconverge.model.loops.node_lifecycle.ticks import next_tick
from reconverge.model.loops.node_lifecycle.writes import ChangeTaints
from reconverge.model.node_groups import NODE_GROUPS
from reconverge.model.objects import Node, Pod
from reconverge.model.persistent import Map
from reconverge.model.store import Change
from reconverge.model.value import Seconds

Memory = AutoscalerMemory
Plans = Sequence[Plan[Memory]]
SCAN = "*"
"""The key of the scan; all other keys are nodes that are being removed."""
OWNERS = frozenset({"ReplicaSet", "StatefulSet", "DaemonSet", "Job"})


class ClusterAutoscaler(ScaleUpRules, ScaleDownRules, ActuationRules, ControlLoop[Memory]):
    """One autoscaler for all groups whose size may change.

    Its simulation of the scheduler can differ from the real one, and again (`removal`) where nodes are to be removed.
    """

    name: ClassVar[str] = "cluster-autoscaler"
    watches: ClassVar[frozenset[str]] = frozenset(
        {"Pod", "Node", "PodDisruptionBudget", MACHINES, NODE_GROUPS, *OWNERS}
    )
    physical: ClassVar[bool] = True
    source: ClassVar[str] = "autoscaler/cluster-autoscaler/core/static_autoscaler.go"

    def __init__(
        self,
        options: AutoscalerOptions | None = None,
        simulation: Simulation | None = None,
        removal: Simulation | None = None,
    ) -> None:
        self.options = options = options if options is not None else AutoscalerOptions()
        self.simulation = simulation if simulation is not None else Simulation.ignoring(options.ignores)
        if removal is None and options.removal_ignores:
            removal = Simulation.ignoring((*options.ignores, *options.removal_ignores))
        self.removal = removal if removal is not None else self.simulation

    # What wakes it -------------------------------------------------------------------------------------------

    def start(self) -> Memory:
        """Nothing is known, and no cooldown runs."""
        return AutoscalerMemory(threshold=self.options.threshold)

    def relist(self, reading: Reading) -> Iterable[str]:
        """A scan."""
        return (SCAN,)

    def observe(self, memory: Memory, change: Change, reading: Reading) -> tuple[Memory, Iterable[str]]:
        """Nodes and pods wake the removals that they belong to; whatever a scan would look at wakes that."""
        woken: list[str] = []
        if memory.deletions:
            memory, woken = self._of_removals(memory, change, reading)
        if self.concerns(change) and self._comes_too_late(memory, reading.now):
            woken.append(SCAN)
        return memory, woken

    def _of_removals(self, memory: Memory, change: Change, reading: Reading) -> tuple[Memory, list[str]]:
        if change.kind == "Pod":
            return self.touched(memory, change.key, reading.now)
        if change.kind == "PodDisruptionBudget":
            woken = sorted(memory.deletions)
            for name in woken:
                memory = self.retried(memory, name, sorted(memory.deletions[name].pods), reading.now)
            return memory, woken
        if change.kind == MACHINES and change.key in memory.deletions:
            after = change.after
            return (memory, []) if after is not None and after.exists else (self._done(memory, change.key, reading), [])
        if change.kind == "Node" and change.key in memory.deletions:
            node: Node | None = change.after
            if node is not None and to_be_deleted(node):
                memory = self.marked(memory, change.key, reading.now)
            return memory, [change.key]
        return memory, []

    def _done(self, memory: Memory, name: str, reading: Reading) -> Memory:
        """The memory after the instance of a node has gone."""
        return memory.without_deletion(name).with_(deleted_at=reading.now)

    def concerns(self, change: Change) -> bool:
        """Whether a scan might find something else after a change."""
        before, after = change.before, change.after
        if change.kind in OWNERS:
            return after is None
        if before is None or after is None:
            return True
        if change.kind == "Pod":
            return _placing(before) != _placing(after)
        if change.kind == MACHINES:
            return bool(before.exists != after.exists or before.boots_at != after.boots_at)
        if change.kind == "PodDisruptionBudget":
            return bool(before.status.disruptions_allowed != after.status.disruptions_allowed)
        return True

    def _comes_too_late(self, memory: Memory, now: Seconds) -> bool:
        return memory.next_scan is None or memory.next_scan > self.tick_after(now)

    def tick_after(self, moment: Seconds) -> Seconds:
        """The first scan that comes after a moment."""
        return (floor(moment / self.options.scan) + 1) * self.options.scan

    # Passes --------------------------------------------------------------------------------------------------

    def sync(self, reading: Reading, memory: Memory, key: str) -> Plans:
        """A scan when its time has come, or the next step of a node's removal."""
        if key != SCAN:
            if key not in memory.deletions:
                return (Plan(memory),)
            return self.remove(View(reading, memory, self.options), memory, key)
        if memory.next_scan is not None and memory.next_scan <= reading.now:
            return self.scan(reading, memory.with_(next_scan=None))
        due = self.tick_after(reading.now)
        due = due if memory.next_scan is None else min(due, memory.next_scan)
        return (Plan(memory.with_(next_scan=due), requeue_at=due),)

    def scan(self, reading: Reading, memory: Memory) -> Plans:
        """One round: what is wrong with groups is put right, then they grow, then nodes are sought that may go."""
        if not memory.cleaned:
            left = [node for node in reading.store.nodes() if to_be_deleted(node)]
            memory = memory.with_(cleaned=True)
            if left:
                return (self._planned(reading, memory, self.clean_up(reading, left)),)
        memory = bookkeeping.updated(View(reading, memory, self.options))
        view = View(reading, memory, self.options)
        overdue = bookkeeping.overdue(view)
        if overdue:
            return (self._planned(reading, memory, overdue, *bookkeeping.changes_at(view)),)
        if not view.healthy:
            memory = memory.with_(unneeded=Map())
            note = "too many nodes are not ready"
            return (self._planned(reading, memory, (), *bookkeeping.changes_at(view), note=note),)
        resized = bookkeeping.sizes_put_right(view)
        if resized:
            return (self._planned(reading, memory, resized, *bookkeeping.changes_at(view)),)
        return self.decide(view, memory)

    def decide(self, view: View, memory: Memory) -> Plans:
        """Nodes for pods come first; while pods are very new, nothing is removed."""
        wanted = self.help(view)
        too_new = bool(wanted.pods) and self.too_new(view, wanted.pods)
        if wanted.pods and not too_new:
            grown = self.grow(view, memory, wanted)
            if grown:
                return [self._again(view, plan, *bookkeeping.changes_at(view)) for plan in grown]
        return [
            self._shrinking(view, memory, wanted, unneeded, too_new)
            for unneeded in self.selections(view, wanted.snapshot.seen_by(self.removal), memory)
        ]

    def _shrinking(self, view: View, memory: Memory, wanted: Help, unneeded: Unneeded, too_new: bool) -> Plan[Memory]:
        since = {name: memory.unneeded.get(name, view.now) for name in unneeded.nodes}
        memory = memory.with_(unneeded=Map(since))
        cooldown = self.cooldown_until(memory)
        actions: list[Action] = []
        if not too_new and (cooldown is None or cooldown <= view.now):
            begun = self.to_delete(view, memory, unneeded)
            for name, deletion in begun.items():
                memory = memory.with_deletion(name, deletion)
                count = len(unneeded.nodes[name])
                why = f"it is not needed: {f'its {count} pods fit' if count != 1 else 'its pod fits'} elsewhere"
                actions.append(self.mark(view.reading, name, deletion, why if count else "it is empty"))
            actions = actions or list(self.soft_taints(view, memory))
        moments = (
            *bookkeeping.changes_at(view),
            *self.help_changes_at(view, wanted),
            *self.unneeded_changes_at(view, memory, unneeded),
        )
        choice = ", ".join(sorted(unneeded.nodes)) or "none"
        note = "; ".join(f"{name}: {why}" for name, why in sorted(unneeded.refused.items()))
        return self._planned(view.reading, memory, actions, *moments, choice=choice, note=note)

    def soft_taints(self, view: View, memory: Memory) -> Iterator[Action]:
        """Marks candidates, so that the scheduler prefers other nodes, and unmarks those that are none any more."""
        written = 0
        for node in view.nodes:
            has, wants = has_taint(node.taints, CANDIDATE), node.name in memory.unneeded
            if has == wants or view.group_of(node.name) is None or view.going(node):
                continue
            if written >= self.options.soft_taints:
                return
            written += 1
            if wants:
                yield ChangeTaints(node.name, node.uid, add=(CANDIDATE,), reason="it is not needed")
            else:
                yield ChangeTaints(node.name, node.uid, remove=(CANDIDATE,), reason="it is needed")

    def clean_up(self, reading: Reading, left: Iterable[Node]) -> list[Action]:
        """A new process takes back what an earlier one has marked."""
        cordons = self.options.cordons(reading.rules)
        return [Unmark(node.name, node.uid, cordons, "left by an earlier process") for node in left]

    # Failures and memory -------------------------------------------------------------------------------------

    def failed(self, memory: Memory, action: Action, error: ApiError) -> Memory:
        """A refused eviction is repeated; a mark that did not get through, or a deletion, ends the removal."""
        if isinstance(action, Evict | DeletePod):
            gone = isinstance(error, NotFound | Conflict)
            return memory if gone else self.refused(memory, action.key, action.uid, str(error))
        if isinstance(action, TerminateInstance) and action.machine in memory.deletions:
            deletion = memory.deletions[action.machine].with_(phase=ABORTING, error=error.message)
            return memory.with_deletion(action.machine, deletion)
        if isinstance(action, MarkToBeDeleted):
            for name in sorted(memory.deletions):
                if memory.deletions[name].phase == MARKING:
                    memory = memory.without_deletion(name)
        return memory

    def marks(self, memory: Memory, reading: Reading) -> Iterable[tuple[str, str, Any]]:
        """Deadlines and states, by node; a node that is not ready also by when it no longer counts as starting."""
        options = self.options
        yield from marks(
            memory, reading.now, max(options.unneeded, options.unready), max(options.after_add, options.provision)
        )
        view = View(reading, memory, options)
        for each in view.readiness.values():
            for name in each.starting:
                yield "Node", name, ("starting", bookkeeping.starts_until(view, name))

    # Inside --------------------------------------------------------------------------------------------------

    def _planned(
        self,
        reading: Reading,
        memory: Memory,
        actions: Iterable[Action],
        *moments: Seconds,
        choice: str = "",
        note: str = "",
    ) -> Plan[Memory]:
        """The plan, with the next scan at the earliest of some moments that are still to come."""
        due = min((at for at in moments if at > reading.now), default=None)
        at = None if due is None else next_tick(due, self.options.scan)
        written = tuple(actions)
        return Plan(memory.with_(next_scan=at), written, at, choice, "" if written else note)

    def _again(self, view: View, plan: Plan[Memory], *moments: Seconds) -> Plan[Memory]:
        return self._planned(view.reading, plan.memory, plan.actions, *moments, choice=plan.choice)


def _placing(pod: Pod) -> tuple[Any, ...]:
    """What of a pod decides where it may be, and whether it may be moved."""
    return (
        pod.node, pod.terminal, pod.deletion_at, pod.unscheduled is None, pod.nominated_node, pod.labels,
        pod.annotations, pod.spec.scheduling_gates,
    )  # fmt: skip
