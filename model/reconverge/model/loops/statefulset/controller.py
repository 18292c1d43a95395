"""The StatefulSet controller's pass: replicas, then condemned pods, then the rolling update.

Source: `pkg/controller/statefulset/{stateful_set,stateful_set_control}.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reconverge.model.action import Action, Patch
from reconverge.model.labels import label
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.loops.owned_pods import claimed, woken_by_pod
from reconverge.model.loops.revisions import revisions_of, truncated, update_revision
from reconverge.model.loops.statefulset.ordinals import (
    available,
    claims_of_ordinal,
    identity,
    most_unavailable,
    new_pod,
    parent_and_ordinal,
    running_and_ready,
    unavailable,
    with_claims,
)
from reconverge.model.loops.statefulset.pass_ import Pass
from reconverge.model.objects import ControllerRevision, Pod, StatefulSet, StatefulSetStatus
from reconverge.model.objects.revision import REVISION_HASH
from reconverge.model.store import Change
from reconverge.model.value import Seconds
from reconverge.model.volumes import described


class StatefulSetController(ControlLoop[None]):
    """Keeps one pod per ordinal. It needs no expectations: names are fixed, so nothing is created twice."""

    name = "statefulset"
    watches = frozenset({"StatefulSet", "Pod"})
    guarded = True
    source = "pkg/controller/statefulset/stateful_set_control.go"

    def relist(self, reading: Reading) -> Iterable[str]:
        """All StatefulSets."""
        return sorted(reading.store.table("StatefulSet").objects)

    def observe(self, memory: None, change: Change, reading: Reading) -> tuple[None, Iterable[str]]:
        """A StatefulSet wakes itself, a pod its owner; a pod that frees a name the set that wants it."""
        if change.kind == "StatefulSet":
            return None, (change.key,)
        woken = woken_by_pod("StatefulSet", change, reading)
        if change.after is None and not woken:
            key = f"{change.before.namespace}/{parent_and_ordinal(change.before.name)[0]}"
            woken = (key,) if reading.store.get("StatefulSet", key) is not None else ()
        return None, woken

    def sync(self, reading: Reading, memory: None, key: str) -> Sequence[Plan[None]]:
        """One pass; there is no choice in it: the order within a parallel batch makes no difference to what comes."""
        sts: StatefulSet | None = reading.store.get("StatefulSet", key)
        if sts is None:
            return (Plan(None),)
        pods, claims = claimed(reading, sts, lambda pod: parent_and_ordinal(pod.name)[0] == sts.name)
        revisions = revisions_of(reading.store, sts)
        update, revised = update_revision(sts, revisions, self.known_hash(sts))
        work = Pass(reading, sts, pods, self.current_revision(sts, revisions, update), update)
        status = self.status(work)
        if not sts.terminating:
            self.reconcile(work)
        status = status.with_(current=status.current - work.rolled)
        live = (work.current.name, update.name, *(label(pod.labels, REVISION_HASH) or "" for pod in pods))
        history = truncated(revisions, live, sts.history_limit)
        actions = (*claims, *revised, *work.actions, *self.report(sts, self.completed(sts, status)), *history)
        return (Plan(None, actions, self.next_available(reading, sts, pods), note=work.waits_for),)

    # Revisions -----------------------------------------------------------------------------------------------

    def known_hash(self, sts: StatefulSet) -> str:
        """What the status calls the present template."""
        if sts.status.observed_generation != sts.generation:
            return ""
        return sts.status.update_revision.removeprefix(f"{sts.name}-")

    def current_revision(
        self, sts: StatefulSet, revisions: list[ControllerRevision], update: ControllerRevision
    ) -> ControllerRevision:
        """The revision that the status calls current, or else the update revision (getStatefulSetRevisions)."""
        return next((each for each in revisions if each.name == sts.status.current_revision), update)

    def wants_current(self, sts: StatefulSet, number: int) -> bool:
        """Whether a new pod of an ordinal is of the current revision, not the update (isCurrentRevisionNeeded)."""
        if sts.partition is not None:
            return number < sts.first_ordinal + sts.partition
        return sts.strategy == "RollingUpdate" and number < sts.first_ordinal + sts.status.current

    # The three parts of a pass, in their order ---------------------------------------------------------------

    def reconcile(self, work: Pass) -> None:
        """Replicas upward, condemned pods downward, then the update; each only if the one before lets it."""
        for number in range(work.first, work.first + work.sts.replicas):
            if self.process_replica(work, number) and work.ordered:
                return
        for pod in work.condemned:
            if self.process_condemned(work, pod) and work.ordered:
                return
        if work.sts.strategy == "OnDelete":
            return
        most = most_unavailable(work.sts, work.rules)
        if most is None:
            self.roll(work)
        else:
            self.roll_several(work, most)

    def process_replica(self, work: Pass, number: int) -> bool:
        """Brings one ordinal forward; True if an ordered pass ends here (processReplica)."""
        pod = work.pods.get(number)
        if pod is None:
            revision = work.current if self.wants_current(work.sts, number) else work.update
            pod = new_pod(work.sts, revision, number)
            if work.sts.claims and described(work.store):
                pod = pod.with_(spec=with_claims(pod.spec, work.sts, number))
                for claim in claims_of_ordinal(work.sts, number):
                    work.claim(claim, f"for {pod.reference}")
            work.create(pod, f"ordinal {number} has no pod")
            return True
        if pod.terminal:
            if pod.deletion_at is None:
                work.delete(pod, f"it is {pod.phase}")
            return True
        if self.blocks(work, pod):
            return True
        if not set(identity(pod)) <= set(pod.labels):
            work.relabel(pod)
        return False

    def blocks(self, work: Pass, pod: Pod) -> bool:
        """Whether an ordered pass waits for a pod: Terminating, not Running and Ready, or not for long enough."""
        if not work.ordered:
            return False
        if pod.deletion_at is not None:
            work.wait(f"waits for {pod.reference} to terminate")
        elif not running_and_ready(pod):
            work.wait(f"waits for {pod.reference} to be Running and Ready")
        elif not available(pod, work.sts, work.now):
            work.wait(f"waits for {pod.reference} to be available")
        else:
            return False
        return True

    def process_condemned(self, work: Pass, pod: Pod) -> bool:
        """Deletes a pod beyond the replicas; True if an ordered pass ends here (processCondemned)."""
        if pod.deletion_at is not None:
            if work.ordered:
                work.wait(f"waits for {pod.reference} to terminate")
            return True
        if work.ordered and not available(pod, work.sts, work.now) and pod is not work.first_unhealthy:
            work.wait(f"waits for {pod.reference} to be available before scaling down")
            return True
        work.delete(pod, f"{work.sts.replicas} wanted")
        return True

    def roll(self, work: Pass) -> None:
        """Deletes the highest pod of an old revision; waits for each pod from the top to be available again."""
        for number in range(work.first + work.sts.replicas - 1, work.first + self.lowest_updated(work.sts) - 1, -1):
            pod = work.pods.get(number)
            if pod is None or pod.key in work.deleted:
                return
            if label(pod.labels, REVISION_HASH) != work.update.name and pod.deletion_at is None:
                work.delete(pod, "it is of an old revision")
                work.rolled += 1
                return
            if unavailable(pod, work.sts, work.now):
                work.wait(f"waits for {pod.reference} to update")
                return

    def roll_several(self, work: Pass, most: int) -> None:
        """Deletes the highest pods of an old revision, as long as at most so many are unavailable."""
        numbers = range(work.first, work.first + work.sts.replicas)
        pods = [work.pods.get(number) for number in numbers]
        lacking = sum(pod is None or unavailable(pod, work.sts, work.now) for pod in pods)
        if lacking >= most:
            work.wait(f"waits: {lacking} pods are unavailable, {most} may be")
            return
        left = most - lacking
        for number in reversed(numbers[self.lowest_updated(work.sts) :]):
            pod = work.pods.get(number)
            if not left or pod is None:
                return
            if label(pod.labels, REVISION_HASH) != work.update.name and pod.deletion_at is None:
                work.delete(pod, "it is of an old revision")
                work.rolled += 1
                left -= 1

    def lowest_updated(self, sts: StatefulSet) -> int:
        """The first place that an update reaches, counted from the first ordinal: the partition."""
        return sts.partition or 0

    # Status --------------------------------------------------------------------------------------------------

    def status(self, work: Pass) -> StatefulSetStatus:
        """Counts over the pods as they were read; Terminating ones are replicas, but of no revision (updateStatus)."""
        pods = work.all
        staying = [label(pod.labels, REVISION_HASH) for pod in pods if pod.deletion_at is None]
        return StatefulSetStatus(
            replicas=len(pods),
            ready=sum(running_and_ready(pod) for pod in pods),
            available=sum(available(pod, work.sts, work.now) for pod in pods),
            current=staying.count(work.current.name),
            updated=staying.count(work.update.name),
            current_revision=work.current.name,
            update_revision=work.update.name,
            observed_generation=work.sts.generation,
            conditions=work.sts.status.conditions,
        )

    def completed(self, sts: StatefulSet, status: StatefulSetStatus) -> StatefulSetStatus:
        """The status with the update revision made current when all pods have it (completeRollingUpdate)."""
        done = status.updated == status.ready == status.replicas == sts.replicas
        if sts.strategy != "RollingUpdate" or not done:
            return status
        return status.with_(current=status.updated, current_revision=status.update_revision)

    def report(self, sts: StatefulSet, status: StatefulSetStatus) -> tuple[Action, ...]:
        """The status write, if it differs."""
        if status == sts.status:
            return ()
        counts = f"{status.replicas} pods, {status.ready} ready, {status.updated} updated"
        fields = (("status", status),)
        return (Patch("StatefulSet", sts.key, sts.uid, fields, counts, f"updates status of {sts.reference}"),)

    def next_available(self, reading: Reading, sts: StatefulSet, pods: list[Pod]) -> Seconds | None:
        """When the next ready pod will have been ready for minReadySeconds."""
        moments = [pod.ready_since + sts.min_ready for pod in pods if pod.ready]
        return min((moment for moment in moments if moment > reading.now), default=None)
