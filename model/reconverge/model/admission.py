"""What the API server adds to a pod at its creation, and for what it refuses one.

Source: `plugin/pkg/admission/defaulttolerationseconds/admission.go`, `plugin/pkg/admission/priority/admission.go`,
`pkg/apis/scheduling/types.go`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from attrs import evolve

from reconverge.model.limits import check_limits, with_limit_defaults
from reconverge.model.objects import Pod, PodSpec, PriorityClass, Toleration
from reconverge.model.objects.node import NO_EXECUTE, NOT_READY, UNREACHABLE
from reconverge.model.quota import check_quotas
from reconverge.model.requests import effective
from reconverge.model.rules import Rules
from reconverge.model.store import Store
from reconverge.model.value import Seconds

BUILT_IN_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


def admit_pod(store: Store, pod: Pod, rules: Rules) -> Pod:
    """The pod as the API server stores it: with default tolerations, its priority, and the node its author chose.

    Where the namespace has LimitRanges it gets their defaults, too. Fields that the version does not know are dropped.
    """
    known = as_of_version(pod.spec, rules)
    pod = with_limit_defaults(store, pod if known is pod.spec else pod.with_(spec=known))
    spec = with_default_tolerations(pod.spec, rules.default_toleration)
    spec = _with_priority(store, spec)
    return pod.with_(spec=spec, node=pod.node if pod.node is not None else spec.node_name)


def as_of_version(spec: PodSpec, rules: Rules) -> PodSpec:
    """The spec without what the API server of an older version drops: pod-level resources, later fields of spreading.

    Source: `pkg/api/pod/util.go` (dropDisabledFields).
    """
    if spec.pod_requests and not rules.pod_level_resources:
        spec = spec.with_(pod_requests=())
        spec = spec.with_(requests=effective(spec))
    if not spec.spread:
        return spec
    changes: dict[str, Any] = {}
    if not rules.spread_match_label_keys:
        changes["match_label_keys"] = ()
    if not rules.spread_min_domains:
        changes["min_domains"] = 1
    if not rules.spread_inclusion_policies:
        changes |= {"honor_affinity": True, "honor_taints": False}
    return spec.with_(spread=tuple(evolve(each, **changes) for each in spec.spread)) if changes else spec


def check_admission(store: Store, pod: Pod, now: Seconds) -> None:
    """Raises Forbidden if limits or quotas of the namespace do not let an admitted pod in."""
    check_limits(store, pod)
    check_quotas(store, pod, now)


@lru_cache(maxsize=4096)
def with_default_tolerations(spec: PodSpec, seconds: Seconds) -> PodSpec:
    """The spec with not-ready and unreachable tolerated for `seconds`, each only if the pod says nothing about it."""
    missing = tuple(
        Toleration(key=key, operator="Exists", effect=NO_EXECUTE, seconds=seconds)
        for key in (NOT_READY, UNREACHABLE)
        if not any(each.key in ("", key) and each.effect in ("", NO_EXECUTE) for each in spec.tolerations)
    )
    return spec.with_(tolerations=(*spec.tolerations, *missing)) if missing else spec


def _with_priority(store: Store, spec: PodSpec) -> PodSpec:
    if spec.priority_class:
        if spec.priority_class in BUILT_IN_PRIORITIES:
            return _prioritised(spec, BUILT_IN_PRIORITIES[spec.priority_class], "")
        named = store.priority_class(spec.priority_class)
        return _prioritised(spec, named.value, named.preemption_policy) if named is not None else spec
    default = _global_default(store)
    return _prioritised(spec, default.value, default.preemption_policy) if default is not None else spec


@lru_cache(maxsize=4096)
def _prioritised(spec: PodSpec, priority: int, policy: str) -> PodSpec:
    return spec.with_(priority=priority, preemption_policy=policy or spec.preemption_policy)


def _global_default(store: Store) -> PriorityClass | None:
    if "PriorityClass" not in store.tables:
        return None
    defaults = [each for each in store.all("PriorityClass") if each.global_default]
    return max(defaults, key=lambda each: (-each.value, each.name), default=None)
