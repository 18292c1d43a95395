"""ResourceQuotas at the creation of a pod: refusal of what would take the namespace above one of them.

What is used is counted from the pods that are there, so room is free at the moment in which a pod goes; upstream a
controller notes it a little later.
Source: `staging/src/k8s.io/apiserver/pkg/admission/plugin/resourcequota/controller.go`,
`pkg/quota/v1/evaluator/core/pods.go`.
"""

from __future__ import annotations

from reconverge.model.errors import Forbidden
from reconverge.model.limits import listed
from reconverge.model.objects import Container, Pod, PodSpec
from reconverge.model.objects.quota import Amounts, ResourceQuota
from reconverge.model.quality import best_effort
from reconverge.model.requests import effective_limits
from reconverge.model.store import Store
from reconverge.model.value import Seconds

QUOTA = "ResourceQuota"


def check_quotas(store: Store, pod: Pod, now: Seconds) -> None:
    """Raises Forbidden if the pod leaves open what a quota counts, or would take one above its hard limits."""
    if QUOTA not in store.tables:
        return
    quotas = [each for each in store.in_namespace(QUOTA, pod.namespace) if matches(each, pod.spec)]
    for quota in quotas:
        missing = unspecified(quota, pod.spec)
        if missing:
            raise Forbidden(f'pods "{pod.name}" is forbidden: failed quota: {quota.name}: must specify {missing}')
    for quota in quotas:
        asked = dict(asks(pod.spec))
        used = dict(usage(store, quota, now))
        over = [name for name, most in quota.hard if asked.get(name) and used[name] + asked[name] > most]
        if over:
            raise Forbidden(_exceeded(quota, pod, over, asked, used), frees_at(store, quota, now))


def _exceeded(quota: ResourceQuota, pod: Pod, over: list[str], asked: dict[str, int], used: dict[str, int]) -> str:
    hard = dict(quota.hard)
    requested, in_use, limited = (listed(tuple((name, of[name]) for name in over)) for of in (asked, used, hard))
    return (
        f'pods "{pod.name}" is forbidden: exceeded quota: {quota.name}, requested: {requested}, used: {in_use}, '
        f"limited: {limited}"
    )


def usage(store: Store, quota: ResourceQuota, now: Seconds) -> Amounts:
    """What the pods of the namespace hold of each resource that the quota limits."""
    counted = [asks(pod.spec) for pod in _pods(store, quota.namespace) if counts(pod, now) and matches(quota, pod.spec)]
    return tuple((name, sum(dict(each).get(name, 0) for each in counted)) for name, _ in quota.hard)


def counts(pod: Pod, now: Seconds) -> bool:
    """Whether a pod counts: not a finished one, nor one that should be gone and nobody confirms it (QuotaV1Pod)."""
    if pod.terminal:
        return False
    return pod.deletion_at is None or now <= pod.deletion_at + (pod.grace or 0)


def frees_at(store: Store, quota: ResourceQuota, now: Seconds) -> Seconds | None:
    """When the next pod stops counting though it is still there; None if none will."""
    moments = (
        pod.deletion_at + (pod.grace or 0) + 1
        for pod in _pods(store, quota.namespace)
        if pod.deletion_at is not None and counts(pod, now)
    )
    return min(moments, default=None)


def matches(quota: ResourceQuota, spec: PodSpec) -> bool:
    """Whether a pod is in all scopes of the quota. Terminating is a scope of pods with a deadline of their own."""
    ends, modest = spec.active_deadline is not None, best_effort(spec)
    scopes = {"BestEffort": modest, "NotBestEffort": not modest, "Terminating": ends, "NotTerminating": not ends}
    return all(scopes.get(scope, False) for scope in quota.scopes)


def unspecified(quota: ResourceQuota, spec: PodSpec) -> str:
    """The compute resources that the quota limits and that containers leave open; empty if there are none."""
    open_ = []
    for name, _ in quota.hard:
        kind, _, resource = name.partition(".")
        if kind not in ("requests", "limits") or resource not in ("cpu", "memory"):
            continue
        if kind == "requests" and resource in dict(spec.pod_requests):
            continue
        names = [each.name for each in _all(spec) if not getattr(each, kind).amount(resource)]
        if names:
            open_.append(f"{name} for: {','.join(names)}")
    return "; ".join(open_)


def asks(spec: PodSpec) -> Amounts:
    """What a pod takes of each resource that a quota may limit."""
    amounts = [("pods", 1)]
    amounts += [(f"requests.{name}", amount) for name, amount in spec.requests.amounts()]
    amounts += [(f"limits.{name}", amount) for name, amount in effective_limits(spec).amounts()]
    return tuple(amounts)


def _all(spec: PodSpec) -> tuple[Container, ...]:
    return (*spec.init_containers, *spec.containers)


def _pods(store: Store, namespace: str) -> list[Pod]:
    return [pod for key, pod in sorted(store.table("Pod").objects.items()) if key.startswith(f"{namespace}/")]
