"""Wrong rules of the cluster autoscaler and of node groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from reconverge.model.loop import Reading
from reconverge.model.loops.cluster_autoscaler import AutoscalerMemory, ClusterAutoscaler
from reconverge.model.loops.cluster_autoscaler.scale_down import Movable
from reconverge.model.loops.cluster_autoscaler.scale_up import Help
from reconverge.model.loops.cluster_autoscaler.simulation import Simulation
from reconverge.model.loops.cluster_autoscaler.view import View
from reconverge.model.loops.node_group import NodeGroupLoop
from reconverge.model.loops.upgrade import UpgradeLoop
from reconverge.model.machines import Machines
from reconverge.model.node_groups import NodeGroup
from reconverge.model.objects import Pod
from reconverge.model.store import Store

Case = Mapping[str, Any]


class NeverGrows(ClusterAutoscaler):
    """Pods that fit nowhere are left to themselves."""

    def grow(self, view: View, memory: AutoscalerMemory, wanted: Help) -> Any:
        return []


class OneNodeAtMost(ClusterAutoscaler):
    """One node is added, and that is it."""

    def most(self, view: View, group: NodeGroup) -> int:
        return min(1, super().most(view, group))

    def may_grow(self, view: View, group: NodeGroup) -> bool:
        return super().may_grow(view, group) and group.desired <= group.minimum


class DaemonsHelped(ClusterAutoscaler):
    """Nobody is helped but daemons."""

    def is_helped(self, pod: Pod) -> bool:
        return not super().is_helped(pod)


class NeverShrinks(ClusterAutoscaler):
    """Nodes that nobody needs stay."""

    def ripe(self, view: View, memory: AutoscalerMemory, name: str) -> bool:
        return False


class PodsForgotten(ClusterAutoscaler):
    """A node that is little used is taken for empty."""

    def movable(self, view: View, store: Store, node: str, remaining: dict[str, int]) -> Movable:
        return Movable(())


class BudgetsForgotten(ClusterAutoscaler):
    """Whether budgets let pods go is not looked at before a node is marked."""

    rules = tuple(rule for rule in ClusterAutoscaler.rules if "budget" not in rule.__name__)


class UnsafeForgotten(ClusterAutoscaler):
    """That the owner of a pod does not want it to be moved is not looked at."""

    rules = tuple(rule for rule in ClusterAutoscaler.rules if rule.__name__ != "unsafe")


class LocalStorageForgotten(ClusterAutoscaler):
    """That a pod would lose what it has on its node is not looked at."""

    rules = tuple(rule for rule in ClusterAutoscaler.rules if rule.__name__ != "local_storage")


class RoomForgotten(ClusterAutoscaler):
    """Any other node is a place for the pods of one that is to be removed."""

    def __init__(self) -> None:
        super().__init__(removal=Simulation(()))


class DrainsSkipped(UpgradeLoop):
    """A drain need not end before its node goes."""

    def is_empty(self, reading: Reading, node: str) -> bool:
        return True


class NeverLaunches(NodeGroupLoop):
    """Instances that are gone are not replaced."""

    def launching(self, reading: Reading, group: NodeGroup) -> Any:
        return ()


class NeverRuns(NodeGroupLoop):
    """Instances never come up."""

    def booting(self, reading: Reading, group: NodeGroup) -> Any:
        return ()


class RebalancesUnasked(NodeGroupLoop):
    """Zones are made even whether or not the group is to be rebalanced."""

    def unbalanced(self, machines: Machines, group: NodeGroup) -> str:
        return super().unbalanced(machines, group.with_(rebalance=True))


class ShrinksToMinimum(NodeGroupLoop):
    """A group has no more instances than it must."""

    def shrinking(self, reading: Reading, group: NodeGroup) -> Any:
        return super().shrinking(reading, group.with_(desired=group.minimum))


def pool(count: int, least: int, most: int, **fields: Any) -> list[dict[str, Any]]:
    room = {"cpu": "1", "memory": "8Gi", "pods": 110}
    return [{"name": "n", "count": count, "min": least, "max": most, "zones": ["a"], "allocatable": room, **fields}]


SHRINKS: dict[str, Any] = {
    "deployments": {"web": {"replicas": 2, "cpu": "400m"}, "other": {"replicas": 1, "cpu": "600m"}},
    "nodePools": pool(2, 1, 2),
    "placement": {"deployment/web": ["n-1", "n-1"], "deployment/other": ["n-2"]},
    "may": {"scale": {"times": 1, "workload": "deployment/web", "replicas": 1}},
    "trace": ["scale deployment/web 1"],
}

AUTOSCALER = "cluster-autoscaler.kubernetes.io"
WEB: dict[str, Any] = {"replicas": 2, "cpu": "400m"}
OTHER: dict[str, Any] = {"other": {"replicas": 1, "cpu": "600m"}}
KEPT: dict[str, Any] = {**SHRINKS, "caught": "no-unprovoked-kill"}


CASES: list[Case] = [
    {
        "wrong": NeverGrows,
        "caught": "replicas-restored",
        "deployment": {"replicas": 2},
        "nodePools": pool(1, 1, 3),
        "may": {"scale": {"times": 1, "replicas": [1, 3]}},
        "trace": ["scale deployment/web 3"],
    },
    {
        "wrong": OneNodeAtMost,
        "caught": "replicas-restored",
        "deployment": {"replicas": 2},
        "nodePools": pool(1, 1, 3),
        "may": {"scale": {"times": 1, "replicas": [3, 6]}},
        "trace": ["scale deployment/web 6"],
    },
    {
        "wrong": DaemonsHelped,
        "caught": "replicas-restored",
        "deployment": {"replicas": 2},
        "nodePools": pool(1, 1, 3),
        "may": {"scale": {"times": 1, "replicas": [3]}},
        "trace": ["scale deployment/web 3"],
    },
    {**SHRINKS, "wrong": NeverShrinks, "caught": "unneeded-nodes-removed"},
    {**SHRINKS, "wrong": PodsForgotten, "caught": "drained-before-removed"},
    {
        **KEPT,
        "wrong": UnsafeForgotten,
        "deployments": {**OTHER, "web": {**WEB, "annotations": {f"{AUTOSCALER}/safe-to-evict": "false"}}},
    },
    {
        **KEPT,
        "wrong": LocalStorageForgotten,
        "deployments": {**OTHER, "web": {**WEB, "pod": {"volumes": [{"name": "data", "emptyDir": {}}]}}},
    },
    {
        "wrong": DrainsSkipped,
        "caught": "drained-before-removed",
        "deployment": {"replicas": 2},
        "nodePools": pool(1, 1, 1),
        "may": {"node-upgrade": 1},
        "trace": ["node-upgrade n"],
    },
    {
        **SHRINKS,
        "wrong": RoomForgotten,
        "caught": "removal-has-room",
        "deployments": {"big": {"replicas": 1, "cpu": "800m"}, "web": {"replicas": 2, "cpu": "300m"}},
        "placement": {"deployment/big": ["n-1"], "deployment/web": ["n-2", "n-2"]},
        "may": {"scale": {"times": 1, "replicas": [0, 1]}},
    },
    {
        **SHRINKS,
        "wrong": BudgetsForgotten,
        "caught": "no-livelock",
        "deployments": {},
        "deployment": {"replicas": 3},
        "budget": {"minAvailable": 2},
        "placement": {"deployment/web": ["n-1", "n-1", "n-2"]},
        "may": {"scale": {"times": 1, "replicas": 2}},
        "trace": ["scale deployment/web 2"],
    },
    {
        "wrong": NeverLaunches,
        "caught": "replicas-restored",
        "deployment": {"replicas": 4},
        "nodePools": pool(2, 2, 2, managed=True),
        "may": {"instance-terminated": 1},
        "trace": ["instance-terminated n-1"],
    },
    {
        "wrong": NeverRuns,
        "caught": "replicas-restored",
        "deployment": {"replicas": 4},
        "nodePools": pool(2, 2, 2, managed=True),
        "may": {"instance-terminated": 1},
        "trace": ["instance-terminated n-1"],
    },
    {
        "wrong": RebalancesUnasked,
        "caught": "drained-before-removed",
        "deployment": {"replicas": 4},
        "nodePools": pool(2, 2, 2, managed=True, zones=["a", "b"]),
        "may": {
            "zone-outage": {"zone": "a", "times": 1},
            "instance-terminated": {"node": "n-1", "times": 1},
            "zone-recover": 1,
        },
        "events": 3,
        "trace": ["zone-outage a", "instance-terminated n-1", "zone-recover a"],
    },
    {
        "wrong": ShrinksToMinimum,
        "caught": "no-livelock",
        "deployment": {"replicas": 4},
        "nodePools": pool(2, 2, 3),
        "may": {"scale": {"times": 1, "replicas": [3, 6]}},
        "trace": ["scale deployment/web 6"],
    },
]


@pytest.mark.parametrize("case", CASES)
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
