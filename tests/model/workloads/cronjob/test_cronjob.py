"""When a CronJob makes Jobs, which it lets be together, which it keeps, and when it rests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.canonical import fingerprint
from reconverge.model.events.loops import LoopPauses, LoopRestarts, LoopResumes, WatchStalls
from reconverge.model.events.nodes import Cordon, Uncordon
from reconverge.model.events.objects import ManifestApplied, ObjectDeleted
from reconverge.model.loops.cronjob.memory import Course, shape_of
from reconverge.model.objects import Condition, CronJobStatus, Job, JobStatus
from reconverge.model.schedule import EPOCH

Make = Callable[..., Any]
TEN = 600
FIRST = EPOCH // 60 + 10
"""The minute of the first run of every tenth minute, after which its Job is named."""


def made(w: Any) -> list[float]:
    """When Jobs were made."""
    times: list[float] = w.times("creates job/tick-")
    return times


def there(w: Any) -> dict[str, str]:
    """The Jobs that are there, with their last condition."""
    return {
        job.name.removeprefix("tick-"): job.status.conditions[-1].type if job.status.conditions else "active"
        for job in w.cluster.store.all("Job")
    }


# Runs ------------------------------------------------------------------------------------------------------------


def test_a_job_is_made_at_each_moment_and_named_after_its_minute(cron: Make, clock: Make) -> None:
    w = clock(cron())
    w.until(1300)
    assert made(w) == [600, 1200]
    assert there(w) == {str(FIRST): "Complete", str(FIRST + 10): "Complete"}
    job = w.get("Job", f"tick-{FIRST}")
    assert (job.owner.kind, job.owner.name, job.namespace) == ("CronJob", "tick", "default")


def test_the_status_says_what_is_active_and_when_it_was_last(cron: Make, clock: Make) -> None:
    w = clock(cron(seconds=60))
    w.until(630)
    assert w.get("CronJob", "tick").status == CronJobStatus((f"tick-{FIRST}",), 600, None)
    w.until(700)
    assert w.get("CronJob", "tick").status == CronJobStatus((), 600, 660)


def test_the_time_zone_moves_the_schedule(cron: Make, clock: Make) -> None:
    w = clock(cron("0 3 * * *", offset=2 * 3600))
    w.until(4000)
    assert made(w) == [3600]
    assert list(there(w)) == [str(EPOCH // 60 + 60)]


def test_second_0_is_the_origin(cron: Make, clock: Make) -> None:
    w = clock(cron("@hourly", origin=EPOCH + 3000))
    w.until(700)
    assert made(w) == [600]


# concurrencyPolicy -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "times", "left"),
    [("Allow", [600, 1200], 2), ("Replace", [600, 1200], 1), ("Forbid", [600], 1)],
)
def test_a_run_of_15_minutes_every_10_minutes(
    cron: Make, clock: Make, policy: str, times: list[float], left: int
) -> None:
    w = clock(cron(seconds=900, concurrency=policy))
    w.until(1300)
    assert made(w) == times
    assert sum(state == "active" for state in there(w).values()) == left


def test_replace_deletes_the_job_before_it_makes_the_next(cron: Make, clock: Make) -> None:
    w = clock(cron(seconds=900, concurrency="Replace"))
    w.until(1250)
    assert w.did("cronjob") == [
        f"creates job/tick-{FIRST}",
        f"deletes job/tick-{FIRST}",
        f"creates job/tick-{FIRST + 10}",
    ]
    assert w.pods() == [f"tick-{FIRST + 10}-a+"]


def test_a_job_that_somebody_deletes_is_active_no_more(cron: Make, clock: Make) -> None:
    w = clock(cron(seconds=10_000, concurrency="Forbid"))
    w.until(900)
    w.strike(ObjectDeleted(f"job/tick-{FIRST}"))
    w.until(901)
    assert w.get("CronJob", "tick").status.active == ()


def test_a_job_that_is_not_in_view_yet_is_active(cron: Make, clock: Make) -> None:
    w = clock(cron(seconds=10_000, concurrency="Forbid"))
    w.until(500)
    w.strike(WatchStalls("cronjob", "Job"))
    w.until(1300)
    assert made(w) == [600]
    assert w.get("CronJob", "tick").status.active == (f"tick-{FIRST}",)


# Suspension, lateness --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("deadline", "times"), [(None, [2000]), (300, [2000]), (100, [2400])])
def test_of_the_runs_missed_while_suspended_the_last_is_made_up_for_in_its_deadline(
    cron: Make, clock: Make, deadline: float | None, times: list[float]
) -> None:
    w = clock(cron(suspend=True, starting_deadline=deadline))
    w.until(2000)
    assert made(w) == []
    w.edit("CronJob", "tick", suspend=False)
    w.until(2000 if len(times) and times[0] == 2000 else 2450)
    assert made(w) == times


def test_a_controller_that_was_away_makes_one_job_for_all_that_it_missed(cron: Make, clock: Make) -> None:
    w = clock(cron("* * * * *"))
    w.until(30)
    w.strike(LoopPauses("cronjob"))
    w.until(1000)
    w.strike(LoopResumes("cronjob"))
    w.until(1001)
    assert len(made(w)) == 1
    assert list(there(w)) == [str(EPOCH // 60 + 16)]


# History ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("behaviour", "kept"), [("exit-0", 3), ("exit-1", 1)])
def test_the_history_is_three_that_succeeded_and_one_that_failed(
    cron: Make, clock: Make, behaviour: str, kept: int
) -> None:
    w = clock(cron(behaviour=behaviour, job={"backoff_limit": 0}))
    w.settle()
    assert len(there(w)) == kept
    assert len(made(w)) > kept
    newest = max(int(name) for name in there(w))
    assert sorted(there(w)) == [str(newest - 10 * back) for back in range(kept - 1, -1, -1)]


def test_jobs_that_go_by_themselves_leave_no_history(cron: Make, clock: Make) -> None:
    w = clock(cron(job={"ttl_after_finished": 60}))
    w.settle()
    assert made(w) == [600]
    assert there(w) == {}


def test_what_it_owns_goes_with_it(cron: Make, clock: Make) -> None:
    w = clock(cron())
    w.settle()
    w.after(ObjectDeleted("cronjob/tick"))
    assert there(w) == {}
    assert w.pods() == []


# Rest ------------------------------------------------------------------------------------------------------------


def test_it_rests_when_a_run_would_find_what_an_earlier_one_has_found(cron: Make, clock: Make) -> None:
    w = clock(cron())
    w.settle()
    # Three fill the history, the fourth finds it full, the fifth finds the same again.
    assert made(w) == [600, 1200, 1800, 2400]
    assert w.cluster.now == 3000


def test_a_change_that_may_matter_begins_it_again_where_it_stopped(cron: Make, clock: Make) -> None:
    w = clock(cron())
    w.settle()
    w.until(3500)
    begun = len(made(w))
    w.after(Cordon("n1"))
    assert made(w)[begun:] == [3500]
    newest = max(int(name) for name in there(w))
    assert newest == FIRST + 40
    w.after(Uncordon("n1"))
    assert made(w)[begun + 1 :] == [4100]


def test_a_job_that_ends_after_the_rest_lets_the_next_one_begin(cron: Make, clock: Make) -> None:
    """Forbid: at the end of a run that takes longer than the interval the next is made at once, also from a rest."""
    w = clock(cron(seconds=2000, concurrency="Forbid"))
    w.settle()
    assert made(w)[:3] == [600, 2600, 4600]
    assert len(made(w)) < 12
    assert not w.get("CronJob", "tick").status.active


def test_jobs_that_only_pile_up_come_to_rest_too(cron: Make, clock: Make) -> None:
    w = clock(cron(behaviour="ready"), count=0)
    w.settle()
    assert list(there(w).values()) == ["active"] * 3


def test_jobs_that_run_for_ever_fill_the_nodes(cron: Make, clock: Make, nodes: Make) -> None:
    from reconverge.model.resources import Capacity, Resources

    small = [each.with_(allocatable=Capacity(Resources(cpu=500, memory=2**30), 110)) for each in nodes(1)]
    w = clock(cron(behaviour="ready"), *small, count=0)
    w.settle()
    running = [pod for pod in w.cluster.store.all("Pod") if pod.phase == "Running"]
    assert len(running) == 5
    assert len(there(w)) == 8


def test_a_restarted_controller_goes_on_without_a_run_twice(cron: Make, clock: Make) -> None:
    for steps in range(10, 60, 3):
        w = clock(cron())
        w.until(599)
        w.run(steps)
        w.strike(LoopRestarts("cronjob"))
        w.settle()
        names = [what for _, _, what, _ in w.written if what.startswith("creates job/")]
        assert len(names) == len(set(names))
        assert len(there(w)) == 3


def test_a_rest_looks_the_same_whenever_it_is(cron: Make, clock: Make) -> None:
    seen = []
    for runs in (1, 3):
        w = clock(cron(), count=1)
        w.settle()
        for _ in range(runs):
            w.edit("CronJob", "tick")
            w.settle()
        w.cluster = w.plane.wait(w.cluster, w.cluster.now + 100_000 - w.cluster.now % 1000)
        seen.append(fingerprint(w.plane, w.cluster))
    assert seen[0] == seen[1]


def test_how_long_it_is_to_the_next_run_is_part_of_the_state(cron: Make, clock: Make) -> None:
    w = clock(cron())
    w.until(610)
    states = {fingerprint(w.plane, w.plane.wait(w.cluster, time)) for time in (620, 700, 1100)}
    assert len(states) == 3
    other = clock(cron("*/11 * * * *"))
    other.until(610)
    assert fingerprint(other.plane, other.cluster) not in states


def test_an_applied_cron_job_keeps_its_place(cron: Make, clock: Make) -> None:
    w = clock(cron())
    w.until(1300)
    w.strike(ManifestApplied((cron(successful_history=1),)))
    w.until(1900)
    assert made(w) == [600, 1200, 1800]
    assert len(there(w)) == 1


def test_what_tells_one_moment_from_another() -> None:
    done = JobStatus(conditions=(Condition("Complete", "True", ""),))
    failed = JobStatus(conditions=(Condition("Failed", "True", ""),))
    jobs = [Job(name=str(place), status=each) for place, each in enumerate([done, done, failed, JobStatus(ready=1)])]
    assert shape_of(jobs) == (2, 1, 1, 0)
    assert shape_of([Job(name=str(each)) for each in range(9)]) == (0, 0, 0, 2)


def test_a_rest_takes_no_time_of_the_calendar() -> None:
    course = Course(rests_at=600, seen=((0, 0, 0, 0),))
    assert course.changed(5000) == Course(lag=4400)
    assert Course().changed(5000) is not None
    unchanged = Course(lag=7)
    assert unchanged.changed(5000) is unchanged
