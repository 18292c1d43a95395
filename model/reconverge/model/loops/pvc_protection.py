"""The protection of claims that are in use: a deleted one stays until no pod uses it.

Source: `pkg/controller/volume/pvcprotection/pvc_protection_controller.go`,
`plugin/pkg/admission/storage/storageobjectinuseprotection/admission.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from reconverge.model.action import Delete
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.objects import Pod
from reconverge.model.objects.storage import CLAIM, PersistentVolumeClaim
from reconverge.model.store import Change, Store


class ClaimProtection(ControlLoop[None]):
    """Lets a deleted claim go once no pod uses it; runs where StorageClasses or volumes are described."""

    name: ClassVar[str] = "pvc-protection"
    watches: ClassVar[frozenset[str]] = frozenset({CLAIM, "Pod"})
    idle_without: ClassVar[str] = CLAIM
    source: ClassVar[str] = "pkg/controller/volume/pvcprotection/pvc_protection_controller.go"

    def relist(self, reading: Reading) -> Iterable[str]:
        """All claims that are being deleted."""
        return [each.key for each in reading.store.all(CLAIM) if each.terminating]

    def observe(self, memory: None, change: Change, reading: Reading) -> tuple[None, Iterable[str]]:
        """A deleted claim wakes itself, the end of a pod its claims."""
        if change.kind == CLAIM:
            return None, (change.key,) if change.after is not None and change.after.terminating else ()
        if change.after is not None:
            return None, ()
        pod: Pod = change.before
        return None, [f"{pod.namespace}/{name}" for name in pod.spec.claims]

    def sync(self, reading: Reading, memory: None, key: str) -> Sequence[Plan[None]]:
        """One pass for a claim."""
        claim: PersistentVolumeClaim | None = reading.store.get(CLAIM, key)
        if claim is None or not claim.terminating:
            return (Plan(None),)
        user = self.user(reading.store, claim)
        if user is not None:
            return (Plan(None, note=f"{user.reference} uses it"),)
        return (Plan(None, (Delete(CLAIM, claim.key, claim.uid, "no pod uses it any more"),)),)

    def user(self, store: Store, claim: PersistentVolumeClaim) -> Pod | None:
        """A bound pod that mounts the claim, finished or not; None if there is none."""
        pods = (pod for pod in store.all("Pod") if pod.node is not None and pod.namespace == claim.namespace)
        return next((pod for pod in pods if claim.name in pod.spec.claims), None)
