"""Preemption: making room for a pod that fits nowhere by deleting pods of lower priority.

Source: `pkg/scheduler/framework/preemption/preemption.go`,
`pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go`, `pkg/scheduler/util/utils.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor
from typing import Any

from attrs import frozen

from reconverge.model.likeness import pod_likeness
from reconverge.model.loops.scheduler.cycle import Cycle
from reconverge.model.loops.scheduler.messages import fit_error
from reconverge.model.loops.scheduler.nodes import in_likeness_order
from reconverge.model.loops.scheduler.plugin import Delta, Failure
from reconverge.model.objects import Node, Pod, PodDisruptionBudget
from reconverge.model.value import Seconds

BY_SCHEDULER = "PreemptionByScheduler"
"""Reason of the DisruptionTarget condition of victims."""
NEVER = "not eligible due to preemptionPolicy=Never."
WAITING = "not eligible due to a terminating pod on the nominated node."

_NO_VICTIMS = Failure("DefaultPreemption", ("No preemption victims found for incoming pod",), resolvable=False)
_NOT_HELPFUL = Failure("DefaultPreemption", ("Preemption is not helpful for scheduling",), resolvable=False)

MOST_DRY_RUNS = 100
_LEVEL = 2**31
"""Added to each priority before the sum, so that more victims are never better."""


@frozen
class Candidate:
    """A node on which the pod would fit without some victims, the most important first."""

    node: Node
    victims: tuple[Pod, ...]
    violations: int
    """How many victims a disruption budget would not allow."""


@frozen
class Outcome:
    """What preemption found: equally good candidates, or why not. `withdraws`: the pod's own nomination is void."""

    candidates: tuple[Candidate, ...] = ()
    message: str = ""
    withdraws: bool = False


