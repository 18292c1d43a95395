"""The Job controller's pass: whether the Job ends, how many pods it needs, and what is counted.

Source: `pkg/controller/job/job_controller.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from reconverge.model.action import Action, Create, Delete
from reconverge.model.errors import ApiError
from reconverge.model.likeness import At
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.loops import expectations
from reconverge.model.loops.job.backoff import Backoff
from reconverge.model.loops.job.failure_policy import IGNORE
from reconverge.model.loops.job.index_rules import IndexRules
from reconverge.model.loops.job.memory import JobMemory
from reconverge.model.loops.job.pass_ import Pass
from reconverge.model.loops.job.status import (
    COMPLETIONS_REACHED,
    SUCCESS_CRITERIA_MET,
    SUSPENDED,
    UpdateJobStatus,
    finished_since,
    with_condition,
)
from reconverge.model.loops.owned_pods import claimed, woken_by_pod
from reconverge.model.loops.pod_writes import RemoveFinalizer
from reconverge.model.objects import Condition, Job, Pod
from reconverge.model.objects.job import JOB_TRACKING
from reconverge.model.store import Change, Store
from reconverge.model.value import Seconds

MOST_PER_PASS = 500
"""Most pods created or deleted in one pass (MaxPodCreateDeletePerSync)."""
ORPHAN = "Pod|"
"""Begins the key of a pod whose Job is gone."""


class JobController(IndexRules, ControlLoop[JobMemory]):
    """Runs pods to their end and counts them through finalizers. Keys are Jobs, and `Pod|key` for pods left over."""

    name = "job"
    watches = frozenset({"Job", "Pod"})
    guarded = True
    source = "pkg/controller/job/job_controller.go"

    # Waking --------------------------------------------------------------------------------------------------

    def start(self) -> JobMemory:
        """Nothing expected, no back-off: failures before a restart are not waited for."""
        return JobMemory()

    def relist(self, reading: Reading) -> Iterable[str]:
        """All Jobs, and pods with the finalizer whose Job is not there."""
        yield from sorted(reading.store.table("Job").objects)
        for pod in reading.store.all("Pod"):
            if left_over(reading.store, pod):
                yield ORPHAN + pod.key

    def observe(self, memory: JobMemory, change: Change, reading: Reading) -> tuple[JobMemory, Iterable[str]]:
        """A Job wakes itself, and with its removal its pods; a pod its owner."""
        if change.kind == "Job":
            if change.after is not None:
                return memory, (change.key,)
            pods = reading.store.pods_of(change.before.uid)
            left = [ORPHAN + pod.key for pod in pods if JOB_TRACKING in pod.finalizers]
            return memory.without(change.key), (change.key, *left)
        keys = woken_by_pod("Job", change, reading)
        if change.after is not None and left_over(reading.store, change.after):
            keys = (*keys, ORPHAN + change.key)
        return self.seen(memory, change), keys

    def seen(self, memory: JobMemory, change: Change) -> JobMemory:
        """The memory after a pod change: creations, deletions and removals of finalizers that are now in view."""
        expected = expectations.lowered(memory.expected, "Job", change)
        removing = memory.removing
        pod: Pod = change.object
        if pod.owner is not None and pod.owner.kind == "Job" and removing:
            key = f"{pod.namespace}/{pod.owner.name}"
            if pod.uid in removing.get(key, ()) and (change.after is None or JOB_TRACKING not in pod.finalizers):
                left = removing[key] - {pod.uid}
                removing = removing.set(key, left) if left else removing.delete(key)
        if expected is memory.expected and removing is memory.removing:
            return memory
        return memory.with_(expected=expected, removing=removing)

    def failed(self, memory: JobMemory, action: Action, error: ApiError) -> JobMemory:
        """A refused write ends the pass: what was to follow it is not expected."""
        if isinstance(action, UpdateJobStatus):
            key = action.job.key
            memory = memory.with_(refused=memory.refused.set(key, action.job.revision))
            return memory if action.undo is None else memory.noting(key, *action.undo)
        expected = expectations.withdrawn(memory.expected, action)
        return memory if expected is memory.expected else memory.with_(expected=expected)

    # A pass --------------------------------------------------------------------------------------------------

    def sync(self, reading: Reading, memory: JobMemory, key: str) -> Sequence[Plan[JobMemory]]:
        """One pass for a Job, or for a pod without one; there is no choice in it."""
        if key.startswith(ORPHAN):
            return (self.release(reading, memory, key.removeprefix(ORPHAN)),)
        job: Job | None = reading.store.get("Job", key)
        if job is None:
            return (Plan(memory.without(key)),)
        if job.status.finished:
            return (self.clean_up(reading, memory.without(key), job),)
        if memory.refused.get(key) == job.revision:
            return (Plan(memory, note="waits for a newer version of the Job"),)
        pods, claims = claimed(reading, job)
        removing = memory.removing.get(key, frozenset())
        if not reading.rules.job_replacement_policy:
            job = job.with_(replacement="TerminatingOrFailed")
        failed = [pod for pod in pods if self.counts_as_failed(pod, job)]
        ignored = frozenset(pod.uid for pod in failed if self.action_on(pod, job) == IGNORE)
        work = Pass(reading, job, pods, failed, removing, ignored)
        ended = self.note_indexes(work, dict(memory.ended.get(key, ())))
        if job.status.started_at is None and not job.suspend:
            work.started_at = reading.now
        before = memory.backoffs.get(key, Backoff())
        backoff = before.after(work.new_succeeded, work.new_failed, reading.now)
        satisfied = expectations.satisfied(memory.expected, key, reading)
        if job.limit_per_index is not None:
            # Each index has a back-off of its own.
            backoff = Backoff()
        again = self.decide(work, backoff, satisfied, reading, ended)
        managed = tuple(work.actions)
        work.track((before, removing | {pod.uid for pod in work.removed}))
        expected = memory.expected
        if satisfied:
            expected = expectations.expecting(expected, key, managed, reading)
        removing = removing | {pod.uid for pod in work.removed}
        after = memory.with_(expected=expected, refused=memory.refused.discard(key))
        after = after.noting(key, backoff, removing).keeping(key, ended)
        return (Plan(after, (*claims, *work.actions), again),)

    def decide(
        self, work: Pass, backoff: Backoff, satisfied: bool, reading: Reading, ended: dict[int, Seconds]
    ) -> Seconds | None:
        """Ends the Job or brings its pods to the number wanted; when to look again."""
        work.finish = self.ending(work)
        if work.finish is not None:
            work.delete_active(f"the Job ends ({work.finish.reason})")
            if not satisfied:
                # Pods may be missing in the view: the end is declared when all are seen.
                work.finish = None
            return None
        again = None
        if satisfied and not work.job.terminating:
            again = self.manage(work, backoff, reading, ended)
        if self.completed(work):
            work.finish = Condition(SUCCESS_CRITERIA_MET, "True", COMPLETIONS_REACHED)
        elif satisfied:
            self.note_suspension(work)
        deadline = self.deadline(work)
        return min((at for at in (again, deadline) if at is not None and at > work.now), default=None)

    def note_suspension(self, work: Pass) -> None:
        """The Suspended condition. A resumed Job starts its deadline anew."""
        suspended = work.job.suspend
        condition = Condition(
            SUSPENDED, "True" if suspended else "False", "JobSuspended" if suspended else "JobResumed"
        )
        after = with_condition(work.conditions, condition, work.now)
        if after != work.conditions and not suspended:
            work.started_at = work.now
        work.conditions = after

    def manage(self, work: Pass, backoff: Backoff, reading: Reading, ended: dict[int, Seconds]) -> Seconds | None:
        """Deletes or creates, never both in one pass; when a back-off that is waited for ends (manageJob)."""
        job, active = work.job, len(work.active)
        if job.suspend:
            work.delete_uncounted(self.to_remove(work, active, reading), "the Job is suspended")
            return None
        wanted = self.wanted(work)
        surplus = self.to_remove(work, max(0, active - wanted), reading)[:MOST_PER_PASS]
        if surplus:
            reason = f"{wanted} wanted, {active} active" if active > wanted else "no index is left for it"
            work.delete_uncounted(surplus, reason)
            return None
        missing = wanted - active - (work.terminating if job.replacement == "Failed" else 0)
        if missing <= 0:
            return None
        due = self.retry_at(backoff)
        if due is not None and due > work.now:
            return due
        missing = min(missing, MOST_PER_PASS)
        reason = f"{wanted} wanted, {active} active"
        if job.indexed:
            indexes, due = self.due_indexes(work, self.next_indexes(work, missing), ended)
            made = [self.pod_of_index(work, index) for index in indexes]
        else:
            made = [self.new_pod(job)] * missing
        if not reading.rules.job_pods_tracked:
            made = [pod.with_(finalizers=()) for pod in made]
        work.actions += [Create(pod, reason) for pod in made]
        work.active_left += len(made)
        return due

    # Afterwards ----------------------------------------------------------------------------------------------

    def clean_up(self, reading: Reading, memory: JobMemory, job: Job) -> Plan[JobMemory]:
        """A finished Job is left as it is until ttlSecondsAfterFinished has passed.

        Source: `pkg/controller/ttlafterfinished/ttlafterfinished_controller.go`, a controller of its own.
        """
        since = finished_since(job)
        if job.ttl_after_finished is None or since is None:
            return Plan(memory)
        due = since + job.ttl_after_finished
        if due > reading.now:
            return Plan(memory, requeue_at=due)
        return Plan(memory, (Delete("Job", job.key, job.uid, "its ttlSecondsAfterFinished has passed"),))

    def release(self, reading: Reading, memory: JobMemory, key: str) -> Plan[JobMemory]:
        """Takes the finalizer from a pod whose Job is gone (syncOrphanPod)."""
        pod = reading.store.pod(key)
        if pod is None or not left_over(reading.store, pod):
            return Plan(memory)
        return Plan(memory, (RemoveFinalizer(pod.key, pod.uid, JOB_TRACKING, "its Job is gone"),))

    def marks(self, memory: JobMemory, reading: Reading) -> Iterable[tuple[str, str, Any]]:
        """Unsatisfied expectations, failures with the time of a back-off that runs, and pods between two counts."""
        for key, expected in memory.expected.items():
            if not expected.satisfied(reading.now):
                yield "Job", key, ("expects", expected.creations, len(expected.deletions))
        for key, backoff in memory.backoffs.items():
            until = backoff.until
            waits = until is not None and until > reading.now
            yield "Job", key, ("failures", backoff.step, At(backoff.last) if waits else "")
        times = {uid: time for ended in memory.ended.values() for uid, time in ended}
        for key in sorted(reading.store.table("Job").objects):
            job: Job = reading.store.get("Job", key)
            if memory.refused.get(key) == job.revision:
                yield "Job", key, "refused"
            between = memory.removing.get(key, frozenset())
            waiting = key in memory.ended
            if not (waiting or between or job.status.uncounted_succeeded or job.status.uncounted_failed):
                continue
            for pod in reading.store.pods_of(job.uid):
                uids = (between, job.status.uncounted_succeeded, job.status.uncounted_failed)
                found = tuple(pod.uid in each for each in uids)
                if any(found):
                    yield "Pod", pod.key, ("counted", *found)
                if pod.uid in times:
                    yield "Pod", pod.key, ("ended", At(times[pod.uid]))


def left_over(store: Store, pod: Pod) -> bool:
    """Whether a pod still waits to be counted though its Job is gone."""
    if JOB_TRACKING not in pod.finalizers:
        return False
    if pod.owner is None or pod.owner.kind != "Job":
        return True
    job = store.get("Job", f"{pod.namespace}/{pod.owner.name}")
    return job is None or job.uid != pod.owner.uid
