"""Whether a pod that is made for a Job is wanted: by number, by what has failed, and by its index.

Source: `pkg/controller/job/job_controller.go` (manageJob), `pkg/controller/job/indexed_job_utils.go`,
`pkg/controller/job/pod_failure_policy.go`.
"""

from __future__ import annotations

from collections.abc import Iterable

from reconverge.invariants.situation import Step
from reconverge.model.loops.job.failure_policy import FAIL_JOB, action_on
from reconverge.model.loops.job.indexes import failures, index_of
from reconverge.model.objects import Job, Pod
from reconverge.model.objects.job import JOB_TRACKING


def why_unwanted(step: Step, pod: Pod) -> str:
    """What is wrong with a pod that is made for a Job; empty if it is wanted."""
    job: Job | None = step.before.store.get("Job", f"{pod.namespace}/{pod.owner.name}") if pod.owner else None
    if job is None:
        return ""
    if job.status.finished or job.suspend:
        return f"gets {pod.reference}, and it {'is suspended' if job.suspend else 'has finished'}"
    pods = step.after.store.pods_of(job.uid)
    return _too_many(job, pod, pods) or _after_failure(job, pod, pods) or _wrong_index(job, pod, pods)


def _too_many(job: Job, pod: Pod, pods: list[Pod]) -> str:
    active = sum(each.active for each in pods)
    if active > job.parallelism:
        return f"gets {pod.reference} as active pod {active}, and its parallelism is {job.parallelism}"
    going = [each for each in pods if each.terminating and not each.terminal]
    if job.replacement == "Failed" and active + len(going) > job.parallelism:
        return (
            f"gets {pod.reference} while {going[0].reference} is still terminating, and only failed ones are replaced"
        )
    if job.completions is None:
        return ""
    done = len(_done(job, pods)) if job.indexed else _succeeded(job, pods)
    if active + done > job.completions:
        return f"gets {pod.reference}, and {done} of {job.completions} have succeeded and {active} are active with it"
    return ""


def _succeeded(job: Job, pods: Iterable[Pod]) -> int:
    known = job.status.uncounted_succeeded
    new = sum(_to_be_counted(each) and each.phase == "Succeeded" and each.uid not in known for each in pods)
    return job.status.succeeded + len(known) + new


def _done(job: Job, pods: Iterable[Pod]) -> set[int]:
    new = {index_of(each) for each in pods if each.phase == "Succeeded" and _to_be_counted(each)}
    found = {*job.status.completed_indexes, *(each for each in new if each is not None)}
    return {each for each in found if each < (job.completions or 0)}


def _to_be_counted(pod: Pod) -> bool:
    return JOB_TRACKING in pod.finalizers


def _after_failure(job: Job, pod: Pod, pods: Iterable[Pod]) -> str:
    """A pod that is made although another has failed in a way that ends the Job."""
    if not job.failure_policy:
        return ""
    failed = [each for each in pods if each.phase == "Failed"]
    fatal = next((each for each in failed if action_on(job.failure_policy, each) == FAIL_JOB), None)
    return "" if fatal is None else f"gets {pod.reference}, and its failure policy ends it with {fatal.reference}"


def _wrong_index(job: Job, pod: Pod, pods: Iterable[Pod]) -> str:
    """A pod for an index that is done, has failed, or is worked at."""
    if not job.indexed:
        return ""
    index = index_of(pod)
    if index is None or index >= (job.completions or 0):
        return f"gets {pod.reference} without an index of its {job.completions}"
    other = next((each for each in pods if each.active and each.uid != pod.uid and index_of(each) == index), None)
    if other is not None:
        return f"gets {pod.reference} for index {index}, at which {other.reference} works"
    if index in _done(job, pods):
        return f"gets {pod.reference} for index {index}, which is done"
    limit = job.limit_per_index
    if limit is not None and (index in job.status.failed_indexes or failures(pod)[0] > limit):
        return f"gets {pod.reference} for index {index}, which has failed for good"
    return ""
