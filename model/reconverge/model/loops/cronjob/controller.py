"""The CronJob controller's pass: which moment of the schedule is due, whether it makes a Job, which Jobs go.

Source: `pkg/controller/cronjob/cronjob_controllerv2.go`, `pkg/controller/cronjob/utils.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from reconverge.model.action import Action, Update
from reconverge.model.likeness import At
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.loops.cronjob.memory import LIMITS, WORKLOADS, Course, Courses, matters, shape_of
from reconverge.model.loops.cronjob.pass_ import Pass
from reconverge.model.loops.pod_writes import CreateNamed
from reconverge.model.objects import CronJob, Job
from reconverge.model.persistent import EMPTY
from reconverge.model.store import Change
from reconverge.model.value import Seconds


class CronJobController(ControlLoop[Courses]):
    """Makes a Job at each moment of a schedule, as its concurrencyPolicy allows, and deletes old ones.

    Keys are CronJobs. It runs where there are CronJobs, or some may come. Runs that would repeat what was there before
    are left out, so that a cluster comes to rest.
    """

    name: ClassVar[str] = "cronjob"
    watches: ClassVar[frozenset[str]] = frozenset({"CronJob", "Job", "Node", *WORKLOADS, *LIMITS})
    idle_without: ClassVar[str] = "CronJob"
    source: ClassVar[str] = "pkg/controller/cronjob/cronjob_controllerv2.go"

    # Rules ---------------------------------------------------------------------------------------------------

    def too_late(self, cron: CronJob, moment: Seconds, now: Seconds) -> bool:
        """Whether startingDeadlineSeconds have passed since a moment."""
        return cron.starting_deadline is not None and moment + cron.starting_deadline < now

    def is_blocked(self, work: Pass) -> bool:
        """Whether concurrencyPolicy Forbid keeps back a Job, as an earlier one is still active."""
        return work.cron.concurrency == "Forbid" and bool(work.active)

    def replaced(self, work: Pass) -> list[Job]:
        """The active Jobs that concurrencyPolicy Replace deletes before the next is made."""
        if work.cron.concurrency != "Replace":
            return []
        return [job for job in work.jobs if job.name in work.active]

    def suspended(self, cron: CronJob) -> bool:
        """Whether no Jobs are made."""
        return cron.suspend

    def surplus(self, jobs: list[Job], kept: int) -> list[Job]:
        """The finished Jobs beyond the history limit, the oldest first (removeOldestJobs)."""

        def begun(job: Job) -> tuple[Any, ...]:
            return job.status.started_at is None, job.status.started_at or 0, job.name

        return sorted(jobs, key=begun)[: max(0, len(jobs) - kept)]

    # Waking --------------------------------------------------------------------------------------------------

    def start(self) -> Courses:
        """Nothing is known of earlier runs but what the status says."""
        return EMPTY

    def relist(self, reading: Reading) -> Iterable[str]:
        """All CronJobs."""
        return sorted(reading.store.table("CronJob").objects)

    def observe(self, memory: Courses, change: Change, reading: Reading) -> tuple[Courses, Iterable[str]]:
        """A CronJob wakes itself, a Job its owner; what runs may depend on ends the rest of all."""
        if change.kind == "CronJob":
            return self._on_cron_job(memory, change, reading)
        if change.kind == "Job":
            return self._on_job(memory, change)
        if not memory or not matters(change):
            return memory, ()
        courses, keys = memory, []
        for key in sorted(memory):
            before = memory[key]
            after = before.changed(reading.now)
            if after is not before:
                courses = courses.set(key, after)
            if before.rests_at is not None:
                keys.append(key)
        return courses, keys

    def _on_cron_job(self, memory: Courses, change: Change, reading: Reading) -> tuple[Courses, Iterable[str]]:
        if change.after is None:
            return memory.discard(change.key), (change.key,)
        course = memory.get(change.key)
        if course is not None and (change.before is None or change.before.generation != change.after.generation):
            memory = memory.set(change.key, course.changed(reading.now))
        return memory, (change.key,)

    def _on_job(self, memory: Courses, change: Change) -> tuple[Courses, Iterable[str]]:
        job: Job = change.object
        if job.owner is None or job.owner.kind != "CronJob":
            return memory, ()
        key = f"{job.namespace}/{job.owner.name}"
        course = memory.get(key)
        if course is not None and job.name in course.unseen:
            unseen = tuple(name for name in course.unseen if name != job.name)
            memory = memory.set(key, course.with_(unseen=unseen))
        return memory, (key,)

    # A pass --------------------------------------------------------------------------------------------------

    def sync(self, reading: Reading, memory: Courses, key: str) -> Sequence[Plan[Courses]]:
        """One pass for a CronJob; there is no choice in it."""
        cron: CronJob | None = reading.store.get("CronJob", key)
        if cron is None:
            return (Plan(memory.discard(key)),)
        work = Pass(reading, cron, memory.get(key) or _begun(cron, reading.now))
        note = self.run(work)
        for finished, kept in ((work.complete, cron.successful_history), (work.failed, cron.failed_history)):
            for job in self.surplus(finished, kept):
                work.delete(job, f"{kept} of its kind are kept")
        after = cron.with_(status=work.status())
        update: tuple[Action, ...] = (Update(cron, after, work.why),) if after.status != cron.status else ()
        return (Plan(memory.set(key, work.course), (*work.actions, *update), work.again, note=note),)

    def run(self, work: Pass) -> str:
        """Makes the Job of the moment that is due, if one is; why not (syncCronJob)."""
        cron = work.cron
        if cron.terminating or self.suspended(cron):
            return ""
        if work.course.rests_at is not None and not self.ends_rest(work):
            return ""
        moment = work.due()
        if moment is None:
            return ""
        if self.too_late(cron, moment, work.calendar):
            return f"is too late for the moment {work.calendar - moment:g} s ago"
        if moment != work.course.looked and self.repeats(work, moment):
            return "rests: nothing has changed since an earlier run"
        if self.is_blocked(work):
            return "makes no Job: an earlier one is active and concurrencyPolicy is Forbid"
        for job in self.replaced(work):
            work.delete(job, "the next takes its place (concurrencyPolicy Replace)")
        self.make(work, moment)
        return ""

    def ends_rest(self, work: Pass) -> bool:
        """Whether a CronJob that rests goes on, as its Jobs have become what they were not at the end of a rest."""
        course, shape = work.course, shape_of(work.jobs)
        if shape in course.seen or shape in course.ended:
            return False
        work.course = course.woken(work.now).with_(ended=(*course.ended, shape))
        return True

    def repeats(self, work: Pass, moment: Seconds) -> bool:
        """Whether a moment finds what an earlier one has found, so that it is left out."""
        course, shape = work.course, shape_of(work.jobs)
        if shape in course.seen:
            work.course = course.with_(rests_at=moment)
            work.again = None
            return True
        work.course = course.with_(looked=moment, seen=(*course.seen, shape))
        return False

    def make(self, work: Pass, moment: Seconds) -> None:
        """The Job of a moment, named after its minute."""
        cron = work.cron
        name = f"{cron.name}-{int((cron.origin + moment) // 60)}"
        job = cron.job.with_(name=name, namespace=cron.namespace, owner=cron.owner_reference())
        work.actions.append(CreateNamed(job, "its schedule says so"))
        work.note_made(name, moment)

    def marks(self, memory: Courses, reading: Reading) -> Iterable[tuple[str, str, Any]]:
        """What earlier moments have found, and how long it is to the next ones; of one that rests only the interval."""
        for key, course in memory.items():
            cron: CronJob | None = reading.store.get("CronJob", key)
            if cron is not None:
                yield "CronJob", key, _mark(cron, course, reading)


def _begun(cron: CronJob, now: Seconds) -> Course:
    """The course of a CronJob that is seen first. Moments between its last run and now count as left out, but one."""
    last = cron.status.last_scheduled_at
    following = cron.next_moment(last) if last is not None else None
    return Course(lag=now - following) if following is not None and following < now else Course()


def _mark(cron: CronJob, course: Course, reading: Reading) -> tuple[Any, ...]:
    if course.rests_at is not None:
        following = cron.next_moment(course.rests_at)
        busy = course.ended if cron.status.active else ()
        return ("rests", None if following is None else following - course.rests_at, busy, len(course.unseen))
    work = Pass(reading, cron, course)
    due = work.due()
    first = cron.next_moment(work.calendar)
    second = cron.next_moment(first) if first is not None else None
    gaps = (None if first is None else first - work.calendar, None if second is None else second - (first or 0))
    late = At(due + course.lag) if due is not None and cron.starting_deadline is not None else due is not None
    return ("goes on", course.seen, course.ended, due == course.looked, late, gaps, len(course.unseen))
