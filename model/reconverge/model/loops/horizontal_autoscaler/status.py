"""What a sync comes to, and how it is reported.

Source: `pkg/controller/podautoscaler/horizontal.go` (setStatus, setCondition).
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.action import Action, Patch
from reconverge.model.objects import HorizontalPodAutoscaler
from reconverge.model.objects.autoscaling import AutoscalerStatus
from reconverge.model.objects.workloads import Condition
from reconverge.model.value import Seconds


@frozen
class Decision:
    """What one sync decides: the replicas, why, the conditions that it reports.

    `measured` says whether the metrics were asked; `proposed` is what they ask for, before stabilisation, None if they
    were not asked or failed. With `until` the same proposal may come to something else from that moment on (after it,
    if `through`).
    """

    replicas: int
    reason: str
    conditions: tuple[Condition, ...] = ()
    measured: bool = False
    proposed: int | None = None
    until: Seconds | None = None
    through: bool = False


def condition(type_: str, holds: bool, reason: str) -> Condition:
    """A condition without times: nothing depends on them."""
    return Condition(type_, "True" if holds else "False", reason)


def reported(autoscaler: HorizontalPodAutoscaler, current: int, decision: Decision) -> tuple[Action, ...]:
    """The status write, if it differs. Conditions that a sync does not come to stay as they were."""
    told = {each.type: each for each in autoscaler.status.conditions}
    told |= {"AbleToScale": condition("AbleToScale", True, "ReadyForNewScale")}
    told |= {each.type: each for each in decision.conditions}
    status = AutoscalerStatus(current, decision.replicas, tuple(told[type_] for type_ in sorted(told)))
    if status == autoscaler.status:
        return ()
    verb = f"updates status of {autoscaler.reference}"
    fields = (("status", status),)
    return (Patch(autoscaler.kind, autoscaler.key, autoscaler.uid, fields, decision.reason, verb),)
