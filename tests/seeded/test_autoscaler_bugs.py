"""Wrong rules of the horizontal autoscaler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil, floor
from typing import Any

import pytest

from reconverge.model.loops.horizontal_autoscaler import HorizontalAutoscaler
from reconverge.model.loops.horizontal_autoscaler.calculator import ReplicaCalculator
from reconverge.model.loops.horizontal_autoscaler.stabilisation import Normaliser, Proposed

Case = Mapping[str, Any]


class MaximumForgotten(Normaliser):
    """The load decides alone."""

    def within_rules(self, proposed: Proposed, wanted: int) -> tuple[int, str]:
        return max(wanted, proposed.autoscaler.minimum), ""


class MinimumForgotten(Normaliser):
    """Nobody is needed where there is no load."""

    def within_rules(self, proposed: Proposed, wanted: int) -> tuple[int, str]:
        return min(wanted, proposed.autoscaler.maximum), ""


class NeverDown(ReplicaCalculator):
    """Replicas that are not needed any more stay."""

    def replicas(self, current: int, *rest: Any) -> int:
        return max(current, super().replicas(current, *rest))


class RoundedDown(ReplicaCalculator):
    """A share of a replica counts for nothing."""

    def replicas(self, current: int, groups: Any, counted: Any, fallback: Any, tolerances: Any, ratio_of: Any) -> int:
        ratio = ratio_of(counted)
        return current if tolerances.within(ratio) else int(max(1, floor(ratio * len(groups.ready))))


class OneAboveAll(ReplicaCalculator):
    """One replica to spare is added to what the load asks for, again and again."""

    def replicas(self, current: int, groups: Any, counted: Any, fallback: Any, tolerances: Any, ratio_of: Any) -> int:
        return int(ceil(ratio_of(counted) * len(groups.ready)) + 1)


class SurplusCounted(HorizontalAutoscaler):
    """The surplus pods of a rollout count as wanted replicas."""

    def __init__(self) -> None:
        super().__init__(base="status")


def autoscaler(least: int, most: int) -> dict[str, Any]:
    """A HorizontalPodAutoscaler of web for half of the CPU that its pods request."""
    target = {"type": "Utilization", "averageUtilization": 50}
    spec = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "minReplicas": least,
        "maxReplicas": most,
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
    }
    meta = {"name": "web"}
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": meta, "spec": spec}


def normalising(wrong: Any) -> HorizontalAutoscaler:
    return HorizontalAutoscaler(normaliser=wrong())


def calculating(wrong: Any) -> HorizontalAutoscaler:
    return HorizontalAutoscaler(calculator=wrong())


def loads(*millicores: int) -> dict[str, Any]:
    return {"load": {"times": 1, "millicores": list(millicores)}}


COMMON: dict[str, Any] = {"deployment": {"replicas": 2}, "objects": [autoscaler(2, 4)], "nodes": "2x4cpu,16Gi"}

CASES: list[Case] = [
    {
        **COMMON,
        "wrong": MaximumForgotten,
        "loop": normalising,
        "caught": "autoscaler-bounds",
        "may": loads(250, 1500),
        "trace": ["load deployment/web 1500"],
    },
    {
        **COMMON,
        "wrong": MinimumForgotten,
        "loop": normalising,
        "caught": "autoscaler-bounds",
        "deployment": {"replicas": 3},
        "may": loads(100, 750),
        "trace": ["load deployment/web 100"],
    },
    {
        **COMMON,
        "wrong": NeverDown,
        "loop": calculating,
        "caught": "autoscaler-settles",
        "deployment": {"replicas": 4},
        "may": loads(500, 1000),
        "trace": ["load deployment/web 500"],
    },
    {
        **COMMON,
        "wrong": RoundedDown,
        "loop": calculating,
        "caught": "autoscaler-settles",
        "may": loads(500, 700),
        "trace": ["load deployment/web 700"],
    },
    {
        **COMMON,
        "wrong": OneAboveAll,
        "loop": calculating,
        "caught": "autoscaler-settles",
        "may": loads(500, 550),
        "trace": ["load deployment/web 550"],
    },
    {
        **COMMON,
        "wrong": SurplusCounted,
        "caught": "scaling-has-cause",
        "objects": [autoscaler(2, 6)],
        "may": {"rollout": 1, **loads(700)},
        "deviations": 1,
        "trace": ["rollout deployment/web, tie 0 2"],
    },
]


@pytest.mark.parametrize("case", CASES)
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
