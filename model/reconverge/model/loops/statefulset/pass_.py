"""One pass of the StatefulSet controller under way: the pods by ordinal, and the writes made so far.

Source: `pkg/controller/statefulset/stateful_set_control.go` (updateStatefulSet).
"""

from __future__ import annotations

from reconverge.model.action import Action, Patch
from reconverge.model.labels import labels_of
from reconverge.model.loop import Reading
from reconverge.model.loops.pod_writes import CreateNamed, DeletePodNamed
from reconverge.model.loops.statefulset.ordinals import identity, ordinal, unavailable
from reconverge.model.objects import ControllerRevision, Pod, StatefulSet
from reconverge.model.objects.storage import PersistentVolumeClaim


class Pass:
    """The working state of one pass, local to it. Writes are collected in order."""

    def __init__(
        self,
        reading: Reading,
        sts: StatefulSet,
        pods: list[Pod],
        current: ControllerRevision,
        update: ControllerRevision,
    ) -> None:
        self.sts = sts
        self.now = reading.now
        self.rules = reading.rules
        self.store = reading.store
        self.current = current
        self.update = update
        self.first = sts.first_ordinal
        self.ordered = sts.policy == "OrderedReady"
        self.all = sorted(pods, key=ordinal)
        self.pods = {ordinal(pod): pod for pod in self.all}
        self.condemned = [
            pod for pod in reversed(self.all) if not self.first <= ordinal(pod) < self.first + sts.replicas
        ]
        self.actions: list[Action] = []
        self.deleted: set[str] = set()
        self.rolled = 0
        """How many pods this pass has deleted for the update."""
        self.waits_for = ""

    @property
    def first_unhealthy(self) -> Pod | None:
        """The lowest replica that is not available, or else the lowest such condemned pod.

        Upstream a replica that has no pod yet counts, too; an ordered pass does not come here then.
        """
        kept = [pod for pod in self.all if pod not in self.condemned]
        candidates = [*kept, *reversed(self.condemned)]
        return next((pod for pod in candidates if unavailable(pod, self.sts, self.now)), None)

    def create(self, pod: Pod, reason: str) -> None:
        """Creates a pod."""
        self.actions.append(CreateNamed(pod, reason))

    def claim(self, claim: PersistentVolumeClaim, reason: str) -> None:
        """Creates a claim that is not there (createPersistentVolumeClaims)."""
        if self.store.get(claim.kind, claim.key) is None:
            self.actions.append(CreateNamed(claim, reason))

    def delete(self, pod: Pod, reason: str) -> None:
        """Deletes a pod, once in a pass."""
        if pod.key not in self.deleted:
            self.deleted.add(pod.key)
            self.actions.append(DeletePodNamed(pod.key, pod.uid, reason=reason))

    def relabel(self, pod: Pod) -> None:
        """Gives a pod the labels of its identity back."""
        labels = labels_of({**dict(pod.labels), **dict(identity(pod))})
        fields = (("labels", labels),)
        self.actions.append(Patch("Pod", pod.key, pod.uid, fields, "", f"restores the labels of {pod.reference}"))

    def wait(self, note: str) -> None:
        """Notes what the pass waits for; the first note stays."""
        self.waits_for = self.waits_for or note
