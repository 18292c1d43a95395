"""Rolling updates: the new ReplicaSet up and the old ones down, inside surge and unavailable.

Source: `pkg/controller/deployment/rolling.go`, `util/deployment_util.go` (NewRSNewReplicas).
"""

from __future__ import annotations

from reconverge.model.loops.deployment.pass_ import Pass
from reconverge.model.objects import Deployment, ReplicaSet
from reconverge.model.rounding import max_surge, max_unavailable


class RollingUpdate:
    """The rules of a rolling update; each is a method, so that a variant can replace one."""

    def surge(self, deployment: Deployment) -> int:
        """maxSurge, rounded up."""
        return max_surge(deployment)

    def unavailable(self, deployment: Deployment) -> int:
        """maxUnavailable, rounded down."""
        return max_unavailable(deployment)

    def new_size(self, work: Pass, current: int) -> int:
        """The size that the new ReplicaSet may have now, `current` being the one it has."""
        deployment = work.deployment
        room = deployment.replicas + self.surge(deployment) - work.total()
        if room <= 0:
            return current
        return current + min(room, deployment.replicas - current)

    def reconcile_new(self, work: Pass, new: ReplicaSet) -> bool:
        """Scales the new ReplicaSet towards the wanted size; True if it did."""
        wanted = work.deployment.replicas
        if new.replicas == wanted:
            return False
        if new.replicas > wanted:
            return work.scale(new, wanted, f"{wanted} replicas wanted")
        size = self.new_size(work, new.replicas)
        most = wanted + self.surge(work.deployment)
        return work.scale(new, size, f"rolling update, at most {most} pods")

    def reconcile_old(self, work: Pass, new: ReplicaSet) -> bool:
        """Scales old ReplicaSets down as far as availability allows; True if it did."""
        old = work.active_old
        if not old:
            return False
        least = work.deployment.replicas - self.unavailable(work.deployment)
        new_unavailable = new.replicas - new.status.available
        most_down = work.total() - least - new_unavailable
        if most_down <= 0:
            return False
        available = work.available()
        cleaned = self.clean_up_unhealthy(work, most_down)
        if cleaned is None:
            return False
        return self.scale_down_available(work, available, least) + cleaned > 0

    def clean_up_unhealthy(self, work: Pass, most: int) -> int | None:
        """Takes away old replicas that are not available, oldest set first; None if a status is behind its spec."""
        done = 0
        for rs in work.active_old:
            if done >= most:
                break
            if rs.replicas == rs.status.available:
                continue
            count = min(most - done, rs.replicas - rs.status.available)
            if count < 0:
                return None
            work.scale(rs, rs.replicas - count, "its pods are not available")
            done += count
        return done

    def scale_down_available(self, work: Pass, available: int, least: int) -> int:
        """Takes away as many old replicas as there are available pods above the minimum, oldest set first."""
        surplus = available - least
        done = 0
        for rs in work.active_old:
            if done >= surplus:
                break
            count = min(rs.replicas, surplus - done)
            work.scale(rs, rs.replicas - count, f"{available} available, {least} needed")
            done += count
        return done
