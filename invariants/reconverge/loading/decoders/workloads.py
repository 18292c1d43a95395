"""Deployment and ReplicaSet.

Source: `pkg/apis/apps/validation/validation.go`, defaults of `pkg/apis/apps/v1`, `v1beta1`, `v1beta2` and
`pkg/apis/extensions/v1beta1`.
"""

from __future__ import annotations

from typing import Any

from attrs import frozen

from reconverge.loading.decoders.meta import metadata, selector
from reconverge.loading.decoders.pods import pod_template
from reconverge.loading.decoders.registry import Decoder
from reconverge.loading.fields import Fields
from reconverge.loading.schema import schema
from reconverge.model.labels import Selector, label
from reconverge.model.objects import (
    Condition,
    Deployment,
    DeploymentStatus,
    IntOrPercent,
    PodTemplate,
    ReplicaSet,
    ReplicaSetStatus,
)

DEPLOYMENT = schema("Deployment", read="apiVersion kind metadata spec status")
_DEPLOYMENT_SPEC = schema(
    "deployment spec",
    read="replicas selector template strategy minReadySeconds revisionHistoryLimit progressDeadlineSeconds paused",
    ignored="rollbackTo",
    unsupported="podReplacementPolicy",
)
_STRATEGY = schema("strategy", read="type rollingUpdate")
_ROLLING = schema("rolling update", read="maxSurge maxUnavailable")
REPLICA_SET = schema("ReplicaSet", read="apiVersion kind metadata spec status")
_REPLICA_SET_SPEC = schema("replica set spec", read="replicas selector template minReadySeconds")
_STATUS = schema("status", open_=True)

REVISION = "deployment.kubernetes.io/revision"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MAXIMUM = "deployment.kubernetes.io/max-replicas"
_NO_DEADLINE = 2**31 - 1
"""progressDeadlineSeconds that means none."""


@frozen
class _Defaults:
    """What an API version fills in."""

    surge: IntOrPercent = "25%"
    unavailable: IntOrPercent = "25%"
    deadline: int | None = 600
    history: int = 10
    selector_from_labels: bool = False


_VERSION_DEFAULTS = {
    "apps/v1beta1": _Defaults(history=2, selector_from_labels=True),
    "extensions/v1beta1": _Defaults(1, 1, deadline=None, history=_NO_DEADLINE, selector_from_labels=True),
}


def decode_deployment(top: Fields) -> Deployment:
    """A Deployment with its defaults, and its status if the document has one."""
    meta = metadata(top)
    spec = top.child("spec", _DEPLOYMENT_SPEC)
    defaults = _VERSION_DEFAULTS.get(top.reader.document.api_version, _Defaults())
    template = always_restarted(spec, pod_template(spec))
    min_ready = spec.integer("minReadySeconds", 0)
    deadline = spec.integer("progressDeadlineSeconds", defaults.deadline or _NO_DEADLINE)
    if deadline <= min_ready:
        raise spec.error(f"must be more than minReadySeconds ({min_ready})", "progressDeadlineSeconds")
    return Deployment(
        **meta,
        **_strategy(spec, defaults),
        replicas=spec.integer("replicas", 1),
        selector=workload_selector(spec, template, defaults.selector_from_labels),
        template=template,
        min_ready=min_ready,
        progress_deadline=None if deadline == _NO_DEADLINE else deadline,
        history_limit=spec.integer("revisionHistoryLimit", defaults.history),
        paused=spec.flag("paused"),
        deployment_revision=_number(label(meta["annotations"], REVISION)) or 0,
        status=_deployment_status(top),
    )


def _strategy(spec: Fields, defaults: _Defaults) -> dict[str, Any]:
    """Strategy, surge and unavailable. Source: ValidateDeploymentStrategy."""
    level = spec.child("strategy", _STRATEGY)
    kind = level.choice("type", ("RollingUpdate", "Recreate"), default="RollingUpdate")
    if kind == "Recreate":
        if "rollingUpdate" in level:
            raise level.error("must be absent for strategy Recreate", "rollingUpdate")
        return {"strategy": kind}
    rolling = level.child("rollingUpdate", _ROLLING)
    surge, unavailable = rolling.count_or_percent("maxSurge"), rolling.count_or_percent("maxUnavailable", 100)
    surge = defaults.surge if surge is None else surge
    unavailable = defaults.unavailable if unavailable is None else unavailable
    if surge in (0, "0%") and unavailable in (0, "0%"):
        raise rolling.error("must not be 0 where maxSurge is 0", "maxUnavailable")
    return {"strategy": kind, "max_surge": surge, "max_unavailable": unavailable}


