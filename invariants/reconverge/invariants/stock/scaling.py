"""Whether an autoscaler sets just the count that its tolerance, its windows and its policies allow at that moment.

What the windows and policies look back on, the recommendations and changes of the last minutes, is nowhere but in the
autoscaler's own memory; it is taken from there, and what follows from it is calculated anew.
Source: documentation of horizontal pod autoscaling (tolerance, stabilization window, scaling policies);
`pkg/controller/podautoscaler/horizontal.go`.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, floor
from typing import Any

from attrs import frozen

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Situation, Step
from reconverge.invariants.stock.autoscaling import KIND, LOOP, target_of
from reconverge.invariants.stock.demand import tolerances
from reconverge.invariants.stock.facts import knew_better
from reconverge.model.load import SCALABLE, share_of
from reconverge.model.objects import HorizontalPodAutoscaler, Pod
from reconverge.model.objects.autoscaling import Metric, ScalingRules
from reconverge.model.store import Change

DOUBLED, LEAST_STEP = 2, 4
"""Without behavior one change at most doubles the count, but may always reach four."""
SETTLED_IN = 300
"""Seconds after its start from which on a pod's usage counts whatever happened before."""


@frozen
class Move:
    """A change of a count: from which to which, by what was recommended at that moment, and what is remembered."""

    autoscaler: HorizontalPodAutoscaler
    before: int
    after: int
    proposed: int
    history: Any
    now: float
    down_window: float
    """The controller's own window for scaling down."""

    def recommended(self, window: float, whole: bool) -> list[int]:
        """What was recommended within a window, and now; one exactly as old as it counts if `whole`."""
        since = self.now - window
        recent = (each for each in self.history.recommendations if each.at > since or (whole and each.at == since))
        return [self.proposed, *(each.replicas for each in recent)]

    def at_start_of(self, period: float) -> int:
        """The count at the start of a period: the present one without the changes that were made in it."""
        earlier = [each for each in self.history.ups if self.now - period < each.at < self.now]
        fewer = [each for each in self.history.downs if self.now - period < each.at < self.now]
        return self.before - int(sum(each.change for each in earlier)) + int(sum(each.change for each in fewer))


def _of_target(situation: Situation, change: Change) -> list[str]:
    before, after = change.before, change.after
    if change.kind not in SCALABLE or before is None or after is None or before.replicas == after.replicas:
        return []
    autoscalers = situation.store.in_namespace(KIND, after.namespace)
    return [each.key for each in autoscalers if each.target_kind == change.kind and each.target == change.key]


@invariant(
    "scaling-within-policy",
    "on_step",
    for_each=KIND,
    family="law",
    statement="An autoscaler sets the count that it recommends as far as its stabilization windows, its scaling "
    "policies and its bounds let it at that moment, and recommends none where usage is within the tolerance.",
    why="Windows and policies are what keeps a count from following every peak, and an outage from one bad minute.",
    remedy="See what the autoscaler remembers of earlier recommendations and changes; a restart forgets them.",
    source="documentation of horizontal pod autoscaling; pkg/controller/podautoscaler/horizontal.go",
    touched_by=_of_target,
    watches=(*SCALABLE,),
    needs=KIND,
)
def scaling_within_policy(step: Step, autoscaler: HorizontalPodAutoscaler) -> Iterable[Violation]:
    """Judges the autoscaler's own changes, one that it read nothing else for than what is there."""
    if getattr(step.action, "autoscaler", None) != autoscaler.key or step.actor != LOOP:
        return ()
    target, moved = target_of(step.before.store, autoscaler), target_of(step.after.store, autoscaler)
    if target is None or moved is None:
        return ()
    before = target.status.replicas if step.before.cluster.rules.autoscaler_base == "status" else target.replicas
    wrong = _wrong(step, autoscaler, target, before, moved.replicas)
    if not wrong or _read_before(step, autoscaler) or not knew_better(step):
        return ()
    message = f"{autoscaler.reference} scales {target.reference} from {before} to {moved.replicas}, {wrong}"
    return (Violation(autoscaler.reference, message, {"before": before, "after": moved.replicas}),)


def _read_before(step: Step, autoscaler: HorizontalPodAutoscaler) -> bool:
    """Whether something that the autoscaler hears of has changed since its pass began, such as the load."""
    state = step.before.cluster.loops[LOOP]
    return autoscaler.key in state.queue or autoscaler.key in state.serving


