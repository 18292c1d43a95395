"""RemovePodsViolatingTopologySpreadConstraint: domains that hold more than their share.

Source: the descheduler's
`pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint/topologyspreadconstraint.go`; the old rule is that
of `pkg/descheduler/strategies/topologyspreadconstraint.go` up to 0.21.
"""

from __future__ import annotations

from math import ceil

from reconverge.model.labels import label
from reconverge.model.loops.descheduler.policy import HARD, SOFT, SpreadSettings
from reconverge.model.loops.descheduler.run import Run
from reconverge.model.loops.descheduler.strategies.strategy import Strategy
from reconverge.model.loops.scheduler.plugins.pod_topology_spread import Constraint, constraints_of
from reconverge.model.objects import Node, Pod

Domains = dict[str, list[Pod]]
"""Pods by the value of a topology key."""


class RemovePodsViolatingTopologySpreadConstraint(Strategy):
    """Evicts pods from crowded domains until the constraint would hold if they went to the emptiest ones."""

    name = "RemovePodsViolatingTopologySpreadConstraint"

    def __init__(self, settings: SpreadSettings) -> None:
        self.settings = settings

    def balance(self, run: Run) -> None:
        for (namespace, constraint), example in self.constraints(run).items():
            nodes = [node for node in run.nodes if self.counts(run, constraint, example, node)]
            domains = self.domains(run, namespace, constraint, nodes)
            sizes = [len(pods) for pods in domains.values()]
            if sizes and max(sizes) - min(sizes) > constraint.max_skew:
                self._balance(run, constraint, nodes, domains)

    def constraints(self, run: Run) -> dict[tuple[str, Constraint], Pod]:
        """The constraints that pods have, by namespace, each with a pod that has it."""
        found: dict[tuple[str, Constraint], Pod] = {}
        for pod in run.in_order([pod for pod in run.store.all("Pod") if pod.active and pod.spec.spread]):
            for hard, word in ((True, HARD), (False, SOFT)):
                if word in self.settings.constraints:
                    for constraint in constraints_of(pod.spec.spread, pod.labels, hard=hard):
                        found.setdefault((pod.namespace, constraint), pod)
        return found

    def counts(self, run: Run, constraint: Constraint, pod: Pod, node: Node) -> bool:
        """Whether a node is a place for the pod in the eyes of the constraint.

        Taints count only if the constraint honours them, which by default it does not; the old rule looked at neither.
        """
        if label(node.labels, constraint.key) is None:
            return False
        if run.policy.fit == "old":
            return True
        affine = not constraint.honor_affinity or run.fit.selected(pod, node)
        return affine and (not constraint.honor_taints or run.fit.tolerated(pod, node))

    def domains(self, run: Run, namespace: str, constraint: Constraint, nodes: list[Node]) -> Domains:
        """The pods that count, by domain; domains without any are there."""
        value_of = {node.name: label(node.labels, constraint.key) or "" for node in nodes}
        domains: Domains = {value: [] for value in value_of.values()}
        for pod in run.in_order(run.store.pods_matching(namespace, constraint.selector)):
            if pod.active and pod.node in value_of:
                domains[value_of[pod.node]].append(pod)
        return domains

    def _balance(self, run: Run, constraint: Constraint, nodes: list[Node], domains: Domains) -> None:
        """Two pointers over the domains by size, as upstream; pods that are not to be moved come first in theirs."""
        ideal = sum(map(len, domains.values())) / len(domains)
        below = self.below_average(nodes, constraint, domains, ideal)
        for pods in domains.values():
            pods.sort(key=lambda pod: (run.evictor.may_evict(pod), -pod.spec.priority))
        ordered = sorted(domains, key=lambda value: (len(domains[value]), value))
        low, high = 0, len(ordered) - 1
        while low < high:
            crowded, empty = domains[ordered[high]], domains[ordered[low]]
            if len(crowded) < ideal:
                high -= 1
                continue
            moved = movable(len(crowded), len(empty), ideal, constraint.max_skew)
            if moved <= 0:
                low += 1
                continue
            reason = f"{constraint.key} {ordered[high]} has {len(crowded)} pods, {ordered[low]} {len(empty)}"
            going = crowded[-moved:]
            del crowded[-moved:]
            empty.extend(going)
            for pod in going:
                if self.worth_it(run, pod, below):
                    run.evict(pod, f"{reason}: more apart than maxSkew {constraint.max_skew}")

    def below_average(self, nodes: list[Node], constraint: Constraint, domains: Domains, ideal: float) -> list[Node]:
        """The nodes of the domains that hold less than the average."""
        return [node for node in nodes if len(domains[label(node.labels, constraint.key) or ""]) < ideal]

    def worth_it(self, run: Run, pod: Pod, below: list[Node]) -> bool:
        """Whether a node below the average takes the pod; the old rule did not ask."""
        if run.policy.fit == "old" or not self.settings.node_fit:
            return True
        return run.fit.fits_elsewhere(run.store, pod, below)


def movable(crowded: int, empty: int, ideal: float, max_skew: int) -> int:
    """How many pods go from a domain of one size to one of another (balanceDomains)."""
    skew = crowded - empty
    if skew <= max_skew:
        return 0
    return min(ceil(crowded - ideal), ceil(ideal - empty), ceil((skew - max_skew) / 2))
