"""What CronJobs promise: their concurrencyPolicy, their history, and that they go on.

Source: `pkg/controller/cronjob/cronjob_controllerv2.go` (syncCronJob, cleanupFinishedJobs).
"""

from __future__ import annotations

from collections.abc import Iterable

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Quiet, Situation, Step
from reconverge.invariants.stock.facts import count, knew_better
from reconverge.invariants.stock.missing import why_missing
from reconverge.model.labels import label
from reconverge.model.objects import CronJob, Job
from reconverge.model.store import Change, Store

INSTANTIATED = "cronjob.kubernetes.io/instantiate"
"""Annotation of a Job that somebody has made of a CronJob by hand (kubectl create job --from)."""


def _of_new_job(situation: Situation, change: Change) -> Iterable[str]:
    """The CronJob of a Job that is made."""
    if change.kind != "Job" or change.before is not None:
        return ()
    owner = change.after.owner
    return (f"{change.after.namespace}/{owner.name}",) if owner is not None and owner.kind == "CronJob" else ()


@invariant(
    "cronjob-concurrency",
    "on_step",
    for_each="CronJob",
    family="law",
    statement="With concurrencyPolicy Forbid or Replace a CronJob never has two Jobs that run, and while it is "
    "suspended it makes none.",
    why="Two runs of work that excludes itself spoil each other's data.",
    remedy="See what the CronJob's status had as active.",
    source="pkg/controller/cronjob/cronjob_controllerv2.go (syncCronJob)",
    touched_by=_of_new_job,
    watches=("Job",),
)
def cronjob_concurrency(step: Step, cron: CronJob) -> Iterable[Violation]:
    """Judges each Job that the controller makes, by those that are there."""
    if step.actor != "cronjob":
        return ()
    (made,) = [each.after for each in step.changes if each.kind == "Job" and each.before is None]
    if cron.suspend:
        wrong = f"{cron.reference} makes {made.reference}, and it is suspended"
    else:
        others = [job for job in _unfinished(step.before.store, cron) if job.name != made.name]
        if cron.concurrency == "Allow" or not others:
            return ()
        wrong = f"{cron.reference} makes {made.reference} while {others[0].reference} is not finished, and its "
        wrong += f"concurrencyPolicy is {cron.concurrency}"
    facts = {"made": made.reference, "concurrencyPolicy": cron.concurrency}
    return (Violation(cron.reference, wrong, facts),) if knew_better(step) else ()


def _unfinished(store: Store, cron: CronJob) -> list[Job]:
    """The Jobs of a CronJob that are not finished, but for those that somebody has made by hand."""
    jobs = store.jobs_of(cron.uid)
    return [job for job in jobs if not job.status.finished and label(job.annotations, INSTANTIATED) is None]


@invariant(
    "cronjob-history",
    "eventually",
    for_each="CronJob",
    family="law",
    statement="A CronJob keeps no more finished Jobs than its history limits say.",
    why="Finished Jobs and their pods pile up and slow down every component.",
    remedy="See which Jobs were left; Jobs that it does not own are not its to delete.",
    source="pkg/controller/cronjob/cronjob_controllerv2.go (cleanupFinishedJobs)",
)
def cronjob_history(quiet: Quiet, cron: CronJob) -> Iterable[Violation]:
    """Counts what is left in the end."""
    if quiet.outcome == "unfinished" or cron.terminating:
        return ()
    jobs = quiet.store.jobs_of(cron.uid)
    for type_, most in (("Complete", cron.successful_history), ("Failed", cron.failed_history)):
        kept = sum(job.status.condition(type_) is not None for job in jobs)
        if kept > most:
            message = f"{cron.reference} has {count(kept, f'{type_} Job')}, and its history is {most}"
            return (Violation(cron.reference, message, {"kept": kept, "limit": most}),)
    return ()


@invariant(
    "cronjob-runs",
    "eventually",
    for_each="CronJob",
    statement="A CronJob that is not suspended goes on making Jobs: none waits for an earlier one for ever.",
    why="Work that is due every night is not done any more, and nothing says so.",
    remedy="Give its Jobs an activeDeadlineSeconds, or use concurrencyPolicy Replace; remove Nodes that are dead.",
    source="documentation of CronJobs (concurrency policy); pkg/controller/cronjob/cronjob_controllerv2.go",
    applies=lambda _, cron: not (cron.suspend or cron.terminating) and cron.next_moment(0) is not None,
)
def cronjob_runs(quiet: Quiet, cron: CronJob) -> Iterable[Violation]:
    """Broken by a Job that does not end while the policy forbids another one, and by a schedule without a run."""
    if quiet.outcome == "unfinished":
        return ()
    # What repeats itself, as a container that crashes again and again, is not followed to the next moment.
    if quiet.outcome == "rest" and cron.status.last_scheduled_at is None and not cron.status.active:
        return (Violation(cron.reference, f"{cron.reference} has never made a Job", {"schedule": cron.written}),)
    if cron.concurrency != "Forbid":
        return ()
    stuck = [job for job in _unfinished(quiet.store, cron) if job.name in cron.status.active]
    if not stuck:
        return ()
    pods = [pod for pod in quiet.store.pods_of(stuck[0].uid) if not pod.terminal]
    reasons = [why_missing(quiet.cluster, pod) for pod in pods]
    message = f"{cron.reference} makes no more Jobs: {stuck[0].reference} does not end, and concurrencyPolicy is Forbid"
    facts = {"active": [job.reference for job in stuck], "waiting": reasons}
    return (Violation(cron.reference, f"{message}{f'; {reasons[0]}' if reasons else ''}", facts),)
