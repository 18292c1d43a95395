"""What one sync decides: from the present count and the metrics to the count that is written.

Source: `pkg/controller/podautoscaler/horizontal.go` (reconcileAutoscaler, computeReplicasForMetrics,
validateAndParseSelector).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import frozen

from reconverge.model.action import Action, Update
from reconverge.model.load import SCALABLE
from reconverge.model.loop import Reading
from reconverge.model.loops.horizontal_autoscaler.calculator import Proposal, ReplicaCalculator
from reconverge.model.loops.horizontal_autoscaler.memory import History
from reconverge.model.loops.horizontal_autoscaler.metrics import MetricError
from reconverge.model.loops.horizontal_autoscaler.stabilisation import Normaliser, Proposed
from reconverge.model.loops.horizontal_autoscaler.status import Decision, condition
from reconverge.model.objects import HorizontalPodAutoscaler, Pod

KIND = "HorizontalPodAutoscaler"


@frozen
class Rescale(Update):
    """An update of the scale of an autoscaler's target, made on the version that was read."""

    autoscaler: str = ""
    """Key of the autoscaler."""


class ScaleRules:
    """The rules of a sync, one by one, without its memory and its moments.

    `base` overrides what the version's rules take for the present count: `spec` or `status`.
    """

    def __init__(
        self,
        calculator: ReplicaCalculator | None = None,
        normaliser: Normaliser | None = None,
        base: str | None = None,
    ) -> None:
        self.calculator = calculator if calculator is not None else ReplicaCalculator()
        self.normaliser = normaliser if normaliser is not None else Normaliser()
        self.base = base

    def scale_target(self, reading: Reading, autoscaler: HorizontalPodAutoscaler) -> Any:
        """The workload whose scale is read and written; None if there is none, or of a kind that is not modelled."""
        if autoscaler.target_kind not in SCALABLE:
            return None
        return reading.store.get(autoscaler.target_kind, autoscaler.target)

    def present_base(self, reading: Reading) -> str:
        """`spec` or `status`: what counts as the present replicas."""
        return self.base if self.base is not None else reading.rules.autoscaler_base

    def current(self, reading: Reading, target: Any) -> int:
        """The present replicas: those that are wanted, or by the old rule those that are there."""
        return int(target.status.replicas if self.present_base(reading) == "status" else target.replicas)

    def decided(
        self, reading: Reading, autoscaler: HorizontalPodAutoscaler, target: Any, current: int, history: History
    ) -> Decision:
        """What is to be done: nothing when scaled to zero, the bounds at once, else what the metrics ask for."""
        if current == 0 and autoscaler.minimum != 0:
            return Decision(0, "scaled to zero", (condition("ScalingActive", False, "ScalingDisabled"),))
        if current > autoscaler.maximum:
            return Decision(autoscaler.maximum, "Current number of replicas above Spec.MaxReplicas")
        if current < autoscaler.minimum:
            return Decision(autoscaler.minimum, "Current number of replicas below Spec.MinReplicas")
        try:
            proposal = self.proposal(reading, autoscaler, target, current)
        except MetricError as error:
            failing = condition("ScalingActive", False, "FailedGetMetrics")
            return Decision(current, str(error), (failing,), measured=True)
        normalised = self.normaliser.normalised(
            Proposed(autoscaler, current, proposal.replicas, history, reading.now, reading.rules)
        )
        conditions = (
            condition("ScalingActive", True, "ValidMetricFound"),
            condition("ScalingLimited", bool(normalised.reason), normalised.reason or "DesiredWithinRange"),
        )
        reason = f"{proposal.name} {self.side(current, proposal)}: {proposal.measured}"
        if normalised.reason:
            reason = f"{reason}; {normalised.reason}: {proposal.replicas} proposed"
        return Decision(
            normalised.replicas, reason, conditions, True, proposal.replicas, normalised.until, normalised.through
        )

    def side(self, current: int, proposal: Proposal) -> str:
        """Where the measured value is."""
        if proposal.replicas == current:
            return "at target"
        return "above target" if proposal.replicas > current else "below target"

    def proposal(self, reading: Reading, autoscaler: HorizontalPodAutoscaler, target: Any, current: int) -> Proposal:
        """The largest proposal of all metrics (computeReplicasForMetrics).

        Raises MetricError if all fail, or if some fail and the others would scale down.
        """
        pods = self.pods(reading, autoscaler, target)
        tolerances = self.calculator.tolerances(reading, autoscaler)
        proposals: list[Proposal] = []
        errors: list[MetricError] = []
        for metric in autoscaler.metrics:
            try:
                proposals.append(self.calculator.propose(reading, current, metric, pods, tolerances))
            except MetricError as error:
                errors.append(error)
        largest = max(proposals, key=lambda each: each.replicas, default=None)
        if largest is None or (errors and largest.replicas < target.replicas):
            total = len(autoscaler.metrics)
            raise MetricError(f"invalid metrics ({len(errors)} invalid out of {total}), first error is: {errors[0]}")
        return largest

    def pods(self, reading: Reading, autoscaler: HorizontalPodAutoscaler, target: Any) -> list[Pod]:
        """The pods that are measured: all that the target's selector matches, whoever owns them.

        Raises MetricError if another autoscaler's target selects some of them, too (validateAndParseSelector).
        """
        pods = reading.store.pods_matching(autoscaler.namespace, target.selector)
        if reading.rules.autoscaler.ambiguous_selectors:
            others = self.others_selecting(reading, autoscaler, pods)
            if others:
                names = " ".join(sorted([autoscaler.key, *others]))
                raise MetricError(f"pods by selector are controlled by multiple HPAs: [{names}]")
        return pods

    def others_selecting(self, reading: Reading, autoscaler: HorizontalPodAutoscaler, pods: Iterable[Pod]) -> list[str]:
        """Keys of the other autoscalers whose targets select some of the pods (hpasControllingPodsUnderSelector)."""
        found = []
        for other in reading.store.in_namespace(KIND, autoscaler.namespace):
            target = self.scale_target(reading, other) if other.key != autoscaler.key else None
            if target is not None and any(target.selector.matches(pod.labels) for pod in pods):
                found.append(other.key)
        return found

    def rescale(self, autoscaler: HorizontalPodAutoscaler, target: Any, decision: Decision) -> Action:
        """The write of the scale, made on the version that was read."""
        after = target.with_(replicas=decision.replicas, generation=target.generation + 1)
        verb = f"scales {target.reference} from {target.replicas} to {decision.replicas}"
        return Rescale(target, after, decision.reason, verb, autoscaler.key)
