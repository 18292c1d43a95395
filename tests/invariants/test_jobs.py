"""What Jobs promise."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.action import Create
from reconverge.model.labels import labels_of
from reconverge.model.loop import InFlight, LoopState
from reconverge.model.loops.job.status import UpdateJobStatus
from reconverge.model.objects import Condition, JobStatus
from reconverge.model.objects.job import INDEX_FAILURES, JOB_INDEX, JOB_TRACKING, FailureRule
from reconverge.model.rules import Rules

KEY = "job-accounting"
HELD = {"finalizers": (JOB_TRACKING,)}


def writes(lab: Any, before: dict[str, Any], after: dict[str, Any], *ends: tuple[str, bool], **options: Any) -> Any:
    """A write of the status; `ends` are pods 1, 2 ... with their phase and whether they hold the finalizer."""
    job = lab.job(status=JobStatus(**before), **options.pop("job", {}))
    pods = [
        pod.with_(uid=number + 1, phase=phase, ready=False, finalizers=(JOB_TRACKING,) if held else ())
        for number, (pod, (phase, held)) in enumerate(zip(lab.pods_in(job, count=len(ends)), ends, strict=True))
    ]
    situation = lab.situation(lab.node(), job, *pods, **options)
    return lab.step(situation, "job", UpdateJobStatus(job, job.status, JobStatus(**after)))


def uids(*numbers: int) -> frozenset[int]:
    return frozenset(numbers)


@pytest.mark.parametrize(
    ("before", "after", "ends", "word"),
    [
        ({"succeeded": 2}, {"succeeded": 1}, (), "had 2 succeeded, and now has 1"),
        ({"failed": 1}, {"failed": 0}, (), "had 1 failed, and now has 0"),
        ({"uncounted_succeeded": uids(1)}, {"succeeded": 1}, (("Succeeded", False),), ""),
        ({"uncounted_succeeded": uids(1)}, {"succeeded": 2}, (("Succeeded", False),), "counts 2 more succeeded"),
        ({"uncounted_succeeded": uids(1)}, {"succeeded": 1}, (("Succeeded", True),), "that it will count again"),
        ({}, {"uncounted_succeeded": uids(1)}, (("Succeeded", True),), ""),
        ({}, {"uncounted_succeeded": uids(1)}, (("Succeeded", False),), "counted already or not succeeded"),
        ({}, {"uncounted_succeeded": uids(1)}, (("Running", True),), "counted already or not succeeded"),
        ({}, {"uncounted_failed": uids(1)}, (("Failed", True),), ""),
        ({}, {"uncounted_failed": uids(1)}, (("Succeeded", True),), "counted already or not failed"),
    ],
)
def test_each_finished_pod_is_counted_once(
    lab: Any, before: dict[str, Any], after: dict[str, Any], ends: tuple[tuple[str, bool], ...], word: str
) -> None:
    found = lab.broken(KEY, writes(lab, before, after, *ends))
    assert bool(found) is bool(word)
    assert all(word in each.message for each in found)


@pytest.mark.parametrize(("after", "word"), [(2, ""), (0, "had 1 succeeded, and now has 0")])
def test_where_pods_are_not_tracked_no_count_goes_down(lab: Any, after: int, word: str) -> None:
    """Before 1.23 pods were counted without being noted first."""
    step = writes(
        lab, {"succeeded": 1}, {"succeeded": after}, ("Succeeded", False), rules=Rules(job_pods_tracked=False)
    )
    assert [each.message for each in lab.broken(KEY, step)] == ([f"job/task {word}"] if word else [])


@pytest.mark.parametrize(
    ("failed", "job", "broken"),
    [
        (3, {"backoff_limit": 2, "parallelism": 1}, False),
        (4, {"backoff_limit": 2, "parallelism": 1}, True),
        (4, {"backoff_limit": 2, "parallelism": 1, "generation": 2}, False),
        (4, {"backoff_limit": 2, "parallelism": 2}, False),
    ],
)
def test_failures_end_with_the_limit_and_what_ran_then(
    lab: Any, failed: int, job: dict[str, Any], broken: bool
) -> None:
    step = writes(lab, {"uncounted_failed": uids(1), "failed": failed - 1}, {"failed": failed}, job=job)
    assert bool(lab.broken(KEY, step)) is broken


@pytest.mark.parametrize(
    ("job", "there", "broken"),
    [
        ({"parallelism": 2, "completions": 5}, 1, False),
        ({"parallelism": 2, "completions": 5}, 2, True),
        ({"parallelism": 3, "completions": 2}, 2, True),
        ({"parallelism": 3, "completions": None}, 2, False),
        ({"parallelism": 3, "completions": 4, "status": JobStatus(succeeded=2)}, 1, False),
        ({"parallelism": 3, "completions": 4, "status": JobStatus(succeeded=2)}, 2, True),
        ({"parallelism": 2, "suspend": True}, 0, True),
        ({"parallelism": 2, "status": JobStatus(conditions=(Condition("Failed", "True", ""),))}, 0, True),
    ],
)
def test_no_pod_is_made_that_is_not_wanted(lab: Any, job: dict[str, Any], there: int, broken: bool) -> None:
    task = lab.job(**job)
    pods = lab.pods_in(task, count=there + 1, **HELD)
    new = pods.pop().with_(uid=0, node=None, ready=False, phase="Pending")
    before = lab.situation(lab.node(), task, *pods)
    assert bool(lab.broken(KEY, lab.step(before, "job", Create(new)))) is broken
    assert lab.broken(KEY, lab.step(before, "garbage-collector", Create(new))) == []
    loops = {"job": LoopState(in_flight=InFlight("default/task", (), revision=-1))}
    assert lab.broken(KEY, lab.step(lab.situation(lab.node(), task, *pods, loops=loops), "job", Create(new))) == []


def test_a_success_that_is_not_noted_yet_counts(lab: Any) -> None:
    task = lab.job(completions=1, parallelism=1)
    done, new = lab.pods_in(task, count=2, **HELD)
    before = lab.situation(lab.node(), task, done.with_(phase="Succeeded", ready=False))
    (violation,) = lab.broken(KEY, lab.step(before, "job", Create(new.with_(uid=0, node=None, phase="Pending"))))
    assert "1 of 1 have succeeded and 1 are active with it" in violation.message


@pytest.mark.parametrize(
    ("behaviour", "fields", "broken"),
    [
        ("exit-0", {}, True),
        ("exit-1", {}, True),
        ("ready", {}, False),
        ("exit-0", {"suspend": True}, False),
        ("exit-0", {"parallelism": 0}, False),
        ("exit-0", {"status": JobStatus(conditions=(Condition("Complete", "True", ""),))}, False),
    ],
)
def test_a_job_whose_pods_end_finishes(lab: Any, behaviour: str, fields: dict[str, Any], broken: bool) -> None:
    task = lab.job(behaviour, completions=2, **fields)
    waits = lab.pod("task-a", None, owner=task.owner_reference())
    situation = lab.situation(lab.node(), task, waits)
    found = lab.broken("job-completes", lab.quiet(situation))
    assert bool(found) is broken
    if found:
        assert found[0].message.startswith(
            "job/task does not finish: 0 of 2 succeeded, 0 failed; pod/task-a is Pending"
        )
    assert lab.broken("job-completes", lab.quiet(situation, "unfinished")) == []


# Indexes and policies --------------------------------------------------------------------------------------------


def indexed(index: int, failures: int = 0) -> dict[str, Any]:
    """The annotations of a pod of an index."""
    return {"annotations": labels_of({JOB_INDEX: str(index), INDEX_FAILURES: str(failures)})}


@pytest.mark.parametrize(
    ("status", "others", "new", "word"),
    [
        ({}, [(0, "Running")], indexed(1), ""),
        ({}, [(1, "Running")], indexed(1), "for index 1, at which pod/task-0 works"),
        ({"completed_indexes": (1,), "succeeded": 1}, [(0, "Running")], indexed(1), "for index 1, which is done"),
        ({}, [(1, "Succeeded")], indexed(1), "for index 1, which is done"),
        ({}, [(1, "Failed")], indexed(1), ""),
        ({"failed_indexes": (1,)}, [], indexed(1), "for index 1, which has failed for good"),
        ({}, [(1, "Failed")], indexed(1, 3), "for index 1, which has failed for good"),
        ({}, [(1, "Failed")], indexed(1, 2), ""),
        ({}, [], indexed(3), "without an index of its 3"),
        ({}, [], {}, "without an index of its 3"),
    ],
)
def test_a_pod_has_an_index_that_is_to_be_worked_at(
    lab: Any, status: dict[str, Any], others: list[tuple[int, str]], new: dict[str, Any], word: str
) -> None:
    task = lab.job(completions=3, parallelism=3, indexed=True, limit_per_index=2, status=JobStatus(**status))
    pods = [
        pod.with_(phase=phase, ready=False, **indexed(index))
        for pod, (index, phase) in zip(lab.pods_in(task, count=len(others), **HELD), others, strict=True)
    ]
    made = lab.pods_in(task, count=1, **HELD)[0].with_(name="task-n", uid=0, node=None, phase="Pending", **new)
    found = lab.broken(KEY, lab.step(lab.situation(lab.node(), task, *pods), "job", Create(made)))
    assert bool(found) is bool(word)
    assert all(word in each.message for each in found)


@pytest.mark.parametrize(
    ("after", "ended", "word"),
    [
        ({"succeeded": 1, "completed_indexes": (2,)}, "Succeeded", ""),
        ({"succeeded": 1, "completed_indexes": (2,)}, "Failed", "calls index 2 done, and no pod of it has succeeded"),
        ({"succeeded": 2, "completed_indexes": (2,)}, "Succeeded", "counts 2 succeeded, and has 1 finished index"),
    ],
)
def test_an_index_is_done_once_and_by_a_pod_that_succeeded(
    lab: Any, after: dict[str, Any], ended: str, word: str
) -> None:
    task = lab.job(completions=3, indexed=True)
    (pod,) = lab.pods_in(task, count=1, **HELD)
    situation = lab.situation(lab.node(), task, pod.with_(phase=ended, ready=False, **indexed(2)))
    found = lab.broken(KEY, lab.step(situation, "job", UpdateJobStatus(task, task.status, JobStatus(**after))))
    assert [each.message for each in found] == [f"job/task {word}"] * bool(word)


IGNORES = FailureRule("Ignore", "In", (7,))
ENDS = FailureRule("FailJob", "In", (9,))


@pytest.mark.parametrize(("code", "broken"), [(7, True), (8, False)])
def test_a_failure_that_is_ignored_is_not_counted(lab: Any, code: int, broken: bool) -> None:
    task = lab.job(failure_policy=(IGNORES,))
    (pod,) = lab.pods_in(task, count=1, **HELD)
    pod = pod.with_(phase="Failed", ready=False, exit_codes=(("c", code),))
    noted = JobStatus(uncounted_failed=frozenset({pod.uid}))
    step = lab.step(lab.situation(lab.node(), task, pod), "job", UpdateJobStatus(task, task.status, noted))
    assert bool(lab.broken(KEY, step)) is broken


@pytest.mark.parametrize(("code", "broken"), [(9, True), (8, False)])
def test_no_pod_is_made_after_a_failure_that_ends_the_job(lab: Any, code: int, broken: bool) -> None:
    task = lab.job(failure_policy=(ENDS,), completions=5)
    failed, new = lab.pods_in(task, count=2)
    situation = lab.situation(lab.node(), task, failed.with_(phase="Failed", exit_codes=(("c", code),)))
    step = lab.step(situation, "job", Create(new.with_(uid=0, node=None, phase="Pending", ready=False)))
    assert bool(lab.broken(KEY, step)) is broken


@pytest.mark.parametrize(("replacement", "broken"), [("Failed", True), ("TerminatingOrFailed", False)])
def test_a_terminating_pod_is_replaced_only_if_its_policy_says_so(lab: Any, replacement: str, broken: bool) -> None:
    task = lab.job(replacement=replacement)
    going, new = lab.pods_in(task, count=2, **HELD)
    situation = lab.situation(lab.node(), task, going.with_(deletion_at=2000))
    step = lab.step(situation, "job", Create(new.with_(uid=0, node=None, phase="Pending", ready=False)))
    assert bool(lab.broken(KEY, step)) is broken


GIVEN_UP = JobStatus(failed=1, conditions=(Condition("Failed", "True", "BackoffLimitExceeded"),))


@pytest.mark.parametrize(
    ("behaviour", "fields", "broken"),
    [
        ("exit-0", {"status": GIVEN_UP}, True),
        ("exit-1", {"status": GIVEN_UP}, False),
        ("exit-0", {"status": GIVEN_UP, "active_deadline": 10}, False),
        ("exit-0", {}, False),
    ],
)
def test_a_job_whose_pods_end_well_does_not_fail(
    lab: Any, behaviour: str, fields: dict[str, Any], broken: bool
) -> None:
    task = lab.job(behaviour, **fields)
    situation = lab.situation(lab.node(), task)
    found = lab.broken("job-succeeds", lab.quiet(situation))
    assert [each.message for each in found] == [
        "job/task has failed (BackoffLimitExceeded), and its pods end well"
    ] * broken
    before = lab.situation(lab.node(), task, start=situation.cluster)
    assert lab.broken("job-succeeds", lab.quiet(before)) == []
