"""Whether autoscalers keep within their bounds, reach a right count, and move it only for a cause."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import Any

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Quiet, Situation, Step
from reconverge.invariants.stock.demand import Demanded, demanded
from reconverge.model.load import SCALABLE, load_of
from reconverge.model.naming import pods_of
from reconverge.model.objects import HorizontalPodAutoscaler
from reconverge.model.store import Change, Store

KIND = "HorizontalPodAutoscaler"
LOOP = "horizontal-autoscaler"


def target_of(store: Store, autoscaler: HorizontalPodAutoscaler) -> Any:
    """The workload that an autoscaler scales, or None."""
    return store.get(autoscaler.target_kind, autoscaler.target) if autoscaler.target_kind in SCALABLE else None


def _has_target(situation: Situation, autoscaler: HorizontalPodAutoscaler) -> bool:
    return target_of(situation.store, autoscaler) is not None


def _of_target(situation: Situation, change: Change) -> list[str]:
    """Keys of the autoscalers whose target's replicas a change moves."""
    before, after = change.before, change.after
    if change.kind not in SCALABLE or before is None or after is None or before.replicas == after.replicas:
        return []
    return [
        each.key
        for each in situation.store.in_namespace(KIND, after.namespace)
        if each.target_kind == change.kind and each.target == change.key
    ]


def _moved(step: Step, autoscaler: HorizontalPodAutoscaler) -> tuple[Any, Any] | None:
    """The target before and after a step that moves its replicas, or None."""
    for change in step.changes:
        if change.kind == autoscaler.target_kind and change.key == autoscaler.target:
            return (change.before, change.after) if change.before is not None and change.after is not None else None
    return None


@invariant(
    "autoscaler-bounds",
    "on_step",
    for_each=KIND,
    family="law",
    statement="No one moves a workload's replicas out of its autoscaler's minimum and maximum.",
    why="Replicas that a manifest brings along cut an autoscaled service down to a few pods under full load.",
    remedy="Leave replicas out of manifests of autoscaled workloads, and let GitOps tools ignore that field.",
    source="documentation of horizontal pod autoscaling (migrating Deployments and StatefulSets)",
    applies=_has_target,
    touched_by=_of_target,
    watches=(*SCALABLE,),
)
def autoscaler_bounds(step: Step, autoscaler: HorizontalPodAutoscaler) -> Iterable[Violation]:
    """Judges each change of the count: one that ends outside, farther than it began. Starting there breaks nothing."""
    moved = _moved(step, autoscaler)
    if moved is None:
        return ()
    before, after = moved[0].replicas, moved[1].replicas
    if _outside(autoscaler, after) <= _outside(autoscaler, before):
        return ()
    bounds = f"{autoscaler.minimum}..{autoscaler.maximum}"
    moves = f"{moved[1].reference} is moved from {before} to {after} replicas"
    message = f"{moves}, outside of {bounds} of {autoscaler.reference}"
    facts = {"before": before, "after": after, "minimum": autoscaler.minimum, "maximum": autoscaler.maximum}
    return (Violation(autoscaler.reference, message, facts),)


def _outside(autoscaler: HorizontalPodAutoscaler, replicas: int) -> int:
    """How far outside of the bounds a count is; 0 inside."""
    return max(autoscaler.minimum - replicas, replicas - autoscaler.maximum, 0)


# Causes ------------------------------------------------------------------------------------------------------


def _has_rested(situation: Situation, autoscaler: HorizontalPodAutoscaler) -> bool:
    """Whether the autoscaler was at rest at the start, and something has happened since."""
    start = situation.start
    state = start.loops.get(LOOP) if start is not None else None
    if start is None or state is None or not situation.events:
        return False
    return not state.busy and autoscaler.key not in state.timers and _has_target(Situation(start), autoscaler)


@invariant(
    "scaling-has-cause",
    "on_step",
    for_each=KIND,
    statement="An autoscaler changes a count only when load, bounds, spec or template changed since it last rested.",
    why="A count that creeps up with every rollout is paid for and never comes down by itself.",
    remedy="Look at what the autoscaler takes for the present count, and at pods whose usage is odd while they start.",
    source="pkg/controller/podautoscaler/horizontal.go",
    applies=_has_rested,
    touched_by=_of_target,
    watches=(*SCALABLE,),
)
def scaling_has_cause(step: Step, autoscaler: HorizontalPodAutoscaler) -> Iterable[Violation]:
    """Judges the autoscaler's own changes; compares with the start, at which it rested."""
    moved = _moved(step, autoscaler) if step.actor == LOOP else None
    if moved is None or _cause(step.before, autoscaler, moved[0]):
        return ()
    before, after = moved[0].replicas, moved[1].replicas
    why = getattr(step.action, "reason", "")
    message = (
        f"{autoscaler.reference} scales {moved[1].reference} from {before} to {after} "
        f"though neither load, bounds, spec nor template changed{f' ({why})' if why else ''}"
    )
    return (Violation(autoscaler.reference, message, {"before": before, "after": after, "reason": why}),)


