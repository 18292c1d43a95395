"""The descheduler: evicts pods that would be placed otherwise today, so that the scheduler places them anew.

It runs at intervals. A run that finds nothing to do and after which nothing changes would find nothing again: those
runs are left out, so that the cluster comes to rest, and a policy that never ends shows as a repeated state.
Source: the descheduler's `pkg/descheduler/descheduler.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from attrs import frozen

from reconverge.model.likeness import At
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.loops.descheduler.evictor import Evictor
from reconverge.model.loops.descheduler.fit import NodeFit
from reconverge.model.loops.descheduler.policy import DeschedulerPolicy
from reconverge.model.loops.descheduler.run import Run
from reconverge.model.loops.descheduler.strategies import Strategy, strategies_of
from reconverge.model.objects import Node, Pod
from reconverge.model.store import Change
from reconverge.model.value import Seconds, Value

RUN = "run"
"""The only key: one pass is one run."""


@frozen
class DeschedulerMemory(Value):
    """When the next run is; None while nothing has changed since the last one."""

    due: Seconds | None = None


class Descheduler(ControlLoop[DeschedulerMemory]):
    """Runs every `policy.every` seconds while there may be something to do; the first run is at its start.

    After a rest the time to the next run counts from the first change: where in its interval a change falls is not
    explored.
    """

    name: ClassVar[str] = "descheduler"
    watches: ClassVar[frozenset[str]] = frozenset({"Pod", "Node", "PodDisruptionBudget"})
    source: ClassVar[str] = "kubernetes-sigs/descheduler/pkg/descheduler/descheduler.go"

    def __init__(self, policy: DeschedulerPolicy, strategies: Sequence[Strategy] | None = None) -> None:
        self.policy = policy
        self.strategies = strategies_of(policy) if strategies is None else tuple(strategies)
        self.evictor = Evictor(policy.evictor)
        self.fit = NodeFit()

    def start(self) -> DeschedulerMemory:
        """Nothing is known of earlier runs."""
        return DeschedulerMemory()

    def relist(self, reading: Reading) -> Iterable[str]:
        """It runs as soon as it starts."""
        return (RUN,)

    def observe(
        self, memory: DeschedulerMemory, change: Change, reading: Reading
    ) -> tuple[DeschedulerMemory, Iterable[str]]:
        """The first change after a run that may matter sets the next one."""
        if memory.due is not None or not self.matters(change):
            return memory, ()
        return DeschedulerMemory(reading.now + self.policy.every), (RUN,)

    def matters(self, change: Change) -> bool:
        """Whether a run may find something else after the change than before it."""
        before, after = change.before, change.after
        if before is None or after is None:
            return True
        if change.kind == "Pod":
            return _place(before) != _place(after)
        if change.kind == "Node":
            return _offer(before) != _offer(after)
        # A budget that allows less can only stop evictions.
        allowed: bool = after.status.disruptions_allowed > before.status.disruptions_allowed
        return allowed or before.generation != after.generation

    def sync(self, reading: Reading, memory: DeschedulerMemory, key: str) -> Sequence[Plan[DeschedulerMemory]]:
        """One run, if it is time."""
        if memory.due is not None and memory.due > reading.now:
            return (Plan(memory, requeue_at=memory.due),)
        run = Run(reading, self.policy, self.evictor, self.fit)
        for strategy in self.strategies:
            strategy.balance(run)
        return (Plan(DeschedulerMemory(), tuple(run.actions), note="; ".join(run.refused)),)

    def marks(self, memory: DeschedulerMemory, reading: Reading) -> Iterable[tuple[str, str, Any]]:
        """When the next run is."""
        if memory.due is not None:
            yield "", "", ("due", At(memory.due))


def _place(pod: Pod) -> tuple[Any, ...]:
    return pod.node, pod.labels, pod.phase, pod.deletion_at, pod.owner


def _offer(node: Node) -> tuple[Any, ...]:
    return node.labels, node.taints, node.unschedulable, node.ready, node.allocatable
