"""RemoveDuplicates: pods of one owner that share a node are to be spread.

Source: the descheduler's `pkg/framework/plugins/removeduplicates/removeduplicates.go`; the old rule is that of
`pkg/descheduler/strategies/duplicates.go` up to 0.19.
"""

from __future__ import annotations

from reconverge.model.loops.descheduler.policy import RemoveDuplicatesSettings
from reconverge.model.loops.descheduler.run import Run
from reconverge.model.loops.descheduler.strategies.strategy import Strategy
from reconverge.model.objects import Node, Pod

OwnerKey = tuple[str, str, str, tuple[str, ...]]
"""Namespace, kind and name of the owner, and the images of its pods' containers."""


class RemoveDuplicates(Strategy):
    """Evicts pods of one owner and the same images from nodes that hold several of them."""

    name = "RemoveDuplicates"

    def __init__(self, settings: RemoveDuplicatesSettings) -> None:
        self.settings = settings

    def balance(self, run: Run) -> None:
        groups: dict[OwnerKey, dict[str, list[Pod]]] = {}
        for node in run.nodes:
            for pod in run.pods_on(node):
                key = self.owner_key(pod)
                if key is not None:
                    groups.setdefault(key, {}).setdefault(node.name, []).append(pod)
        for key in sorted(groups):
            by_node = groups[key]
            for name, keep in self.keeps(run, by_node).items():
                for pod in by_node[name][keep:]:
                    run.evict(pod, f"{len(by_node[name])} pods of {key[1].lower()}/{key[2]} on {name}, {keep} may stay")

    def owner_key(self, pod: Pod) -> OwnerKey | None:
        """What makes pods duplicates of each other; None for one that has no owner that counts."""
        if pod.owner is None or pod.owner.kind in self.settings.exclude_owner_kinds:
            return None
        return pod.namespace, pod.owner.kind, pod.owner.name, tuple(sorted(each.image for each in pod.spec.containers))

    def keeps(self, run: Run, by_node: dict[str, list[Pod]]) -> dict[str, int]:
        """How many pods of one owner may stay on each node that holds too many."""
        doubled = {name: pods for name, pods in by_node.items() if len(pods) > 1}
        if run.policy.fit == "old":
            return dict.fromkeys(doubled, 1)
        targets = self.target_nodes(run, [pod for pods in doubled.values() for pod in pods[1:]])
        if len(targets) < 2:
            return {}
        average = -(-sum(map(len, by_node.values())) // len(targets))
        return {name: average for name, pods in doubled.items() if len(pods) > average}

    def target_nodes(self, run: Run, duplicates: list[Pod]) -> set[str]:
        """The nodes on which the duplicates may be by selector, affinity and taints, whether or not there is room."""
        targets: set[str] = set()
        for pod in duplicates:
            matching = {node.name for node in run.nodes if self._possible(run, pod, node)}
            if len(matching) > 1:
                targets |= matching
        return targets

    def _possible(self, run: Run, pod: Pod, node: Node) -> bool:
        return run.fit.tolerated(pod, node) and run.fit.selected(pod, node)
