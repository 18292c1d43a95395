"""Wrong rules of the loops around nodes: node lifecycle, taint eviction, and the two collectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from reconverge.model.action import Action
from reconverge.model.loop import Plan, Reading
from reconverge.model.loops.cloud_node import CloudNodeController
from reconverge.model.loops.garbage_collector import GarbageCollector
from reconverge.model.loops.node_lifecycle import NodeLifecycleController
from reconverge.model.loops.node_lifecycle.memory import NodeLifecycleMemory
from reconverge.model.loops.node_lifecycle.writes import ChangeTaints
from reconverge.model.loops.pod_gc import TERMINATED, PodGarbageCollector, PodGCMemory
from reconverge.model.loops.taint_eviction import PlannedEviction, TaintEvictionController, Taints
from reconverge.model.machines import Machine
from reconverge.model.objects import ApiObject, Node, Pod, Taint, Toleration
from reconverge.model.store import Store
from reconverge.model.value import Seconds

Case = Mapping[str, Any]


# Node lifecycle ----------------------------------------------------------------------------------------------


class SilenceIgnored(NodeLifecycleController):
    """A node that is not heard of stays Ready."""

    def unknown_at(self, reading: Reading, memory: NodeLifecycleMemory, node: Node) -> Seconds | None:
        return None


class NeverTainted(NodeLifecycleController):
    """Nodes that are not ready get no NoExecute taint."""

    def zone_rate(self, state: str, counted: int, rules: Any) -> float:
        return 0.0


class NeverUntainted(NodeLifecycleController):
    """A node that is back keeps its taints."""

    def no_schedule_changes(self, node: Node) -> tuple[Action, ...]:
        return () if node.ready == "True" else super().no_schedule_changes(node)

    def no_execute_changes(self, node: Node) -> tuple[Action, ...]:
        return () if node.ready == "True" else super().no_execute_changes(node)


class MarksAnyNewPod(NodeLifecycleController):
    """A pod that is bound to a node is marked not ready, whatever the node is."""

    def marks_new_pod(self, node: Node) -> bool:
        return True


# Taint eviction ----------------------------------------------------------------------------------------------


class NeverCancelled(TaintEvictionController):
    """A planned eviction stands when the taint has been taken away."""

    def after_untainted(self, planned: PlannedEviction) -> PlannedEviction | None:
        return planned


class TolerationsIgnored(TaintEvictionController):
    """Tolerations do not keep a pod on a tainted node."""

    def used_tolerations(self, pod: Pod, taints: Taints) -> list[tuple[Taint, Toleration]] | Taint:
        return taints[0] if taints else []


class ToleratedForEver(TaintEvictionController):
    """tolerationSeconds is not looked at: what is tolerated is tolerated for ever."""

    def tolerated_for(self, used: list[tuple[Taint, Toleration]]) -> tuple[Seconds, Taint] | None:
        return None


class ToleratedForNoTime(TaintEvictionController):
    """tolerationSeconds is taken for 0."""

    def tolerated_for(self, used: list[tuple[Taint, Toleration]]) -> tuple[Seconds, Taint] | None:
        limit = super().tolerated_for(used)
        return None if limit is None else (0, limit[1])


# The collectors ----------------------------------------------------------------------------------


class OrphansStay(PodGarbageCollector):
    """Pods of a node that is gone are not collected."""

    def sync(self, reading: Reading, memory: PodGCMemory, key: str) -> Sequence[Plan[PodGCMemory]]:
        if "/" in key or key == TERMINATED:
            return super().sync(reading, memory, key)
        return (Plan(memory),)


class DependentsStay(GarbageCollector):
    """What has an owner stays when its owner has gone."""

    def collects(self, store: Store, dependent: ApiObject) -> bool:
        return False


class SetsStay(GarbageCollector):
    """Only pods are collected."""

    def collects(self, store: Store, dependent: ApiObject) -> bool:
        return dependent.kind == "Pod" and super().collects(store, dependent)


class CollectsAtOnce(PodGarbageCollector):
    """The pods of a missing node are not left alone for a while."""

    def collected_at(self, noticed: Seconds, reading: Reading) -> Seconds:
        return noticed


class NodesStay(CloudNodeController):
    """The cloud is not asked whether an instance is still there."""

    def asks(self, node: Node) -> bool:
        return False


class ShutDownForEver(CloudNodeController):
    """The taint of a stopped instance stays when its node is ready again."""

    def changed_taint(self, node: Node, machine: Machine | None) -> ChangeTaints | None:
        return super().changed_taint(node, machine) if self.asks(node) else None


class NeverInitialised(CloudNodeController):
    """New nodes stay as their kubelets have registered them."""

    def initialises(self, node: Node, machine: Machine | None) -> bool:
        return False


CRASH: Case = {"may": {"node-crash": 1}, "trace": ["node-crash node-1"], "nodes": "2x4cpu,16Gi"}
FOR_EVER = {"tolerations": [{"operator": "Exists"}]}
FOR_A_MINUTE = {"key": "own", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}


def replica_set() -> dict[str, Any]:
    container = {"name": "c", "image": "shop/app:1"}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": spec}


CASES: list[Case] = [
    {"wrong": SilenceIgnored, "caught": "replicas-restored", "deployment": {}, **CRASH},
    {"wrong": NeverTainted, "caught": "replicas-restored", "deployment": {}, **CRASH},
    {
        "wrong": NeverUntainted,
        "caught": "replicas-restored",
        "deployment": {},
        "nodes": "2x4cpu,16Gi",
        "steps": [{"node-crash": {"node": "node-1"}}, {"node-recover": {"node": "node-1"}}],
        "may": {"drain": {"node": "node-2"}},
        "trace": ["node-crash node-1", "node-recover node-1", "drain node-2"],
    },
    {"wrong": ToleratedForEver, "caught": "replicas-restored", "deployment": {}, **CRASH},
    {"wrong": TolerationsIgnored, "caught": "no-unprovoked-kill", "deployment": {"pod": FOR_EVER}, **CRASH},
    {"wrong": ToleratedForNoTime, "caught": "no-unprovoked-kill", "deployment": {}, **CRASH},
    {
        "wrong": ToleratedForNoTime,
        "caught": "no-unprovoked-kill",
        "deployment": {"pod": {"tolerations": [FOR_A_MINUTE]}},
        "nodes": "2x4cpu,16Gi",
        "may": {"taint": {"node": "node-1", "key": "own", "effect": "NoExecute"}},
        "trace": ["taint node-1 own NoExecute"],
    },
    {
        "wrong": MarksAnyNewPod,
        "caught": "no-unprovoked-kill",
        "deployment": {},
        "nodes": "1x4cpu,16Gi",
        "start": "empty",
        "trace": [],
    },
    {
        "wrong": NeverCancelled,
        "caught": "no-unprovoked-kill",
        "deployment": {},
        "nodes": "2x4cpu,16Gi",
        "may": {"node-crash": 1, "node-recover": 1},
        "events": 2,
        "deviations": 1,
        "trace": ["node-crash node-1, interruption 7", "node-recover node-1"],
    },
    {
        "wrong": OrphansStay,
        "caught": "orphans-removed",
        "deployment": {},
        "nodes": "2x4cpu,16Gi",
        "may": {"instance-terminated": 1},
        "trace": ["instance-terminated node-1"],
    },
    {
        "wrong": DependentsStay,
        "caught": "orphans-removed",
        "objects": [replica_set()],
        "nodes": "1x4cpu,16Gi",
        "may": {"delete": {"object": "replicaset/web"}},
        "trace": ["delete replicaset/web"],
    },
    {
        "wrong": SetsStay,
        "caught": "orphans-removed",
        "deployment": {},
        "nodes": "1x4cpu,16Gi",
        "may": {"delete": {"object": "deployment/web"}},
        "trace": ["delete deployment/web"],
    },
    {
        "wrong": NodesStay,
        "caught": "orphans-removed",
        "deployment": {},
        "nodes": "2x4cpu,16Gi",
        "may": {"instance-terminated": 1},
        "trace": ["instance-terminated node-1"],
    },
    {
        "wrong": ShutDownForEver,
        "caught": "replicas-restored",
        "deployment": {},
        "nodes": "1x4cpu,16Gi",
        "steps": [{"instance-stopped": {"node": "node-1"}}, {"node-recover": {"node": "node-1"}}],
        "may": {"delete-pod": 1},
        "events": 1,
        "trace": ["instance-stopped node-1", "node-recover node-1", "delete-pod deployment/web#0"],
    },
    {
        "wrong": NeverInitialised,
        "caught": "replicas-restored",
        "deployment": {},
        "nodePools": [
            {"name": "node", "count": 1, "managed": True, "allocatable": {"cpu": "4", "memory": "16Gi"}, "zones": ["a"]}
        ],
        "may": {"instance-terminated": 1},
        "trace": ["instance-terminated node-1"],
    },
    {
        "wrong": CollectsAtOnce,
        "caught": "no-unprovoked-kill",
        "deployment": {},
        "nodes": "2x4cpu,16Gi",
        "may": {"node-delete": 1, "node-crash": 1},
        "events": 2,
        "trace": ["node-delete node-1"],
    },
]


@pytest.mark.parametrize("case", CASES)
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
