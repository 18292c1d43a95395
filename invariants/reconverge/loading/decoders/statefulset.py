"""StatefulSet.

Source: `pkg/apis/apps/validation/validation.go` (ValidateStatefulSetSpec), defaults of `pkg/apis/apps/v1`, `v1beta1`
and `v1beta2`.
"""

from __future__ import annotations

from typing import Any

from reconverge.loading.decoders.meta import metadata
from reconverge.loading.decoders.pods import pod_template
from reconverge.loading.decoders.registry import Decoder
from reconverge.loading.decoders.storage import claim_template
from reconverge.loading.decoders.workloads import always_restarted, conditions, workload_selector
from reconverge.loading.fields import Fields
from reconverge.loading.schema import schema
from reconverge.model.objects import StatefulSet, StatefulSetStatus

STATEFUL_SET = schema("StatefulSet", read="apiVersion kind metadata spec status")
_SPEC = schema(
    "stateful set spec",
    read="replicas selector template podManagementPolicy updateStrategy minReadySeconds revisionHistoryLimit ordinals",
    ignored="serviceName persistentVolumeClaimRetentionPolicy",
    unsupported="volumeClaimTemplates",
)
_STRATEGY = schema("update strategy", read="type rollingUpdate")
_ROLLING = schema("rolling update", read="partition maxUnavailable")
_ORDINALS = schema("ordinals", read="start")
_STATUS = schema("status", open_=True)

POLICIES = ("OrderedReady", "Parallel")
STRATEGIES = ("RollingUpdate", "OnDelete")
_OLDEST = "apps/v1beta1"


def decode_stateful_set(top: Fields) -> StatefulSet:
    """A StatefulSet with its defaults, and its status if the document has one."""
    meta = metadata(top)
    spec = top.child("spec", _SPEC)
    oldest = top.reader.document.api_version == _OLDEST
    template = always_restarted(spec, pod_template(spec))
    claims = tuple(claim_template(each) for each in spec.children("volumeClaimTemplates"))
    return StatefulSet(
        **meta,
        **_strategy(spec, "OnDelete" if oldest else "RollingUpdate"),
        replicas=spec.integer("replicas", 1),
        selector=workload_selector(spec, template, oldest),
        template=template,
        claim_templates=tuple(each.name for each in claims),
        claims=claims,
        policy=spec.choice("podManagementPolicy", POLICIES, default=POLICIES[0]),
        min_ready=spec.integer("minReadySeconds", 0),
        history_limit=spec.integer("revisionHistoryLimit", 10),
        first_ordinal=spec.child("ordinals", _ORDINALS).integer("start", 0),
        status=_status(top),
    )


def _strategy(spec: Fields, default: str) -> dict[str, Any]:
    """Strategy and partition. A RollingUpdate without parameters has partition 0, in the oldest version none."""
    level = spec.child("updateStrategy", _STRATEGY)
    kind = level.choice("type", STRATEGIES, default=default)
    if kind == "OnDelete":
        if "rollingUpdate" in level:
            raise level.error("must be absent for strategy OnDelete", "rollingUpdate")
        return {"strategy": kind, "partition": None}
    if default == "OnDelete" and "rollingUpdate" not in level:
        return {"strategy": kind, "partition": None}
    rolling = level.child("rollingUpdate", _ROLLING)
    most = rolling.count_or_percent("maxUnavailable", most_percent=100)
    if most in (0, "0%"):
        raise rolling.error("must not be 0", "maxUnavailable")
    return {"strategy": kind, "partition": rolling.integer("partition", 0), "max_unavailable": most}


def _status(top: Fields) -> StatefulSetStatus:
    status = top.child("status", _STATUS)
    return StatefulSetStatus(
        replicas=status.integer("replicas", 0),
        ready=status.integer("readyReplicas", 0),
        available=status.integer("availableReplicas", 0),
        current=status.integer("currentReplicas", 0),
        updated=status.integer("updatedReplicas", 0),
        current_revision=status.text("currentRevision"),
        update_revision=status.text("updateRevision"),
        observed_generation=status.integer("observedGeneration", 0),
        conditions=conditions(status),
    )


DECODERS = (
    Decoder(
        "StatefulSet",
        ("apps/v1", "apps/v1beta2", _OLDEST),
        STATEFUL_SET,
        decode_stateful_set,
        template=("spec", "template"),
        selected=True,
    ),
)
