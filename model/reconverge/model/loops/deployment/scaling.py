"""A changed replica count outside a rollout step: one ReplicaSet takes it, or all share it in proportion.

Source: `pkg/controller/deployment/sync.go` (scale), `util/deployment_util.go` (FindActiveOrLatest, IsSaturated,
GetReplicaSetProportion).
"""

from __future__ import annotations

from reconverge.model.loops.deployment.pass_ import Pass
from reconverge.model.objects import ReplicaSet
from reconverge.model.rounding import max_surge


def is_scaling_event(work: Pass) -> bool:
    """Whether some active ReplicaSet was last sized for another replica count than the deployment's."""
    return any(
        rs.desired_replicas is not None and rs.desired_replicas != work.deployment.replicas
        for rs in work.all
        if rs.replicas > 0
    )


def scale(work: Pass) -> None:
    """Brings the ReplicaSets to the deployment's replica count without rolling."""
    wanted = work.deployment.replicas
    only = _active_or_latest(work)
    if only is not None:
        work.scale(only, wanted, f"{wanted} replicas wanted")
        return
    new = work.new
    if new is not None and _saturated(work, new):
        for rs in work.active_old:
            work.scale(rs, 0, "the new ReplicaSet has all replicas")
        return
    if work.deployment.strategy == "RollingUpdate":
        _scale_in_proportion(work)


def _active_or_latest(work: Pass) -> ReplicaSet | None:
    active = [rs for rs in work.all if rs.replicas > 0]
    if len(active) == 1:
        return active[0]
    if active:
        return None
    if work.new is not None:
        return work.new
    return work.old[-1] if work.old else None


def _saturated(work: Pass, new: ReplicaSet) -> bool:
    wanted = work.deployment.replicas
    return new.replicas == wanted and new.desired_replicas == wanted and new.status.available == wanted


def _scale_in_proportion(work: Pass) -> None:
    deployment = work.deployment
    allowed = deployment.replicas + max_surge(deployment) if deployment.replicas > 0 else 0
    active = [rs for rs in work.all if rs.replicas > 0]
    to_add = allowed - sum(rs.replicas for rs in active)
    # `active` is oldest first: a stable sort by size keeps older first among equals; newer first when adding.
    if to_add > 0:
        active.reverse()
    ordered = sorted(active, key=lambda rs: -rs.replicas)
    added = 0
    sizes = {}
    for rs in ordered:
        share = _proportion(work, rs, to_add, added) if to_add else 0
        sizes[rs.key] = rs.replicas + share
        added += share
    for place, rs in enumerate(ordered):
        size = sizes[rs.key]
        if place == 0 and to_add:
            size = max(0, size + to_add - added)
        work.resize(rs, size, f"its share of {deployment.replicas} replicas")


def _proportion(work: Pass, rs: ReplicaSet, to_add: int, added: int) -> int:
    if rs.replicas == 0 or to_add == added:
        return 0
    allowed = to_add - added
    share = _fraction(work, rs)
    return min(share, allowed) if to_add > 0 else max(share, allowed)


def _fraction(work: Pass, rs: ReplicaSet) -> int:
    deployment = work.deployment
    if deployment.replicas == 0:
        return -rs.replicas
    before = rs.max_replicas or deployment.status.replicas
    if not before:
        return 0
    most = deployment.replicas + max_surge(deployment)
    return _round_half_away(rs.replicas * most, before) - rs.replicas


def _round_half_away(numerator: int, denominator: int) -> int:
    """The quotient of two non-negative integers, rounded; halves away from zero."""
    return (2 * numerator + denominator) // (2 * denominator)
