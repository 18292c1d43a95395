"""HorizontalPodAutoscaler.

Source: `pkg/apis/autoscaling/validation/validation.go`, `pkg/apis/autoscaling/v2/defaults.go`, the conversions of
`pkg/apis/autoscaling/v1` and `v2beta1`.
"""

from __future__ import annotations

import math

from reconverge.loading.decoders.meta import metadata
from reconverge.loading.decoders.registry import Decoder
from reconverge.loading.fields import Fields
from reconverge.loading.schema import schema
from reconverge.model.objects import Condition, HorizontalPodAutoscaler
from reconverge.model.objects.autoscaling import (
    DEFAULT_DOWN,
    DEFAULT_METRICS,
    DEFAULT_UP,
    AutoscalerStatus,
    Metric,
    ScalingBehavior,
    ScalingPolicy,
    ScalingRules,
)

AUTOSCALER = schema("HorizontalPodAutoscaler", read="apiVersion kind metadata spec status")
_SPEC = "scaleTargetRef minReplicas maxReplicas"
_SPEC_1 = schema("autoscaler spec", read=f"{_SPEC} targetCPUUtilizationPercentage")
_SPEC_2 = schema("autoscaler spec", read=f"{_SPEC} metrics behavior")
_TARGET_REF = schema("scale target", read="apiVersion kind name")
_METRIC = schema("metric", read="type resource containerResource", unsupported="pods object external")
_RESOURCE = schema("resource metric", read="name container target")
_OLD_RESOURCE = schema("resource metric", read="name container targetAverageUtilization targetAverageValue")
_TARGET = schema("metric target", read="type averageUtilization averageValue value")
_BEHAVIOR = schema("behavior", read="scaleUp scaleDown")
_RULES = schema("scaling rules", read="stabilizationWindowSeconds selectPolicy policies tolerance")
_POLICY = schema("scaling policy", read="type value periodSeconds")
_STATUS = schema("status", open_=True)

KINDS = {
    "Resource": "resource",
    "ContainerResource": "containerResource",
    "Pods": "pods",
    "Object": "object",
    "External": "external",
}
"""Types of metrics, and the keys under which each stands."""
_OLD = "autoscaling/v2beta1"
_BUILT_IN = ("apps", "extensions")
"""API groups of the workloads that are modelled."""
_LONGEST_WINDOW = 3600
_LONGEST_PERIOD = 1800


def decode_autoscaler(top: Fields) -> HorizontalPodAutoscaler:
    """An autoscaler with its defaults, and its status if the document has one."""
    meta = metadata(top)
    first = top.reader.document.api_version == "autoscaling/v1"
    spec = top.child("spec", _SPEC_1 if first else _SPEC_2)
    minimum = spec.integer("minReplicas", 1, least=1)
    if "maxReplicas" not in spec:
        raise spec.error("is required", "maxReplicas")
    maximum = spec.integer("maxReplicas", 1, least=1)
    if maximum < minimum:
        raise spec.error(f"must be at least minReplicas ({minimum}), not {maximum}", "maxReplicas")
    kind, name = _target(spec.child("scaleTargetRef", _TARGET_REF))
    metrics = _only_cpu(spec) if first else tuple(_metric(each) for each in spec.children("metrics", _METRIC))
    return HorizontalPodAutoscaler(
        **meta,
        target_kind=kind,
        target_name=name,
        minimum=minimum,
        maximum=maximum,
        metrics=metrics or DEFAULT_METRICS,
        behavior=_behavior(spec),
        status=_status(top),
    )


def _target(reference: Fields) -> tuple[str, str]:
    """(kind, name) of the target; a kind of another group than the workloads' own keeps its group."""
    kind, name = reference.required_text("kind"), reference.required_text("name")
    group = reference.text("apiVersion").rpartition("/")[0]
    return (kind if group in ("", *_BUILT_IN) else f"{kind}.{group}"), name


# Metrics -----------------------------------------------------------------------------------------------------


def _only_cpu(spec: Fields) -> tuple[Metric, ...]:
    if "targetCPUUtilizationPercentage" not in spec:
        return ()
    percent = spec.integer("targetCPUUtilizationPercentage", 80, least=1)
    return (Metric("Resource", "cpu", "Utilization", percent),)


