"""The settings of a scenario's descheduler: `loops: {descheduler: {every: 300, policy: {RemoveDuplicates: {}}}}`.

Below `policy` the words are those of the descheduler's own policy file, strategy by strategy.
"""

from __future__ import annotations

from typing import get_args

from reconverge.loading import Fields
from reconverge.model.loops.descheduler import (
    DeschedulerPolicy,
    EvictorSettings,
    LowUtilizationSettings,
    NodeAffinitySettings,
    RemoveDuplicatesSettings,
    SpreadSettings,
)
from reconverge.model.loops.descheduler.policy import HARD, PREFERRED, REQUIRED, SOFT, Fit

STRATEGIES = (
    "DefaultEvictor", "LowNodeUtilization", "RemoveDuplicates", "RemovePodsViolatingNodeAffinity",
    "RemovePodsViolatingTopologySpreadConstraint",
)  # fmt: skip
_LIMITS = ("maxNoOfPodsToEvictPerNode", "maxNoOfPodsToEvictPerNamespace", "maxNoOfPodsToEvictTotal")


def descheduler_policy(settings: Fields) -> DeschedulerPolicy:
    """The policy of the settings. Raises LoadError for an unknown key, a wrong value, or a policy that does nothing."""
    settings.only("every", "fit", "policy", *_LIMITS)
    policy = settings.child("policy").only(*STRATEGIES)
    if not set(policy.value) - {"DefaultEvictor"}:
        raise settings.error("is required: at least one strategy, such as RemoveDuplicates", "policy")
    return DeschedulerPolicy(
        every=settings.integer("every", 300, least=1),
        fit=_fit(settings),
        evictor=_evictor(settings, policy.child("DefaultEvictor")),
        duplicates=_duplicates(policy) if "RemoveDuplicates" in policy.value else None,
        spread=_spread(policy) if "RemovePodsViolatingTopologySpreadConstraint" in policy.value else None,
        node_affinity=_node_affinity(policy) if "RemovePodsViolatingNodeAffinity" in policy.value else None,
        low_utilization=_low_utilization(policy) if "LowNodeUtilization" in policy.value else None,
    )


def _fit(settings: Fields) -> Fit:
    word = settings.choice("fit", get_args(Fit), default="new")
    return "old" if word == "old" else "better" if word == "better" else "new"


def _evictor(settings: Fields, given: Fields) -> EvictorSettings:
    given.only(
        "nodeFit", "evictLocalStoragePods", "evictSystemCriticalPods", "evictFailedBarePods", "priorityThreshold"
    )
    per_node, per_namespace, total = (settings.optional_integer(each) for each in _LIMITS)
    return EvictorSettings(
        node_fit=given.flag("nodeFit"),
        local_storage=given.flag("evictLocalStoragePods"),
        system_critical=given.flag("evictSystemCriticalPods"),
        bare_pods=given.flag("evictFailedBarePods"),
        priority_below=given.child("priorityThreshold").only("value").optional_integer("value"),
        most_per_node=per_node,
        most_per_namespace=per_namespace,
        most=total,
    )


def _duplicates(policy: Fields) -> RemoveDuplicatesSettings:
    given = policy.child("RemoveDuplicates").only("excludeOwnerKinds")
    return RemoveDuplicatesSettings(given.texts("excludeOwnerKinds"))


def _spread(policy: Fields) -> SpreadSettings:
    given = policy.child("RemovePodsViolatingTopologySpreadConstraint").only("constraints", "topologyBalanceNodeFit")
    return SpreadSettings(
        _words(given, "constraints", (HARD, SOFT)) or (HARD,), given.flag("topologyBalanceNodeFit", default=True)
    )


def _node_affinity(policy: Fields) -> NodeAffinitySettings:
    given = policy.child("RemovePodsViolatingNodeAffinity").only("nodeAffinityType")
    return NodeAffinitySettings(_words(given, "nodeAffinityType", (REQUIRED, PREFERRED)) or (REQUIRED,))


def _words(given: Fields, key: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
    for word in given.texts(key):
        if word not in allowed:
            raise given.error(f'takes {" and ".join(allowed)}, not "{word}"', key)
    return given.texts(key)


def _low_utilization(policy: Fields) -> LowUtilizationSettings:
    given = policy.child("LowNodeUtilization").only("thresholds", "targetThresholds", "numberOfNodes")
    thresholds, targets = _shares(given, "thresholds"), _shares(given, "targetThresholds")
    if not thresholds or dict(thresholds).keys() != dict(targets).keys():
        raise given.error("must name the same resources as targetThresholds, at least one", "thresholds")
    for name, share in thresholds:
        if share > dict(targets)[name]:
            raise given.error(f"of {name} must not be above its target", "thresholds")
    return LowUtilizationSettings(thresholds, targets, given.integer("numberOfNodes", 0))


def _shares(given: Fields, key: str) -> tuple[tuple[str, float], ...]:
    level = given.child(key)
    return tuple((name, level.integer(name, 0, most=100)) for name in level.names())
