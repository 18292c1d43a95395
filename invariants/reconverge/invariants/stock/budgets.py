"""Disruption budgets, in two readings: what the eviction API lets through, and what anybody removes on purpose.

Source: `pkg/controller/disruption/disruption.go`, `pkg/registry/core/pod/storage/eviction.go`; the documentation of
disruptions says which removals a budget does not restrain.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Situation, Step
from reconverge.invariants.stock.facts import acts, begins_to_go, count
from reconverge.model.action import DeletePod
from reconverge.model.eviction import EVICTED, Evict, matching_budgets
from reconverge.model.loops.disruption import ANY_OF
from reconverge.model.objects import IntOrPercent, Pod, PodDisruptionBudget
from reconverge.model.store import Change, Store

INVOLUNTARY = frozenset({"kubelet", "node-lifecycle", "taint-eviction", "cloud-node", "pod-gc", "garbage-collector"})
"""Loops that remove pods because something has failed or gone, not to have it otherwise."""


@frozen
class Wanted:
    """How many pods a budget expects, and how many of them it wants healthy."""

    expected: int
    healthy: int


def healthy(pod: Pod) -> bool:
    """Whether a pod counts as healthy: ready and not Terminating."""
    return pod.ready and pod.deletion_at is None and not pod.terminal


def wanted(store: Store, budget: PodDisruptionBudget, pods: Sequence[Pod]) -> Wanted | None:
    """What the budget asks for, from its spec alone; None if the scale of a pod's controller is not to be found."""
    if budget.max_unavailable is None and isinstance(budget.min_available, int):
        return Wanted(len(pods), budget.min_available)
    expected = scale(store, pods)
    return None if expected is None else _of_scale(budget, expected)


def _of_scale(budget: PodDisruptionBudget, expected: int) -> Wanted:
    if budget.max_unavailable is not None:
        return Wanted(expected, max(0, expected - _rounded_up(budget.max_unavailable, expected)))
    return Wanted(expected, _rounded_up(budget.min_available or 0, expected))


