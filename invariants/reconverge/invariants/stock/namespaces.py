"""What a namespace lets its pods ask for: quotas over all of them, limits and defaults for each.

Source: apiserver `pkg/admission/plugin/resourcequota/controller.go`, `pkg/quota/v1/evaluator/core/pods.go`,
`plugin/pkg/admission/limitranger/admission.go`; the documentation of resource quotas and of limit ranges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Situation, Step
from reconverge.model.action import Create
from reconverge.model.objects import Container, Pod
from reconverge.model.objects.quota import LimitRange, LimitRangeItem, ResourceQuota
from reconverge.model.quality import best_effort
from reconverge.model.resources import Resources
from reconverge.model.store import Change

QUOTA, LIMITS = "ResourceQuota", "LimitRange"
COMPUTE = ("cpu", "memory")
"""What every container has to state where a quota counts it."""


def _new_pod(change: Change) -> Pod | None:
    return change.after if change.kind == "Pod" and change.before is None else None


def _quotas_of(situation: Situation, change: Change) -> Iterable[str]:
    pod = _new_pod(change)
    return () if pod is None else [each.key for each in situation.store.in_namespace(QUOTA, pod.namespace)]


def _limits_of(situation: Situation, change: Change) -> Iterable[str]:
    pod = _new_pod(change)
    return () if pod is None else [each.key for each in situation.store.in_namespace(LIMITS, pod.namespace)]


def _created(step: Step) -> Iterator[Pod]:
    """The pods that a control loop has created through the API."""
    if step.action is not None:
        yield from (pod for pod in map(_new_pod, step.changes) if pod is not None)


# Quotas ------------------------------------------------------------------------------------------------------


@invariant(
    "quota-honoured",
    "on_step",
    for_each=QUOTA,
    family="law",
    statement="No pod is created that takes its namespace above a quota, or that leaves open what a quota counts.",
    why="A quota is what keeps one team's rollout from taking the room of another's.",
    remedy="See who created the pod, and which pods were taken for finished.",
    source="apiserver pkg/admission/plugin/resourcequota/controller.go; pkg/quota/v1/evaluator/core/pods.go",
    touched_by=_quotas_of,
    watches=("Pod",),
    needs=QUOTA,
)
def quota_honoured(step: Step, quota: ResourceQuota) -> Iterable[Violation]:
    """Judges each creation with the pods that are there then. A quota that is lowered below what is used stands."""
    for pod in _created(step):
        if pod.namespace != quota.namespace or not _in_scope(quota, pod):
            continue
        for resource, most in quota.hard:
            wrong = _left_open(pod, resource) or _above(step, quota, pod, resource, most)
            if wrong:
                yield Violation(quota.reference, wrong, {"pod": pod.reference, "resource": resource, "hard": most})


def _in_scope(quota: ResourceQuota, pod: Pod) -> bool:
    kinds = {
        "BestEffort" if best_effort(pod.spec) else "NotBestEffort",
        "NotTerminating" if pod.spec.active_deadline is None else "Terminating",
    }
    return kinds.issuperset(quota.scopes)


def _left_open(pod: Pod, resource: str) -> str:
    kind, _, name = resource.partition(".")
    if kind not in ("requests", "limits") or name not in COMPUTE or name in dict(pod.spec.pod_requests):
        return ""
    for each in (*pod.spec.init_containers, *pod.spec.containers):
        if not getattr(each, kind).amount(name):
            return f"{pod.reference} is created, and its container {each.name} has no {resource}, which is counted"
    return ""


def _above(step: Step, quota: ResourceQuota, pod: Pod, resource: str, most: int) -> str:
    asked = _asks(pod, resource)
    if not asked:
        return ""
    now = step.after.cluster.now
    there = (each for each in step.after.store.all("Pod") if each.namespace == quota.namespace)
    used = sum(_asks(each, resource) for each in there if _counts(each, now) and _in_scope(quota, each))
    if used <= most:
        return ""
    return f"{pod.reference} is created, and its namespace uses {used} of {most} {resource}"


def _counts(pod: Pod, now: float) -> bool:
    """Whether a pod uses quota: it has not ended, and is not overdue to be gone."""
    return not pod.terminal and (pod.deletion_at is None or now <= pod.deletion_at + (pod.grace or 0))


def _asks(pod: Pod, resource: str) -> int:
    kind, _, name = resource.partition(".")
    if kind == "requests":
        return pod.spec.requests.amount(name)
    return _limit(pod, name) if kind == "limits" else 1


def _limit(pod: Pod, name: str) -> int:
    """The most of a resource that the pod's containers may use together, in any moment of its life."""
    beside = most = 0
    for each in pod.spec.init_containers:
        amount = each.limits.amount(name)
        beside += amount if each.restart_policy == "Always" else 0
        most = max(most, beside if each.restart_policy == "Always" else beside + amount)
    return max(most, beside + sum(each.limits.amount(name) for each in pod.spec.containers))


