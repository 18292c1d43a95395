"""The autoscaler's pass for one object.

Source: `pkg/controller/podautoscaler/horizontal.go` (reconcileAutoscaler, computeReplicasForMetrics, setStatus).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor
from typing import Any

from attrs import frozen

from reconverge.model.action import Action, Update
from reconverge.model.errors import ApiError
from reconverge.model.likeness import At
from reconverge.model.load import LOADS, SCALABLE
from reconverge.model.loop import MACHINES, ControlLoop, Plan, Reading
from reconverge.model.loops.horizontal_autoscaler.calculator import Proposal, ReplicaCalculator
from reconverge.model.loops.horizontal_autoscaler.memory import History
from reconverge.model.loops.horizontal_autoscaler.metrics import MetricError, regroupings
from reconverge.model.loops.horizontal_autoscaler.stabilisation import Normaliser, Proposed
from reconverge.model.loops.horizontal_autoscaler.status import Decision, condition, reported
from reconverge.model.loops.horizontal_autoscaler.waking import woken
from reconverge.model.objects import HorizontalPodAutoscaler, Pod
from reconverge.model.persistent import EMPTY, Map
from reconverge.model.store import Change
from reconverge.model.value import Seconds

Memory = Map[str, History]
KIND = "HorizontalPodAutoscaler"


@frozen
class Rescale(Update):
    """An update of the scale of an autoscaler's target, made on the version that was read."""

    autoscaler: str = ""
    """Key of the autoscaler."""