def _cause(situation: Situation, autoscaler: HorizontalPodAutoscaler, target: Any) -> bool:
    """Whether anything that may move the count is not as it was at the start."""
    start = situation.start
    assert start is not None
    old = start.store.get(KIND, autoscaler.key)
    was = target_of(start.store, autoscaler)
    if old is None or was is None or old.with_(status=autoscaler.status) != autoscaler:
        return True
    return (
        was.replicas != target.replicas
        or was.selector != target.selector
        or start.machines.load != situation.cluster.machines.load
        or load_of(start.machines, was) != load_of(situation.cluster.machines, target)
        or _usage_counts(was) != _usage_counts(target)
    )


def _usage_counts(workload: Any) -> list[Any]:
    """What of a template decides how much a pod may use, and what that is measured by."""
    spec = workload.template.spec
    return [spec.behaviour.kind, spec.pod_requests, *((each.requests, each.limits) for each in spec.containers)]


# Rest --------------------------------------------------------------------------------------------------------


def _can_settle(situation: Situation, autoscaler: HorizontalPodAutoscaler) -> bool:
    return demanded(situation.cluster, autoscaler) is not None


@invariant(
    "autoscaler-settles",
    "eventually",
    for_each=KIND,
    statement="An autoscaler comes to rest at a count that the load of its workload justifies.",
    why="A count that swings restarts pods for ever; one that is too low overloads them, one too high is paid for.",
    remedy="Give each Deployment a selector of its own, one autoscaler, no other writer of replicas, and a CPU limit "
    "well above the target.",
    source="documentation of horizontal pod autoscaling (algorithm details)",
    applies=_can_settle,
)
def autoscaler_settles(quiet: Quiet, autoscaler: HorizontalPodAutoscaler) -> Iterable[Violation]:
    """Broken by a loop in which the autoscaler writes, and by a rest at another count than the formula gives."""
    asked = demanded(quiet.cluster, autoscaler)
    target = target_of(quiet.store, autoscaler)
    if asked is None or target is None or quiet.outcome not in ("rest", "loop"):
        return ()
    if quiet.outcome == "loop":
        writes = [action for actor, action in quiet.repeating if actor == LOOP and _scales(action, autoscaler)]
        if not writes:
            return ()
        message = f"{autoscaler.reference} does not settle: it scales {target.reference} again and again"
        return (Violation(autoscaler.reference, message, {"writes": len(writes)}),)
    if not any(pod.ready and pod.active for pod in pods_of(quiet.store, target)) or _justified(asked, autoscaler):
        return ()
    return (Violation(autoscaler.reference, _unjustified(asked, autoscaler, target), asked.facts()),)


def _scales(action: Any, autoscaler: HorizontalPodAutoscaler) -> bool:
    return getattr(action, "autoscaler", None) == autoscaler.key


def _justified(asked: Demanded, autoscaler: HorizontalPodAutoscaler) -> bool:
    """Whether the documented formula leaves the count as it is, with either rounding of the usage."""
    return any(_stays(ratio, asked, autoscaler) for ratio in asked.ratios)


def _stays(ratio: float, asked: Demanded, autoscaler: HorizontalPodAutoscaler) -> bool:
    bounded = min(max(ceil(ratio * asked.replicas), autoscaler.minimum), autoscaler.maximum)
    behavior = autoscaler.behavior
    if behavior is not None and (behavior.up if bounded > asked.replicas else behavior.down).select == "Disabled":
        return True
    return bounded == asked.replicas or asked.down <= ratio <= asked.up


def _unjustified(asked: Demanded, autoscaler: HorizontalPodAutoscaler, target: Any) -> str:
    wanted = min(max(ceil(asked.load / asked.wanted), autoscaler.minimum), autoscaler.maximum)
    return (
        f"{target.reference} rests at {asked.replicas} of {autoscaler.minimum}..{autoscaler.maximum} replicas, and its "
        f"load of {asked.load}m asks for {wanted} at {asked.wanted}m each"
    )
