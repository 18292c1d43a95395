"""Indexed Jobs: each index is worked at by one pod at a time and done once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.canonical import fingerprint
from reconverge.model.events.loops import LoopRestarts
from reconverge.model.events.machines import NodeCrashes
from reconverge.model.events.pods import PodDeleted
from reconverge.model.labels import label, labels_of
from reconverge.model.loops.job.indexes import first_pending, index_of
from reconverge.model.objects import Job
from reconverge.model.objects.job import INDEX_FAILURES, JOB_INDEX, FailureRule, SuccessRule

Make = Callable[..., Any]
FAILS = FailureRule("FailIndex", "In", (1,))


def ended(w: Any) -> tuple[str, str]:
    """The last condition of the Job that is True, with its reason."""
    last = [each for each in w.get("Job", "work").status.conditions if each.status == "True"][-1]
    return last.type, last.reason


def test_the_lowest_indexes_come_first_and_each_is_done_once(lab: Make, work: Make, nodes: Make) -> None:
    w = lab(*nodes(), work(completions=4, parallelism=2, indexed=True))
    w.settle()
    assert [each.rpartition("/")[2] for each in w.did("job") if each.startswith("creates")] == [
        "work-0", "work-1", "work-2", "work-3",
    ]  # fmt: skip
    status = w.get("Job", "work").status
    assert (status.completed_indexes, status.succeeded, status.uncounted_succeeded) == ((0, 1, 2, 3), 4, frozenset())
    assert ended(w) == ("Complete", "CompletionsReached")


def test_the_index_is_in_the_name_the_labels_and_the_annotations(lab: Make, work: Make, nodes: Make) -> None:
    w = lab(*nodes(), work(completions=2, parallelism=2, indexed=True))
    w.settle()
    pod = w.pod("work-1-a")
    assert index_of(pod) == 1
    assert label(pod.labels, JOB_INDEX) == label(pod.annotations, JOB_INDEX) == "1"


def test_a_failed_index_is_tried_again_after_the_back_off_of_the_whole_job(lab: Make, work: Make, nodes: Make) -> None:
    w = lab(*nodes(), work(seconds=20, completions=3, parallelism=3, indexed=True))
    w.until(5)
    w.strike(PodDeleted("job/work#1"))
    w.settle()
    assert w.times("creates pod/work-1") == [0, 15]
    assert w.get("Job", "work").status.completed_indexes == (0, 1, 2)
    assert w.get("Job", "work").status.failed == 1


def test_of_two_active_pods_of_one_index_the_least_started_goes(lab: Make, work: Make, nodes: Make) -> None:
    w = lab(*nodes(), work(seconds=20, completions=3, parallelism=3, indexed=True))
    w.until(5)
    pod = w.pod("work-1-a")
    w.put(pod.with_(name="work-1-z", uid=0, created_at=5, node=None, phase="Pending", ready=False, started_at=None))
    stray = pod.annotations
    w.put(pod.with_(name="work-9-z", uid=0, node=None, phase="Pending",
                    annotations=labels_of({**dict(stray), JOB_INDEX: "9"})))  # fmt: skip
    w.until(6)
    assert w.pods() == ["work-0-a+", "work-1-a+", "work-2-a+"]
    w.settle()
    assert (w.get("Job", "work").status.succeeded, w.get("Job", "work").status.failed) == (3, 0)


@pytest.mark.parametrize(("replacement", "again"), [("TerminatingOrFailed", [0, 360]), ("Failed", [0])])
def test_the_index_of_a_terminating_pod_is_taken_if_only_failed_ones_are_replaced(
    lab: Make, work: Make, nodes: Make, replacement: str, again: list[float]
) -> None:
    w = lab(*nodes(2), work(seconds=10_000, completions=2, parallelism=2, indexed=True, replacement=replacement))
    w.until(0)
    w.strike(NodeCrashes(w.pod("work-1-a").node))
    w.until(1000)
    assert len(w.times("creates pod/work-1")) == len(again)


def test_first_pending() -> None:
    job = Job(name="work", completions=6, indexed=True)
    assert first_pending(job, {0, 2}, 3) == (1, 3, 4)
    assert first_pending(job, {0, 1, 2, 3, 4}, 3) == (5,)
    assert first_pending(job, set(), 0) == ()


# With backoffLimitPerIndex --------------------------------------------------------------------------------------


def test_each_index_has_its_own_limit_and_back_off(lab: Make, work: Make, nodes: Make) -> None:
    limits = {"backoff_limit": 2**31 - 1, "limit_per_index": 1}
    w = lab(*nodes(), work("exit-1", completions=2, parallelism=2, indexed=True, **limits))
    w.settle()
    assert w.times("creates pod/work-0") == w.times("creates pod/work-1") == [0, 11]
    counts = {each.name: label(each.annotations, INDEX_FAILURES) for each in w.cluster.store.all("Pod")}
    assert counts == {"work-0-a": "0", "work-0-b": "1", "work-1-a": "0", "work-1-b": "1"}
    status = w.get("Job", "work").status
    assert (status.failed_indexes, status.completed_indexes, status.failed) == ((0, 1), (), 4)
    assert ended(w) == ("Failed", "FailedIndexes")


def test_a_failed_pod_is_kept_until_it_is_replaced(lab: Make, work: Make, nodes: Make) -> None:
    limits = {"backoff_limit": 2**31 - 1, "limit_per_index": 1}
    w = lab(*nodes(), work("exit-1", completions=1, indexed=True, **limits))
    w.until(5)
    assert w.pod("work-0-a").finalizers
    assert w.get("Job", "work").status.failed == 0
    w.until(11)
    assert not w.pod("work-0-a").finalizers
    assert w.get("Job", "work").status.failed == 1


def test_too_many_failed_indexes_end_the_job(lab: Make, work: Make, nodes: Make) -> None:
    limits = {"backoff_limit": 2**31 - 1, "limit_per_index": 0, "most_failed_indexes": 1}
    w = lab(*nodes(), work("exit-1", completions=5, parallelism=1, indexed=True, **limits))
    w.settle()
    assert w.get("Job", "work").status.failed_indexes == (0, 1)
    assert ended(w) == ("Failed", "MaxFailedIndexesExceeded")


def test_a_rule_can_give_up_an_index_at_once(lab: Make, work: Make, nodes: Make) -> None:
    limits = {"backoff_limit": 2**31 - 1, "limit_per_index": 5, "failure_policy": (FAILS,), "replacement": "Failed"}
    w = lab(*nodes(), work("exit-1", completions=2, indexed=True, **limits))
    w.settle()
    assert w.times("creates pod/work") == [0, 1]
    assert ended(w) == ("Failed", "FailedIndexes")


def test_how_long_ago_an_index_failed_is_part_of_the_state(lab: Make, work: Make, nodes: Make) -> None:
    limits = {"backoff_limit": 2**31 - 1, "limit_per_index": 3}
    seen = []
    for wait in (5, 8):
        w = lab(*nodes(), work("exit-1", completions=1, indexed=True, **limits))
        w.until(wait)
        seen.append(fingerprint(w.plane, w.cluster))
    assert seen[0] != seen[1]


# successPolicy ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "succeeded"),
    [
        (SuccessRule(indexes=(1,)), (0, 1)),
        (SuccessRule(count=3), (0, 1, 2, 3)),
        (SuccessRule(indexes=(2, 3), count=1), (0, 1, 2, 3)),
    ],
)
def test_a_success_policy_ends_the_job_before_all_are_done(
    lab: Make, work: Make, nodes: Make, rule: SuccessRule, succeeded: tuple[int, ...]
) -> None:
    w = lab(*nodes(), work(completions=6, parallelism=2, indexed=True, success_policy=(rule,)))
    w.settle()
    assert w.get("Job", "work").status.completed_indexes == succeeded
    assert w.get("Job", "work").status.failed == 0
    assert ended(w) == ("Complete", "SuccessPolicy")


def test_a_controller_that_dies_between_two_writes_counts_each_index_once(lab: Make, work: Make, nodes: Make) -> None:
    for steps in range(20, 110, 7):
        w = lab(*nodes(), work(completions=4, parallelism=2, indexed=True))
        w.run(steps)
        w.strike(LoopRestarts("job"))
        w.settle()
        assert w.get("Job", "work").status.completed_indexes == (0, 1, 2, 3)


def test_an_index_whose_failures_are_ignored_repeats_itself(lab: Make, work: Make, nodes: Make) -> None:
    """The count of ignored failures has no limit; beyond the longest back-off it makes no difference."""
    limits = {"backoff_limit": 2**31 - 1, "limit_per_index": 1, "replacement": "Failed"}
    rule = FailureRule("Ignore", "In", (1,))
    w = lab(*nodes(1), work("exit-1", completions=1, indexed=True, failure_policy=(rule,), **limits))
    w.until(3000)
    prints = set()
    for _ in range(3):
        made = w.times("creates pod/work")[-1]
        w.until(made + 700)
        prints.add(fingerprint(w.plane, w.cluster, finished=False))
    assert len(prints) == 1
    assert w.get("Job", "work").status.failed == 0
