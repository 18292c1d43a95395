"""Wrong rules of a kubelet whose node runs short of something."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from reconverge.model.action import Action, Patch
from reconverge.model.loop import Plan, Reading
from reconverge.model.loops.kubelet import Kubelet
from reconverge.model.loops.kubelet.actions import FromNode, Locally
from reconverge.model.loops.kubelet.pressure import EvictionManager, evictions
from reconverge.model.machines import Machine
from reconverge.model.objects import Pod
from reconverge.model.pressure import CONDITIONS, Strain
from reconverge.model.quality import excess

Case = Mapping[str, Any]


def told_of_pressure(action: Action) -> bool:
    """Whether an action reports pressure on a node."""
    patch = action.action if isinstance(action, FromNode) else None
    return isinstance(patch, Patch) and any(name == "pressure" for name, _ in patch.fields)


class Filtered(Kubelet):
    """Some writes are left out of every pass."""

    def left_out(self, reading: Reading, action: Action) -> bool:
        raise NotImplementedError

    def sync(self, reading: Reading, memory: None, key: str) -> Sequence[Plan[None]]:
        plans = super().sync(reading, memory, key)
        return [
            plan.with_(actions=tuple(each for each in plan.actions if not self.left_out(reading, each)))
            for plan in plans
        ]


class NeverReported(Filtered):
    """The Node does not say that it is under pressure, so nobody taints it."""

    def left_out(self, reading: Reading, action: Action) -> bool:
        return told_of_pressure(action)


class NeverEnds(Filtered):
    """A Node that was under pressure once says so for ever."""

    def left_out(self, reading: Reading, action: Action) -> bool:
        if not told_of_pressure(action):
            return False
        assert isinstance(action, FromNode)
        assert isinstance(action.action, Patch)
        return not dict(action.action.fields)["pressure"]


class EvictedRunOn(Filtered):
    """A pod that is evicted is called Failed, and goes on."""

    def left_out(self, reading: Reading, action: Action) -> bool:
        if not isinstance(action, Locally) or action.pod.state != "stopped":
            return False
        pod = reading.store.pod(action.pod.key)
        return pod is not None and pod.deletion_at is None


class ByPriorityAlone(EvictionManager):
    """Who keeps to the request goes before who does not, if the priority is lower."""

    def rank(self, resource: str, pod: Pod) -> tuple[Any, ...]:
        return (pod.spec.priority,)


class ByUseAlone(EvictionManager):
    """The largest goes first, whatever it has asked for."""

    def rank(self, resource: str, pod: Pod) -> tuple[Any, ...]:
        return (-excess(pod.spec, resource)[1],)


class NobodySpared(EvictionManager):
    """Critical pods are evicted like others."""

    def spared(self, pod: Pod) -> bool:
        return False


class TwoAtATime(EvictionManager):
    """A second pod goes with the first."""

    def passes(self, reading: Reading, machine: Machine, plan: Plan[None]) -> tuple[Plan[None], ...]:
        found = []
        for each in super().passes(reading, machine, plan):
            gone = [action.pod.uid for action in each.actions if isinstance(action, Locally)]
            next_ones = self.victims(reading, machine.without_pod(gone[0])) if gone else []
            more = evictions(machine, *next_ones[0]) if next_ones else ()
            found.append(each.with_(actions=(*each.actions, *more)))
        return tuple(found)


class RelievedAtOnce(EvictionManager):
    """A condition ends with its shortage."""

    def lapsed(self, reading: Reading, strain: Strain) -> Strain:
        known = strain.known - {CONDITIONS[resource] for resource, _ in strain.ended}
        return strain if known == strain.known else strain.with_(known=known, changed=reading.now, ended=())


def managed(wrong: type[EvictionManager]) -> Kubelet:
    """Kubelets that act under pressure by a wrong rule."""
    kubelet = Kubelet()
    kubelet.eviction = wrong()  # type: ignore[misc]
    return kubelet


def using(memory: str, priority: str = "", asked: str = "1Gi") -> dict[str, Any]:
    """A Deployment whose pod asks for some memory and uses so much."""
    resources = {"requests": {"cpu": "100m", "memory": asked}}
    pod = {"containers": [{"name": "c", "image": "shop/app:1", "resources": resources}]}
    return {
        "annotations": {"reconverge/memory": memory},
        "pod": {**pod, "priorityClassName": priority} if priority else pod,
    }


def stateful_set() -> dict[str, Any]:
    container = {"name": "c", "image": "shop/db:1"}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    spec = {"replicas": 1, "serviceName": "db", "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": spec}


SHORT: dict[str, Any] = {"node": "node-1", "resource": "memory"}
PRESSED: dict[str, Any] = {
    "nodes": "2x4cpu,16Gi",
    "may": {"pressure": {"times": 1, **SHORT}},
    "trace": ["pressure node-1 memory"],
}

HIGH = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}
IN_ORDER: dict[str, Any] = {
    "loop": managed,
    "caught": "eviction-in-order",
    "objects": [HIGH],
    "nodes": "1x4cpu,16Gi",
    "may": {"pressure": {"times": 1, **SHORT}},
    "trace": ["pressure node-1 memory"],
}

CASES: list[Case] = [
    {**PRESSED, "wrong": NeverReported, "caught": "no-livelock", "objects": [stateful_set()]},
    {**PRESSED, "wrong": EvictedRunOn, "caught": "no-unprovoked-kill", "objects": [stateful_set()]},
    {
        "wrong": NeverEnds,
        "caught": "replicas-restored",
        "objects": [stateful_set()],
        "nodes": "1x4cpu,16Gi",
        "steps": [{"pressure": SHORT}, {"time": {"seconds": 15}}, {"pressure": {**SHORT, "on": False}}],
        "events": 0,
        "trace": ["pressure node-1 memory", "time 15", "pressure node-1 memory False"],
    },
    {**IN_ORDER, "wrong": ByPriorityAlone, "deployments": {"hog": using("2Gi", "high"), "modest": using("1Gi")}},
    {**IN_ORDER, "wrong": ByUseAlone, "deployments": {"big": using("4Gi", asked="5Gi"), "hog": using("2Gi")}},
    {
        **IN_ORDER,
        "wrong": NobodySpared,
        "deployments": {"dns": using("2Gi", "system-cluster-critical"), "modest": using("1Gi")},
    },
    {**IN_ORDER, "wrong": TwoAtATime, "deployments": {"one": using("2Gi"), "two": using("1Gi")}},
    {
        **IN_ORDER,
        "wrong": RelievedAtOnce,
        "deployments": {"one": using("2Gi")},
        "steps": [{"pressure": SHORT}, {"time": {"seconds": 15}}, {"pressure": {**SHORT, "on": False}}],
        "may": {},
        "events": 0,
        "trace": ["pressure node-1 memory", "time 15", "pressure node-1 memory False"],
    },
]


@pytest.mark.parametrize("case", CASES)
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
