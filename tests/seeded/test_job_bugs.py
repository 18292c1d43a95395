"""Wrong rules of the Job controller."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from attrs import evolve

from reconverge.model.action import Action
from reconverge.model.loop import Plan, Reading
from reconverge.model.loops.job import JobController
from reconverge.model.loops.job.memory import JobMemory
from reconverge.model.loops.job.pass_ import Pass
from reconverge.model.loops.job.status import UpdateJobStatus
from reconverge.model.loops.pod_writes import RemoveFinalizer
from reconverge.model.objects import JobStatus, Pod

Case = Mapping[str, Any]


class LimitTooHigh(JobController):
    """A Job goes on for two failures more than its backoffLimit says."""

    def exceeds_backoff_limit(self, work: Pass) -> bool:
        return work.failed > work.job.backoff_limit + 2


class OneTooMany(JobController):
    """Until the first success one pod more than the parallelism is active."""

    def wanted(self, work: Pass) -> int:
        return super().wanted(work) + (work.succeeded == 0)


class OneOfDoneForgotten(JobController):
    """One of the pods that have succeeded is not taken off from what is wanted."""

    def wanted(self, work: Pass) -> int:
        return min((work.job.completions or 0) - work.succeeded + 1, work.job.parallelism)


class NeverComplete(JobController):
    """A Job whose pods have succeeded is not called Complete."""

    def completed(self, work: Pass) -> bool:
        return False


class OtherStatus(JobController):
    """A controller that writes other counters than it should; `counts` says which, of the right ones."""

    def counts(self, reading: Reading, key: str, status: JobStatus) -> JobStatus:
        raise NotImplementedError

    def sync(self, reading: Reading, memory: JobMemory, key: str) -> Sequence[Plan[JobMemory]]:
        plans = super().sync(reading, memory, key)
        return [plan.with_(actions=self.changed(reading, key, plan.actions)) for plan in plans]

    def changed(self, reading: Reading, key: str, actions: tuple[Action, ...]) -> tuple[Action, ...]:
        changed: list[Action] = []
        seen: JobStatus | None = None
        for each in actions:
            if isinstance(each, UpdateJobStatus):
                after = self.counts(reading, key, each.after)
                each = evolve(each, seen=seen if seen is not None else each.seen, after=after)
                seen = after
            changed.append(each)
        return tuple(changed)

    def pods(self, reading: Reading, key: str) -> list[Pod]:
        job = reading.store.get("Job", key)
        return reading.store.pods_of(job.uid)


class CountsWhatIsThere(OtherStatus):
    """The successes are the finished pods that are still there, as before they were tracked by finalizers."""

    def counts(self, reading: Reading, key: str, status: JobStatus) -> JobStatus:
        there = sum(pod.phase == "Succeeded" for pod in self.pods(reading, key))
        return status.with_(succeeded=there, uncounted_succeeded=frozenset())


class NotesAnyEnd(OtherStatus):
    """Finished pods are noted as failed, however they have ended."""

    def counts(self, reading: Reading, key: str, status: JobStatus) -> JobStatus:
        return status.with_(
            uncounted_succeeded=frozenset(), uncounted_failed=status.uncounted_failed | status.uncounted_succeeded
        )


class CountsAgain(JobController):
    """A pod keeps its finalizer when it has been counted, and is counted at every pass."""

    def sync(self, reading: Reading, memory: JobMemory, key: str) -> Sequence[Plan[JobMemory]]:
        (plan,) = super().sync(reading, memory, key)
        kept = tuple(each for each in plan.actions if not isinstance(each, RemoveFinalizer))
        return (plan.with_(actions=kept, memory=plan.memory.with_(removing=memory.removing)),)


def job(behaviour: str, **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "shop/task:1", "resources": {"requests": {"cpu": "500m"}}}
    metadata = {"labels": {"app": "task"}, "annotations": {"reconverge/behaviour": behaviour}}
    template = {"metadata": metadata, "spec": {"containers": [container], "restartPolicy": "Never"}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "task"},
        "spec": {"template": template, **spec},
    }


AT_ONCE: Case = {"nodes": "1x4cpu,16Gi", "start": "empty", "trace": []}
TWO: Case = {"objects": [job("exit-0", completions=2)], **AT_ONCE}

CASES: list[Case] = [
    {
        "wrong": LimitTooHigh,
        "caught": "job-accounting",
        "objects": [job("exit-1", backoffLimit=1)],
        **AT_ONCE,
    },
    {"wrong": OneTooMany, "caught": "job-accounting", **TWO},
    {
        "wrong": OneOfDoneForgotten,
        "caught": "job-accounting",
        "objects": [job("exit-0", completions=3, parallelism=2)],
        **AT_ONCE,
    },
    {"wrong": CountsWhatIsThere, "caught": "job-accounting", **TWO},
    {"wrong": NotesAnyEnd, "caught": "job-accounting", **TWO},
    {"wrong": CountsAgain, "caught": "job-accounting", **TWO},
    {"wrong": NeverComplete, "caught": "job-completes", **TWO},
]


@pytest.mark.parametrize("case", CASES)
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
