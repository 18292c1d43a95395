"""What podFailurePolicy makes of a failed pod."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.canonical import fingerprint
from reconverge.model.events.nodes import Drain
from reconverge.model.loops.job.failure_policy import action_on
from reconverge.model.objects import Container, Pod
from reconverge.model.objects.job import JOB_TRACKING, FailureRule

Make = Callable[..., Any]
DISRUPTED = (("DisruptionTarget", "True"),)


@pytest.fixture
def policed(work: Make) -> Make:
    """A Job with rules, of pods with one container `main`."""

    def made(behaviour: str, *rules: FailureRule, **fields: Any) -> Any:
        job = work(behaviour, fields.pop("seconds", 1), failure_policy=rules, replacement="Failed", **fields)
        spec = job.template.spec.with_(containers=(Container("main"),))
        return job.with_(template=job.template.with_(spec=spec))

    return made


@pytest.mark.parametrize(
    ("rule", "pod", "matched"),
    [
        (FailureRule("Ignore", "In", (1, 3)), {"exit_codes": (("main", 3),)}, True),
        (FailureRule("Ignore", "In", (1, 3)), {"exit_codes": (("main", 2),)}, False),
        (FailureRule("Ignore", "NotIn", (1, 3)), {"exit_codes": (("main", 2),)}, True),
        (FailureRule("Ignore", "NotIn", (1, 3)), {"exit_codes": (("main", 0),)}, False),
        (FailureRule("Ignore", "NotIn", (1, 3)), {"exit_codes": ()}, False),
        (FailureRule("Ignore", "In", (1,), "side"), {"exit_codes": (("main", 1), ("side", 0))}, False),
        (FailureRule("Ignore", "In", (1,), "side"), {"exit_codes": (("main", 0), ("side", 1))}, True),
        (FailureRule("Ignore", conditions=DISRUPTED), {"disruption_target": "DeletionByPodGC"}, True),
        (FailureRule("Ignore", conditions=DISRUPTED), {}, False),
        (FailureRule("Ignore", conditions=(("PodScheduled", "False"),)), {}, True),
        (FailureRule("Ignore", conditions=(("Ready", "False"),)), {"ready": True}, False),
    ],
)
def test_a_rule_is_about_exit_codes_or_conditions(rule: FailureRule, pod: dict[str, Any], matched: bool) -> None:
    assert action_on((rule,), Pod(name="a", phase="Failed", **pod)) == ("Ignore" if matched else "Count")


def test_the_first_rule_that_matches_counts() -> None:
    rules = (FailureRule("Count", "In", (7,)), FailureRule("FailJob", "NotIn", (9,)))
    assert action_on(rules, Pod(name="a", exit_codes=(("main", 7),))) == "Count"
    assert action_on(rules, Pod(name="a", exit_codes=(("main", 8),))) == "FailJob"


def test_fail_job_ends_it_with_the_first_such_failure(lab: Make, policed: Make, nodes: Make) -> None:
    w = lab(*nodes(), policed("exit-1", FailureRule("FailJob", "In", (1,)), completions=3, parallelism=2))
    w.settle()
    status = w.get("Job", "work").status
    assert [(each.type, each.reason) for each in status.conditions] == [
        ("FailureTarget", "PodFailurePolicy"),
        ("Failed", "PodFailurePolicy"),
    ]
    assert len(w.times("creates pod/work")) == 2


@pytest.mark.parametrize(("ignores", "failed"), [(True, 0), (False, 1)])
def test_a_disruption_that_is_ignored_does_not_use_up_the_limit(
    lab: Make, policed: Make, nodes: Make, ignores: bool, failed: int
) -> None:
    rule = FailureRule("Ignore" if ignores else "Count", conditions=DISRUPTED)
    w = lab(*nodes(2), policed("exit-0", rule, seconds=50, backoff_limit=0))
    w.until(3)
    w.strike(Drain(w.pod("work-a").node))
    w.settle()
    status = w.get("Job", "work").status
    assert (status.failed, status.conditions[-1].type) == (failed, "Complete" if ignores else "Failed")
    assert len(w.times("creates pod/work")) == (2 if ignores else 1)
    assert not any(pod.finalizers for pod in w.cluster.store.all("Pod"))


def test_ignored_failures_are_repeated_after_the_back_off(lab: Make, policed: Make, nodes: Make) -> None:
    w = lab(*nodes(1), policed("exit-1", FailureRule("Ignore", "In", (1,)), backoff_limit=0))
    w.until(40)
    assert w.times("creates pod/work") == [0, 11, 32]
    assert w.get("Job", "work").status.failed == 0


def test_a_stopped_pod_reports_the_code_of_the_signal(lab: Make, policed: Make, nodes: Make) -> None:
    w = lab(*nodes(2), policed("ready", FailureRule("FailJob", "In", (143,))))
    w.until(3)
    w.strike(Drain(w.pod("work-a").node))
    w.settle()
    assert w.get("Job", "work").status.conditions[-1].reason == "PodFailurePolicy"


def test_how_a_pod_ended_is_part_of_the_state_until_it_is_counted(lab: Make, policed: Make, nodes: Make) -> None:
    def state(code: int, *held: str) -> bytes:
        w = lab(*nodes(1), policed("ready", FailureRule("FailJob", "In", (1,)), suspend=True))
        w.put(Pod(name="a", phase="Failed", finalizers=held, exit_codes=(("main", code),)))
        return fingerprint(w.plane, w.cluster)

    assert state(1, JOB_TRACKING) != state(2, JOB_TRACKING)
    assert state(1) == state(2)


def test_a_resumed_job_starts_its_deadline_anew(lab: Make, work: Make, nodes: Make) -> None:
    w = lab(*nodes(), work(seconds=10_000, active_deadline=30))
    w.until(20)
    w.edit("Job", "work", suspend=True)
    w.until(25)
    w.edit("Job", "work", suspend=False)
    w.settle()
    assert w.get("Job", "work").status.started_at == 25
    assert w.times("marks job/work FailureTarget") == [55]
