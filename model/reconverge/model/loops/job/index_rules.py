"""The rules of Indexed Jobs, each a method: which index comes next, which pods may not stay, which indexes have failed.

Source: `pkg/controller/job/indexed_job_utils.go`, `pkg/controller/job/backoff_utils.go` (getRemainingTimePerIndex),
`pkg/controller/job/job_controller.go` (activePodsForRemoval, getPodCreationInfoForIndependentIndexes).
"""

from __future__ import annotations

from reconverge.model.loop import Reading
from reconverge.model.loops.job.backoff import Backoff, ended_at
from reconverge.model.loops.job.failure_policy import FAIL_INDEX, IGNORE
from reconverge.model.loops.job.indexes import (
    Indexes,
    failures,
    first_pending,
    index_of,
    is_valid,
    merged,
    repeated,
    success_rule,
    with_failures,
    with_index,
)
from reconverge.model.loops.job.pass_ import Pass
from reconverge.model.loops.job.rules import JobRules
from reconverge.model.loops.job.status import (
    FAILED_INDEXES,
    FAILURE_TARGET,
    MAX_FAILED_INDEXES_EXCEEDED,
    SUCCESS_CRITERIA_MET,
    SUCCESS_POLICY,
)
from reconverge.model.objects import Condition, Job, Pod
from reconverge.model.value import Seconds


class IndexRules(JobRules):
    """What a Job controller decides by completion indexes."""

    def to_remove(self, work: Pass, least: int, reading: Reading) -> list[Pod]:
        """Active pods that are given up: those that no index is left for, and `least` at least."""
        if not work.job.indexed:
            return self.first_to_go(work.active, reading)[:least]
        gone, left = repeated(work.job, work.active, lambda pods: self.first_to_go(pods, reading))
        return gone + self.first_to_go(left, reading)[: max(0, least - len(gone))]

    def next_indexes(self, work: Pass, count: int) -> Indexes:
        """The indexes that pods are made for: the lowest that are neither done, nor failed, nor worked at."""
        job = work.job
        pods = list(work.active)
        if job.replacement == "Failed":
            pods += [pod for pod in work.pods if pod.terminating and not pod.terminal]
        taken = {index for pod in pods if (index := index_of(pod)) is not None}
        return first_pending(job, taken | {*work.completed, *work.failed_indexes}, count)

    def ends_by_indexes(self, work: Pass) -> Condition | None:
        """The interim condition of a Job whose indexes have failed, or succeeded as its successPolicy asks."""
        job = work.job
        if not job.indexed:
            return None
        failed, done = len(work.failed_indexes), len(work.completed)
        if job.limit_per_index is not None:
            if job.most_failed_indexes is not None and failed > job.most_failed_indexes:
                return Condition(FAILURE_TARGET, "True", MAX_FAILED_INDEXES_EXCEEDED)
            if failed and failed + done >= (job.completions or 0):
                return Condition(FAILURE_TARGET, "True", FAILED_INDEXES)
        if success_rule(job.success_policy, work.completed):
            return Condition(SUCCESS_CRITERIA_MET, "True", SUCCESS_POLICY)
        return None

    # With backoffLimitPerIndex -------------------------------------------------------------------------------

    def note_indexes(self, work: Pass, ended: dict[int, Seconds]) -> dict[int, Seconds]:
        """Finds failed indexes and the pods that wait to be replaced; when the end of each of those was noticed."""
        job = work.job
        if job.limit_per_index is None:
            return {}
        failed = [pod for pod in work.tracked if pod.uid in work.considered_failed and is_valid(job, pod)]
        gone = [pod for pod in failed if self.index_has_failed(pod, job)]
        work.failed_indexes = merged(job, job.status.failed_indexes, gone)
        settled = {*work.completed, *work.failed_indexes, *(index_of(pod) for pod in work.active)}
        times = {pod.uid: ended.get(pod.uid, ended_at(pod, work.now)) for pod in failed}
        for pod in sorted(failed, key=lambda pod: (sum(failures(pod)), times[pod.uid], pod.key)):
            index = index_of(pod)
            if index is not None and index not in settled:
                work.delayed[index] = pod
        return {pod.uid: times[pod.uid] for pod in work.delayed.values()}

    def index_has_failed(self, pod: Pod, job: Job) -> bool:
        """Whether the failure of a pod is the end of its index (isIndexFailed)."""
        action = self.action_on(pod, job)
        if action == FAIL_INDEX:
            return True
        return action != IGNORE and failures(pod)[0] >= (job.limit_per_index or 0)

    def due_indexes(self, work: Pass, indexes: Indexes, ended: dict[int, Seconds]) -> tuple[Indexes, Seconds | None]:
        """The indexes whose own back-off is over; if there is none, when the first will be."""
        waits = {index: self.index_due(work.delayed.get(index), ended) for index in indexes}
        now = tuple(index for index, due in waits.items() if due is None or due <= work.now)
        return now, None if now else min((due for due in waits.values() if due is not None), default=None)

    def index_due(self, last: Pod | None, ended: dict[int, Seconds]) -> Seconds | None:
        """When the pod of an index that failed last may be replaced; None for at once."""
        return None if last is None else Backoff(sum(failures(last)) + 1, ended[last.uid]).until

    def pod_of_index(self, work: Pass, index: int) -> Pod:
        """A pod for an index. With a limit per index it carries the number of failures before it."""
        job = work.job
        pod = self.new_pod(job)
        annotations = with_index(pod.annotations, index)
        if job.limit_per_index is not None:
            annotations = with_failures(annotations, *self.failures_after(work.delayed.get(index), job))
        labels = with_index(pod.labels, index)
        return pod.with_(name=f"{job.name}-{index}-", labels=labels, annotations=annotations)

    def failures_after(self, last: Pod | None, job: Job) -> tuple[int, int]:
        """The failures of an index, counted and ignored, with the pod that failed last."""
        if last is None:
            return 0, 0
        counted, ignored = failures(last)
        return (counted, ignored + 1) if self.action_on(last, job) == IGNORE else (counted + 1, ignored)
