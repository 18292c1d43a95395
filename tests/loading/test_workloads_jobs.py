"""Jobs and CronJobs as they are written and dumped."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from reconverge.loading import Loaded
from reconverge.model.objects import CronJob, Job

Text = Callable[..., str]
Read = Callable[[str], Any]

JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: work
spec:
  template:
    metadata: {annotations: {reconverge/behaviour: exit-0}}
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: busybox
"""
CRON_JOB = """\
apiVersion: batch/v1
kind: CronJob
metadata:
  name: nightly
spec:
  schedule: "0 3 * * *"
  concurrencyPolicy: Forbid
  jobTemplate:
    metadata: {labels: {made: nightly}}
    spec:
      backoffLimit: 2
      template:
        spec:
          restartPolicy: OnFailure
          containers:
          - name: main
            image: busybox
"""


@pytest.fixture
def written(deployment: Text) -> Text:
    """The text of a Job with lines added."""
    return lambda spec="", pod="": deployment(spec, pod, base=JOB)


def test_the_defaults_are_those_of_the_api_server(read_one: Read, written: Text) -> None:
    work = read_one(written())
    assert isinstance(work, Job)
    assert (work.parallelism, work.completions, work.backoff_limit) == (1, 1, 6)
    assert (work.replacement, work.suspend, work.active_deadline) == ("TerminatingOrFailed", False, None)
    assert work.selector.empty
    assert work.template.spec.behaviour.kind == "exit-0"


def test_parallelism_alone_makes_a_work_queue(read_one: Read, written: Text) -> None:
    work = read_one(written("parallelism: 3"))
    assert (work.parallelism, work.completions) == (3, None)
    work = read_one(written("completions: 5"))
    assert (work.parallelism, work.completions) == (1, 5)


def test_a_failure_policy_changes_what_is_replaced(read_all: Callable[[str], Loaded], written: Text) -> None:
    loaded = read_all(written("podFailurePolicy: {rules: [{action: Ignore}]}"))
    (work,) = loaded.objects
    assert isinstance(work, Job)
    assert work.replacement == "Failed"
    assert [each.path for each in loaded.accounting.unsupported] == ["spec.podFailurePolicy"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (JOB.replace("Never", "Always"), "restartPolicy must be OnFailure or Never for a Job"),
        (
            JOB.replace("      restartPolicy: Never\n", ""),
            "restartPolicy must be OnFailure or Never for a Job (it is Always where it is not given)",
        ),
        (
            JOB.replace("spec:\n  t", "spec:\n  completionMode: Indexed\n  parallelism: 1\n  t"),
            "completions is required",
        ),
        (JOB.replace("spec:\n  t", "spec:\n  manualSelector: true\n  t"), "selector is required with manualSelector"),
        (JOB.replace("spec:\n  t", "spec:\n  podReplacementPolicy: Always\n  t"), "TerminatingOrFailed, Failed"),
        (CRON_JOB.replace('  schedule: "0 3 * * *"\n', ""), "spec.schedule is required"),
        (CRON_JOB.replace("Forbid", "Never"), "must be one of Allow, Forbid, Replace"),
    ],
)
def test_what_the_api_server_refuses_is_refused(error_of: Read, text: str, said: str) -> None:
    assert said in error_of(text)


def test_an_indexed_job_is_read_without_its_numbers(read_all: Callable[[str], Loaded], written: Text) -> None:
    loaded = read_all(written("completions: 3\ncompletionMode: Indexed"))
    assert [each.path for each in loaded.accounting.unsupported] == ["spec.completionMode"]


def test_a_dump_has_its_status_and_the_pods_not_counted_yet(read_all: Callable[[str], Loaded], written: Text) -> None:
    status = {
        "active": 1, "ready": 1, "succeeded": 2, "failed": 1, "startTime": "2024-05-01T10:00:00Z",
        "uncountedTerminatedPods": {"succeeded": ["u-9"], "failed": []},
        "conditions": [{"type": "Suspended", "status": "False", "reason": "JobResumed"}],
    }  # fmt: skip
    (work,) = read_all(f"{written()}status: {json.dumps(status)}\n").objects
    assert isinstance(work, Job)
    assert (work.status.active, work.status.succeeded, work.status.failed, work.status.started_at) == (1, 2, 1, 0)
    assert len(work.status.uncounted_succeeded) == 1
    assert not work.status.uncounted_failed
    assert not work.status.finished


def test_a_cron_job_is_read_but_makes_no_jobs(read_all: Callable[[str], Loaded]) -> None:
    loaded = read_all(CRON_JOB)
    (nightly,) = loaded.objects
    assert isinstance(nightly, CronJob)
    assert (nightly.schedule, nightly.concurrency, nightly.job.backoff_limit) == ("0 3 * * *", "Forbid", 2)
    assert dict(nightly.job.labels) == {"made": "nightly"}
    assert [each.path for each in loaded.accounting.unsupported] == ["spec.schedule"]
