"""Integers or percentages, resolved as each controller does it.

Source: apimachinery `pkg/util/intstr/intstr.go`, `pkg/controller/deployment/util/deployment_util.go`.
"""

from __future__ import annotations

from functools import lru_cache

from reconverge.model.objects import Deployment, IntOrPercent


def scaled(value: IntOrPercent, total: int, *, up: bool) -> int:
    """The count that a value means: an integer itself, a percentage of `total` rounded up or down.

    Raises ValueError for a string that is no percentage.
    """
    if isinstance(value, int):
        return value
    if not value.endswith("%"):
        raise ValueError(f"{value!r} is neither an integer nor a percentage")
    hundredths = int(value[:-1]) * total
    return -(-hundredths // 100) if up else hundredths // 100


def max_surge(deployment: Deployment) -> int:
    """How many pods a rollout may add: rounded up; 0 for Recreate."""
    return fenceposts(deployment)[0] if deployment.strategy == "RollingUpdate" else 0


def max_unavailable(deployment: Deployment) -> int:
    """How many pods a rollout may leave unavailable: rounded down, at most all; 0 for Recreate."""
    if deployment.strategy != "RollingUpdate" or deployment.replicas == 0:
        return 0
    return min(fenceposts(deployment)[1], deployment.replicas)


def fenceposts(deployment: Deployment) -> tuple[int, int]:
    """(surge, unavailable) of a rolling update; where both come to 0, one may be unavailable."""
    return _fenceposts(deployment.max_surge, deployment.max_unavailable, deployment.replicas)


@lru_cache(maxsize=4096)
def _fenceposts(most_surge: IntOrPercent, most_unavailable: IntOrPercent, replicas: int) -> tuple[int, int]:
    surge = scaled(most_surge, replicas, up=True)
    unavailable = scaled(most_unavailable, replicas, up=False)
    if surge == 0 and unavailable == 0:
        unavailable = 1
    return surge, unavailable
