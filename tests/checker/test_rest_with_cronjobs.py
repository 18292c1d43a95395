"""A loop is recognised although a CronJob waits for a moment far away, and its wait is no fault."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.checker import check


def cron_job(schedule: str) -> dict[str, Any]:
    pod = {"restartPolicy": "OnFailure", "containers": [{"name": "c", "image": "c:1"}]}
    spec = {"schedule": schedule, "jobTemplate": {"spec": {"template": {"spec": pod}}}}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "report"}, "spec": spec}


def killed_while_it_starts(build: Any) -> dict[str, Any]:
    made: dict[str, Any] = build.deployment(annotations={"reconverge/starts-after": "90"})
    probe = {"httpGet": {"port": 80}, "initialDelaySeconds": 10}
    made["spec"]["template"]["spec"]["containers"][0]["livenessProbe"] = probe
    made["spec"]["template"]["spec"]["containers"][0]["readinessProbe"] = probe
    return made


@pytest.mark.parametrize("schedule", ["0 3 1 * *", "0 3 * * *"])
def test_a_crash_loop_beside_a_rare_cronjob_is_found(build: Any, schedule: str) -> None:
    result = check(build.scenario(killed_while_it_starts(build), cron_job(schedule), events=0))
    assert [(each.invariant, each.object) for each in result.violated] == [("replicas-restored", "deployment/web")]
    assert result.exploration.steps < 3000


def test_a_rare_cronjob_alone_is_followed_to_its_runs(build: Any) -> None:
    result = check(build.scenario(build.deployment(), cron_job("0 3 1 * *"), events=0, start="empty"))
    assert {each.invariant: each.status for each in result.verdicts}["cronjob-runs"] == "held"
    assert result.coverage.actions["job Create"] > 0
