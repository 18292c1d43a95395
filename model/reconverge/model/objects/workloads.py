"""ReplicaSet and Deployment.

Source: `pkg/apis/apps/types.go`, `pkg/apis/apps/v1/defaults.go`.
"""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen

from reconverge.model.labels import Selector
from reconverge.model.objects.meta import ApiObject
from reconverge.model.objects.pod import PodTemplate
from reconverge.model.value import Seconds, Value

IntOrPercent = int | str
"""A count, or a percentage such as "25%"."""


@frozen
class Condition:
    """A condition of a workload: status is True, False or Unknown."""

    type: str
    status: str
    reason: str
    since: Seconds = 0
    """When the status last changed."""
    updated_at: Seconds = 0
    """When the condition was last written; progress deadlines count from here."""


@frozen
class ReplicaSetStatus(Value):
    """What the ReplicaSet controller last reported."""

    replicas: int = 0
    fully_labeled: int = 0
    ready: int = 0
    available: int = 0
    terminating: int | None = None
    observed_generation: int = 0
    conditions: tuple[Condition, ...] = ()


@frozen(kw_only=True)
class ReplicaSet(ApiObject):
    """A ReplicaSet. `desired_replicas` and `max_replicas` are the Deployment controller's annotations."""

    kind: ClassVar[str] = "ReplicaSet"

    replicas: int = 1
    min_ready: Seconds = 0
    selector: Selector = Selector()
    template: PodTemplate = PodTemplate()
    status: ReplicaSetStatus = ReplicaSetStatus()
    deployment_revision: int = 0
    desired_replicas: int | None = None
    max_replicas: int | None = None


@frozen
class DeploymentStatus(Value):
    """What the Deployment controller last reported."""

    replicas: int = 0
    updated: int = 0
    ready: int = 0
    available: int = 0
    unavailable: int = 0
    terminating: int | None = None
    observed_generation: int = 0
    conditions: tuple[Condition, ...] = ()

    def condition(self, type_: str) -> Condition | None:
        """The condition of that type, or None."""
        return next((each for each in self.conditions if each.type == type_), None)


@frozen(kw_only=True)
class Deployment(ApiObject):
    """A Deployment. `strategy` is RollingUpdate or Recreate; surge and unavailable as written."""

    kind: ClassVar[str] = "Deployment"

    replicas: int = 1
    selector: Selector = Selector()
    template: PodTemplate = PodTemplate()
    strategy: str = "RollingUpdate"
    max_surge: IntOrPercent = "25%"
    max_unavailable: IntOrPercent = "25%"
    min_ready: Seconds = 0
    progress_deadline: Seconds | None = 600
    history_limit: int = 10
    paused: bool = False
    deployment_revision: int = 0
    status: DeploymentStatus = DeploymentStatus()
