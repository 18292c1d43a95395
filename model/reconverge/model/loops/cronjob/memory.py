"""What is remembered of each CronJob, and when its runs may be left out.

A CronJob never comes to rest: it makes a Job again and again. As with other loops that act at intervals, runs that
would only repeat what was there are left out: when a moment of the schedule finds the CronJob's Jobs as an earlier
moment has found them, and nothing that matters has changed since, the CronJob rests. A change that may matter ends
the rest, and the time that has passed meanwhile is not counted: the moment that was left out is due then. Where in an
interval a change falls is so not explored.
"""

from __future__ import annotations

from typing import Any

from attrs import frozen

from reconverge.model.objects import Job
from reconverge.model.persistent import Map
from reconverge.model.store import Change
from reconverge.model.value import Seconds, Value

Shape = tuple[int, ...]
"""The Jobs of a CronJob as a moment of the schedule finds them."""

MOST_WAITING = 2
"""Unfinished Jobs without a ready pod that are told apart: more of them only pile up."""
MOST_RUNNING = 30
"""Unfinished Jobs with a ready pod that are told apart."""
MOST_FINISHED = 5
"""Finished Jobs of a kind that are told apart: what a longer history keeps is like it."""


def shape_of(jobs: list[Job]) -> Shape:
    """How many Jobs are Complete, are Failed, run, and wait, as far as it makes a difference."""
    complete = sum(job.status.condition("Complete") is not None for job in jobs)
    failed = sum(job.status.condition("Failed") is not None for job in jobs)
    running = sum(not job.status.finished and job.status.ready > 0 for job in jobs)
    waiting = len(jobs) - complete - failed - running
    return (
        min(complete, MOST_FINISHED),
        min(failed, MOST_FINISHED),
        min(running, MOST_RUNNING),
        min(waiting, MOST_WAITING),
    )


@frozen
class Course(Value):
    """How far a CronJob is in its schedule. Moments are those of its calendar, which is `lag` seconds behind now."""

    lag: Seconds = 0
    looked: Seconds | None = None
    """The last moment of the schedule that was looked at, whether or not it has made a Job."""
    seen: tuple[Shape, ...] = ()
    """What the moments since the last change that matters have found."""
    rests_at: Seconds | None = None
    """The moment that is left out first while it rests; None while it does not."""
    ended: tuple[Shape, ...] = ()
    """What the Jobs were when the end of one of them has ended a rest."""
    unseen: tuple[str, ...] = ()
    """Names of Jobs that it has made and that its view has not shown yet."""

    def woken(self, now: Seconds) -> Course:
        """The course when its rest ends: the moment that was left out is due now."""
        if self.rests_at is None:
            return self
        return self.with_(lag=now - self.rests_at, rests_at=None, seen=())

    def changed(self, now: Seconds) -> Course:
        """The course after a change that matters: what was found before it says nothing of the next run."""
        if self.rests_at is None and not self.seen and not self.ended:
            return self
        return self.woken(now).with_(seen=(), ended=())


Courses = Map[str, Course]
"""By the key of the CronJob."""

WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet")
LIMITS = ("ResourceQuota", "LimitRange", "PriorityClass")


def matters(change: Change) -> bool:
    """Whether a run may end otherwise after a change of something that is no Job and no CronJob."""
    before, after = change.before, change.after
    if before is None or after is None:
        return True
    if change.kind == "Node":
        return _offer(before) != _offer(after)
    return bool(before.generation != after.generation)


def _offer(node: Any) -> tuple[Any, ...]:
    return node.labels, node.taints, node.unschedulable, node.ready, node.allocatable
