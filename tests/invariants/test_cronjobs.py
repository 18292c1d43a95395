"""What CronJobs promise."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.action import Create
from reconverge.model.events.loops import LoopRestarts
from reconverge.model.labels import labels_of
from reconverge.model.objects import Condition, CronJob, CronJobStatus, Job, JobStatus
from reconverge.model.schedule import parsed_schedule

COMPLETE = JobStatus(conditions=(Condition("Complete", "True", ""),))
FAILED = JobStatus(conditions=(Condition("Failed", "True", ""),))
ACTIVE = JobStatus()


def cron_of(lab: Any, **fields: Any) -> CronJob:
    return CronJob(name="tick", uid=lab.fresh(), schedule=parsed_schedule("@hourly"), **fields)


def jobs_of(lab: Any, cron: CronJob, *states: JobStatus, **fields: Any) -> list[Job]:
    return [
        lab.job(name=f"tick-{place}", owner=cron.owner_reference(), status=state, **fields)
        for place, state in enumerate(states)
    ]


# cronjob-concurrency ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "states", "word"),
    [
        ({"concurrency": "Forbid"}, (ACTIVE,), "while job/tick-0 is not finished"),
        ({"concurrency": "Forbid"}, (COMPLETE, FAILED), ""),
        ({"concurrency": "Replace"}, (COMPLETE, ACTIVE), "concurrencyPolicy is Replace"),
        ({"concurrency": "Allow"}, (ACTIVE, ACTIVE), ""),
        ({"suspend": True}, (), "and it is suspended"),
    ],
)
def test_a_job_is_made_only_as_the_policy_allows(
    lab: Any, fields: dict[str, Any], states: tuple[JobStatus, ...], word: str
) -> None:
    cron = cron_of(lab, **fields)
    new = Create(Job(name="tick-9", owner=cron.owner_reference()))
    before = lab.situation(lab.node(), cron, *jobs_of(lab, cron, *states))
    found = lab.broken("cronjob-concurrency", lab.step(before, "cronjob", new))
    assert bool(found) is bool(word)
    assert all(word in each.message for each in found)
    assert lab.broken("cronjob-concurrency", lab.step(before, "gitops", new)) == []


def test_a_job_made_by_hand_and_a_restarted_controller_are_no_mistakes(lab: Any) -> None:
    cron = cron_of(lab, concurrency="Forbid")
    new = Create(Job(name="tick-9", owner=cron.owner_reference()))
    by_hand = jobs_of(lab, cron, ACTIVE, annotations=labels_of({"cronjob.kubernetes.io/instantiate": "manual"}))
    step = lab.step(lab.situation(lab.node(), cron, *by_hand), "cronjob", new)
    assert lab.broken("cronjob-concurrency", step) == []
    again = lab.situation(lab.node(), cron, *jobs_of(lab, cron, ACTIVE), events=(LoopRestarts("cronjob"),))
    assert lab.broken("cronjob-concurrency", lab.step(again, "cronjob", new)) == []


# cronjob-history -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ((COMPLETE,) * 3 + (FAILED, ACTIVE, ACTIVE), ""),
        ((COMPLETE,) * 4, "cronjob/tick has 4 Complete Jobs, and its history is 3"),
        ((FAILED,) * 2, "cronjob/tick has 2 Failed Jobs, and its history is 1"),
    ],
)
def test_no_more_finished_jobs_than_the_limits_are_left(lab: Any, states: tuple[JobStatus, ...], message: str) -> None:
    cron = cron_of(lab)
    situation = lab.situation(lab.node(), cron, *jobs_of(lab, cron, *states))
    assert [each.message for each in lab.broken("cronjob-history", lab.quiet(situation))] == [message] * bool(message)
    assert lab.broken("cronjob-history", lab.quiet(situation, "unfinished")) == []


# cronjob-runs ----------------------------------------------------------------------------------------------------

RAN = CronJobStatus(last_scheduled_at=0)
HELD = CronJobStatus(active=("tick-0",), last_scheduled_at=0)


@pytest.mark.parametrize(
    ("fields", "states", "word"),
    [
        ({"concurrency": "Forbid", "status": HELD}, (ACTIVE,), "makes no more Jobs: job/tick-0 does not end"),
        ({"concurrency": "Forbid", "status": HELD}, (COMPLETE,), ""),
        ({"concurrency": "Replace", "status": HELD}, (ACTIVE,), ""),
        ({"concurrency": "Forbid", "status": HELD, "suspend": True}, (ACTIVE,), ""),
        ({}, (), "has never made a Job"),
        ({"status": RAN}, (), ""),
        ({"schedule": parsed_schedule("0 0 31 2 *")}, (), ""),
    ],
)
def test_a_cron_job_goes_on(lab: Any, fields: dict[str, Any], states: tuple[JobStatus, ...], word: str) -> None:
    cron = cron_of(lab).with_(**fields)
    situation = lab.situation(lab.node(), cron, *jobs_of(lab, cron, *states))
    found = lab.broken("cronjob-runs", lab.quiet(situation))
    assert bool(found) is bool(word)
    assert all(word in each.message for each in found)


def test_what_a_job_of_a_cron_job_breaks_is_said_of_the_cron_job(lab: Any) -> None:
    """Its Jobs have another name each time."""
    cron = cron_of(lab)
    (job,) = jobs_of(lab, cron, ACTIVE)
    (violation,) = lab.broken("job-completes", lab.quiet(lab.situation(lab.node(), cron, job)))
    assert violation.object == "cronjob/tick"
    assert violation.message.startswith("job/tick-0 does not finish")
