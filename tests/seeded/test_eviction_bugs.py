"""Wrong rules of the eviction API, of the budgets' status, and of drains."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest
from attrs import frozen

from reconverge.model.action import Action, Patch
from reconverge.model.errors import ApiError, InternalError, TooManyRequests
from reconverge.model.eviction import Evict, eviction
from reconverge.model.loop import Reading
from reconverge.model.loops.disruption import Disrupted, DisruptionController, Expected
from reconverge.model.loops.drain import DrainLoop, DrainMemory, DrainOptions
from reconverge.model.objects import BudgetStatus, Node, Pod, PodDisruptionBudget
from reconverge.model.objects.workloads import IntOrPercent
from reconverge.model.rules import Rules
from reconverge.model.store import Change, Store
from reconverge.model.value import Seconds

Case = Mapping[str, Any]


# The eviction API --------------------------------------------------------------------------------------------


@frozen
class NothingSpent(Evict):
    """A granted eviction takes no disruption from the budget."""

    def spent(self, status: BudgetStatus, pod: Pod, now: Seconds) -> BudgetStatus:
        return status


@frozen
class ReadyNotAsked(Evict):
    """No pod needs a budget's leave."""

    def ignores_budgets(self, pod: Pod) -> bool:
        return True


@frozen
class AlwaysAllowed(Evict):
    """The number of allowed disruptions is not looked at."""

    def check(self, budget: PodDisruptionBudget) -> None:
        return None


@frozen
class UnreadyHeldBack(Evict):
    """A pod that is not ready needs a disruption like any other, although the budget is met without it."""

    def unready_may_go(self, budget: PodDisruptionBudget, rules: Rules) -> bool:
        return False


class DrainBy(DrainLoop):
    """A drain that asks an eviction API with other rules."""

    def __init__(self, request: type[Evict]) -> None:
        self.request = request

    def evicts(self, reading: Reading, pod: Pod, node: str, options: DrainOptions) -> tuple[Action, ...]:
        return eviction(reading.store, pod, reading.rules, request=self.request)


# The budgets' status -----------------------------------------------------------------------------------------


class RoundedDown(DisruptionController):
    """Percentages of the expected pods are rounded down."""

    def scaled(self, value: IntOrPercent, total: int) -> int:
        return value if isinstance(value, int) else total * int(value.rstrip("%")) // 100


class TerminatingHealthy(DisruptionController):
    """Terminating pods count as healthy while they are ready."""

    def healthy(self, pod: Pod, disrupted: bool) -> bool:
        return pod.ready and not disrupted


class UnreadyHealthy(DisruptionController):
    """Pods count as healthy whether they are ready or not."""

    def healthy(self, pod: Pod, disrupted: bool) -> bool:
        return pod.deletion_at is None and not disrupted


class GrantsForgotten(DisruptionController):
    """A granted eviction is not remembered until the pod is seen to go."""

    def still_disrupted(self, before: Disrupted, pods: Iterable[Pod], reading: Reading) -> Disrupted:
        return ()


class OneMoreAllowed(DisruptionController):
    """One disruption more is allowed than the budget has to spare."""

    def allowed(self, healthy: int, expected: Expected) -> int:
        return super().allowed(healthy + 1, expected)


class NeverRecomputed(DisruptionController):
    """A change of a pod does not make the status of its budget be computed again."""

    def observe(self, memory: None, change: Change, reading: Reading) -> tuple[None, Iterable[str]]:
        return None, super().observe(memory, change, reading)[1] if change.kind != "Pod" else ()


# Drains ------------------------------------------------------------------------------------------------------


class GivesUp(DrainLoop):
    """A refusal by a budget is taken for an error, and the drain gives up."""

    def failed(self, memory: DrainMemory, action: Action, error: ApiError) -> DrainMemory:
        if isinstance(error, TooManyRequests):
            return super().failed(memory, action, InternalError(str(error)))
        return super().failed(memory, action, error)


class LeavesOpen(DrainLoop):
    """The node is not cordoned."""

    def cordon(self, node: Node) -> Action:
        return Patch("Node", node.name, node.uid, (("unschedulable", False),))


class EvictsNothing(DrainLoop):
    """No pod is taken for one that has to go."""

    def to_evict(self, store: Store, pod: Pod) -> bool:
        return False


