"""Wrong rules of the Deployment controller."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from reconverge.model.loops.deployment import DeploymentController
from reconverge.model.loops.deployment.pass_ import Pass
from reconverge.model.loops.deployment.rolling import RollingUpdate
from reconverge.model.objects import Deployment, ReplicaSet
from reconverge.model.rounding import scaled

Case = Mapping[str, Any]


class SurgeOneMore(RollingUpdate):
    """A rollout goes one pod above maxSurge."""

    def surge(self, deployment: Deployment) -> int:
        return super().surge(deployment) + 1


class UnavailableRoundedUp(RollingUpdate):
    """A percentage of maxUnavailable is rounded up."""

    def unavailable(self, deployment: Deployment) -> int:
        return scaled(deployment.max_unavailable, deployment.replicas, up=True)


class MinimumForgotten(RollingUpdate):
    """Old replicas are scaled down without a look at the minimum of available pods."""

    def scale_down_available(self, work: Pass, available: int, least: int) -> int:
        return super().scale_down_available(work, available, 0)


class NewAtOnce(RollingUpdate):
    """The new ReplicaSet gets its full size at once."""

    def new_size(self, work: Pass, current: int) -> int:
        return work.deployment.replicas


class CleanUpTakesAll(RollingUpdate):
    """Old replicas are cleaned up as broken although they are available."""

    def clean_up_unhealthy(self, work: Pass, most: int) -> int | None:
        done = 0
        for rs in work.active_old:
            count = min(most - done, rs.replicas)
            work.scale(rs, rs.replicas - count, "cleaned up")
            done += count
        return done


class OldKept(RollingUpdate):
    """Old ReplicaSets are never scaled down."""

    def reconcile_old(self, work: Pass, new: ReplicaSet) -> bool:
        return False


class RecreateImpatient(DeploymentController):
    """Recreate does not wait until the old pods have stopped."""

    def old_pods_running(self, work: Pass) -> bool:
        return False


ROLLOUT: Case = {"nodes": "1x8cpu,16Gi", "may": {"rollout": 1}, "trace": ["rollout deployment/web"]}
ROLLING: Case = {**ROLLOUT, "loop": lambda wrong: DeploymentController(wrong())}

CASES: list[Case] = [
    {
        "wrong": SurgeOneMore,
        "caught": "rollout-ceiling",
        "deployment": {"replicas": 2, "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}},
        **ROLLING,
    },
    {
        "wrong": NewAtOnce,
        "caught": "rollout-ceiling",
        "deployment": {"replicas": 2},
        **ROLLING,
    },
    {
        "wrong": UnavailableRoundedUp,
        "caught": "rollout-floor",
        "deployment": {"replicas": 2, "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": "25%"}}},
        **ROLLING,
    },
    {
        "wrong": MinimumForgotten,
        "caught": "rollout-floor",
        "deployment": {"replicas": 2},
        **ROLLING,
    },
    {
        "wrong": CleanUpTakesAll,
        "caught": "rollout-floor",
        "deployment": {"replicas": 2},
        **ROLLING,
    },
    {
        "wrong": OldKept,
        "caught": "rollout-completes",
        "deployment": {"replicas": 1},
        **ROLLING,
    },
    {
        "wrong": RecreateImpatient,
        "caught": "pod-on-one-node",
        "deployment": {
            "replicas": 1,
            "strategy": {"type": "Recreate"},
            "annotations": {"reconverge/stops-after": "10"},
        },
        **ROLLOUT,
    },
]


@pytest.mark.parametrize("case", CASES)
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
