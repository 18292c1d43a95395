"""Wrong rules of the CronJob controller."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from reconverge.model.loops.cronjob import CronJobController
from reconverge.model.loops.cronjob.pass_ import Pass
from reconverge.model.objects import CronJob, Job

Case = Mapping[str, Any]


class ForbidsNothing(CronJobController):
    """A Job is made though an earlier one is active and the policy is Forbid."""

    def is_blocked(self, work: Pass) -> bool:
        return False


class ForgetsToReplace(CronJobController):
    """A Job is made beside the one that it is to replace."""

    def replaced(self, work: Pass) -> list[Job]:
        return []


class NeverSuspended(CronJobController):
    """Jobs are made while the CronJob is suspended."""

    def suspended(self, cron: CronJob) -> bool:
        return False


class KeepsAll(CronJobController):
    """Finished Jobs are never deleted."""

    def surplus(self, jobs: list[Job], kept: int) -> list[Job]:
        return []


class BlockedByAll(CronJobController):
    """With Forbid any earlier Job that is still there keeps back the next, a finished one too."""

    def is_blocked(self, work: Pass) -> bool:
        return work.cron.concurrency == "Forbid" and bool(work.jobs)

    def make(self, work: Pass, moment: float) -> None:
        """Nothing is made at all."""


def cron_job(behaviour: str, name: str = "tick", **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "shop/task:1", "resources": {"requests": {"cpu": "500m"}}}
    metadata = {"annotations": {"reconverge/behaviour": behaviour}}
    template = {"metadata": metadata, "spec": {"containers": [container], "restartPolicy": "Never"}}
    given = {"schedule": "*/10 * * * *", "jobTemplate": {"spec": {"template": template}}, **spec}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": name}, "spec": given}


START: Case = {"nodes": "1x4cpu,16Gi", "start": "empty", "trace": []}

CASES: list[Case] = [
    {
        "wrong": ForgetsToReplace,
        "caught": "cronjob-concurrency",
        "objects": [cron_job("ready", concurrencyPolicy="Replace")],
        **START,
    },
    {
        "wrong": NeverSuspended,
        "caught": "cronjob-concurrency",
        "objects": [cron_job("exit-0", suspend=True), cron_job("exit-0", "tock")],
        **START,
    },
    {"wrong": KeepsAll, "caught": "cronjob-history", "objects": [cron_job("exit-0")], **START},
    {
        "wrong": BlockedByAll,
        "caught": "cronjob-runs",
        "objects": [cron_job("exit-0", concurrencyPolicy="Forbid")],
        **START,
    },
    {
        "wrong": ForbidsNothing,
        "caught": "cronjob-concurrency",
        "objects": [cron_job("exit-0", concurrencyPolicy="Forbid")],
        "nodes": "1x4cpu,16Gi",
        "may": {"cordon": 1},
        "trace": ["cordon node-1"],
    },
]


@pytest.mark.parametrize("case", CASES)
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