def always_restarted(spec: Fields, template: PodTemplate) -> PodTemplate:
    """The template, whose restartPolicy must be Always. Source: ValidatePodTemplateSpecForReplicaSet."""
    if template.spec.restart_policy != "Always":
        where = spec.child("template").child("spec")
        raise where.error(f'must be Always, not "{template.spec.restart_policy}"', "restartPolicy")
    return template


def workload_selector(spec: Fields, template: PodTemplate, from_labels: bool = False) -> Selector:
    """The selector of a workload: not empty, and matching the labels of its own template."""
    given = selector(spec, "selector")
    if given is None and from_labels:
        given = Selector(match_labels=template.labels)
    if given is None:
        raise spec.error("is required", "selector")
    if given.empty:
        raise spec.error("must not be empty", "selector")
    if not given.matches(template.labels):
        raise spec.error("does not match the labels of the pod template", "selector")
    return given


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _deployment_status(top: Fields) -> DeploymentStatus:
    status = top.child("status", _STATUS)
    return DeploymentStatus(
        replicas=status.integer("replicas", 0),
        updated=status.integer("updatedReplicas", 0),
        ready=status.integer("readyReplicas", 0),
        available=status.integer("availableReplicas", 0),
        unavailable=status.integer("unavailableReplicas", 0),
        terminating=status.optional_integer("terminatingReplicas"),
        observed_generation=status.integer("observedGeneration", 0),
        conditions=conditions(status),
    )


def conditions(status: Fields) -> tuple[Condition, ...]:
    """The conditions of a workload's status."""
    dump = status.reader.dump
    return tuple(
        Condition(
            type=each.text("type"),
            status=each.text("status"),
            reason=each.text("reason"),
            since=dump.seconds(each.raw("lastTransitionTime")) or 0,
            updated_at=dump.seconds(each.raw("lastUpdateTime")) or 0,
        )
        for each in status.children("conditions")
    )


def decode_replica_set(top: Fields) -> ReplicaSet:
    """A ReplicaSet, and its status if the document has one."""
    meta = metadata(top)
    spec = top.child("spec", _REPLICA_SET_SPEC)
    template = always_restarted(spec, pod_template(spec))
    return ReplicaSet(
        **meta,
        replicas=spec.integer("replicas", 1),
        min_ready=spec.integer("minReadySeconds", 0),
        selector=workload_selector(spec, template, top.reader.document.api_version == "extensions/v1beta1"),
        template=template,
        status=_replica_set_status(top),
        deployment_revision=_number(label(meta["annotations"], REVISION)) or 0,
        desired_replicas=_number(label(meta["annotations"], DESIRED)),
        max_replicas=_number(label(meta["annotations"], MAXIMUM)),
    )


def _replica_set_status(top: Fields) -> ReplicaSetStatus:
    status = top.child("status", _STATUS)
    return ReplicaSetStatus(
        replicas=status.integer("replicas", 0),
        fully_labeled=status.integer("fullyLabeledReplicas", 0),
        ready=status.integer("readyReplicas", 0),
        available=status.integer("availableReplicas", 0),
        terminating=status.optional_integer("terminatingReplicas"),
        observed_generation=status.integer("observedGeneration", 0),
        conditions=conditions(status),
    )


_TEMPLATE = ("spec", "template")
_OLDEST = "extensions/v1beta1"
DECODERS = (
    Decoder(
        "Deployment",
        ("apps/v1", "apps/v1beta2", "apps/v1beta1", _OLDEST),
        DEPLOYMENT,
        decode_deployment,
        template=_TEMPLATE,
        selected=True,
    ),
    Decoder(
        "ReplicaSet",
        ("apps/v1", "apps/v1beta2", _OLDEST),
        REPLICA_SET,
        decode_replica_set,
        template=_TEMPLATE,
        selected=True,
    ),
)
