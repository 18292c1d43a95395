"""How a Job runs and ends. Recordings 44, 45, 47."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.events.loops import LoopRestarts, WatchCatchesUp, WatchStalls
from reconverge.model.events.machines import NodeCrashes
from reconverge.model.events.nodes import Drain, NodeDeleted
from reconverge.model.events.objects import ObjectDeleted
from reconverge.model.events.pods import PodDeleted, PodForceDeleted
from reconverge.model.loops.job import JobController
from reconverge.model.loops.job.backoff import Backoff
from reconverge.model.objects import Pod
from reconverge.model.objects.job import JOB_TRACKING
from reconverge.model.rules import Rules

Make = Callable[..., Any]


def conditions(w: Any) -> list[tuple[str, str]]:
    """The conditions that are True, in order, with their reasons."""
    found = w.get("Job", "work").status.conditions
    return [(each.type, each.reason) for each in found if each.status == "True"]


def counts(w: Any) -> tuple[int, int, int]:
    """(active, succeeded, failed) by the status."""
    status = w.get("Job", "work").status
    return status.active, status.succeeded, status.failed


def writes(w: Any) -> list[str]:
    """What the Job controller has written, without names of pods."""
    return [what.partition(" pod/")[0].partition(" of ")[0] for what in w.did("job")]


def test_five_completions_two_at_a_time(lab: Make, work: Make, nodes: Make) -> None:
    w = lab(*nodes(), work(completions=5, parallelism=2))
    w.settle()
    assert w.times("creates pod/work") == [0, 0, 1, 1, 2]
    assert counts(w) == (0, 5, 0)
    assert conditions(w) == [("SuccessCriteriaMet", "CompletionsReached"), ("Complete", "CompletionsReached")]
    assert w.get("Job", "work").status.completed_at == 3
    assert not any(pod.finalizers for pod in w.cluster.store.all("Pod"))


def test_the_end_is_written_in_two_steps_with_the_finalizer_between(lab: Make, work: Make, nodes: Make) -> None:
    w = lab(*nodes(), work())
    w.settle()
    assert w.did("job")[-3:] == [
        "marks job/work SuccessCriteriaMet",
        "removes finalizer job-tracking of pod/work-a",
        "marks job/work Complete",
    ]


def test_failures_are_retried_after_10_and_20_seconds_until_the_limit(lab: Make, work: Make, nodes: Make) -> None:
    w = lab(*nodes(), work("exit-1", backoff_limit=2))
    w.settle()
    assert w.times("creates pod/work") == [0, 11, 32]
    assert counts(w) == (0, 0, 3)
    assert conditions(w) == [("FailureTarget", "BackoffLimitExceeded"), ("Failed", "BackoffLimitExceeded")]
    assert w.cluster.now == 33


def test_the_back_off_doubles_to_ten_minutes_and_ends_with_a_success() -> None:
    waits = [(Backoff(failures, 100).until or 0) - 100 for failures in range(1, 9)]
    assert waits == [10, 20, 40, 80, 160, 320, 600, 600]
    assert Backoff().until is None
    done, lost = Pod(name="a", phase="Succeeded"), Pod(name="b", phase="Running", deletion_at=80, grace=30)
    assert Backoff(3, 10).after([done], [], 60) == Backoff()
    assert Backoff(3, 10).after([], [lost], 60) == Backoff(4, 50)
    assert Backoff(3, 10).after([done], [lost], 60) == Backoff()
    assert Backoff(3, 10).after([], [], 60) == Backoff(3, 10)


@pytest.mark.parametrize(("parallelism", "limit"), [(1, 3), (2, 3), (5, 4)])
def test_failures_stay_within_the_limit_and_what_runs_beside(
    lab: Make, work: Make, nodes: Make, parallelism: int, limit: int
) -> None:
    w = lab(*nodes(), work("exit-1", completions=20, parallelism=parallelism, backoff_limit=limit))
    w.settle()
    assert conditions(w)[-1] == ("Failed", "BackoffLimitExceeded")
    assert limit < counts(w)[2] <= limit + parallelism


def test_an_evicted_pod_has_failed_at_once_and_is_replaced_after_the_back_off(
    lab: Make, work: Make, nodes: Make
) -> None:
    w = lab(*nodes(2), work(seconds=8, backoff_limit=2))
    w.until(3)
    w.strike(Drain(w.pod("work-a").node))
    w.settle()
    assert w.times("creates pod/work") == [0, 13]
    assert counts(w) == (0, 1, 1)
    assert conditions(w)[-1][0] == "Complete"
    assert w.pods() == ["work-b"]


@pytest.mark.parametrize(("replacement", "made"), [("TerminatingOrFailed", [0, 360]), ("Failed", [0])])
def test_a_pod_on_a_dead_node_is_replaced_at_once_or_when_it_has_really_failed(
    lab: Make, work: Make, nodes: Make, replacement: str, made: list[float]
) -> None:
    """Replaced at once the work may run twice; else the Node object must go first."""
    w = lab(*nodes(2), work(seconds=10_000, replacement=replacement))
    w.until(0)
    node = w.pod("work-a").node
    w.strike(NodeCrashes(node))
    w.until(1000)
    created = w.times("creates pod/work")
    assert len(created) == len(made)
    assert w.pod("work-a").terminating
    w.strike(NodeDeleted(node))
    w.settle()
    assert len(w.times("creates pod/work")) == 2
    assert conditions(w)[-1][0] == "Complete"
    assert counts(w) == (0, 1, 1)


def test_what_has_succeeded_stays_counted_when_its_node_goes(lab: Make, work: Make, nodes: Make) -> None:
    w = lab(*nodes(2), work(seconds=10, completions=4, parallelism=2))
    w.until(15)
    assert counts(w)[1] == 2
    w.strike(NodeDeleted("n2"))
    seen = [counts(w)[1]]
    while w.plane.next(w.cluster) is not None:
        w.run(1)
        seen.append(counts(w)[1])
    assert seen == sorted(seen)
    assert conditions(w)[-1][0] == "Complete"


def test_a_pod_is_held_by_its_finalizer_until_it_is_counted(lab: Make, work: Make, nodes: Make) -> None:
    class Idle(JobController):
        """Makes pods and counts none."""

        def counts_as_failed(self, pod: Pod, job: Any) -> bool:
            return False

    w = lab(*nodes(1), work(seconds=100), loops=(Idle(),))
    w.until(0)
    w.strike(PodDeleted("job/work#0"))
    w.until(1)
    pod = w.pod("work-a")
    assert (pod.phase, pod.terminating, pod.grace, pod.finalizers) == ("Failed", True, 0, (JOB_TRACKING,))


def test_a_terminating_pod_goes_with_its_last_finalizer(lab: Make, work: Make, nodes: Make) -> None:
    w = lab(*nodes(1), work(seconds=100, backoff_limit=0))
    w.until(0)
    w.after(PodDeleted("job/work#0"))
    assert w.pods() == []
    assert conditions(w)[-1] == ("Failed", "BackoffLimitExceeded")


def test_restarts_in_place_count_with_on_failure(lab: Make, work: Make, nodes: Make) -> None:
    w = lab(*nodes(1), work("exit-1", policy="OnFailure", backoff_limit=3))
    w.settle()
    assert len(w.times("creates pod/work")) == 1
    assert len(w.times("restarts in place")) == 3
    assert conditions(w) == [("FailureTarget", "BackoffLimitExceeded"), ("Failed", "BackoffLimitExceeded")]
    assert w.pods() == []


def test_failed_comes_only_when_no_pod_is_terminating(lab: Make, work: Make, nodes: Make) -> None:
    w = lab(*nodes(1), work(seconds=100, active_deadline=5))
    w.until(0)
    w.until(4.9)
    assert conditions(w) == []
    w.settle()
    said = w.did("job")
    assert said.index("marks job/work FailureTarget") < said.index("marks job/work Failed")
    assert conditions(w) == [("FailureTarget", "DeadlineExceeded"), ("Failed", "DeadlineExceeded")]
    gone = next(index for index, each in enumerate(w.written) if each[2].startswith("force-deletes"))
    failed = next(index for index, each in enumerate(w.written) if each[2] == "marks job/work Failed")
    assert gone < failed


def test_a_work_queue_ends_with_its_first_success(lab: Make, work: Make, nodes: Make) -> None:
    w = lab(*nodes(), work(completions=None, parallelism=3))
    w.settle()
    assert len(w.times("creates pod/work")) == 3
    assert counts(w) == (0, 3, 0)
    assert conditions(w)[-1][0] == "Complete"


def test_a_suspended_job_has_no_pods_and_loses_nothing(lab: Make, work: Make, nodes: Make) -> None:
    w = lab(*nodes(), work(seconds=10, completions=2, parallelism=2, active_deadline=30, suspend=True))
    w.settle()
    assert w.pods() == []
    assert conditions(w) == [("Suspended", "JobSuspended")]
    w.edit("Job", "work", suspend=False)
    w.until(5)
    assert counts(w)[0] == 2
    w.edit("Job", "work", suspend=True)
    w.settle()
    assert counts(w) == (0, 0, 0)
    assert w.pods() == []
    w.edit("Job", "work", suspend=False)
    w.settle()
    assert counts(w) == (0, 2, 0)


def test_less_parallelism_gives_up_the_least_started(lab: Make, work: Make, nodes: Make) -> None:
    w = lab(*nodes(), work(seconds=50, completions=3, parallelism=3))
    w.until(1)
    w.edit("Job", "work", parallelism=2)
    w.until(2)
    assert counts(w) == (2, 0, 0)
    assert len(w.pods()) == 2


def test_the_pods_of_a_deleted_job_go(lab: Make, work: Make, nodes: Make) -> None:
    w = lab(*nodes(), work(seconds=100, completions=3, parallelism=3))
    w.until(1)
    w.after(ObjectDeleted("job/work"))
    assert w.pods() == []


def test_a_finished_job_goes_when_its_time_is_over(lab: Make, work: Make, nodes: Make) -> None:
    w = lab(*nodes(), work(ttl_after_finished=60))
    w.settle()
    assert w.times("deletes job/work") == [61]
    assert w.get("Job", "work") is None
    assert w.pods() == []


def test_pods_carry_the_name_of_their_job(lab: Make, work: Make, nodes: Make) -> None:
    w = lab(*nodes(), work())
    w.settle()
    labels = dict(w.pod("work-a").labels)
    assert labels["job-name"] == labels["batch.kubernetes.io/job-name"] == "work"


@pytest.mark.parametrize("kind", ["Pod", "Job"])
def test_an_old_view_counts_nothing_twice(lab: Make, work: Make, nodes: Make, kind: str) -> None:
    w = lab(*nodes(), work(seconds=10, completions=6, parallelism=2))
    w.until(12)
    w.strike(WatchStalls("job", kind))
    w.until(30)
    w.strike(WatchCatchesUp("job", kind))
    w.settle()
    assert counts(w) == (0, 6, 0)


def test_a_controller_that_dies_between_two_writes_counts_each_pod_once(lab: Make, work: Make, nodes: Make) -> None:
    for steps in range(20, 110, 3):
        w = lab(*nodes(), work(completions=4, parallelism=2))
        w.run(steps)
        w.strike(LoopRestarts("job"))
        w.settle()
        assert counts(w) == (0, 4, 0)


@pytest.mark.parametrize(("tracked", "succeeded"), [(True, 1), (False, 0)])
def test_what_is_counted_stays_counted_when_the_pod_is_gone(
    lab: Make, work: Make, nodes: Make, tracked: bool, succeeded: int
) -> None:
    """Before 1.23 no finalizer held a pod, and the counters were those of the pods that were there."""
    w = lab(*nodes(1), work(seconds=10, completions=2, parallelism=1), rules=Rules(job_pods_tracked=tracked))
    w.until(11)
    (first,) = (each for each in w.cluster.store.all("Pod") if each.phase == "Succeeded")
    assert counts(w) == (1, 1, 0)
    assert not first.finalizers
    w.strike(PodForceDeleted(first.name))
    w.until(12)
    assert counts(w)[1] == succeeded
    w.settle()
    assert counts(w) == (0, 2, 0)
    assert len(w.cluster.store.all("Pod")) == (1 if tracked else 2)
