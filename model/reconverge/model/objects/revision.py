"""ControllerRevision: a pod template that a StatefulSet or DaemonSet had, kept for rollouts and their undoing.

Source: `pkg/apis/apps/types.go`, `pkg/controller/history/controller_history.go`.
"""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen

from reconverge.model.objects.meta import ApiObject
from reconverge.model.objects.pod import PodTemplate

REVISION_HASH = "controller-revision-hash"
"""The label by which a pod tells its revision: its name for a StatefulSet, its hash for a DaemonSet."""


@frozen(kw_only=True)
class ControllerRevision(ApiObject):
    """One revision of a workload's template. `number` (the field `revision` of the real object) orders them."""

    kind: ClassVar[str] = "ControllerRevision"

    template: PodTemplate = PodTemplate()
    number: int = 0

    @property
    def hash(self) -> str:
        """What tells the revision from the workload's others: its name without the workload's."""
        return self.name.removeprefix(f"{self.owner.name}-") if self.owner is not None else self.name