# Limits ------------------------------------------------------------------------------------------------------


@invariant(
    "limits-honoured",
    "on_step",
    for_each=LIMITS,
    family="law",
    statement="A pod that is created has the defaults of its namespace where it says nothing, keeps what it says, and "
    "is within the bounds of its namespace.",
    why="Without a request a pod is placed where there is no room for it, and is the first to be evicted.",
    remedy="See who created the pod, and what it said itself.",
    source="plugin/pkg/admission/limitranger/admission.go",
    touched_by=_limits_of,
    watches=("Pod",),
    needs=LIMITS,
)
def limits_honoured(step: Step, limits: LimitRange) -> Iterable[Violation]:
    """Judges each creation by a control loop."""
    for pod in _created(step):
        if pod.namespace != limits.namespace:
            continue
        wrong = [*_changed(step, pod), *(text for item in limits.items for text in _breaks(item, pod))]
        if wrong:
            message = f"{pod.reference} is created, and {wrong[0]}"
            yield Violation(limits.reference, message, {"pod": pod.reference, "wrong": wrong})


def _changed(step: Step, pod: Pod) -> Iterator[str]:
    """What a container has said itself and has no longer."""
    action = step.action
    if not isinstance(action, Create) or not isinstance(action.object, Pod):
        return
    for said, has in zip(_containers(action.object), _containers(pod), strict=False):
        for kind in ("requests", "limits"):
            for name, amount in getattr(said, kind).amounts():
                now = getattr(has, kind).amount(name)
                if amount and now != amount:
                    yield f"its container {has.name} has {now} of {kind}.{name} where it says {amount}"


def _breaks(item: LimitRangeItem, pod: Pod) -> Iterator[str]:
    if item.type == "Pod":
        names = {name for name, _ in (*item.minimum, *item.maximum)}
        limits = {name: _limit(pod, name) for name in names}
        yield from _out_of_bounds(item, "it", pod.spec.requests, limits)
        return
    for each in _containers(pod):
        who = f"its container {each.name}"
        for kind, defaults in (("requests", item.default_request), ("limits", item.default)):
            for name, _ in defaults:
                if not getattr(each, kind).amount(name):
                    yield f"{who} has no {kind}.{name} though there is a default"
        yield from _out_of_bounds(item, who, each.requests, dict(each.limits.amounts()))


def _out_of_bounds(item: LimitRangeItem, who: str, requests: Resources, limits: dict[str, int]) -> Iterator[str]:
    for name, least in item.minimum:
        if requests.amount(name) < least or 0 < limits.get(name, 0) < least:
            yield f"{who} is below the minimum of {least} {name}"
    for name, most in item.maximum:
        if not 0 < limits.get(name, 0) <= most or requests.amount(name) > most:
            yield f"{who} is above the maximum of {most} {name}"


def _containers(pod: Pod) -> tuple[Container, ...]:
    return (*pod.spec.init_containers, *pod.spec.containers)
