"""Jobs and CronJobs as they are written and dumped."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from reconverge.loading import Loaded
from reconverge.model.objects import CronJob, CronJobStatus, Job, Pod
from reconverge.model.objects.job import FailureRule, SuccessRule
from reconverge.model.schedule import EPOCH

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
    rules = """
podFailurePolicy:
  rules:
  - {action: FailJob, onExitCodes: {containerName: main, operator: NotIn, values: [0, 42]}}
  - {action: Ignore, onPodConditions: [{type: DisruptionTarget}, {type: Broken, status: "True"}]}
"""
    loaded = read_all(written(rules))
    (work,) = loaded.objects
    assert isinstance(work, Job)
    assert work.replacement == "Failed"
    assert work.failure_policy == (
        FailureRule("FailJob", "NotIn", (0, 42), "main"),
        FailureRule("Ignore", conditions=(("DisruptionTarget", "True"), ("Broken", "True"))),
    )
    assert [each.path for each in loaded.accounting.unsupported] == [
        "spec.podFailurePolicy.rules[1].onPodConditions[1].type"
    ]


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
        (CRON_JOB.replace("0 3 *", "0 25 *"), 'spec.schedule has the hour "25", which is not from 0 to 23'),
        (CRON_JOB.replace("0 3 *", "CRON_TZ=UTC 0 3 *"), "spec.schedule must not have TZ or CRON_TZ (use timeZone)"),
        (
            CRON_JOB.replace("spec:\n  s", "spec:\n  timeZone: Europe/Pariz\n  s"),
            'timeZone must be a time zone such as Europe/Paris, not "Europe/Pariz"',
        ),
        (CRON_JOB.replace("nightly\nspec", f"{'n' * 53}\nspec"), "name must have at most 52 letters for a CronJob"),
    ],
)
def test_what_the_api_server_refuses_is_refused(error_of: Read, text: str, said: str) -> None:
    assert said in error_of(text)


INDEXED = "completions: 3\ncompletionMode: Indexed\n"
POLICY = "podFailurePolicy: {rules: [%s]}"


def test_an_indexed_job_is_read_with_its_limits(read_all: Callable[[str], Loaded], written: Text) -> None:
    loaded = read_all(written(INDEXED + "backoffLimitPerIndex: 1\nmaxFailedIndexes: 2"))
    (work,) = loaded.objects
    assert isinstance(work, Job)
    assert (work.indexed, work.limit_per_index, work.most_failed_indexes) == (True, 1, 2)
    assert work.backoff_limit == 2**31 - 1
    assert loaded.accounting.unsupported == ()


def test_a_success_policy_names_indexes_or_a_number(read_one: Read, written: Text) -> None:
    rules = 'successPolicy: {rules: [{succeededIndexes: "0,2"}, {succeededCount: 2}]}'
    assert read_one(written(INDEXED + rules)).success_policy == (SuccessRule((0, 2)), SuccessRule(count=2))


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (POLICY % "{action: Ignore}", "rules[0] must have one of onExitCodes and onPodConditions"),
        (POLICY % "{action: Stop, onPodConditions: [{type: Ready}]}", "must be one of FailJob, FailIndex"),
        (POLICY % "{action: FailIndex, onPodConditions: [{type: Ready}]}", "requires backoffLimitPerIndex"),
        (POLICY % "{action: Count, onExitCodes: {operator: In, values: []}}", "values must have at least one"),
        (POLICY % "{action: Count, onExitCodes: {operator: In, values: [0]}}", "must not have 0"),
        (POLICY % "{action: Count, onExitCodes: {operator: In, values: ['1']}}", "must be whole numbers"),
        (
            POLICY % "{action: Count, onExitCodes: {containerName: man, operator: In, values: [1]}}",
            'must be one of the containers (main), not "man"',
        ),
        (POLICY % "", "rules must have at least one rule"),
        (
            POLICY % "{action: Count, onPodConditions: [{type: Ready}]}"
            + "\npodReplacementPolicy: TerminatingOrFailed",
            'must be "Failed" where a podFailurePolicy is set',
        ),
        ("backoffLimitPerIndex: 1", "backoffLimitPerIndex requires completionMode Indexed"),
        (INDEXED + "maxFailedIndexes: 1", "maxFailedIndexes requires backoffLimitPerIndex"),
        (INDEXED + "backoffLimitPerIndex: 1\nmaxFailedIndexes: 4", "must be at most 3, the number of completions"),
        ("successPolicy: {rules: [{succeededCount: 1}]}", "successPolicy requires completionMode Indexed"),
        (INDEXED + "successPolicy: {rules: [{}]}", "must have succeededIndexes or succeededCount"),
        (INDEXED + 'successPolicy: {rules: [{succeededIndexes: "1-3"}]}', "must be below 3"),
        (INDEXED + 'successPolicy: {rules: [{succeededIndexes: "1-x"}]}', 'indexes such as "0,2-4"'),
        (INDEXED + "successPolicy: {rules: [{succeededCount: 4}]}", "succeededCount must be at most 3"),
    ],
)
def test_a_policy_that_the_api_server_refuses_is_refused(error_of: Read, written: Text, spec: str, said: str) -> None:
    assert said in error_of(written(spec))


def test_policies_require_that_pods_are_never_restarted(error_of: Read, written: Text) -> None:
    policy = written(POLICY % "{action: Count, onPodConditions: [{type: Ready}]}")
    assert 'requires restartPolicy "Never"' in error_of(policy.replace("Policy: Never", "Policy: OnFailure"))
    limit = written(INDEXED + "backoffLimitPerIndex: 1")
    assert 'requires restartPolicy "Never"' in error_of(limit.replace("Policy: Never", "Policy: OnFailure"))


def test_a_dump_has_its_status_and_the_pods_not_counted_yet(read_all: Callable[[str], Loaded], written: Text) -> None:
    status = {
        "active": 1, "ready": 1, "succeeded": 2, "failed": 1, "startTime": "2024-05-01T10:00:00Z",
        "uncountedTerminatedPods": {"succeeded": ["u-9"], "failed": []},
        "completedIndexes": "0,2-4", "failedIndexes": "1",
        "conditions": [{"type": "Suspended", "status": "False", "reason": "JobResumed"}],
    }  # fmt: skip
    (work,) = read_all(f"{written()}status: {json.dumps(status)}\n").objects
    assert isinstance(work, Job)
    assert (work.status.active, work.status.succeeded, work.status.failed, work.status.started_at) == (1, 2, 1, 0)
    assert (work.status.completed_indexes, work.status.failed_indexes) == ((0, 2, 3, 4), (1,))
    assert len(work.status.uncounted_succeeded) == 1
    assert not work.status.uncounted_failed
    assert not work.status.finished


def test_a_cron_job_is_read_with_the_job_that_it_makes(read_all: Callable[[str], Loaded]) -> None:
    loaded = read_all(CRON_JOB)
    (nightly,) = loaded.objects
    assert isinstance(nightly, CronJob)
    assert (nightly.written, nightly.concurrency, nightly.job.backoff_limit) == ("0 3 * * *", "Forbid", 2)
    assert (nightly.successful_history, nightly.failed_history, nightly.starting_deadline) == (3, 1, None)
    assert dict(nightly.job.labels) == {"made": "nightly"}
    assert loaded.accounting.unsupported == ()
    assert (nightly.origin, nightly.offset, nightly.next_moment(0)) == (EPOCH, 0, 3 * 3600)


def test_the_pods_of_a_cron_job_end_unless_it_says_how_they_behave(read_one: Read) -> None:
    assert read_one(CRON_JOB).template.spec.behaviour.kind == "exit-0"
    told = "        metadata: {annotations: {reconverge/behaviour: ready}}\n        spec:\n          restart"
    assert read_one(CRON_JOB.replace("        spec:\n          restart", told)).template.spec.behaviour.kind == "ready"


@pytest.mark.parametrize(("made_by", "kind"), [("CronJob", "exit-0"), ("Batch", "ready")])
def test_the_dumped_jobs_of_a_cron_job_end_like_its_next_ones(
    read_all: Callable[[str], Loaded], made_by: str, kind: str
) -> None:
    owner = "ownerReferences: [{apiVersion: v1, kind: %s, name: %s, uid: %s, controller: true}]"
    plain = JOB.replace("    metadata: {annotations: {reconverge/behaviour: exit-0}}\n", "")
    job = plain.replace("name: work", f"name: work\n  uid: j-1\n  {owner % (made_by, 'nightly', 'c-1')}")
    pod = (
        f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: work-a\n  {owner % ('Job', 'work', 'j-1')}\n"
        "spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}\n"
    )
    made, running = read_all(f"{job}---\n{pod}").objects
    assert isinstance(made, Job)
    assert isinstance(running, Pod)
    assert (made.template.spec.behaviour.kind, running.spec.behaviour.kind) == (kind, kind)


def test_a_time_zone_is_as_far_ahead_as_at_the_start(read_one: Read) -> None:
    nightly = read_one(CRON_JOB.replace("spec:\n  s", "spec:\n  timeZone: Europe/Paris\n  s"))
    assert (nightly.offset, nightly.next_moment(0)) == (3600, 2 * 3600)


def test_the_calendar_of_a_dump_is_that_of_its_newest_time(read_all: Callable[[str], Loaded]) -> None:
    status = {
        "active": [{"kind": "Job", "name": "nightly-28500000", "uid": "u-1"}],
        "lastScheduleTime": "2024-07-01T03:00:00Z", "lastSuccessfulTime": "2024-06-30T03:00:10Z",
    }  # fmt: skip
    made = JOB.replace("name: work", 'name: nightly-1\n  creationTimestamp: "2024-07-01T03:00:40Z"')
    dumped = CRON_JOB.replace("spec:\n  s", "spec:\n  timeZone: Europe/Paris\n  s")
    nightly, _ = read_all(f"{dumped}status: {json.dumps(status)}\n---\n{made}").objects
    assert isinstance(nightly, CronJob)
    assert nightly.status == CronJobStatus(("nightly-28500000",), -40, -30 - 86400)
    assert nightly.offset == 7200
    assert nightly.next_moment(0) == 22 * 3600 - 40
