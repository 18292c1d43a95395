"""What Jobs promise: no more pods and failures than were agreed to, each pod counted once, and an end.

Source: `pkg/controller/job/job_controller.go` (manageJob, trackJobStatusAndRemoveFinalizers).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.relations import promised_to
from reconverge.invariants.situation import Quiet, Situation, Step
from reconverge.invariants.stock.facts import count, knew_better
from reconverge.invariants.stock.job_pods import why_unwanted
from reconverge.invariants.stock.missing import why_missing
from reconverge.model.loops.job.failure_policy import IGNORE, action_on
from reconverge.model.loops.job.indexes import index_of
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
    statement="A Job counts each finished pod and each index once and forgets none, has no more active pods than it "
    "wants, one per index, no more failures than backoffLimit + parallelism, and keeps to its failure policy.",
    why="Work that is counted twice is missing in the end, and work that is forgotten is done again.",
    remedy="See which pods the counters were made of.",
    source="pkg/controller/job/job_controller.go (trackJobStatusAndRemoveFinalizers, manageJob)",
    touched_by=_jobs_of_change,
    watches=(
        "Job",
        "Pod",
    ),
)
def job_accounting(step: Step, job: Job) -> Iterable[Violation]:
    """Judges the counters at every write of a status, and the number of pods at every creation of one."""
    if step.actor != "job":
        return ()
    found = []
    for change in step.changes:
        if change.kind == "Job" and change.before is not None and change.after is not None:
            found += [*_lost(step, change.before, change.after), *_counts(step, change.before, change.after)]
            found += _indexes(step, change.before, change.after) if change.after.indexed else ()
        elif change.kind == "Pod" and change.before is None and change.after.owner is not None:
            wrong = why_unwanted(step, change.after)
            found += [wrong] if wrong and knew_better(step) else []
    return [_violation(job, each) for each in found[:1]]


def _violation(job: Job, wrong: str) -> Violation:
    status = job.status
    facts = {"succeeded": status.succeeded, "failed": status.failed, "active": status.active}
    return Violation(promised_to(job), f"{job.reference} {wrong}", facts)


def _lost(step: Step, before: Job, after: Job) -> Iterator[str]:
    """Counters that go down. Fewer completions have fewer indexes that are done."""
    fewer = after.indexed and _was_edited(step, after)
    for name in ("failed",) if fewer else ("succeeded", "failed"):
        was, now = getattr(before.status, name), getattr(after.status, name)
        if now < was:
            yield f"had {was} {name}, and now has {now}"


def _counts(step: Step, before: Job, after: Job) -> Iterator[str]:
    """Counts that no pod stands for, and failures beyond the limit."""
    pods = step.before.store.pods_of(after.uid)
    # Before pods were tracked none was noted: what is left to be judged is that no count goes down.
    for name in ("succeeded", "failed") if step.before.cluster.rules.job_pods_tracked else ():
        was, now = _uncounted(before.status, name), _uncounted(after.status, name)
        more = getattr(after.status, name) - getattr(before.status, name)
        done = was - now
        if more > len(done) and not (after.indexed and name == "succeeded"):
            yield f"counts {more} more {name}, and {len(done)} noted before had ended"
        if any(pod.uid in done and JOB_TRACKING in pod.finalizers for pod in pods):
            yield f"counts {count(len(done), 'pod')} as {name} that it will count again"
        strange = (now - was) - {pod.uid for pod in pods if _is_to_be_counted(after, pod, name)}
        if strange and knew_better(step):
            yield f"notes {count(len(strange), 'pod')} as {name}, counted already or not {name}"
    failed = after.status.failed + len(after.status.uncounted_failed)
    most = after.backoff_limit + after.parallelism
    if failed > most and not _was_edited(step, after):
        yield f"has {failed} failed pods, and backoffLimit {after.backoff_limit} + parallelism allow {most}"


def _uncounted(status: JobStatus, name: str) -> frozenset[int]:
    return status.uncounted_succeeded if name == "succeeded" else status.uncounted_failed


def _is_to_be_counted(job: Job, pod: Pod, name: str) -> bool:
    if JOB_TRACKING not in pod.finalizers or (pod.phase == "Succeeded") != (name == "succeeded"):
        return False
    return pod.phase == "Succeeded" or action_on(job.failure_policy, pod) != IGNORE


def _indexes(step: Step, before: Job, after: Job) -> Iterator[str]:
    """Indexes that are called done though no pod of theirs has succeeded, or counted otherwise than once."""
    done, new = after.status.completed_indexes, {*after.status.completed_indexes} - {*before.status.completed_indexes}
    if after.status.succeeded != len(done):
        indexes = count(len(done), "finished index", "finished indexes")
        yield f"counts {after.status.succeeded} succeeded, and has {indexes}"
    pods = step.before.store.pods_of(after.uid)
    new -= {index for pod in pods if pod.phase == "Succeeded" and (index := index_of(pod)) is not None}
    if new and knew_better(step):
        yield f"calls index {min(new)} done, and no pod of it has succeeded"


def _was_edited(step: Step, job: Job) -> bool:
    """Whether the Job's numbers may have been others when its pods were made."""
    start = step.before.start
    before = start.store.get("Job", job.key) if start is not None else None
    return job.generation != (before.generation if before is not None and before.uid == job.uid else 1)


@invariant(
    "job-completes",
    "eventually",
    for_each="Job",
    statement="A Job whose pods come to an end finishes: Complete, or Failed when its limits are passed.",
    why="What waits for the Job waits for ever, and its pods hold their resources.",
    remedy="Leave room for its pods; give it an activeDeadlineSeconds; remove Nodes that are dead.",
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
    return (Violation(promised_to(job), f"{message}{f'; {reasons[0]}' if reasons else ''}", facts),)


@invariant(
    "job-succeeds",
    "eventually",
    for_each="Job",
    statement="A Job whose pods end well, where they are let run to their end, does not fail.",
    why="Work is given up although nothing is wrong with it: a drain or a dead node was counted as its failure.",
    remedy="Ignore the condition DisruptionTarget in a podFailurePolicy, or raise backoffLimit.",
    source="documentation of Jobs (pod failure policy, handling pod failures)",
    applies=lambda _, job: job.template.spec.behaviour.kind == "exit-0" and job.active_deadline is None,
)
def job_succeeds(quiet: Quiet, job: Job) -> Iterable[Violation]:
    """Judges those that have failed since the start; which failures have done it is told by the reason."""
    failed = job.status.condition("Failed")
    start = quiet.after.start.store.get("Job", job.key) if quiet.after.start is not None else None
    if failed is None or (start is not None and start.status.condition("Failed") is not None):
        return ()
    message = f"{job.reference} has failed ({failed.reason}), and its pods end well"
    return (Violation(promised_to(job), message, {"reason": failed.reason, "failed": job.status.failed}),)