class Preemption:
    """The default preemption. Each rule is a method of its own."""

    def outcome(self, cycle: Cycle, failures: Mapping[str, Failure]) -> Outcome:
        """What can be done for a pod that no node has passed. `failures` is by node name."""
        refusal = self.refusal(cycle, failures)
        if refusal:
            return Outcome(message=refusal)
        nodes = [node for node in cycle.nodes.all if node.name in failures and failures[node.name].resolvable]
        found: list[Candidate] = []
        answers: dict[str, Failure] = {}
        for node in nodes:
            answer = self.dry_run(cycle, node)
            if isinstance(answer, Candidate):
                found.append(answer)
                if len(found) >= self.dry_runs(len(nodes)) and any(not each.violations for each in found):
                    break
            else:
                answers[node.name] = answer
        if found:
            return Outcome(tuple(self.best(cycle, found)))
        total = len(cycle.nodes.all)
        absent = [_NOT_HELPFUL] * (total - len(answers))
        return Outcome(message=fit_error(total, [*answers.values(), *absent]), withdraws=True)

    def refusal(self, cycle: Cycle, failures: Mapping[str, Failure]) -> str:
        """Why the pod may not preempt at all; empty if it may.

        A pod does not preempt again while victims of a preemption are still Terminating on its nominated node.
        """
        pod = cycle.pod
        if pod.spec.preemption_policy == "Never":
            return NEVER
        nominated = pod.nominated_node
        if nominated is None or nominated not in cycle.nodes.by_name:
            return ""
        failure = failures.get(nominated)
        if failure is not None and not failure.resolvable:
            return ""
        waits = any(
            self.may_preempt(cycle, other) and other.deletion_at is not None and other.disruption_target == BY_SCHEDULER
            for other in cycle.pods_on(nominated)
        )
        return WAITING if waits else ""

    def may_preempt(self, cycle: Cycle, victim: Pod) -> bool:
        """Whether the victim's priority is lower."""
        return victim.spec.priority < cycle.pod.spec.priority

    def dry_runs(self, nodes: int) -> int:
        """How many candidates are enough, of so many nodes to try: a tenth, but at least a hundred.

        The real scheduler begins at a random node; the model at the first.
        """
        return min(nodes, max(MOST_DRY_RUNS, nodes * 10 // 100))

    def dry_run(self, cycle: Cycle, node: Node) -> Candidate | Failure:
        """The victims on one node: all lower pods are thought away, then reprieved one by one while the pod fits.

        Those that a disruption budget protects are reprieved first; in each group the most important first.
        """
        potential = [pod for pod in cycle.pods_on(node.name) if self.may_preempt(cycle, pod)]
        if not potential:
            return _NO_VICTIMS
        potential.sort(key=lambda pod: self.importance(pod, cycle.now))
        gone: dict[str, Pod] = {pod.key: pod for pod in potential}
        failure = cycle.failure(node, _without(gone))
        if failure is not None:
            return failure
        violating, others = self.split(cycle, potential)
        violations = 0
        for index, pod in enumerate((*violating, *others)):
            del gone[pod.key]
            if cycle.failure(node, _without(gone)) is not None:
                gone[pod.key] = pod
                violations += index < len(violating)
        if not gone:
            return _NO_VICTIMS
        return Candidate(node, tuple(pod for pod in potential if pod.key in gone), violations)

    def importance(self, pod: Pod, now: Seconds) -> tuple[Any, ...]:
        """A key that sorts the most important pods first: higher priority, then earlier start.

        The rest makes the order a definite one where upstream's is not.
        """
        return (-pod.spec.priority, _started(pod, now), repr(pod_likeness(pod, now)), pod.key)

    def split(self, cycle: Cycle, victims: Sequence[Pod]) -> tuple[list[Pod], list[Pod]]:
        """Victims whose deletion a budget would not allow, and the others, as the budgets' status has it."""
        budgets: list[PodDisruptionBudget] = cycle.store.all("PodDisruptionBudget")
        allowed = {budget.key: budget.status.disruptions_allowed for budget in budgets}
        violating: list[Pod] = []
        others: list[Pod] = []
        for pod in victims:
            violated = False
            for budget in budgets:
                if _protects(budget, pod):
                    allowed[budget.key] -= 1
                    violated = violated or allowed[budget.key] < 0
            (violating if violated else others).append(pod)
        return violating, others

    def best(self, cycle: Cycle, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates that no rule sets apart, ordered by what their nodes are."""
        lowest = min(self.cost(cycle, each) for each in candidates)
        equal = {each.node.name: each for each in candidates if self.cost(cycle, each) == lowest}
        nodes = in_likeness_order(cycle.store, [each.node for each in equal.values()], cycle.now)
        return [equal[node.name] for node in nodes]

    def cost(self, cycle: Cycle, candidate: Candidate) -> tuple[Any, ...]:
        """Lower is better: violated budgets, highest priority, sum of priorities, number of victims, earliest start.

        Of the last, the latest is best; it is the earliest start among the victims of the highest priority.
        """
        victims = candidate.victims
        highest = victims[0].spec.priority
        # The API keeps times in whole seconds: pods that started within one leave the choice of the node open.
        earliest = floor(min(_started(pod, cycle.now) for pod in victims if pod.spec.priority == highest))
        total = sum(pod.spec.priority + _LEVEL for pod in victims)
        return (candidate.violations, highest, total, len(victims), -earliest)


def _without(gone: Mapping[str, Pod]) -> Delta:
    return tuple((pod, -1) for pod in gone.values())


def _started(pod: Pod, now: Seconds) -> Seconds:
    """When the kubelet took the pod in; a pod that has not started counts as starting now."""
    return now if pod.started_at is None else pod.started_at


def _protects(budget: PodDisruptionBudget, pod: Pod) -> bool:
    """Whether the budget is about the pod and has not granted its eviction already."""
    return (
        bool(pod.labels)
        and budget.namespace == pod.namespace
        and budget.selector is not None
        and not budget.selector.empty
        and budget.selector.matches(pod.labels)
        and all(name != pod.name for name, _ in budget.status.disrupted_pods)
    )
