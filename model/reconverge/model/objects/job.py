"""Job and CronJob.

Source: `pkg/apis/batch/types.go`, `pkg/apis/batch/v1/defaults.go`.
"""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen

from reconverge.model.labels import Selector
from reconverge.model.objects.meta import ApiObject
from reconverge.model.objects.pod import PodTemplate
from reconverge.model.objects.workloads import Condition
from reconverge.model.schedule import EPOCH, Schedule
from reconverge.model.value import Seconds, Value

JOB_TRACKING = "batch.kubernetes.io/job-tracking"
"""The finalizer that keeps a Job's pod until it has been counted."""
JOB_INDEX = "batch.kubernetes.io/job-completion-index"
"""Annotation and label: which index of an Indexed Job a pod works at."""
INDEX_FAILURES = "batch.kubernetes.io/job-index-failure-count"
"""Annotation: how many pods of the index have failed before this one, with backoffLimitPerIndex."""
INDEX_IGNORED = "batch.kubernetes.io/job-index-ignored-failure-count"
"""Annotation: how many of them failed in a way that the failure policy ignores."""
JOB_NAME = "batch.kubernetes.io/job-name"
CONTROLLER_UID = "batch.kubernetes.io/controller-uid"
OLD_JOB_NAME = "job-name"
FINISHED = frozenset({"Complete", "Failed"})


@frozen
class FailureRule:
    """A rule of podFailurePolicy: what to do (FailJob, FailIndex, Ignore, Count) of a pod that failed in some way.

    Either by exit codes (`operator` In or NotIn, of one container or of any), or by (type, status) of its conditions.
    """

    action: str
    operator: str = ""
    codes: tuple[int, ...] = ()
    container: str | None = None
    conditions: tuple[tuple[str, str], ...] = ()


@frozen
class SuccessRule:
    """A rule of successPolicy: these indexes (None: any), or so many of them (None: all), have succeeded."""

    indexes: tuple[int, ...] | None = None
    count: int | None = None


@frozen
class JobStatus(Value):
    """What the Job controller last reported. The uncounted are uids of pods that end up in succeeded and failed.

    `completed_indexes` and `failed_indexes` are in order; only an Indexed Job has any.
    """

    active: int = 0
    ready: int = 0
    terminating: int = 0
    succeeded: int = 0
    failed: int = 0
    uncounted_succeeded: frozenset[int] = frozenset()
    uncounted_failed: frozenset[int] = frozenset()
    started_at: Seconds | None = None
    completed_at: Seconds | None = None
    conditions: tuple[Condition, ...] = ()
    completed_indexes: tuple[int, ...] = ()
    failed_indexes: tuple[int, ...] = ()

    def condition(self, type_: str) -> Condition | None:
        """The condition of that type if it is True, or None."""
        return next((each for each in self.conditions if each.type == type_ and each.status == "True"), None)

    @property
    def finished(self) -> bool:
        """Whether the Job is Complete or Failed."""
        return any(each.type in FINISHED and each.status == "True" for each in self.conditions)


@frozen(kw_only=True)
class Job(ApiObject):
    """A Job. `completions` None: any one success ends it. `replacement` is podReplacementPolicy.

    `indexed` is completionMode Indexed: each completion has a number of its own, from 0.
    """

    kind: ClassVar[str] = "Job"

    parallelism: int = 1
    completions: int | None = 1
    backoff_limit: int = 6
    active_deadline: Seconds | None = None
    suspend: bool = False
    replacement: str = "TerminatingOrFailed"
    selector: Selector = Selector()
    """The labels of its pods; empty until the API server has chosen one."""
    template: PodTemplate = PodTemplate()
    ttl_after_finished: Seconds | None = None
    indexed: bool = False
    limit_per_index: int | None = None
    """backoffLimitPerIndex: most failed pods of one index; None for no such limit."""
    most_failed_indexes: int | None = None
    failure_policy: tuple[FailureRule, ...] = ()
    success_policy: tuple[SuccessRule, ...] = ()
    status: JobStatus = JobStatus()


@frozen
class CronJobStatus(Value):
    """What the CronJob controller last reported. Times are moments of its calendar, in seconds from the origin.

    `active` are the names of Jobs that it has made and not seen finished, in the order in which it has made them.
    """

    active: tuple[str, ...] = ()
    last_scheduled_at: Seconds | None = None
    last_succeeded_at: Seconds | None = None


@frozen(kw_only=True)
class CronJob(ApiObject):
    """A CronJob: the Job that it makes, and when. `concurrency` is Allow, Forbid or Replace."""

    kind: ClassVar[str] = "CronJob"

    schedule: Schedule = Schedule()
    written: str = ""
    """The schedule as its author wrote it."""
    origin: int = EPOCH
    """The calendar moment of the cluster's second 0, in seconds from 1970 in UTC."""
    offset: int = 0
    """How far the schedule's time zone is ahead of UTC, in seconds."""
    concurrency: str = "Allow"
    suspend: bool = False
    starting_deadline: Seconds | None = None
    successful_history: int = 3
    failed_history: int = 1
    job: Job = Job(name="")
    status: CronJobStatus = CronJobStatus()

    @property
    def template(self) -> PodTemplate:
        """The template of the pods of its Jobs."""
        return self.job.template

    def next_moment(self, after: Seconds) -> Seconds | None:
        """The first moment of the schedule later than one, both in seconds from the origin; None for none."""
        begin = self.origin + self.offset
        found = self.schedule.next(begin + after)
        return None if found is None else found - begin

    def latest_moment(self, since: Seconds, until: Seconds) -> Seconds | None:
        """The last moment of the schedule later than `since` and not later than `until`, or None."""
        begin = self.origin + self.offset
        found = self.schedule.latest(begin + since, begin + until)
        return None if found is None else found - begin
