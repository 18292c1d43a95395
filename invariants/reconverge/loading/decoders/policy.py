"""PodDisruptionBudget and PriorityClass.

Source: `pkg/apis/policy/validation/validation.go`, `pkg/apis/scheduling/validation/validation.go`.
"""

from __future__ import annotations

from reconverge.loading.decoders.meta import metadata, selector
from reconverge.loading.decoders.registry import Decoder
from reconverge.loading.fields import Fields
from reconverge.loading.schema import schema
from reconverge.model.objects import BudgetStatus, PodDisruptionBudget, PriorityClass

BUDGET = schema("PodDisruptionBudget", read="apiVersion kind metadata spec status")
_BUDGET_SPEC = schema("budget spec", read="selector minAvailable maxUnavailable unhealthyPodEvictionPolicy")
_STATUS = schema("status", open_=True)
PRIORITY_CLASS = schema(
    "PriorityClass",
    read="apiVersion kind metadata value globalDefault preemptionPolicy",
    ignored="description",
)
HIGHEST_USER_PRIORITY = 1_000_000_000
SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


def decode_budget(top: Fields) -> PodDisruptionBudget:
    """A budget. An empty selector selects every pod of the namespace, in policy/v1beta1 none."""
    meta = metadata(top)
    spec = top.child("spec", _BUDGET_SPEC)
    minimum = spec.count_or_percent("minAvailable", most_percent=100)
    maximum = spec.count_or_percent("maxUnavailable", most_percent=100)
    if minimum is not None and maximum is not None:
        raise spec.error("and maxUnavailable are both set; a budget takes one", "minAvailable")
    if minimum is None and maximum is None:
        raise spec.error("sets neither minAvailable nor maxUnavailable")
    chosen = selector(spec, "selector")
    if chosen is not None and chosen.empty and top.reader.document.api_version == "policy/v1beta1":
        chosen = None
    policies = ("IfHealthyBudget", "AlwaysAllow")
    return PodDisruptionBudget(
        **meta,
        selector=chosen,
        min_available=minimum,
        max_unavailable=maximum,
        unhealthy_pod_eviction=spec.choice("unhealthyPodEvictionPolicy", policies, default=policies[0]),
        status=_budget_status(top),
    )


def _budget_status(top: Fields) -> BudgetStatus:
    status, dump = top.child("status", _STATUS), top.reader.dump
    disrupted = status.child("disruptedPods")
    allowed = next((each for each in status.children("conditions") if each.text("type") == "DisruptionAllowed"), None)
    return BudgetStatus(
        current_healthy=status.integer("currentHealthy", 0),
        desired_healthy=status.integer("desiredHealthy", 0),
        disruptions_allowed=status.integer("disruptionsAllowed", 0),
        expected_pods=status.integer("expectedPods", 0),
        disrupted_pods=tuple(sorted((name, dump.seconds(disrupted.raw(name)) or 0) for name in disrupted.names())),
        observed_generation=status.integer("observedGeneration", 0),
        condition=(allowed.text("status"), allowed.text("reason")) if allowed is not None else None,
    )


def decode_priority_class(top: Fields) -> PriorityClass:
    """A priority class. The two that Kubernetes has built in may be given with exactly their values."""
    meta = metadata(top, namespaced=False)
    name, value = meta["name"], top.integer("value", 0, least=None)
    if name.startswith("system-") and SYSTEM_PRIORITIES.get(name) != value:
        raise top.error('"system-" begins only the names of built-in classes', "metadata")
    if name not in SYSTEM_PRIORITIES and value > HIGHEST_USER_PRIORITY:
        raise top.error(f"must be at most {HIGHEST_USER_PRIORITY}, not {value}", "value")
    policies = ("PreemptLowerPriority", "Never")
    return PriorityClass(
        **meta,
        value=value,
        global_default=top.flag("globalDefault"),
        preemption_policy=top.choice("preemptionPolicy", policies, default=policies[0]),
    )


DECODERS = (
    Decoder("PodDisruptionBudget", ("policy/v1", "policy/v1beta1"), BUDGET, decode_budget),
    Decoder(
        "PriorityClass",
        ("scheduling.k8s.io/v1", "scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha1"),
        PRIORITY_CLASS,
        decode_priority_class,
    ),
)
