"""The plans for one pod that several nodes may get.

Source: `pkg/scheduler/schedule_one.go` (selectHost: a random node of those with the highest score).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from reconverge.model.action import Bind
from reconverge.model.loop import Plan
from reconverge.model.loops.scheduler.cycle import Cycle
from reconverge.model.loops.scheduler.memory import Binding, SchedulerMemory
from reconverge.model.loops.scheduler.nodes import first_in_likeness_order, in_likeness_order
from reconverge.model.loops.scheduler.plugins.volumes import prebind
from reconverge.model.objects import Node


class Bindings(Sequence[Plan[SchedulerMemory]]):
    """One plan per node, ordered by what the nodes are, then by name; each is made when it is asked for.

    Mostly the first one is all that is asked for, and there may be hundreds of nodes.
    """

    def __init__(self, cycle: Cycle, memory: SchedulerMemory, nodes: Sequence[Node], reason: str) -> None:
        self._cycle = cycle
        self._memory = memory
        self._nodes = nodes
        self._reason = reason
        self._ordered: list[Node] | None = None

    def __len__(self) -> int:
        return len(self._nodes)

    @overload
    def __getitem__(self, index: int) -> Plan[SchedulerMemory]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Plan[SchedulerMemory]]: ...
    def __getitem__(self, index: int | slice) -> Plan[SchedulerMemory] | Sequence[Plan[SchedulerMemory]]:
        store, now = self._cycle.store, self._cycle.now
        if index == 0 and self._ordered is None:
            return self._plan(first_in_likeness_order(store, self._nodes, now))
        if self._ordered is None:
            self._ordered = in_likeness_order(store, self._nodes, now)
        if isinstance(index, slice):
            return [self._plan(node) for node in self._ordered[index]]
        return self._plan(self._ordered[index])

    def _plan(self, node: Node) -> Plan[SchedulerMemory]:
        pod, memory = self._cycle.pod, self._memory
        key = pod.key
        after = SchedulerMemory(
            memory.rejected,
            memory.assumed.set(key, Binding(pod.uid, node.name)),
            memory.nominated,
            memory.backoffs,
            memory.refused,
            memory.start,
        )
        before = prebind(self._cycle, node)
        return Plan(after, (*before, Bind(key, pod.uid, node.name, self._reason)), choice=node.name)