def _rounded_up(value: IntOrPercent, whole: int) -> int:
    return value if isinstance(value, int) else -(-whole * int(value.rstrip("%")) // 100)


def scale(store: Store, pods: Iterable[Pod]) -> int | None:
    """The replicas that the pods' controllers are scaled to, each once; None if one is not there or has no scale."""
    scales: dict[int, int] = {}
    for pod in pods:
        if pod.owner is None:
            continue
        controller = store.get(pod.owner.kind, f"{pod.namespace}/{pod.owner.name}")
        above = getattr(controller, "owner", None)
        if controller is not None and above is not None:
            controller = store.get(above.kind, f"{pod.namespace}/{above.name}") or controller
        replicas = getattr(controller, "replicas", None)
        if controller is None or replicas is None:
            return None
        scales[controller.uid] = replicas
    return sum(scales.values())


def _budgets_of_eviction(situation: Situation, change: Change) -> Iterable[str]:
    """The budget that an eviction takes a disruption from, and the budgets of a healthy pod that begins to go."""
    if change.kind == "PodDisruptionBudget":
        return (change.key,) if _granted(change) else ()
    return _budgets_of_removal(situation, change)


def _granted(change: Change) -> tuple[str, ...]:
    """Names of the pods whose eviction this write of a budget grants."""
    if change.before is None or change.after is None:
        return ()
    before = {name for name, _ in change.before.status.disrupted_pods}
    return tuple(name for name, _ in change.after.status.disrupted_pods if name not in before)


def _budgets_of_removal(situation: Situation, change: Change) -> Iterable[str]:
    """The budgets of a healthy pod that begins to go; other changes break no budget."""
    if change.kind != "Pod" or not begins_to_go(change) or not healthy(change.before):
        return ()
    budgets = situation.store.in_namespace("PodDisruptionBudget", change.before.namespace)
    return tuple(
        each.key for each in budgets if each.selector is not None and each.selector.matches(change.before.labels)
    )


@invariant(
    "budget-honoured",
    "on_step",
    for_each="PodDisruptionBudget",
    family="law",
    statement="An eviction through the API never leaves fewer healthy pods than the budget asks for.",
    why="It is the one promise that drains and node upgrades rest on.",
    remedy="See whether the budget's status was up to date when the eviction was granted.",
    source="pkg/registry/core/pod/storage/eviction.go; pkg/controller/disruption/disruption.go",
    touched_by=_budgets_of_eviction,
    watches=(
        "Pod",
        "PodDisruptionBudget",
    ),
)
def budget_honoured(step: Step, budget: PodDisruptionBudget) -> Iterable[Violation]:
    """Counts ready pods that are not Terminating, after the eviction of one of them.

    Judged when the eviction is granted, which is when the budget is asked; a loss of another cause between that and
    the deletion is not the eviction's. One that takes nothing from the budget is judged when the pod is deleted.
    Pods that are Pending or not ready may go by the API's own rules and lower nothing. Losses of another cause that
    the budget's status does not show yet, for its controller has not come to it, are not charged to the eviction.
    """
    pod = _evicted(step, budget)
    if pod is None:
        return ()
    before = step.before.store.pods_matching(budget.namespace, budget.selector)
    asked = wanted(step.before.store, budget, before)
    if asked is None:
        return ()
    # The status may be of an older scale, and the controller is not told of a new one: it cannot know better.
    least = min(asked.healthy, _published(budget, asked))
    granted = {name for name, _ in budget.status.disrupted_pods}
    after = step.after.store.pods_matching(budget.namespace, budget.selector)
    left = sum(1 for each in after if healthy(each) and each.name not in granted and each.name != pod.name)
    if left + _unseen(step, budget, before) >= least:
        return ()
    return (_too_few(step, budget, pod, left, least),)


def _evicted(step: Step, budget: PodDisruptionBudget) -> Pod | None:
    """The healthy pod whose eviction this step decides under the budget, or None."""
    for change in step.changes:
        if change.kind == "PodDisruptionBudget" and change.key == budget.key:
            for name in _granted(change):
                pod = step.before.store.pod(f"{budget.namespace}/{name}")
                if pod is not None and healthy(pod):
                    return pod
        elif _removes(change, budget) and _by_api(step, change):
            going: Pod = change.before
            if going.name not in {name for name, _ in budget.status.disrupted_pods}:
                return going
    return None


def _removes(change: Change, budget: PodDisruptionBudget) -> bool:
    return (
        begins_to_go(change)
        and healthy(change.before)
        and change.before.namespace == budget.namespace
        and budget.selector is not None
        and budget.selector.matches(change.before.labels)
    )


def _by_api(step: Step, change: Change) -> bool:
    """Whether the eviction API has removed the pod. One without a grace period leaves no condition behind."""
    if change.after is not None:
        return bool(change.after.disruption_target == EVICTED)
    action = step.action
    return isinstance(action, Evict) or (isinstance(action, DeletePod) and action.disruption_target == EVICTED)


def _published(budget: PodDisruptionBudget, asked: Wanted) -> int:
    scaled = isinstance(budget.min_available, str) or budget.max_unavailable is not None
    if not scaled or budget.status.observed_generation < budget.generation:
        return asked.healthy
    return _of_scale(budget, budget.status.expected_pods).healthy


def _unseen(step: Step, budget: PodDisruptionBudget, pods: Sequence[Pod]) -> int:
    """How many pods the status still counts as healthy that have been lost since, otherwise than by an eviction."""
    lost: list[Pod] = []
    now = 0
    for pod in pods:
        now += healthy(pod)
        if pod.deletion_at is None:
            lost += [pod] if pod.phase == "Running" and not pod.ready else []
        else:
            lost += [pod] if not pod.terminal and pod.disruption_target != EVICTED else []
    unseen = max(0, min(len(lost), budget.status.current_healthy - now))
    return unseen if unseen and _may_not_know(step, budget, lost) else 0


def _may_not_know(step: Step, budget: PodDisruptionBudget, lost: Iterable[Pod]) -> bool:
    """Whether the disruption controller has still to look at the budget, or cannot.

    A change of a pod under several budgets makes it look at one of them only.
    """
    cluster = step.before.cluster
    state = cluster.loops.get("disruption")
    if state is None or state.stalled or not acts(cluster, "disruption"):
        return True
    keys = [*state.queue, *state.serving, *state.parked, *([] if state.in_flight is None else [state.in_flight.key])]
    if any(budget.key in key.split(ANY_OF) for key in keys):
        return True
    return any(len(matching_budgets(step.before.store, pod)) > 1 for pod in lost)


@invariant(
    "budget-kept",
    "on_step",
    for_each="PodDisruptionBudget",
    statement="No voluntary removal other than an eviction (rollout, scale-down, preemption, a person's delete) leaves "
    "fewer healthy pods than the budget asks for.",
    why="People read a budget as a limit to every planned disruption; Kubernetes asks it for evictions alone.",
    remedy="Give the workload a strategy that keeps as many (maxUnavailable 0), priorities that keep it from being "
    "preempted, and one change at a time.",
    source="documentation of disruptions (what a budget does not limit)",
    touched_by=_budgets_of_removal,
    watches=("Pod",),
)
def budget_kept(step: Step, budget: PodDisruptionBudget) -> Iterable[Violation]:
    """Judges every healthy pod that is removed on purpose, whatever else is down."""
    if step.actor in INVOLUNTARY or (step.event is not None and not step.event.voluntary):
        return ()
    removed = [change for change in step.changes if _removes(change, budget) and not _by_api(step, change)]
    if not removed:
        return ()
    asked = wanted(step.before.store, budget, step.before.store.pods_matching(budget.namespace, budget.selector))
    left = sum(1 for pod in step.after.store.pods_matching(budget.namespace, budget.selector) if healthy(pod))
    if asked is None or left >= asked.healthy or _impossible(step, budget, asked):
        return ()
    return (_too_few(step, budget, removed[0].before, left, asked.healthy),)


def _impossible(step: Step, budget: PodDisruptionBudget, asked: Wanted) -> bool:
    """Whether the workloads are scaled to fewer pods than the budget asks for: then nothing could keep it."""
    pods = step.before.store.pods_matching(budget.namespace, budget.selector)
    wanted_now = scale(step.before.store, pods)
    return wanted_now is not None and wanted_now < asked.healthy


def _too_few(step: Step, budget: PodDisruptionBudget, pod: Pod, left: int, least: int) -> Violation:
    who = "an operator" if step.event is not None else f"the {step.actor} loop"
    message = (
        f"{who} removes {pod.reference}, which leaves {count(left, 'healthy pod')} where {budget.reference} "
        f"asks for {least}"
    )
    facts = {
        "pod": pod.reference,
        "healthy": left,
        "desired": least,
        "published_healthy": budget.status.current_healthy,
        "published_allowed": budget.status.disruptions_allowed,
    }
    return Violation(budget.reference, message, facts)
