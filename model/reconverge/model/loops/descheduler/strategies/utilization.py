"""LowNodeUtilization: pods go from nodes that are too full while others have room.

Usage is what pods request, as the scheduler counts it.
Source: the descheduler's `pkg/framework/plugins/nodeutilization/{lownodeutilization,nodeutilization}.go`.
"""

from __future__ import annotations

from reconverge.model.loops.descheduler.policy import LowUtilizationSettings
from reconverge.model.loops.descheduler.run import Run
from reconverge.model.loops.descheduler.strategies.strategy import Strategy
from reconverge.model.objects import Node, Pod

Amounts = dict[str, float]


class LowNodeUtilization(Strategy):
    """Evicts pods from nodes above the target while nodes below the thresholds can take as much."""

    name = "LowNodeUtilization"

    def __init__(self, settings: LowUtilizationSettings) -> None:
        self.settings = settings
        self.thresholds = dict(settings.thresholds)
        self.targets = dict(settings.targets)

    def balance(self, run: Run) -> None:
        usage = {node.name: self.usage(run, node) for node in run.nodes}
        low = [node for node in run.nodes if self.has_room(node, usage[node.name])]
        full = [node for node in run.nodes if self.too_full(node, usage[node.name])]
        if not full or len(low) <= self.settings.number_of_nodes or len(low) == len(run.nodes):
            return
        left = self._room(low, usage)
        for node in sorted(full, key=lambda node: (-self._fullness(node, usage[node.name]), node.name)):
            self._relieve(run, node, usage[node.name], left, low)

    def usage(self, run: Run, node: Node) -> Amounts:
        """What is requested on a node, of the resources that have a target."""
        held = run.store.usage(node.name)
        amounts = {**dict(held.requests.amounts()), "pods": held.pods}
        return {name: amounts.get(name, 0) for name in self.targets}

    def capacity(self, node: Node, name: str) -> int:
        """How much of a resource a node can hold."""
        return node.allocatable.pods if name == "pods" else node.allocatable.resources.amount(name)

    def has_room(self, node: Node, usage: Amounts) -> bool:
        """Whether a node, not cordoned, is at or below all thresholds."""
        below = all(usage[name] <= self.capacity(node, name) * share / 100 for name, share in self.thresholds.items())
        return below and not node.unschedulable

    def too_full(self, node: Node, usage: Amounts) -> bool:
        """Whether a node is above one of the targets."""
        return any(usage[name] > self.capacity(node, name) * share / 100 for name, share in self.targets.items())

    def _room(self, low: list[Node], usage: dict[str, Amounts]) -> Amounts:
        """What the nodes that have room can take together before they reach the targets."""
        return {
            name: sum(self.capacity(node, name) * share / 100 - usage[node.name][name] for node in low)
            for name, share in self.targets.items()
        }

    def _fullness(self, node: Node, usage: Amounts) -> float:
        return sum(usage[name] / max(1, self.capacity(node, name)) for name in self.targets)

    def _relieve(self, run: Run, node: Node, usage: Amounts, left: Amounts, low: list[Node]) -> None:
        for pod in sorted(run.pods_on(node), key=lambda pod: pod.spec.priority):
            if not self.too_full(node, usage) or any(amount <= 0 for amount in left.values()):
                return
            if not any(run.fit.tolerated(pod, each) for each in low):
                continue
            if run.evict(pod, f"{node.name} is used above the target, and {len(low)} nodes have room"):
                for name, amount in self._asks(pod).items():
                    usage[name] -= amount
                    left[name] -= amount

    def _asks(self, pod: Pod) -> Amounts:
        asked = {**dict(pod.spec.requests.amounts()), "pods": 1}
        return {name: asked.get(name, 0) for name in self.targets}