def _metric(fields: Fields) -> Metric:
    kind = fields.choice("type", tuple(KINDS))
    key = KINDS[kind]
    if key not in fields:
        raise fields.error(f"is required for type {kind}", key)
    if kind not in ("Resource", "ContainerResource"):
        return _custom(fields.child(key), kind)
    old = fields.reader.document.api_version == _OLD
    source = fields.child(key, _OLD_RESOURCE if old else _RESOURCE)
    name = source.required_text("name")
    container = source.required_text("container") if kind == "ContainerResource" else ""
    target, amount = _old_target(source, name) if old else _resource_target(source.child("target", _TARGET), name)
    return Metric(kind, name, target, amount, container)


def _custom(source: Fields, kind: str) -> Metric:
    """A metric that nothing in the model measures: it is accounted as not supported, and the autoscaler lacks it."""
    name = source.child("metric").text("name") or source.text("metricName") or kind.lower()
    return Metric(kind, name, "Value", 1000)


def _resource_target(target: Fields, resource: str) -> tuple[str, int]:
    kind = target.choice("type", ("Utilization", "AverageValue", "Value"))
    if kind == "Utilization":
        if "averageUtilization" not in target:
            raise target.error("is required for type Utilization", "averageUtilization")
        return kind, target.integer("averageUtilization", 0, least=1)
    if "averageValue" not in target:
        raise target.error("or averageUtilization is required for a resource", "averageValue")
    return "AverageValue", _amount(target, "averageValue", resource)


def _old_target(source: Fields, resource: str) -> tuple[str, int]:
    if "targetAverageUtilization" in source:
        return "Utilization", source.integer("targetAverageUtilization", 0, least=1)
    if "targetAverageValue" not in source:
        raise source.error("or targetAverageValue is required for a resource", "targetAverageUtilization")
    return "AverageValue", _amount(source, "targetAverageValue", resource)


def _amount(fields: Fields, key: str, resource: str) -> int:
    """An amount in millicores, or in whole units of other resources."""
    amount = fields.quantity(key)
    if not amount:
        raise fields.error("must be more than 0", key)
    return math.ceil(amount * 1000) if resource == "cpu" else math.ceil(amount)


# Behavior ----------------------------------------------------------------------------------------------------


def _behavior(spec: Fields) -> ScalingBehavior | None:
    if "behavior" not in spec:
        return None
    level = spec.child("behavior", _BEHAVIOR)
    return ScalingBehavior(_rules(level, "scaleUp", DEFAULT_UP), _rules(level, "scaleDown", DEFAULT_DOWN))


def _rules(behavior: Fields, key: str, default: ScalingRules) -> ScalingRules:
    """The rules of one direction, with what is not given filled in (GenerateHPAScaleUpRules)."""
    level = behavior.child(key, _RULES)
    window = level.optional_integer("stabilizationWindowSeconds")
    if window is not None and window > _LONGEST_WINDOW:
        raise level.error(f"must be at most {_LONGEST_WINDOW}, not {window}", "stabilizationWindowSeconds")
    policies = tuple(_policy(each) for each in level.children("policies", _POLICY))
    if "policies" in level and not policies:
        raise level.error("must have at least one policy", "policies")
    return ScalingRules(
        default.window if window is None else window,
        level.choice("selectPolicy", ("Max", "Min", "Disabled"), default=default.select),
        policies or default.policies,
        float(level.quantity("tolerance")) if "tolerance" in level else None,
    )


def _policy(fields: Fields) -> ScalingPolicy:
    for key in ("value", "periodSeconds"):
        if key not in fields:
            raise fields.error("is required", key)
    return ScalingPolicy(
        fields.choice("type", ("Pods", "Percent")),
        fields.integer("value", 0, least=1),
        fields.integer("periodSeconds", 0, least=1, most=_LONGEST_PERIOD),
    )


def _status(top: Fields) -> AutoscalerStatus:
    """The status; times of conditions are left out: nothing depends on them."""
    status = top.child("status", _STATUS)
    conditions = sorted(
        (each.text("type"), each.text("status"), each.text("reason")) for each in status.children("conditions")
    )
    return AutoscalerStatus(
        current=status.integer("currentReplicas", 0),
        desired=status.integer("desiredReplicas", 0),
        conditions=tuple(Condition(*each) for each in conditions),
    )


DECODERS = (
    Decoder(
        "HorizontalPodAutoscaler",
        ("autoscaling/v2", "autoscaling/v1", "autoscaling/v2beta2", _OLD),
        AUTOSCALER,
        decode_autoscaler,
    ),
)
