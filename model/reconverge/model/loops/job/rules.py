"""The rules of a Job, each a method: when it ends, how many pods it wants, which it gives up.

Source: `pkg/controller/job/job_controller.go`.
"""

from __future__ import annotations

from typing import Any

from reconverge.model.labels import labels_of
from reconverge.model.likeness import pod_likeness
from reconverge.model.loop import Reading
from reconverge.model.loops.job.backoff import Backoff
from reconverge.model.loops.job.failure_policy import COUNT, FAIL_JOB, action_on
from reconverge.model.loops.job.pass_ import Pass
from reconverge.model.loops.job.status import (
    BACKOFF_LIMIT_EXCEEDED,
    DEADLINE_EXCEEDED,
    FAILURE_TARGET,
    POD_FAILURE_POLICY,
    SUCCESS_CRITERIA_MET,
)
from reconverge.model.objects import Condition, Job, Pod
from reconverge.model.objects.job import JOB_NAME, JOB_TRACKING, OLD_JOB_NAME
from reconverge.model.value import Seconds

_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


class JobRules:
    """What a Job controller decides, from one pass's view."""

    # Whether the Job ends ------------------------------------------------------------------------------------

    def counts_as_failed(self, pod: Pod, job: Job) -> bool:
        """Whether a pod has failed (isPodFailed): one being deleted has, unless only failed ones are replaced."""
        if pod.phase == "Failed":
            return True
        if job.replacement == "Failed":
            return False
        return pod.deletion_at is not None and pod.phase != "Succeeded"

    def action_on(self, pod: Pod, job: Job) -> str:
        """What podFailurePolicy says of a failed pod: FailJob, FailIndex, Ignore or Count."""
        return action_on(job.failure_policy, pod) if job.failure_policy else COUNT

    def fails_job(self, work: Pass) -> bool:
        """Whether a pod has failed in a way that ends the Job (getFailJobMessage)."""
        if not work.job.failure_policy:
            return False
        failed = (pod for pod in work.pods if pod.uid in work.considered_failed)
        return any(self.action_on(pod, work.job) == FAIL_JOB for pod in failed)

    def ending(self, work: Pass) -> Condition | None:
        """The interim condition of a Job that ends: one that it has, or a limit that is passed."""
        status = work.job.status
        for type_ in (SUCCESS_CRITERIA_MET, FAILURE_TARGET):
            found = status.condition(type_)
            if found is not None:
                return Condition(type_, "True", found.reason)
        if self.fails_job(work):
            return Condition(FAILURE_TARGET, "True", POD_FAILURE_POLICY)
        if self.exceeds_backoff_limit(work) or self.restarts_exceed_limit(work):
            return Condition(FAILURE_TARGET, "True", BACKOFF_LIMIT_EXCEEDED)
        deadline = self.deadline(work)
        if deadline is not None and deadline <= work.now:
            return Condition(FAILURE_TARGET, "True", DEADLINE_EXCEEDED)
        return self.ends_by_indexes(work)

    def ends_by_indexes(self, work: Pass) -> Condition | None:
        """The interim condition of a Job that its indexes bring to an end."""
        raise NotImplementedError

    def exceeds_backoff_limit(self, work: Pass) -> bool:
        """Whether more pods have failed than backoffLimit says."""
        return work.failed > work.job.backoff_limit

    def restarts_exceed_limit(self, work: Pass) -> bool:
        """Whether, with OnFailure, the restarts of unfinished pods reach backoffLimit (pastBackoffLimitOnFailure)."""
        if work.job.template.spec.restart_policy != "OnFailure":
            return False
        restarts = sum(pod.restarts_in_all for pod in work.pods if pod.phase in ("Running", "Pending"))
        limit = work.job.backoff_limit
        return restarts > 0 if limit == 0 else restarts >= limit

    def deadline(self, work: Pass) -> Seconds | None:
        """When activeDeadlineSeconds has passed since the start; it does not run while the Job is suspended."""
        job = work.job
        if job.active_deadline is None or work.started_at is None or job.suspend:
            return None
        return work.started_at + job.active_deadline

    def completed(self, work: Pass) -> bool:
        """Whether enough have succeeded and none is active; without completions one success is enough."""
        wanted = work.job.completions if work.job.completions is not None else 1
        return work.succeeded >= wanted and work.active_left == 0

    # Pods ----------------------------------------------------------------------------------------------------

    def wanted(self, work: Pass) -> int:
        """How many pods should be active."""
        job = work.job
        if job.completions is None:
            return len(work.active) if work.succeeded > 0 else job.parallelism
        return max(0, min(job.completions - work.succeeded, job.parallelism))

    def retry_at(self, backoff: Backoff) -> Seconds | None:
        """When pods may be made after failures; None for at once."""
        return backoff.until

    def first_to_go(self, active: list[Pod], reading: Reading) -> list[Pod]:
        """Active pods in the order in which they are given up (ActivePods): the least started first."""

        def rank(pod: Pod) -> tuple[Any, ...]:
            shortest_ready = -pod.ready_since if pod.ready else 0
            alike = repr(pod_likeness(pod, reading.now))
            phase = _PHASES.get(pod.phase, 1)
            return (
                pod.node is not None,
                phase,
                pod.ready,
                shortest_ready,
                -pod.restarts,
                -pod.sidecar_restarts,
                -pod.created_at,
                alike,
                pod.key,
            )

        return sorted(active, key=rank)

    def new_pod(self, job: Job) -> Pod:
        """A pod of the Job's template, held by the finalizer until it is counted."""
        template = job.template
        names = {JOB_NAME: job.name, OLD_JOB_NAME: job.name}
        return Pod(
            name=f"{job.name}-",
            namespace=job.namespace,
            labels=labels_of({**dict(template.labels), **names}),
            annotations=template.annotations,
            owner=job.owner_reference(),
            spec=template.spec,
            template_digest=template.digest,
            finalizers=(JOB_TRACKING,),
        )
