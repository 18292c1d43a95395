"""Whether a pod fits on a node as the descheduler judges it: a copy of some of the scheduler's rules, not all.

Spread constraints, affinity to other pods, host ports and all scores are not among them, which is why it evicts pods
that the scheduler puts back.
Source: the descheduler's `pkg/descheduler/node/node.go` (NodeFit, PodFitsAnyOtherNode, PodFitsAnyNode).
"""

from __future__ import annotations

from collections.abc import Iterable

from reconverge.model.labels import label
from reconverge.model.loops.scheduler.plugins.node_affinity import required_match
from reconverge.model.loops.scheduler.plugins.taint_toleration import untolerated
from reconverge.model.objects import Node, Pod, PodAffinityTerm
from reconverge.model.store import Store


class NodeFit:
    """The rules, one method each."""

    def fits_elsewhere(self, store: Store, pod: Pod, nodes: Iterable[Node]) -> bool:
        """Whether one of the nodes other than its own takes the pod."""
        return any(node.name != pod.node and self.fits(store, pod, node) for node in nodes)

    def fits(self, store: Store, pod: Pod, node: Node) -> bool:
        """Whether a node takes the pod beside what it holds."""
        return (
            self.schedulable(node)
            and self.selected(pod, node)
            and self.tolerated(pod, node)
            and self.room(store, pod, node)
            and not self.shunned(store, pod, node)
        )

    def schedulable(self, node: Node) -> bool:
        """Whether the node is not cordoned."""
        return not node.unschedulable

    def selected(self, pod: Pod, node: Node) -> bool:
        """Whether nodeSelector and the required node affinity hold."""
        matches = required_match(pod.spec)
        return matches is None or matches(node)

    def tolerated(self, pod: Pod, node: Node) -> bool:
        """Whether the pod tolerates the node's NoSchedule and NoExecute taints."""
        return untolerated(node.taints, pod.spec.tolerations) is None

    def room(self, store: Store, pod: Pod, node: Node) -> bool:
        """Whether the requests fit; Terminating pods still hold theirs."""
        usage = store.usage(node.name)
        if usage.pods >= node.allocatable.pods:
            return False
        held = dict(usage.requests.amounts())
        most = dict(node.allocatable.resources.amounts())
        return all(
            not amount or amount <= most.get(name, 0) - held.get(name, 0)
            for name, amount in pod.spec.requests.amounts()
        )

    def shunned(self, store: Store, pod: Pod, node: Node) -> bool:
        """Whether a pod on the node is one that the pod's required anti-affinity excludes."""
        terms = pod.spec.affinity.anti_required
        if not terms:
            return False
        others = [each for each in store.pods_on(node.name) if not each.terminal and each.uid != pod.uid]
        return any(_excludes(term, pod, other, node) for term in terms for other in others)


def _excludes(term: PodAffinityTerm, pod: Pod, other: Pod, node: Node) -> bool:
    if label(node.labels, term.topology_key) is None or term.selector is None:
        return False
    spaces = term.namespaces or (pod.namespace,)
    return (term.all_namespaces or other.namespace in spaces) and term.selector.matches(other.labels)
