"""A Deployment's status and conditions: available, progressing, stuck.

Source: `pkg/controller/deployment/{sync,progress}.go`, `util/deployment_util.go`.
"""

from __future__ import annotations

from reconverge.model.loops.deployment.pass_ import Pass, condition
from reconverge.model.loops.replicaset import REPLICA_FAILURE
from reconverge.model.objects import Condition, Deployment, DeploymentStatus
from reconverge.model.rounding import max_unavailable
from reconverge.model.value import Seconds

AVAILABLE = "Available"
PROGRESSING = "Progressing"
NEW_CREATED = "NewReplicaSetCreated"
NEW_FOUND = "FoundNewReplicaSet"
NEW_AVAILABLE = "NewReplicaSetAvailable"
UPDATED = "ReplicaSetUpdated"
TIMED_OUT = "ProgressDeadlineExceeded"
PAUSED = "DeploymentPaused"
RESUMED = "DeploymentResumed"


def computed(work: Pass) -> DeploymentStatus:
    """The status that the ReplicaSets add up to, with the Available condition; Progressing as it was."""
    deployment = work.deployment
    sets = work.all
    new = work.new
    available = work.available()
    enough = available >= deployment.replicas - max_unavailable(deployment)
    available_condition = Condition(
        AVAILABLE,
        "True" if enough else "False",
        "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable",
    )
    terminating = [rs.status.terminating for rs in sets if rs.status.terminating is not None]
    return DeploymentStatus(
        replicas=sum(rs.status.replicas for rs in sets),
        updated=new.status.replicas if new is not None else 0,
        ready=sum(rs.status.ready for rs in sets),
        available=available,
        unavailable=max(0, work.counted_total() - available),
        terminating=sum(terminating) if work.reading.rules.terminating_replicas else None,
        observed_generation=deployment.generation,
        conditions=with_condition(deployment.status.conditions, available_condition, work.reading.now),
    )


def with_condition(
    conditions: tuple[Condition, ...], new: Condition, now: Seconds, *, refresh: bool = False
) -> tuple[Condition, ...]:
    """The conditions with one set. The same status and reason change nothing, unless `refresh` says so."""
    current = condition(conditions, new.type)
    if current is not None and current.status == new.status and current.reason == new.reason and not refresh:
        return conditions
    since = current.since if current is not None and current.status == new.status else now
    kept = tuple(each for each in conditions if each.type != new.type)
    return (*kept, Condition(new.type, new.status, new.reason, since, now))


def complete(deployment: Deployment, status: DeploymentStatus) -> bool:
    """Whether the rollout is over: all replicas updated, available, and no old ones left."""
    wanted = deployment.replicas
    return (
        status.updated == wanted
        and status.replicas == wanted
        and status.available == wanted
        and status.observed_generation >= deployment.generation
    )


def progressing(before: DeploymentStatus, after: DeploymentStatus) -> bool:
    """Whether there is more of the new or less of the old than the status said before."""
    return (
        after.updated > before.updated
        or after.replicas - after.updated < before.replicas - before.updated
        or after.ready > before.ready
        or after.available > before.available
    )


def timed_out(deployment: Deployment, status: DeploymentStatus, now: Seconds) -> bool:
    """Whether there has been no progress for progressDeadlineSeconds."""
    current = condition(status.conditions, PROGRESSING)
    if deployment.progress_deadline is None or current is None or current.reason == NEW_AVAILABLE:
        return False
    return current.reason == TIMED_OUT or current.updated_at + deployment.progress_deadline < now


def rollout_status(work: Pass) -> tuple[DeploymentStatus, Seconds | None]:
    """The status of a rollout with its Progressing condition, and when to look whether it is stuck."""
    deployment = work.deployment
    now = work.reading.now
    status = computed(work)
    status = status.with_(conditions=with_failures(work, status.conditions))
    current = condition(deployment.status.conditions, PROGRESSING)
    if deployment.progress_deadline is None:
        kept = tuple(each for each in status.conditions if each.type != PROGRESSING)
        return status.with_(conditions=kept), None
    was_complete = status.replicas == status.updated and current is not None and current.reason == NEW_AVAILABLE
    if not was_complete:
        if complete(deployment, status):
            status = _progress(status, Condition(PROGRESSING, "True", NEW_AVAILABLE), now)
        elif progressing(deployment.status, status):
            status = _progress(status, Condition(PROGRESSING, "True", UPDATED), now, refresh=True)
        elif timed_out(deployment, status, now):
            status = _progress(status, Condition(PROGRESSING, "False", TIMED_OUT), now)
    return status, _check_again(deployment, status, now)


def with_failures(work: Pass, conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """The conditions with the failure of the new ReplicaSet to create pods, else of any other (getReplicaFailures)."""
    sets = ([work.new] if work.new is not None else []) + list(work.all)
    failed = next((found for rs in sets if (found := condition(rs.status.conditions, REPLICA_FAILURE))), None)
    kept = tuple(each for each in conditions if each.type != REPLICA_FAILURE or failed is not None)
    return kept if failed is None else with_condition(kept, failed, work.reading.now)


def _progress(status: DeploymentStatus, new: Condition, now: Seconds, *, refresh: bool = False) -> DeploymentStatus:
    return status.with_(conditions=with_condition(status.conditions, new, now, refresh=refresh))


def _check_again(deployment: Deployment, status: DeploymentStatus, now: Seconds) -> Seconds | None:
    current = condition(status.conditions, PROGRESSING)
    if deployment.progress_deadline is None or current is None:
        return None
    if complete(deployment, status) or current.reason in (TIMED_OUT, NEW_AVAILABLE):
        return None
    # One second more, so that the deadline has certainly passed (requeueStuckDeployment).
    return max(now, current.updated_at + deployment.progress_deadline + 1)


def pause_condition(deployment: Deployment) -> Condition | None:
    """The Progressing condition to write because the deployment was paused or resumed, or None."""
    if deployment.progress_deadline is None:
        return None
    current = condition(deployment.status.conditions, PROGRESSING)
    if current is not None and current.reason == TIMED_OUT:
        return None
    marked = current is not None and current.reason == PAUSED
    if deployment.paused and not marked:
        return Condition(PROGRESSING, "Unknown", PAUSED)
    if not deployment.paused and marked:
        return Condition(PROGRESSING, "Unknown", RESUMED)
    return None