def _wrong(step: Step, autoscaler: HorizontalPodAutoscaler, target: Any, before: int, after: int) -> str:
    """What is wrong with a change: a clause; empty if nothing is."""
    cluster = step.before.cluster
    if not autoscaler.minimum <= before <= autoscaler.maximum:
        bound = min(max(before, autoscaler.minimum), autoscaler.maximum)
        return "" if after == bound else f"where its bounds ask for {bound}"
    state = cluster.loops.get(LOOP)
    history = state.memory.get(autoscaler.key) if state is not None else None
    if history is None or history.evaluated_at != cluster.now:
        return ""
    if history.standing is None:
        return "and has no metric that it could follow"
    window = cluster.rules.autoscaler.downscale_window
    move = Move(autoscaler, before, after, history.standing, history, cluster.now, window)
    allowed = _plain(move) if autoscaler.behavior is None else _by_behavior(move)
    if after != allowed:
        return f"where its windows and policies allow {allowed} of the {move.proposed} that it recommends"
    if move.proposed != before and _within_tolerance(step, autoscaler, target):
        return "though the usage of its pods is within the tolerance"
    return ""


# Windows and policies ----------------------------------------------------------------------------------------


def _plain(move: Move) -> int:
    """The largest recommendation of the window, in steps that double at most."""
    wanted = max(move.recommended(move.down_window, whole=True))
    most = min(move.autoscaler.maximum, max(DOUBLED * move.before, LEAST_STEP))
    return max(move.autoscaler.minimum, min(wanted, most))


def _by_behavior(move: Move) -> int:
    """Raised to the least of the one window, lowered to the most of the other, and no faster than the policies."""
    behavior = move.autoscaler.behavior
    assert behavior is not None
    least = min(move.recommended(_window(move, behavior.up), whole=False))
    most = max(move.recommended(_window(move, behavior.down), whole=False))
    wanted = min(max(move.before, least), most)
    if wanted > move.before:
        return min(wanted, max(_reach(move, behavior.up, 1), move.before), move.autoscaler.maximum)
    return max(wanted, min(_reach(move, behavior.down, -1), move.before), move.autoscaler.minimum)


def _window(move: Move, rules: ScalingRules) -> float:
    return move.down_window if rules.window is None else rules.window


def _reach(move: Move, rules: ScalingRules, direction: int) -> int:
    """How far the policies of a direction let the count go: the one that allows most, or least, decides."""
    if rules.select == "Disabled":
        return move.before
    steps = []
    for policy in rules.policies:
        start = move.at_start_of(policy.period)
        if policy.type == "Percent":
            # In floating-point numbers, as upstream: 110 % of 100 is a little more than 110, and rounded up.
            exact = start * (1 + direction * policy.value / 100)
            steps.append(ceil(exact) if direction > 0 else floor(exact))
        else:
            steps.append(start + direction * policy.value)
    return max(steps) if (rules.select == "Max") == (direction > 0) else min(steps)


# Tolerance ---------------------------------------------------------------------------------------------------


def _within_tolerance(step: Step, autoscaler: HorizontalPodAutoscaler, target: Any) -> bool:
    """Whether all pods are long there and use what they should, by every metric; False where that cannot be said."""
    cluster = step.before.cluster
    pods = cluster.store.pods_matching(autoscaler.namespace, target.selector)
    if not pods or not autoscaler.metrics or not all(_counts(step, pod) for pod in pods):
        return False
    down, up = tolerances(cluster, autoscaler)
    share = share_of(cluster.store, cluster.machines, target)
    return all(down < _ratio(metric, pods, share, len(pods)) < up for metric in autoscaler.metrics)


def _counts(step: Step, pod: Pod) -> bool:
    """Whether a pod is measured and its usage counts."""
    machine = step.before.cluster.machines.get(pod.node) if pod.node is not None else None
    since = step.before.cluster.now - SETTLED_IN
    return (
        pod.ready
        and pod.active
        and pod.started_at is not None
        and pod.started_at <= since
        and machine is not None
        and machine.connected
        and not any(each.limits.cpu for each in pod.spec.containers)
    )


def _ratio(metric: Metric, pods: list[Pod], share: int, count: int) -> float:
    """Usage over target of pods that share a load evenly; 0 for a metric that is not judged."""
    if metric.kind != "Resource" or metric.name != "cpu":
        return 0
    if metric.target == "AverageValue":
        return share / metric.amount
    requested = sum(pod.spec.requests.cpu for pod in pods)
    return share * count * 100 // requested / metric.amount if requested else 0
