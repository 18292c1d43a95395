"""One pass of the Job controller under way: its pods as they count, and the writes made so far.

Source: `pkg/controller/job/job_controller.go` (syncJob, trackJobStatusAndRemoveFinalizers).
"""

from __future__ import annotations

from reconverge.model.action import Action
from reconverge.model.loop import Reading
from reconverge.model.loops.job.indexes import Indexes, is_valid, merged
from reconverge.model.loops.job.status import (
    COMPLETE,
    FAILED,
    FAILURE_TARGET,
    SUCCESS_CRITERIA_MET,
    Undo,
    UpdateJobStatus,
    with_condition,
)
from reconverge.model.loops.pod_writes import DeletePodNamed, RemoveFinalizer
from reconverge.model.objects import Condition, Job, JobStatus, Pod
from reconverge.model.objects.job import JOB_TRACKING


class Pass:
    """The working state of one pass, local to it.

    `failed` are the pods that the controller's rule counts as failed, `ignored` the uids of those among them that its
    failure policy ignores; `removing` the uids of those whose finalizer it has removed while its view still shows it.
    """

    def __init__(
        self,
        reading: Reading,
        job: Job,
        pods: list[Pod],
        failed: list[Pod],
        removing: frozenset[int],
        ignored: frozenset[int] = frozenset(),
    ) -> None:
        self.job = job
        self.now = reading.now
        self.waits_for_pods = reading.rules.job_end_waits_for_pods
        self.counts_for_good = reading.rules.job_pods_tracked
        self.pods = pods
        self.active = [pod for pod in pods if pod.active]
        self.tracked = [pod for pod in pods if JOB_TRACKING in pod.finalizers and pod.uid not in removing]
        self.considered_failed = {pod.uid for pod in failed}
        self.ignored = ignored
        before = job.status
        countable = [pod for pod in self.tracked if is_valid(job, pod)]
        self.new_succeeded = [
            pod for pod in countable if pod.phase == "Succeeded" and pod.uid not in before.uncounted_succeeded
        ]
        self.new_failed = [
            pod for pod in countable if pod.uid in self.considered_failed and pod.uid not in before.uncounted_failed
        ]
        self.completed: Indexes = merged(job, before.completed_indexes, self.new_succeeded) if job.indexed else ()
        self.failed_indexes: Indexes = ()
        self.succeeded = before.succeeded + len(self.new_succeeded) + len(before.uncounted_succeeded)
        if job.indexed:
            # An index is done once, however many of its pods succeed.
            self.succeeded = len(self.completed)
        new = sum(pod.uid not in ignored for pod in self.new_failed)
        self.failed = before.failed + new + len(before.uncounted_failed)
        if not self.counts_for_good:
            self.succeeded = sum(pod.phase == "Succeeded" for pod in pods)
            self.failed = len(failed)
        self.delayed: dict[int, Pod] = {}
        """By index: the failed pod that is kept until the one that replaces it has taken over its count of failures."""
        self.active_left = len(self.active)
        self.ready_left = sum(pod.ready for pod in self.active)
        self.terminating = sum(pod.terminating and not pod.terminal for pod in pods)
        self.conditions = before.conditions
        self.started_at = before.started_at
        self.finish: Condition | None = None
        """The interim condition (SuccessCriteriaMet or FailureTarget) of a Job that is to end."""
        self.actions: list[Action] = []
        self.removed: list[Pod] = []
        """The pods whose finalizer this pass removes."""

    # Pods ----------------------------------------------------------------------------------------------------

    def delete_active(self, reason: str) -> None:
        """Deletes all active pods; they are counted (deleteActivePods)."""
        for pod in self.active:
            self._delete(pod, reason)

    def delete_uncounted(self, pods: list[Pod], reason: str) -> None:
        """Deletes pods that are not wanted: without their finalizer they count neither way (deleteJobPods)."""
        for pod in pods:
            if JOB_TRACKING in pod.finalizers:
                self.actions.append(RemoveFinalizer(pod.key, pod.uid, JOB_TRACKING, "it is not to be counted"))
                self.removed.append(pod)
                self.tracked = [each for each in self.tracked if each.uid != pod.uid]
            self._delete(pod, reason)

    def _delete(self, pod: Pod, reason: str) -> None:
        self.actions.append(DeletePodNamed(pod.key, pod.uid, reason=reason))
        self.active_left -= 1
        self.ready_left -= pod.ready
        # One that no node has been chosen for is gone at once; it is no longer waited for in the next pass.
        self.terminating += 1

    # Counting ------------------------------------------------------------------------------------------------

    def track(self, undo: Undo) -> None:
        """Writes which pods are counted, takes their finalizers, then writes the counters and the end of the Job.

        In this order no pod is counted twice and none is lost, whatever happens between two of the writes.
        """
        held = {pod.uid for pod in self.tracked}
        first = self._noted(counted(self.job.status, held))
        counts = f"{self.active_left} active, {self.succeeded} succeeded, {self.failed} failed"
        self._write(self.job.status, first, counts, undo)
        for pod in self._countable():
            self.actions.append(RemoveFinalizer(pod.key, pod.uid, JOB_TRACKING, "it is counted"))
            self.removed.append(pod)
            held.discard(pod.uid)
        second = self._ended(counted(first, held))
        self._write(first, second, f"{second.succeeded} succeeded, {second.failed} failed")

    def _countable(self) -> list[Pod]:
        """Pods whose finalizer may go (canRemoveFinalizer): finished ones, and all when the Job ends."""
        if self.finish is not None:
            return self.tracked
        kept = {pod.uid for pod in self.delayed.values()}
        return [
            pod
            for pod in self.tracked
            if pod.phase == "Succeeded" or (pod.uid in self.considered_failed and pod.uid not in kept)
        ]

    def _noted(self, status: JobStatus) -> JobStatus:
        succeeded, failed = set(status.uncounted_succeeded), set(status.uncounted_failed)
        failing = self.finish is not None and self.finish.type == FAILURE_TARGET
        for pod in self._countable():
            if pod.phase == "Succeeded" and pod.uid not in failed:
                # Of an Indexed Job the index itself says that it is counted.
                succeeded |= set() if self.job.indexed else {pod.uid}
            elif (pod.uid in self.considered_failed or failing) and self._counts(pod):
                failed.add(pod.uid)
        if not self.counts_for_good:
            status = status.with_(succeeded=self.succeeded, failed=self.failed)
        conditions = self.conditions
        if self.finish is not None and self.waits_for_pods:
            conditions = with_condition(conditions, self.finish, self.now)
        return status.with_(
            active=self.active_left,
            ready=self.ready_left,
            terminating=self.terminating,
            uncounted_succeeded=frozenset(succeeded),
            uncounted_failed=frozenset(failed),
            started_at=self.started_at,
            conditions=conditions,
            succeeded=len(self.completed) if self.job.indexed else status.succeeded,
            completed_indexes=self.completed,
            failed_indexes=self.failed_indexes,
        )

    def _counts(self, pod: Pod) -> bool:
        """Whether a failed pod is counted: not one that the failure policy ignores, nor one without a valid index."""
        return pod.uid not in self.ignored and is_valid(self.job, pod)

    def _ended(self, status: JobStatus) -> JobStatus:
        """The status with Complete or Failed, once all is counted and no pod is terminating (enactJobFinished)."""
        if self.finish is None or status.uncounted_succeeded or status.uncounted_failed:
            return status
        if status.terminating and self.waits_for_pods:
            return status
        done = self.finish.type == SUCCESS_CRITERIA_MET
        final = Condition(COMPLETE if done else FAILED, "True", self.finish.reason)
        conditions = with_condition(status.conditions, final, self.now)
        return status.with_(conditions=conditions, completed_at=self.now if done else status.completed_at)

    def _write(self, seen: JobStatus, after: JobStatus, reason: str, undo: Undo | None = None) -> None:
        if after != seen:
            self.actions.append(UpdateJobStatus(self.job, seen, after, reason, undo))


def counted(status: JobStatus, held: set[int]) -> JobStatus:
    """The status with pods counted that have lost their finalizer (cleanUncountedPodsWithoutFinalizers)."""
    succeeded, failed = status.uncounted_succeeded & held, status.uncounted_failed & held
    return status.with_(
        succeeded=status.succeeded + len(status.uncounted_succeeded) - len(succeeded),
        failed=status.failed + len(status.uncounted_failed) - len(failed),
        uncounted_succeeded=frozenset(succeeded),
        uncounted_failed=frozenset(failed),
    )
