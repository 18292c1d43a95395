"""Wrong rules of the Job controller for Indexed Jobs and for the policies of Jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from attrs import evolve

from reconverge.model.loop import Plan, Reading
from reconverge.model.loops.job import JobController
from reconverge.model.loops.job.failure_policy import COUNT, IGNORE
from reconverge.model.loops.job.indexes import Indexes, failures, first_pending, index_of, merged
from reconverge.model.loops.job.memory import JobMemory
from reconverge.model.loops.job.pass_ import Pass
from reconverge.model.objects import Job, Pod

Case = Mapping[str, Any]


class TakesIndexesTwice(JobController):
    """All pods of a batch are given the same index, and may keep it."""

    def next_indexes(self, work: Pass, count: int) -> Indexes:
        return super().next_indexes(work, count)[:1] * count

    def due_indexes(self, work: Pass, indexes: Indexes, ended: Any) -> tuple[Indexes, float | None]:
        return indexes, None

    def to_remove(self, work: Pass, least: int, reading: Reading) -> list[Pod]:
        return work.active[:least]


class DoesIndexesAgain(JobController):
    """An index that is done is begun again."""

    def next_indexes(self, work: Pass, count: int) -> Indexes:
        return first_pending(work.job, {index_of(pod) or 0 for pod in work.active}, count)


class AnyEndIsDone(JobController):
    """An index is called done when its pod has ended, however it has ended."""

    def decide(self, work: Pass, *rest: Any) -> float | None:
        work.completed = merged(work.job, work.completed, [pod for pod in work.tracked if pod.terminal])
        work.succeeded = len(work.completed)
        return super().decide(work, *rest)


class CountsPods(JobController):
    """The successes of an Indexed Job are one more than its indexes that are done."""

    def decide(self, work: Pass, *rest: Any) -> float | None:
        again = super().decide(work, *rest)
        if work.new_succeeded:
            work.completed = (*work.completed, *work.completed[-1:])
        return again


class GivesUpLate(JobController):
    """An index is tried once more than its own limit says."""

    def index_has_failed(self, pod: Pod, job: Job) -> bool:
        return failures(pod)[0] > (job.limit_per_index or 0)


class GoesOnAfterFailJob(JobController):
    """A failure that is to end the Job only counts."""

    def fails_job(self, work: Pass) -> bool:
        return False


class CountsIgnored(JobController):
    """A failure that is to be ignored counts."""

    def action_on(self, pod: Pod, job: Job) -> str:
        action = super().action_on(pod, job)
        return COUNT if action == IGNORE else action


class Other(JobController):
    """Takes the Job for another one; `other` says which."""

    def other(self, job: Job) -> Job:
        raise NotImplementedError

    def sync(self, reading: Reading, memory: JobMemory, key: str) -> Sequence[Plan[JobMemory]]:
        job = reading.store.get("Job", key)
        if job is not None and not job.status.finished:
            reading = evolve(reading, store=reading.store.put(self.other(job))[0])
        return super().sync(reading, memory, key)


class ReplacesAtOnce(Other):
    """A terminating pod is replaced though only failed ones are to be."""

    def other(self, job: Job) -> Job:
        return job.with_(replacement="TerminatingOrFailed")


class NeverSuspends(Other):
    """A suspended Job gets pods."""

    def other(self, job: Job) -> Job:
        return job.with_(suspend=False)


def job(behaviour: str, annotations: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "shop/task:1", "resources": {"requests": {"cpu": "500m"}}}
    metadata = {"labels": {"app": "task"}, "annotations": {"reconverge/behaviour": behaviour, **(annotations or {})}}
    template = {"metadata": metadata, "spec": {"containers": [container], "restartPolicy": "Never"}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "task"},
        "spec": {"template": template, **spec},
    }


def rule(action: str, **of: Any) -> dict[str, Any]:
    return {"rules": [{"action": action, **of}]}


CODE = {"onExitCodes": {"operator": "In", "values": [1]}}
DISRUPTED = {"onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
AT_ONCE: Case = {"nodes": "1x4cpu,16Gi", "start": "empty", "trace": [], "caught": "job-accounting"}
DRAIN: Case = {
    "nodes": "2x4cpu,16Gi",
    "may": {"drain": 1},
    "trace": ["drain node-1"],
    "caught": "job-accounting",
}
INDEXED: Case = {"completionMode": "Indexed", "completions": 3}

CASES: list[Case] = [
    {"wrong": TakesIndexesTwice, "objects": [job("exit-0", parallelism=2, **INDEXED)], **AT_ONCE},
    {"wrong": DoesIndexesAgain, "objects": [job("exit-0", **INDEXED)], **AT_ONCE},
    {"wrong": AnyEndIsDone, "objects": [job("exit-1", backoffLimit=0, **INDEXED)], **AT_ONCE},
    {"wrong": CountsPods, "objects": [job("exit-0", **INDEXED)], **AT_ONCE},
    {"wrong": GivesUpLate, "objects": [job("exit-1", backoffLimitPerIndex=0, **INDEXED)], **AT_ONCE},
    {"wrong": GoesOnAfterFailJob, "objects": [job("exit-1", podFailurePolicy=rule("FailJob", **CODE))], **AT_ONCE},
    {"wrong": CountsIgnored, "objects": [job("ready", podFailurePolicy=rule("Ignore", **DISRUPTED))], **DRAIN},
    {
        "wrong": ReplacesAtOnce,
        "objects": [job("ready", {"reconverge/stops-after": "20"}, podReplacementPolicy="Failed")],
        **DRAIN,
    },
    {"wrong": NeverSuspends, "objects": [job("exit-0", suspend=True)], **AT_ONCE},
]


@pytest.mark.parametrize("case", CASES)
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
