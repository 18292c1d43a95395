"""DaemonSet.

Source: `pkg/apis/apps/validation/validation.go` (ValidateRollingUpdateDaemonSet), defaults of `pkg/apis/apps/v1`,
`v1beta2` and `pkg/apis/extensions/v1beta1`.
"""

from __future__ import annotations

from typing import Any

from reconverge.loading.decoders.meta import metadata
from reconverge.loading.decoders.pods import pod_template
from reconverge.loading.decoders.registry import Decoder
from reconverge.loading.decoders.workloads import always_restarted, conditions, workload_selector
from reconverge.loading.fields import Fields
from reconverge.loading.schema import schema
from reconverge.model.objects import DaemonSet, DaemonSetStatus

DAEMON_SET = schema("DaemonSet", read="apiVersion kind metadata spec status")
_SPEC = schema(
    "daemon set spec",
    read="selector template updateStrategy minReadySeconds revisionHistoryLimit",
    ignored="templateGeneration",
)
_STRATEGY = schema("update strategy", read="type rollingUpdate")
_ROLLING = schema("rolling update", read="maxSurge maxUnavailable")
_STATUS = schema("status", open_=True)

STRATEGIES = ("RollingUpdate", "OnDelete")
_OLDEST = "extensions/v1beta1"
_NONE = (0, "0%")


def decode_daemon_set(top: Fields) -> DaemonSet:
    """A DaemonSet with its defaults, and its status if the document has one."""
    meta = metadata(top)
    spec = top.child("spec", _SPEC)
    oldest = top.reader.document.api_version == _OLDEST
    template = always_restarted(spec, pod_template(spec))
    return DaemonSet(
        **meta,
        **_strategy(spec, "OnDelete" if oldest else "RollingUpdate"),
        selector=workload_selector(spec, template, oldest),
        template=template,
        min_ready=spec.integer("minReadySeconds", 0),
        history_limit=spec.integer("revisionHistoryLimit", 10),
        status=_status(top),
    )


def _strategy(spec: Fields, default: str) -> dict[str, Any]:
    """Strategy, surge and unavailable, exactly one of which is not zero. maxUnavailable is 1 where it is not given."""
    level = spec.child("updateStrategy", _STRATEGY)
    kind = level.choice("type", STRATEGIES, default=default)
    rolling = level.child("rollingUpdate", _ROLLING)
    surge = rolling.count_or_percent("maxSurge", 100)
    unavailable = rolling.count_or_percent("maxUnavailable", 100)
    surge = 0 if surge is None else surge
    if kind == "OnDelete":
        return {"strategy": kind}
    if surge not in _NONE and unavailable not in _NONE:
        advice = "is 1 where it is not given, and must be 0" if unavailable is None else "must be 0"
        raise rolling.error(f"{advice} where maxSurge is not 0", "maxUnavailable")
    unavailable = 1 if unavailable is None else unavailable
    if surge in _NONE and unavailable in _NONE:
        raise rolling.error("must not be 0 where maxSurge is 0", "maxUnavailable")
    return {"strategy": kind, "max_surge": surge, "max_unavailable": unavailable}


def _status(top: Fields) -> DaemonSetStatus:
    status = top.child("status", _STATUS)
    return DaemonSetStatus(
        desired=status.integer("desiredNumberScheduled", 0),
        current=status.integer("currentNumberScheduled", 0),
        ready=status.integer("numberReady", 0),
        available=status.integer("numberAvailable", 0),
        unavailable=status.integer("numberUnavailable", 0),
        updated=status.integer("updatedNumberScheduled", 0),
        misscheduled=status.integer("numberMisscheduled", 0),
        observed_generation=status.integer("observedGeneration", 0),
        conditions=conditions(status),
    )


DECODERS = (
    Decoder(
        "DaemonSet",
        ("apps/v1", "apps/v1beta2", _OLDEST),
        DAEMON_SET,
        decode_daemon_set,
        template=("spec", "template"),
        selected=True,
    ),
)
