"""One pass of the CronJob controller under way: its Jobs as they count, and the writes made so far.

Source: `pkg/controller/cronjob/cronjob_controllerv2.go` (syncCronJob, cleanupFinishedJobs).
"""

from __future__ import annotations

from reconverge.model.action import Action, Delete
from reconverge.model.loop import Reading
from reconverge.model.loops.cronjob.memory import Course
from reconverge.model.objects import CronJob, CronJobStatus, Job
from reconverge.model.value import Seconds


class Pass:
    """The working state of one pass, local to it. `again` is when the next moment of the schedule comes."""

    def __init__(self, reading: Reading, cron: CronJob, course: Course) -> None:
        self.cron = cron
        self.course = course
        self.now = reading.now
        self.jobs = reading.store.jobs_of(cron.uid)
        self.complete = [job for job in self.jobs if job.status.condition("Complete")]
        self.failed = [job for job in self.jobs if job.status.condition("Failed")]
        there = {job.name: job for job in self.jobs}
        self.active = [
            name
            for name in cron.status.active
            # One that is not in view may not have come yet: upstream asks the API server for it.
            if (not there[name].status.finished if name in there else name in course.unseen)
        ]
        self.actions: list[Action] = []
        self.again: Seconds | None = None
        self.last = cron.status.last_scheduled_at
        self.why = ""

    @property
    def calendar(self) -> Seconds:
        """Now, by the calendar of the CronJob."""
        return self.now - self.course.lag

    def due(self) -> Seconds | None:
        """The latest moment of the schedule since the last one that made a Job, or None; notes the next."""
        since = self.last if self.last is not None else self.cron.created_at
        latest = self.cron.latest_moment(since, self.calendar)
        following = self.cron.next_moment(since if latest is None else latest)
        self.again = None if following is None else following + self.course.lag
        return latest

    def delete(self, job: Job, reason: str) -> None:
        """Deletes a Job, in the background, and forgets that it was active."""
        self.actions.append(Delete("Job", job.key, job.uid, reason))
        self.active = [name for name in self.active if name != job.name]

    def note_made(self, name: str, moment: Seconds) -> None:
        """Notes a Job that this pass makes for a moment."""
        self.active.append(name)
        self.last = moment
        if all(job.name != name for job in self.jobs):
            self.course = self.course.with_(unseen=(*self.course.unseen, name))
        self.why = f"{name} is active"

    def status(self) -> CronJobStatus:
        """What is to be reported."""
        done = [job.status.completed_at for job in self.complete if job.status.completed_at is not None]
        known = self.cron.status.last_succeeded_at
        last = max([*done, *([] if known is None else [known])], default=None)
        return CronJobStatus(tuple(self.active), self.last, last)
