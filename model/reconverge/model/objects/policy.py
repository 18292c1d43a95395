"""PodDisruptionBudget and PriorityClass.

Source: `pkg/apis/policy/types.go`, `pkg/apis/scheduling/types.go`.
"""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen

from reconverge.model.labels import Selector
from reconverge.model.objects.meta import ApiObject
from reconverge.model.objects.workloads import IntOrPercent
from reconverge.model.value import Seconds, Value


@frozen
class BudgetStatus(Value):
    """What the disruption controller last computed; the eviction API decrements `disruptions_allowed`."""

    current_healthy: int = 0
    desired_healthy: int = 0
    disruptions_allowed: int = 0
    expected_pods: int = 0
    disrupted_pods: tuple[tuple[str, Seconds], ...] = ()
    """(pod name, time) of evictions granted whose deletion the controller has not seen yet."""
    observed_generation: int = 0
    condition: tuple[str, str] | None = None
    """(status, reason) of DisruptionAllowed."""


@frozen(kw_only=True)
class PodDisruptionBudget(ApiObject):
    """A budget: exactly one of `min_available` and `max_unavailable` is set."""

    kind: ClassVar[str] = "PodDisruptionBudget"

    selector: Selector | None = None
    min_available: IntOrPercent | None = None
    max_unavailable: IntOrPercent | None = None
    unhealthy_pod_eviction: str = "IfHealthyBudget"
    status: BudgetStatus = BudgetStatus()


@frozen(kw_only=True)
class PriorityClass(ApiObject):
    """A priority class; `value` at most 1e9 for users' own."""

    kind: ClassVar[str] = "PriorityClass"
    namespaced: ClassVar[bool] = False

    value: int = 0
    global_default: bool = False
    preemption_policy: str = "PreemptLowerPriority"
