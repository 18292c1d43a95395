"""Wrong rules of the horizontal autoscaler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil, floor
from typing import Any

import pytest
from attrs import evolve

from reconverge.model.loops.horizontal_autoscaler import HorizontalAutoscaler
from reconverge.model.loops.horizontal_autoscaler.calculator import ReplicaCalculator, Tolerances
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


class NoTolerance(ReplicaCalculator):
    """The least distance from the target moves the count."""

    def tolerances(self, *given: Any) -> Tolerances:
        return Tolerances(0, 0)


class WideTolerance(ReplicaCalculator):
    """Half as much again as the target is good enough."""

    def tolerances(self, *given: Any) -> Tolerances:
        return Tolerances(0.5, 0.5)


class WindowIgnored(Normaliser):
    """A low moment is followed at once."""

    def largest_recent(self, proposed: Proposed) -> tuple[int, float | None]:
        return proposed.replicas, None


class AnyStep(Normaliser):
    """A count may go as far as the load asks for in one step."""

    def scale_up_limit(self, current: int) -> int:
        return 1000


class WindowsIgnored(Normaliser):
    """The windows of a behavior do not count."""

    def between_windows(self, proposed: Proposed) -> tuple[int, float | None]:
        return proposed.replicas, None


class PoliciesIgnored(Normaliser):
    """A behavior's policies do not count."""

    def up_limit(self, proposed: Proposed, rules: Any) -> int:
        return 1000


class LeastPolicy(Normaliser):
    """Of several policies the strictest decides, whatever selectPolicy says."""

    def up_limit(self, proposed: Proposed, rules: Any) -> int:
        return super().up_limit(proposed, evolve(rules, select="Min"))


class PeriodsForgotten(Normaliser):
    """Each sync begins a new period of every policy."""

    def period_start(self, proposed: Proposed, period: float) -> int:
        return proposed.current


class DownAllowed(Normaliser):
    """A direction that is disabled is scaled all the same."""

    def down_limit(self, proposed: Proposed, rules: Any) -> int:
        return super().down_limit(proposed, evolve(rules, select="Max"))


class SurplusCounted(HorizontalAutoscaler):
    """The surplus pods of a rollout count as wanted replicas."""

    def __init__(self) -> None:
        super().__init__(base="status")


def autoscaler(least: int, most: int, **more: Any) -> dict[str, Any]:
    """A HorizontalPodAutoscaler of web for half of the CPU that its pods request."""
    target = {"type": "Utilization", "averageUtilization": 50}
    spec = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "minReplicas": least,
        "maxReplicas": most,
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
        **more,
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

LAW: dict[str, Any] = {
    **COMMON,
    "loop": normalising,
    "caught": "scaling-within-policy",
    "objects": [autoscaler(2, 9)],
    "deployment": {"replicas": 4},
    "nodes": "2x8cpu,16Gi",
}
UP: dict[str, Any] = {
    "deployment": {"replicas": 2},
    "may": loads(2250),
    "trace": ["load deployment/web 2250"],
}
DOWN: dict[str, Any] = {"may": loads(500), "trace": ["load deployment/web 500"]}


def stepwise(*policies: dict[str, Any]) -> dict[str, Any]:
    """An autoscaler that scales up no faster than some policies let it."""
    return autoscaler(2, 9, behavior={"scaleUp": {"policies": list(policies)}})


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
    {
        **LAW,
        "wrong": NoTolerance,
        "loop": calculating,
        "deployment": {"replicas": 4},
        "steps": [{"time": {"seconds": 400}}],
        "may": loads(1050, 2000),
        "trace": ["time 400", "load deployment/web 1050"],
    },
    {
        **COMMON,
        "wrong": WideTolerance,
        "loop": calculating,
        "caught": "autoscaler-settles",
        "may": loads(500, 700),
        "trace": ["load deployment/web 700"],
    },
    {**LAW, "wrong": WindowIgnored, **DOWN},
    {**LAW, "wrong": AnyStep, **UP},
    {**LAW, **DOWN, "wrong": WindowsIgnored, "objects": [autoscaler(2, 9, behavior={})]},
    {**LAW, **UP, "wrong": PoliciesIgnored, "objects": [stepwise({"type": "Pods", "value": 1, "periodSeconds": 60})]},
    {**LAW, **UP, "wrong": LeastPolicy, "objects": [autoscaler(2, 9, behavior={})]},
    {**LAW, **UP, "wrong": PeriodsForgotten, "objects": [stepwise({"type": "Pods", "value": 1, "periodSeconds": 60})]},
    {
        **LAW,
        **DOWN,
        "wrong": DownAllowed,
        "objects": [autoscaler(2, 9, behavior={"scaleDown": {"selectPolicy": "Disabled"}})],
        "may": loads(500, 2000),
    },
]


@pytest.mark.parametrize("case", CASES)
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
