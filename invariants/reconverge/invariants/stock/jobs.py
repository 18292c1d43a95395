"""What Jobs promise: no more pods and failures than were agreed to, each pod counted once, and an end.

Source: `pkg/controller/job/job_controller.go` (manageJob, trackJobStatusAndRemoveFinalizers).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Quiet, Situation, Step
from reconverge.invariants.stock.facts import count, knew_better
from reconverge.invariants.stock.missing import why_missing
from reconverge.model.objects import Job, JobStatus, Pod
from reconverge.model.objects.job import JOB_TRACKING
from reconverge.model.parts import parts
from reconverge.model.store import Change

CAN_FINISH = frozenset({"exit-0", "exit-1", "crashes", "out-of-memory"})
"""Behaviours of containers that end, well or not."""


def _jobs_of_change(situation: Situation, change: Change) -> Iterable[str]:
    """A Job whose status changes, or that gets a new pod."""
    if change.kind == "Job":
        both = change.before is not None and change.after is not None
        return (change.key,) if both and change.before.status is not change.after.status else ()
    if change.kind != "Pod" or change.before is not None:
        return ()
    owner = change.after.owner
    return (f"{change.after.namespace}/{owner.name}",) if owner is not None and owner.kind == "Job" else ()


@invariant(
    "job-accounting",
    "on_step",
    for_each="Job",
    family="law",
    statement="A Job counts each finished pod once and forgets none, has no more active pods than it wants, and no "
    "more failures than backoffLimit + parallelism.",
    why="Work that is counted twice is missing in the end, and work that is forgotten is done again.",
    remedy="See which pods the counters were made of.",
    source="pkg/controller/job/job_controller.go (trackJobStatusAndRemoveFinalizers, manageJob)",
    touched_by=_jobs_of_change,
)
def job_accounting(step: Step, job: Job) -> Iterable[Violation]:
    """Judges the counters at every write of a status, and the number of pods at every creation of one."""
    if step.actor != "job":
        return ()
    found = []
    for change in step.changes:
        if change.kind == "Job" and change.before is not None and change.after is not None:
            found += [*_lost(change.before, change.after), *_counts(step, change.before, change.after)]
        elif change.kind == "Pod" and change.before is None and change.after.owner is not None:
            wrong = _too_many(step, change.after)
            found += [wrong] if wrong and knew_better(step) else []
    return [_violation(job, each) for each in found[:1]]


def _violation(job: Job, wrong: str) -> Violation:
    status = job.status
    facts = {"succeeded": status.succeeded, "failed": status.failed, "active": status.active}
    return Violation(job.reference, f"{job.reference} {wrong}", facts)


def _lost(before: Job, after: Job) -> Iterator[str]:
    """Counters that go down."""
    for name in ("succeeded", "failed"):
        was, now = getattr(before.status, name), getattr(after.status, name)
        if now < was:
            yield f"had {was} {name}, and now has {now}"


def _counts(step: Step, before: Job, after: Job) -> Iterator[str]:
    """Counts that no pod stands for, and failures beyond the limit."""
    pods = step.before.store.pods_of(after.uid)
    for name in ("succeeded", "failed"):
        was, now = _uncounted(before.status, name), _uncounted(after.status, name)
        more = getattr(after.status, name) - getattr(before.status, name)
        done = was - now
        if more > len(done):
            yield f"counts {more} more {name}, and {len(done)} noted before had ended"
        if any(pod.uid in done and JOB_TRACKING in pod.finalizers for pod in pods):
            yield f"counts {count(len(done), 'pod')} as {name} that it will count again"
        strange = (now - was) - {pod.uid for pod in pods if _is_to_be_counted(pod, name)}
        if strange and knew_better(step):
            yield f"notes {count(len(strange), 'pod')} as {name}, counted already or not {name}"
    failed = after.status.failed + len(after.status.uncounted_failed)
    most = after.backoff_limit + after.parallelism
    if failed > most and not _was_edited(step, after):
        yield f"has {failed} failed pods, and backoffLimit {after.backoff_limit} + parallelism allow {most}"


def _uncounted(status: JobStatus, name: str) -> frozenset[int]:
    return status.uncounted_succeeded if name == "succeeded" else status.uncounted_failed


def _is_to_be_counted(pod: Pod, name: str) -> bool:
    return JOB_TRACKING in pod.finalizers and (pod.phase == "Succeeded") == (name == "succeeded")


def _was_edited(step: Step, job: Job) -> bool:
    """Whether the Job's numbers may have been others when its pods were made."""
    start = step.before.start
    before = start.store.get("Job", job.key) if start is not None else None
    return job.generation != (before.generation if before is not None and before.uid == job.uid else 1)


def _too_many(step: Step, pod: Pod) -> str:
    """What is wrong with a pod that is made for a Job; empty if it is wanted."""
    job: Job | None = step.before.store.get("Job", f"{pod.namespace}/{pod.owner.name}") if pod.owner else None
    if job is None:
        return ""
    if job.status.finished or job.suspend:
        return f"gets {pod.reference}, and it {'is suspended' if job.suspend else 'has finished'}"
    pods = step.after.store.pods_of(job.uid)
    active = sum(each.active for each in pods)
    if active > job.parallelism:
        return f"gets {pod.reference} as active pod {active}, and its parallelism is {job.parallelism}"
    status = job.status
    new = sum(_is_to_be_counted(each, "succeeded") and each.uid not in status.uncounted_succeeded for each in pods)
    done = status.succeeded + len(status.uncounted_succeeded) + new
    if job.completions is not None and active + done > job.completions:
        return f"gets {pod.reference}, and {done} of {job.completions} have succeeded and {active} are active with it"
    return ""


@invariant(
    "job-completes",
    "eventually",
    for_each="Job",
    statement="A Job whose pods come to an end finishes: Complete, or Failed when its limits are passed.",
    why="What waits for the Job waits for ever, and its pods hold their resources.",
    remedy="Leave room for its pods; give it an activeDeadlineSeconds.",
    source="pkg/controller/job/job_controller.go; documentation of Jobs (termination and cleanup)",
    applies=lambda _, job: (
        not (job.suspend or job.terminating or job.template.spec.scheduling_gates)
        and job.parallelism > 0
        and any(part.behaviour.kind in CAN_FINISH for part in parts(job.template.spec) if part.role == "main")
    ),
)
def job_completes(quiet: Quiet, job: Job) -> Iterable[Violation]:
    """Says how far it has come, and what its pods wait for."""
    if quiet.outcome == "unfinished" or job.status.finished:
        return ()
    status = job.status
    wanted = "" if job.completions is None else f" of {job.completions}"
    pods = [pod for pod in quiet.store.pods_of(job.uid) if not pod.terminal]
    reasons = [why_missing(quiet.cluster, pod) for pod in pods]
    message = f"{job.reference} does not finish: {status.succeeded}{wanted} succeeded, {status.failed} failed"
    facts = {"succeeded": status.succeeded, "failed": status.failed, "waiting": reasons}
    return (Violation(job.reference, f"{message}{f'; {reasons[0]}' if reasons else ''}", facts),)
