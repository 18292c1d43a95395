"""StatefulSet.

Source: `pkg/apis/apps/types.go`, `pkg/apis/apps/v1/defaults.go`.
"""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen

from reconverge.model.labels import Selector
from reconverge.model.objects.meta import ApiObject
from reconverge.model.objects.pod import PodTemplate
from reconverge.model.objects.storage import PersistentVolumeClaim
from reconverge.model.objects.workloads import Condition, IntOrPercent
from reconverge.model.value import Seconds, Value

POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"


@frozen
class StatefulSetStatus(Value):
    """What the StatefulSet controller last reported. Revisions are names of ControllerRevisions."""

    replicas: int = 0
    ready: int = 0
    available: int = 0
    current: int = 0
    updated: int = 0
    current_revision: str = ""
    update_revision: str = ""
    observed_generation: int = 0
    conditions: tuple[Condition, ...] = ()


@frozen(kw_only=True)
class StatefulSet(ApiObject):
    """A StatefulSet. `strategy` is RollingUpdate or OnDelete, `policy` OrderedReady or Parallel.

    `partition` None is a RollingUpdate without parameters, which only objects of old versions have.
    """

    kind: ClassVar[str] = "StatefulSet"

    replicas: int = 1
    selector: Selector = Selector()
    template: PodTemplate = PodTemplate()
    claim_templates: tuple[str, ...] = ()
    """Names of the volumeClaimTemplates."""
    claims: tuple[PersistentVolumeClaim, ...] = ()
    """The volumeClaimTemplates themselves, as far as they are known."""
    policy: str = "OrderedReady"
    strategy: str = "RollingUpdate"
    partition: int | None = 0
    max_unavailable: IntOrPercent | None = None
    """How many pods an update may take at a time; counts only with the rule statefulset-max-unavailable."""
    min_ready: Seconds = 0
    history_limit: int = 10
    first_ordinal: int = 0
    """spec.ordinals.start."""
    status: StatefulSetStatus = StatefulSetStatus()
