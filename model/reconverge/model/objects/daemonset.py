"""DaemonSet.

Source: `pkg/apis/apps/types.go`, `pkg/apis/apps/v1/defaults.go`.
"""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen

from reconverge.model.labels import Selector
from reconverge.model.objects.meta import ApiObject
from reconverge.model.objects.pod import PodTemplate
from reconverge.model.objects.workloads import Condition, IntOrPercent
from reconverge.model.value import Seconds, Value


@frozen
class DaemonSetStatus(Value):
    """What the DaemonSet controller last reported: numbers of nodes, not of pods."""

    desired: int = 0
    current: int = 0
    ready: int = 0
    available: int = 0
    unavailable: int = 0
    updated: int = 0
    misscheduled: int = 0
    observed_generation: int = 0
    conditions: tuple[Condition, ...] = ()


@frozen(kw_only=True)
class DaemonSet(ApiObject):
    """A DaemonSet. `strategy` is RollingUpdate or OnDelete; surge and unavailable as written."""

    kind: ClassVar[str] = "DaemonSet"

    selector: Selector = Selector()
    template: PodTemplate = PodTemplate()
    strategy: str = "RollingUpdate"
    max_surge: IntOrPercent = 0
    max_unavailable: IntOrPercent = 1
    min_ready: Seconds = 0
    history_limit: int = 10
    status: DaemonSetStatus = DaemonSetStatus()
