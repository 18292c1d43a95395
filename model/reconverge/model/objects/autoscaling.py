"""HorizontalPodAutoscaler.

Source: `pkg/apis/autoscaling/types.go`, `pkg/apis/autoscaling/v2/defaults.go`.
"""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen

from reconverge.model.objects.meta import ApiObject
from reconverge.model.objects.workloads import Condition
from reconverge.model.value import Seconds, Value

DEFAULT_CPU_UTILIZATION = 80
"""Target of an autoscaler without metrics, in percent of the requests."""


@frozen
class Metric:
    """One metric and its target.

    `kind` is Resource, ContainerResource, Pods, Object or External; `target` is Utilization, AverageValue or Value.
    `amount` is in percent for Utilization, for resources in millicores or bytes, for other metrics in thousandths.
    """

    kind: str
    name: str
    target: str
    amount: int
    container: str = ""
    """The container of a ContainerResource metric."""


DEFAULT_METRICS = (Metric("Resource", "cpu", "Utilization", DEFAULT_CPU_UTILIZATION),)


@frozen
class ScalingPolicy:
    """How much may change in `period` seconds: `type` is Pods or Percent."""

    type: str
    value: int
    period: Seconds


UP_POLICIES = (ScalingPolicy("Pods", 4, 15), ScalingPolicy("Percent", 100, 15))
DOWN_POLICIES = (ScalingPolicy("Percent", 100, 15),)


@frozen
class ScalingRules:
    """The rules of one direction. `window` None is the controller's own downscale stabilisation window.

    `select` is Max, Min or Disabled; `tolerance` None is the controller's own.
    """

    window: Seconds | None = None
    select: str = "Max"
    policies: tuple[ScalingPolicy, ...] = DOWN_POLICIES
    tolerance: float | None = None


DEFAULT_UP = ScalingRules(0, "Max", UP_POLICIES)
DEFAULT_DOWN = ScalingRules(None, "Max", DOWN_POLICIES)


@frozen
class ScalingBehavior:
    """spec.behavior, with its defaults filled in."""

    up: ScalingRules = DEFAULT_UP
    down: ScalingRules = DEFAULT_DOWN


@frozen
class AutoscalerStatus(Value):
    """What the autoscaler last reported."""

    current: int = 0
    desired: int = 0
    conditions: tuple[Condition, ...] = ()

    def condition(self, type_: str) -> Condition | None:
        """The condition of that type, or None."""
        return next((each for each in self.conditions if each.type == type_), None)


@frozen(kw_only=True)
class HorizontalPodAutoscaler(ApiObject):
    """An autoscaler of one workload. A target of a kind that is not modelled keeps its group in `target_kind`.

    Without `behavior` other rules of stabilisation hold than with one that is empty.
    """

    kind: ClassVar[str] = "HorizontalPodAutoscaler"

    target_kind: str = "Deployment"
    target_name: str = ""
    minimum: int = 1
    maximum: int = 1
    metrics: tuple[Metric, ...] = DEFAULT_METRICS
    behavior: ScalingBehavior | None = None
    status: AutoscalerStatus = AutoscalerStatus()

    @property
    def target(self) -> str:
        """Key of the target within its kind."""
        return f"{self.namespace}/{self.target_name}"