class HorizontalAutoscaler(ControlLoop[Memory]):
    """Syncs each autoscaler every 15 seconds as long as that can make a difference. Keys are autoscalers.

    A sync falls at the moment of the change that makes it worthwhile, or 15 seconds after the one before: the real
    ones go on all the time, at moments of their own. `base` overrides what the rules take for the present count.
    """

    name = "horizontal-autoscaler"
    watches = frozenset({KIND, *SCALABLE, "Pod", MACHINES, LOADS})
    physical = True
    source = "pkg/controller/podautoscaler/horizontal.go"

    def __init__(
        self,
        calculator: ReplicaCalculator | None = None,
        normaliser: Normaliser | None = None,
        base: str | None = None,
    ) -> None:
        self.calculator = calculator if calculator is not None else ReplicaCalculator()
        self.normaliser = normaliser if normaliser is not None else Normaliser()
        self.base = base

    # The loop ------------------------------------------------------------------------------------------------

    def start(self) -> Memory:
        """No recommendations: a restarted controller takes the present count for the first one."""
        return EMPTY

    def relist(self, reading: Reading) -> Iterable[str]:
        """All autoscalers."""
        return sorted(reading.store.table(KIND).objects)

    def observe(self, memory: Memory, change: Change, reading: Reading) -> tuple[Memory, Iterable[str]]:
        """Wakes the autoscalers for which a sync may now come to something else."""
        if KIND not in reading.store.tables:
            return memory, ()
        return memory, woken(reading, change, self.present_base(reading))

    def sync(self, reading: Reading, memory: Memory, key: str) -> Sequence[Plan[Memory]]:
        """One sync, if the one before was 15 seconds ago; there is no choice in it."""
        autoscaler: HorizontalPodAutoscaler | None = reading.store.get(KIND, key)
        if autoscaler is None:
            return (Plan(memory.discard(key)),)
        history = memory.get(key)
        period = reading.rules.autoscaler.period
        if history is not None and reading.now < history.evaluated_at + period:
            return (Plan(memory, requeue_at=history.evaluated_at + period),)
        return (self.evaluated(reading, memory, autoscaler, history),)

    def failed(self, memory: Memory, action: Action, error: ApiError) -> Memory:
        """A change that was refused is no scale event."""
        history = memory.get(action.autoscaler) if isinstance(action, Rescale) else None
        if history is None or not isinstance(action, Rescale):
            return memory
        return memory.set(action.autoscaler, history.unscaled())

    def marks(self, memory: Memory, reading: Reading) -> Iterable[tuple[str, str, Any]]:
        """Recommendations and changes that can still matter, and when the next sync may be."""
        period = reading.rules.autoscaler.period
        for key, history in memory.items():
            autoscaler: HorizontalPodAutoscaler | None = reading.store.get(KIND, key)
            if autoscaler is None:
                continue
            present = self.remembered(reading, autoscaler, history.caught_up(reading.now, period))
            soon = history.evaluated_at + period > reading.now
            known = sorted(present.recommendations, key=lambda each: each.replicas)
            yield (
                KIND,
                key,
                (
                    At(history.evaluated_at) if soon else "",
                    history.standing,
                    tuple((each.replicas, At(each.at)) for each in known),
                    tuple((each.change, At(each.at)) for each in present.ups),
                    tuple((each.change, At(each.at)) for each in present.downs),
                ),
            )

    # A sync --------------------------------------------------------------------------------------------------

    def evaluated(
        self, reading: Reading, memory: Memory, autoscaler: HorizontalPodAutoscaler, history: History | None
    ) -> Plan[Memory]:
        """The plan of one sync (reconcileAutoscaler)."""
        now = reading.now
        target = self.scale_target(reading, autoscaler)
        if target is None:
            return self._without_target(memory, autoscaler, history, now)
        current = self.current(reading, target)
        before = History(now).recommended(current, now) if history is None else history
        before = before.caught_up(now, reading.rules.autoscaler.period)
        decision = self.decided(reading, autoscaler, target, current, before)
        after = before.with_(evaluated_at=now, standing=decision.proposed)
        if decision.proposed is not None:
            after = after.recommended(decision.proposed, now)
        actions: tuple[Action, ...] = ()
        if decision.replicas != current:
            actions = (self.rescale(autoscaler, target, decision),)
            after = after.scaled(current, decision.replicas, now) if autoscaler.behavior is not None else after
        after = self.remembered(reading, autoscaler, after)
        actions = (*actions, *reported(autoscaler, current, decision))
        note = "" if actions else decision.reason
        due = self.next_sync(reading, autoscaler, target, decision, changed=decision.replicas != current)
        return Plan(memory.set(autoscaler.key, after), actions, due, note=note)

    def _without_target(
        self, memory: Memory, autoscaler: HorizontalPodAutoscaler, history: History | None, now: Seconds
    ) -> Plan[Memory]:
        named = f"{autoscaler.target_kind.lower()}/{autoscaler.target_name}"
        decision = Decision(0, f"{named} not found", (condition("AbleToScale", False, "FailedGetScale"),))
        if history is not None:
            memory = memory.set(autoscaler.key, history.with_(evaluated_at=now, standing=None))
        return Plan(memory, reported(autoscaler, 0, decision), note=decision.reason)

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
        side = "above target" if proposal.replicas > current else "below target"
        conditions = (
            condition("ScalingActive", True, "ValidMetricFound"),
            condition("ScalingLimited", bool(normalised.reason), normalised.reason or "DesiredWithinRange"),
        )
        reason = f"{proposal.name} {side}: {proposal.measured}"
        return Decision(
            normalised.replicas, reason, conditions, True, proposal.replicas, normalised.until, normalised.through
        )

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

    def remembered(self, reading: Reading, autoscaler: HorizontalPodAutoscaler, history: History) -> History:
        """The history without what can no longer matter."""
        window = self.normaliser.longest_window(autoscaler, reading.rules)
        return history.forgetting(reading.now, window, self.normaliser.longest_period(autoscaler))

    def next_sync(
        self, reading: Reading, autoscaler: HorizontalPodAutoscaler, target: Any, decision: Decision, *, changed: bool
    ) -> Seconds | None:
        """The next sync that may come to something else with time alone; None if there is none.

        Syncs are 15 seconds apart: it is the first of them at which a recommendation has left its window, a change
        its period, or a pod its first minutes.
        """
        now, period = reading.now, reading.rules.autoscaler.period
        if changed:
            return now + period
        steps = []
        if decision.until is not None:
            passed = (decision.until - now) / period
            steps.append(floor(passed) + 1 if decision.through else ceil(passed))
        if decision.measured:
            pods = reading.store.pods_matching(autoscaler.namespace, target.selector)
            moments = regroupings(reading, pods, autoscaler.metrics)
            steps.extend(ceil((moment - now) / period) for moment in moments)
        return now + max(1, min(steps)) * period if steps else None
