"""Resources: whether a pod fits, and how full and how evenly a node would be used.

Source: `pkg/scheduler/framework/plugins/noderesources/{fit,least_allocated,balanced_allocation}.go`.
"""

from __future__ import annotations

from collections.abc import Sequence

from reconverge.model.loops.scheduler.cycle import Cycle
from reconverge.model.loops.scheduler.plugin import MOST, Check, Delta, Failure, Filter, Score
from reconverge.model.objects import Node
from reconverge.model.resources import Resources, Usage


class NodeResourcesFit(Filter):
    """One more pod, and every resource that the pod asks for, must fit beside what is held on the node."""

    name = "NodeResourcesFit"

    def prepare(self, cycle: Cycle) -> Check | None:
        request = cycle.request
        cpu, memory = request.cpu, request.memory
        plain = not request.ephemeral_storage and not request.extended

        def check(node: Node, usage: Usage, delta: Delta) -> Failure | None:
            capacity = node.allocatable
            allocatable, held = capacity.resources, usage.requests
            if (
                plain
                and usage.pods < capacity.pods
                and (not cpu or cpu <= allocatable.cpu - held.cpu)
                and (not memory or memory <= allocatable.memory - held.memory)
            ):
                return None
            return _lacking(request, node, usage)

        return check


def _lacking(request: Resources, node: Node, usage: Usage) -> Failure | None:
    """Every resource that is missing; a request that no empty node of this kind could meet is unresolvable."""
    reasons = []
    resolvable = True
    if usage.pods + 1 > node.allocatable.pods:
        reasons.append("Too many pods")
    allocatable = dict(node.allocatable.resources.amounts())
    held = dict(usage.requests.amounts())
    for name, amount in request.amounts():
        most = allocatable.get(name, 0)
        if amount > 0 and amount > most - held.get(name, 0):
            reasons.append(f"Insufficient {name}")
            resolvable = resolvable and amount <= most
    return Failure("NodeResourcesFit", tuple(reasons), resolvable) if reasons else None


class LeastAllocated(Score):
    """The mean free share of CPU and memory with the pod on the node, each in whole percent.

    Missing requests count as 100 millicores and 200 MiB. A node without one of the resources is judged by the other.
    """

    name = "NodeResourcesFit"
    weight = 1

    def score(self, cycle: Cycle, nodes: Sequence[Node]) -> list[int] | None:
        cpu, memory = cycle.accounting.nonzero(cycle.pod)
        usage_of = cycle.usage
        scores = []
        for node in nodes:
            usage = usage_of(node.name)
            allocatable = node.allocatable.resources
            scores.append(
                least_allocated(
                    usage.nonzero_cpu + cpu, allocatable.cpu, usage.nonzero_memory + memory, allocatable.memory
                )
            )
        return scores


def least_allocated(cpu: int, all_cpu: int, memory: int, all_memory: int) -> int:
    """The score for an amount of CPU and of memory in use, the pod's own included."""
    total = count = 0
    if all_cpu:
        count += 1
        if cpu <= all_cpu:
            total += (all_cpu - cpu) * MOST // all_cpu
    if all_memory:
        count += 1
        if memory <= all_memory:
            total += (all_memory - memory) * MOST // all_memory
    return total // count if count else 0


class BalancedAllocation(Score):
    """CPU and memory should be used in equal shares, real requests counted; BestEffort pods have no say since 1.34."""

    name = "NodeResourcesBalancedAllocation"
    weight = 1

    def score(self, cycle: Cycle, nodes: Sequence[Node]) -> list[int] | None:
        cpu, memory = cycle.request.cpu, cycle.request.memory
        if not cpu and not memory and not cycle.rules.balanced_allocation_of_best_effort:
            return None
        usage_of = cycle.usage
        scores = []
        for node in nodes:
            held = usage_of(node.name).requests
            allocatable = node.allocatable.resources
            scores.append(balanced(held.cpu + cpu, allocatable.cpu, held.memory + memory, allocatable.memory))
        return scores


def balanced(cpu: int, all_cpu: int, memory: int, all_memory: int) -> int:
    """100 less the standard deviation of the two used shares, in percent; in floating point, as upstream does it."""
    if not all_cpu or not all_memory:
        return MOST
    deviation = abs((min(cpu / all_cpu, 1.0) - min(memory / all_memory, 1.0)) / 2)
    return int((1 - deviation) * MOST)
