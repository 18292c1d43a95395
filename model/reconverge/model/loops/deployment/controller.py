"""The Deployment controller's pass: which of pause, scaling, recreation and rolling update it is.

Source: `pkg/controller/deployment/{deployment_controller,sync,recreate}.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reconverge.model.action import Action, Patch
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.loops.deployment import progress
from reconverge.model.loops.deployment.pass_ import Pass, condition
from reconverge.model.loops.deployment.rolling import RollingUpdate
from reconverge.model.loops.deployment.scaling import is_scaling_event, scale
from reconverge.model.loops.ownership import adoptable_sets, owner_keys_for_orphan
from reconverge.model.objects import Condition, Deployment, DeploymentStatus, Pod, ReplicaSet
from reconverge.model.store import Change
from reconverge.model.value import Seconds


class DeploymentController(ControlLoop[None]):
    """Creates and scales ReplicaSets; never touches pods. Sees their health only through ReplicaSet status."""

    name = "deployment"
    watches = frozenset({"Deployment", "ReplicaSet", "Pod"})
    source = "pkg/controller/deployment/deployment_controller.go"

    def __init__(self, rolling: RollingUpdate | None = None) -> None:
        self.rolling = rolling if rolling is not None else RollingUpdate()

    def relist(self, reading: Reading) -> Iterable[str]:
        """All Deployments."""
        return sorted(reading.store.table("Deployment").objects)

    def observe(self, memory: None, change: Change, reading: Reading) -> tuple[None, Iterable[str]]:
        """Wakes the Deployment, the owner of a ReplicaSet, and on the last pod's removal a Recreate one."""
        if change.kind == "Deployment":
            return None, (change.key,)
        if change.kind == "ReplicaSet":
            return None, self._set_changed(change, reading)
        return None, self._last_pod_gone(change, reading) if change.after is None else ()

    def _set_changed(self, change: Change, reading: Reading) -> tuple[str, ...]:
        """The owner, the former one, or whoever may adopt a ReplicaSet that has none and is new or labelled anew."""
        before: ReplicaSet | None = change.before
        rs: ReplicaSet = change.object
        keys: dict[str, None] = {}
        for each in (rs, before):
            if each is not None and each.owner is not None and each.owner.kind == "Deployment":
                keys[f"{each.namespace}/{each.owner.name}"] = None
        if change.after is None or rs.owner is not None:
            return tuple(keys)
        if before is None or before.owner is not None or before.labels != rs.labels:
            keys.update(dict.fromkeys(owner_keys_for_orphan(reading.store, "Deployment", rs)))
        return tuple(keys)

    def _last_pod_gone(self, change: Change, reading: Reading) -> tuple[str, ...]:
        pod: Pod = change.before
        if pod.owner is None or pod.owner.kind != "ReplicaSet":
            return ()
        rs = reading.store.replica_set(f"{pod.namespace}/{pod.owner.name}")
        if rs is None or rs.owner is None or rs.owner.kind != "Deployment":
            return ()
        key = f"{rs.namespace}/{rs.owner.name}"
        deployment = reading.store.deployment(key)
        if deployment is None or deployment.strategy != "Recreate":
            return ()
        # The store has already lost the pod when its watch event arrives.
        left = any(
            each.key != pod.key
            for owned in reading.store.replica_sets_of(deployment.uid)
            for each in reading.store.pods_of(owned.uid)
        )
        return () if left else (key,)

    def sync(self, reading: Reading, memory: None, key: str) -> Sequence[Plan[None]]:
        """One pass; there is no choice in it."""
        deployment = reading.store.deployment(key)
        if deployment is None:
            return (Plan(None),)
        sets, claims = self.claimed(reading, deployment)
        work = Pass(reading, deployment, sets)
        again = self._pass(work)
        return (Plan(None, (*claims, *work.actions), again),)

    def claimed(self, reading: Reading, deployment: Deployment) -> tuple[list[ReplicaSet], tuple[Action, ...]]:
        """The ReplicaSets that are this deployment's, and the writes that adopt matching orphans and release strangers.

        What follows knows an adopted set in the version before its adoption: a write of it is refused, and the pass
        comes again.
        """
        sets = [rs for rs in reading.store.replica_sets_of(deployment.uid) if rs.deletion_at is None]
        matching = [rs for rs in sets if deployment.selector.matches(rs.labels)]
        released = [] if deployment.terminating else [rs for rs in sets if rs not in matching]
        adopted = adoptable_sets(reading.store, deployment)
        no_more, now = "its labels no longer match the selector", "its labels match the selector"
        owner = deployment.owner_reference()
        claims = [
            *(Patch("ReplicaSet", rs.key, rs.uid, (("owner", None),), no_more, f"releases {rs.reference}")
              for rs in released),
            *(Patch("ReplicaSet", rs.key, rs.uid, (("owner", owner),), now, f"adopts {rs.reference}")
              for rs in adopted),
        ]  # fmt: skip
        return matching + adopted, tuple(claims)

    def _pass(self, work: Pass) -> Seconds | None:
        deployment = work.deployment
        if deployment.terminating:
            return self._report(work)
        paused = progress.pause_condition(deployment)
        if paused is not None:
            self._write_condition(work, paused, "paused" if deployment.paused else "resumed")
        # Whether to scale is decided on sets whose revisions are brought up to date on the way (isScalingEvent). What
        # follows looks them up again in the old version, so its write of the same revision is refused.
        if self._sync_revision(work) and not deployment.paused:
            return None
        if deployment.paused or is_scaling_event(work):
            scale(work)
            if deployment.paused:
                self.clean_up(work)
            work.write_status(progress.computed(work))
            return None
        if deployment.strategy == "Recreate":
            return self.recreate(work)
        return self.roll(work)

    def roll(self, work: Pass) -> Seconds | None:
        """One step of a rolling update: up, or down, or done."""
        new = self._new_set(work)
        if self.rolling.reconcile_new(work, new):
            return self._report(work)
        if self.rolling.reconcile_old(work, work.sets[new.key]):
            return self._report(work)
        if progress.complete(work.deployment, work.deployment.status):
            self.clean_up(work)
        return self._report(work)

    def recreate(self, work: Pass) -> Seconds | None:
        """All old pods away first; the new ReplicaSet only when none of them is left that is not terminal."""
        down = [work.scale(rs, 0, "Recreate: old pods go first") for rs in work.active_old]
        if any(down) or self.old_pods_running(work):
            return self._report(work)
        new = self._new_set(work)
        work.scale(new, work.deployment.replicas, f"{work.deployment.replicas} replicas wanted")
        if progress.complete(work.deployment, work.deployment.status):
            self.clean_up(work)
        return self._report(work)

    def old_pods_running(self, work: Pass) -> bool:
        """Whether a pod of an old ReplicaSet may still run; Terminating ones do."""
        if sum(rs.status.replicas for rs in work.old) > 0:
            return True
        return any(not pod.terminal for rs in work.old for pod in work.reading.store.pods_of(rs.uid))

    def _new_set(self, work: Pass) -> ReplicaSet:
        """The new ReplicaSet, found or created (a Recreate one at its full size at once)."""
        new = work.new
        if new is not None:
            return new
        deployment = work.deployment
        size = deployment.replicas if deployment.strategy == "Recreate" else self.rolling.new_size(work, 0)
        new = work.create_new(size)
        status = deployment.status
        if deployment.progress_deadline is not None:
            created = Condition(progress.PROGRESSING, "True", progress.NEW_CREATED)
            status = status.with_(conditions=progress.with_condition(status.conditions, created, work.reading.now))
        work.write_status(status, new.deployment_revision, f"revision {new.deployment_revision} begins")
        return new

    def _sync_revision(self, work: Pass) -> bool:
        """Brings the revision of an existing new ReplicaSet up to date; True if it was not. Else the deployment's."""
        new = work.new
        if new is None:
            return False
        if work.update_revision(new):
            return True
        deployment = work.deployment
        status = deployment.status
        if deployment.progress_deadline is not None and condition(status.conditions, progress.PROGRESSING) is None:
            found = Condition(progress.PROGRESSING, "True", progress.NEW_FOUND)
            status = status.with_(conditions=progress.with_condition(status.conditions, found, work.reading.now))
        work.write_status(status, new.deployment_revision, f"revision {new.deployment_revision}")
        return False

    def clean_up(self, work: Pass) -> None:
        """Deletes old ReplicaSets beyond revisionHistoryLimit that want and have no pods, lowest revision first."""
        old = work.old
        surplus = len(old) - work.deployment.history_limit
        if surplus <= 0:
            return
        for rs in sorted(old, key=lambda rs: rs.deployment_revision)[:surplus]:
            if not (rs.status.replicas or rs.replicas or rs.generation > rs.status.observed_generation):
                work.delete(rs)

    def _report(self, work: Pass) -> Seconds | None:
        if work.status_written:
            # The version in hand is old by now; the write would be refused and the key comes again anyway.
            return None
        status, again = progress.rollout_status(work)
        if status == work.deployment.status:
            return again
        work.write_status(status, None, _summary(work.deployment, status))
        return again

    def _write_condition(self, work: Pass, new: Condition, reason: str) -> None:
        status = work.deployment.status
        conditions = progress.with_condition(status.conditions, new, work.reading.now)
        work.write_status(status.with_(conditions=conditions), None, reason)


def _summary(deployment: Deployment, status: DeploymentStatus) -> str:
    return f"{status.updated} of {deployment.replicas} updated, {status.available} available"
