"""Wrong rules of the descheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from reconverge.model.loops.descheduler import Descheduler
from reconverge.model.loops.descheduler.evictor import Evictor
from reconverge.model.loops.descheduler.fit import NodeFit
from reconverge.model.loops.descheduler.policy import DeschedulerPolicy, EvictorSettings, RemoveDuplicatesSettings
from reconverge.model.loops.descheduler.run import Run
from reconverge.model.loops.descheduler.strategies.duplicates import RemoveDuplicates
from reconverge.model.loops.descheduler.strategies.strategy import Strategy
from reconverge.model.objects import Node, Pod
from reconverge.model.store import Store

Case = Mapping[str, Any]
POLICY = DeschedulerPolicy(evictor=EvictorSettings(node_fit=True), duplicates=RemoveDuplicatesSettings())


class FitsAnywhere(NodeFit):
    """A pod fits wherever there is another node."""

    def fits_elsewhere(self, store: Store, pod: Pod, nodes: Iterable[Node]) -> bool:
        return any(node.name != pod.node for node in nodes)


class RequestsForgotten(NodeFit):
    """What a pod requests is not looked at."""

    def room(self, store: Store, pod: Pod, node: Node) -> bool:
        return True


class CordonForgotten(NodeFit):
    """A cordoned node is a place like any other."""

    def schedulable(self, node: Node) -> bool:
        return True

    def tolerated(self, pod: Pod, node: Node) -> bool:
        return True


class AnyoneMayGo(Evictor):
    """Pods of DaemonSets go, too."""

    def part_of_the_node(self, pod: Pod) -> bool:
        return False


class DownToOne(RemoveDuplicates):
    """Each node keeps one pod of an owner, however many there are."""

    def keeps(self, run: Run, by_node: dict[str, list[Pod]]) -> dict[str, int]:
        return dict.fromkeys(by_node, 1)


class EveryPod(Strategy):
    """Whatever may be evicted is."""

    def balance(self, run: Run) -> None:
        for node in run.nodes:
            for pod in run.pods_on(node):
                run.evict(pod, "it is there")


def fitting(wrong: Any) -> Descheduler:
    """A descheduler with another idea of what fits."""
    loop = Descheduler(POLICY)
    loop.fit = wrong()
    return loop


def evicting(wrong: Any) -> Descheduler:
    """A descheduler with another idea of who may go."""
    loop = Descheduler(DeschedulerPolicy(), [EveryPod()])
    loop.evictor = wrong(EvictorSettings())
    return loop


def balancing(wrong: Any) -> Descheduler:
    """A descheduler with another strategy."""
    return Descheduler(POLICY, [wrong(RemoveDuplicatesSettings())])


def bold(wrong: Any) -> Descheduler:
    """A descheduler with a strategy without settings."""
    return Descheduler(POLICY, [wrong()])


def daemon_set() -> dict[str, Any]:
    """A DaemonSet on every node."""
    template = {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [{"name": "c", "image": "agent:1"}]}}
    spec = {"selector": {"matchLabels": {"app": "agent"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"}, "spec": spec}


TWO: dict[str, Any] = {
    "deployments": {"web": {"replicas": 1}, "other": {"replicas": 1, "cpu": "3800m"}},
    "nodes": "2x4cpu,16Gi",
    "placement": {"deployment/web": ["node-1"], "deployment/other": ["node-2"]},
    "loops": {"descheduler": {"policy": {"RemoveDuplicates": {}, "DefaultEvictor": {"nodeFit": True}}}},
    "may": {"scale": {"times": 1, "workload": "deployment/web", "replicas": 2}},
    "trace": ["scale deployment/web 2"],
}

CASES: list[Case] = [
    {**TWO, "wrong": FitsAnywhere, "loop": fitting, "caught": "removal-has-room"},
    {**TWO, "wrong": RequestsForgotten, "loop": fitting, "caught": "removal-has-room"},
    {
        **TWO,
        "wrong": CordonForgotten,
        "loop": fitting,
        "caught": "removal-has-room",
        "deployments": {"web": {"replicas": 1}},
        "placement": {"deployment/web": ["node-1"]},
        "steps": [{"cordon": {"node": "node-2"}}],
        "trace": ["cordon node-2", "scale deployment/web 2"],
    },
    {
        **TWO,
        "wrong": EveryPod,
        "loop": bold,
        "caught": "no-livelock",
        "deployments": {"web": {"replicas": 1}},
        "placement": {"deployment/web": ["node-1"]},
        "trace": [],
    },
    {
        **TWO,
        "wrong": AnyoneMayGo,
        "loop": evicting,
        "caught": "no-unprovoked-kill",
        "deployments": {"web": {"replicas": 1}},
        "placement": {"deployment/web": ["node-1"]},
        "objects": [daemon_set()],
        "may": {"drain": 1},
        "trace": [],
    },
    {
        **TWO,
        "wrong": DownToOne,
        "loop": balancing,
        "caught": "no-livelock",
        "deployments": {"web": {"replicas": 2}},
        "placement": {"deployment/web": ["node-1", "node-2"]},
        "may": {"scale": {"times": 1, "workload": "deployment/web", "replicas": 3}},
        "trace": ["scale deployment/web 3"],
    },
]


@pytest.mark.parametrize("case", CASES)
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