class NeverRetries(DrainLoop):
    """A refused request is never made again."""

    def _touched(
        self, memory: DrainMemory, touched: dict[str, list[str]], reading: Reading
    ) -> tuple[DrainMemory, Iterable[str]]:
        asked = {
            node: [key for key in keys if key in memory[node].pods and memory[node].pods[key].state != "refused"]
            for node, keys in touched.items()
        }
        return super()._touched(memory, asked, reading)


DRAIN: Case = {"may": {"drain": 1}, "trace": ["drain node-1"], "nodes": "2x8cpu,16Gi"}
BOTH_ON_ONE: Case = {"placement": {"deployment/web": ["node-1", "node-1"]}, **DRAIN}
TWO: Case = {"deployment": {"replicas": 2}, "budget": {"maxUnavailable": 1}}

CASES: list[Case] = [
    {"wrong": NothingSpent, "loop": DrainBy, "caught": "budget-honoured", **TWO, **BOTH_ON_ONE},
    {"wrong": ReadyNotAsked, "loop": DrainBy, "caught": "budget-honoured", **TWO, **BOTH_ON_ONE},
    {"wrong": AlwaysAllowed, "loop": DrainBy, "caught": "budget-honoured", **TWO, **BOTH_ON_ONE},
    {
        "wrong": UnreadyHeldBack,
        "loop": DrainBy,
        "caught": "drain-completes",
        "deployment": {"replicas": 2},
        "budget": {"minAvailable": 1},
        "nodes": "2x8cpu,16Gi",
        "may": {"pod-unready": 1, "drain": {"node": "node-1"}},
        "events": 2,
        "trace": ["pod-unready deployment/web#0", "drain node-1"],
    },
    {
        "wrong": RoundedDown,
        "caught": "budget-honoured",
        "deployment": {"replicas": 3},
        "budget": {"minAvailable": "51%"},
        **DRAIN,
        "placement": {"deployment/web": ["node-1", "node-1", "node-2"]},
    },
    {
        "wrong": TerminatingHealthy,
        "caught": "budget-honoured",
        "deployment": {"replicas": 2, "annotations": {"reconverge/stops-after": "20"}},
        "budget": {"maxUnavailable": 1},
        **DRAIN,
        "nodes": "1x8cpu,16Gi",
    },
    {"wrong": UnreadyHealthy, "caught": "budget-honoured", **TWO, **DRAIN, "nodes": "1x8cpu,16Gi"},
    {
        "wrong": UnreadyHealthy,
        "caught": "budget-honoured",
        "deployment": {"replicas": 3},
        "budget": {"maxUnavailable": 1},
        "nodes": "2x8cpu,16Gi",
        "placement": {"deployment/web": ["node-1", "node-1", "node-2"]},
        "may": {"pod-unready": {"pod": "deployment/web#2"}, "drain": {"node": "node-1"}},
        "events": 2,
        "trace": ["pod-unready deployment/web#2", "drain node-1"],
    },
    {
        "wrong": GrantsForgotten,
        "caught": "budget-honoured",
        **TWO,
        **BOTH_ON_ONE,
        "may": {"drain": {"node": "node-1"}, "cordon": {"node": "node-2"}},
        "events": 2,
        "deviations": 1,
        "trace": ["drain node-1, interruption 7", "cordon node-2"],
    },
    {"wrong": OneMoreAllowed, "caught": "budget-honoured", **TWO, **BOTH_ON_ONE},
    {
        "wrong": NeverRecomputed,
        "caught": "drain-completes",
        "deployment": {"replicas": 2, "annotations": {"reconverge/behaviour": "not-ready-first"}},
        "budget": {"maxUnavailable": 1},
        **BOTH_ON_ONE,
    },
    {"wrong": GivesUp, "caught": "drain-completes", **TWO, **BOTH_ON_ONE},
    {"wrong": LeavesOpen, "caught": "drain-completes", **TWO, **BOTH_ON_ONE},
    {"wrong": EvictsNothing, "caught": "drain-completes", **TWO, **BOTH_ON_ONE},
    {"wrong": NeverRetries, "caught": "drain-completes", **TWO, **BOTH_ON_ONE},
]


@pytest.mark.parametrize("case", CASES)
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
