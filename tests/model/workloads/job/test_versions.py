"""What a Job's end and the replacement of its pods were before they were as they are now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.events.pods import PodDeleted
from reconverge.model.objects import Behaviour
from reconverge.model.rules import Rules

Make = Callable[..., Any]


def conditions(w: Any) -> list[str]:
    return [each.type for each in w.get("Job", "work").status.conditions if each.status == "True"]


@pytest.mark.parametrize(("version", "told"), [("1.30", ["Complete"]), ("1.31", ["SuccessCriteriaMet", "Complete"])])
def test_the_interim_condition_came_with_1_31(
    lab: Make, work: Make, nodes: Make, version: str, told: list[str]
) -> None:
    w = lab(*nodes(), work(), rules=Rules.for_version(version))
    w.settle()
    assert conditions(w) == told
    assert not any(pod.finalizers for pod in w.cluster.store.all("Pod"))


@pytest.mark.parametrize(("version", "failed_at"), [("1.30", 5), ("1.31", 25)])
def test_a_job_past_its_deadline_has_failed_before_its_pods_have_ended_until_1_31(
    lab: Make, work: Make, nodes: Make, version: str, failed_at: float
) -> None:
    job = work(seconds=10_000, active_deadline=5)
    slow = Behaviour("exit-0", exits_after=10_000, stops_after=20)
    job = job.with_(template=job.template.with_(spec=job.template.spec.with_(behaviour=slow, termination_grace=30)))
    w = lab(*nodes(), job, rules=Rules.for_version(version))
    w.settle()
    assert w.times("marks job/work Failed") == [failed_at]
    assert conditions(w)[-1] == "Failed"


@pytest.mark.parametrize(("version", "made"), [("1.28", 2), ("1.29", 1)])
def test_only_replacing_failed_pods_is_known_since_1_29(
    lab: Make, work: Make, nodes: Make, version: str, made: int
) -> None:
    job = work(seconds=10_000, replacement="Failed")
    slow = Behaviour("exit-0", exits_after=10_000, stops_after=20)
    job = job.with_(template=job.template.with_(spec=job.template.spec.with_(behaviour=slow, termination_grace=30)))
    w = lab(*nodes(), job, rules=Rules.for_version(version))
    w.until(100)
    w.strike(PodDeleted("job/work#0"))
    w.until(115)
    assert len(w.times("creates pod/work")) == made
