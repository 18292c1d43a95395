"""The write of a Job's status, and conditions.

Source: `pkg/controller/job/job_controller.go` (updateJobStatus, ensureJobConditionStatus).
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.action import Action, Written
from reconverge.model.cluster import Cluster
from reconverge.model.errors import Conflict, NotFound
from reconverge.model.loops.job.backoff import Backoff
from reconverge.model.objects import Condition, Job, JobStatus
from reconverge.model.value import Seconds

SUSPENDED = "Suspended"
SUCCESS_CRITERIA_MET = "SuccessCriteriaMet"
FAILURE_TARGET = "FailureTarget"
COMPLETE = "Complete"
FAILED = "Failed"

BACKOFF_LIMIT_EXCEEDED = "BackoffLimitExceeded"
DEADLINE_EXCEEDED = "DeadlineExceeded"
COMPLETIONS_REACHED = "CompletionsReached"
POD_FAILURE_POLICY = "PodFailurePolicy"
SUCCESS_POLICY = "SuccessPolicy"
MAX_FAILED_INDEXES_EXCEEDED = "MaxFailedIndexesExceeded"
FAILED_INDEXES = "FailedIndexes"


Undo = tuple[Backoff, frozenset[int]]
"""The back-off from before a pass, and the uids of pods whose finalizer had been removed before its first count."""


@frozen
class UpdateJobStatus(Action):
    """Replace a Job's status. Raises NotFound, and Conflict if the Job is not as it was read.

    `seen` is the status that this one was made from: counters must not be written from an old view.
    """

    job: Job
    seen: JobStatus
    after: JobStatus
    reason: str = ""
    undo: Undo | None = None
    """What stands again if the write is refused, as nothing was counted then; None for the second write of a pass."""

    def apply(self, cluster: Cluster) -> Written:
        """As with a resourceVersion, but the second write of a pass can name the first one's result."""
        job: Job | None = cluster.store.get("Job", self.job.key)
        if job is None:
            raise NotFound(f"{self.job.reference} not found")
        if job.uid != self.job.uid or job.generation != self.job.generation or job.status != self.seen:
            raise Conflict(f"{self.job.reference} has been modified since it was read")
        store, change = cluster.store.put(job.with_(status=self.after))
        return cluster.with_(store=store), (change,)

    def describe(self) -> str:
        """Names the Job, and the condition that it gets if there is one."""
        new = [
            each.type for each in self.after.conditions if each.status == "True" and each not in self.seen.conditions
        ]
        return f"marks {self.job.reference} {new[-1]}" if new else f"updates status of {self.job.reference}"


def with_condition(conditions: tuple[Condition, ...], new: Condition, now: Seconds) -> tuple[Condition, ...]:
    """The conditions with one set. One that is False and was not there is not added."""
    before = next((each for each in conditions if each.type == new.type), None)
    if before is None:
        return conditions if new.status == "False" else (*conditions, _dated(new, now))
    if (before.status, before.reason) == (new.status, new.reason):
        return conditions
    return tuple(_dated(new, now) if each is before else each for each in conditions)


def _dated(condition: Condition, now: Seconds) -> Condition:
    return Condition(condition.type, condition.status, condition.reason, now, now)


def finished_since(job: Job) -> Seconds | None:
    """When the Job became Complete or Failed, or None."""
    return next(
        (each.since for each in job.status.conditions if each.type in (COMPLETE, FAILED) and each.status == "True"),
        None,
    )
