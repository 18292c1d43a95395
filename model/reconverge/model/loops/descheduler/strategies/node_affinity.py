"""RemovePodsViolatingNodeAffinity: pods whose node does not suit them any more, or not best.

Source: the descheduler's `pkg/framework/plugins/removepodsviolatingnodeaffinity/node_affinity.go`,
`pkg/utils/predicates.go` (GetBestNodeWeightGivenPodPreferredAffinity).
"""

from __future__ import annotations

from reconverge.model.loops.descheduler.policy import PREFERRED, REQUIRED, NodeAffinitySettings
from reconverge.model.loops.descheduler.run import Run
from reconverge.model.loops.descheduler.strategies.strategy import Strategy
from reconverge.model.objects import Node, Pod


class RemovePodsViolatingNodeAffinity(Strategy):
    """Evicts pods that a node affinity would have elsewhere."""

    name = "RemovePodsViolatingNodeAffinity"

    def __init__(self, settings: NodeAffinitySettings) -> None:
        self.settings = settings

    def balance(self, run: Run) -> None:
        if REQUIRED in self.settings.types:
            self._required(run)
        if PREFERRED in self.settings.types:
            self._preferred(run)

    def _required(self, run: Run) -> None:
        for node in run.nodes:
            for pod in run.pods_on(node):
                if pod.spec.affinity.node_required is None or run.fit.selected(pod, node):
                    continue
                if run.policy.fit == "old" or run.fit.fits_elsewhere(run.store, pod, run.nodes):
                    run.evict(pod, f"{node.name} does not match its required node affinity")

    def _preferred(self, run: Run) -> None:
        for node in run.nodes:
            for pod in run.pods_on(node):
                weight = self.weight(pod, node)
                if not pod.spec.affinity.node_preferred or self.best(run, pod) <= weight:
                    continue
                if self.worth_it(run, pod, weight):
                    run.evict(pod, f"{node.name} has weight {weight:g} of its preferences, others have more")

    def worth_it(self, run: Run, pod: Pod, weight: int) -> bool:
        """Whether a pod on a second-best node may go.

        A fit anywhere else is enough for all releases that have this strategy, be it a node that is no better.
        """
        nodes = run.nodes
        if run.policy.fit == "better":
            nodes = [node for node in nodes if self.weight(pod, node) > weight]
        return run.fit.fits_elsewhere(run.store, pod, nodes)

    def weight(self, pod: Pod, node: Node) -> int:
        """The summed weights of the pod's preferences that a node matches."""
        terms = pod.spec.affinity.node_preferred
        return sum(each.weight for each in terms if each.term.matches(node.labels, node.name))

    def best(self, run: Run, pod: Pod) -> int:
        """The highest weight of any node, full ones too."""
        return max((self.weight(pod, node) for node in run.nodes), default=0)
