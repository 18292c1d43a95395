"""Wrong rules of the scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytest
from attrs import frozen

from reconverge.model.action import Bind, Written
from reconverge.model.cluster import Cluster
from reconverge.model.loop import Plan, Reading
from reconverge.model.loops.scheduler import Scheduler
from reconverge.model.loops.scheduler.accounting import Accounting, Assumed
from reconverge.model.loops.scheduler.cycle import Cycle
from reconverge.model.loops.scheduler.memory import SchedulerMemory
from reconverge.model.loops.scheduler.plugin import Check, Delta, Failure, Filter
from reconverge.model.loops.scheduler.plugins import (
    FILTERS,
    InterPodAffinity,
    NodeAffinity,
    NodePorts,
    NodeResourcesFit,
    NodeUnschedulable,
    PodTopologySpread,
    TaintToleration,
    VolumeBinding,
)
from reconverge.model.loops.scheduler.preemption import Preemption
from reconverge.model.objects import Node, Pod
from reconverge.model.resources import Usage
from reconverge.model.store import Change, Store
from reconverge.model.volumes import claims_of

Case = Mapping[str, Any]


def with_filter(wrong: type[Filter]) -> Scheduler:
    """A scheduler with one filter replaced by a wrong one of the same name."""
    return Scheduler(filters=[wrong() if wrong.name == each.name else each for each in FILTERS])


def without(check: Check | None, *words: str) -> Check | None:
    """The check without the failures whose every reason has one of the words."""
    if check is None:
        return None
    inner = check

    def lenient(node: Node, usage: Usage, delta: Delta) -> Failure | None:
        failure = inner(node, usage, delta)
        if failure is None or all(any(word in reason for word in words) for reason in failure.reasons):
            return None
        return failure

    return lenient


class TaintsIgnored(TaintToleration):
    """Taints do not keep pods away."""

    def prepare(self, cycle: Cycle) -> Check | None:
        return None


class CordonIgnored(NodeUnschedulable):
    """spec.unschedulable does not keep pods away."""

    def prepare(self, cycle: Cycle) -> Check | None:
        return None


class SelectorIgnored(NodeAffinity):
    """Node selector and node affinity are not looked at."""

    def prepare(self, cycle: Cycle) -> Check | None:
        return None


class PortsIgnored(NodePorts):
    """Host ports are given twice."""

    def prepare(self, cycle: Cycle) -> Check | None:
        return None


class ResourcesIgnored(NodeResourcesFit):
    """Requests need not fit."""

    def prepare(self, cycle: Cycle) -> Check | None:
        return None


class PodCountIgnored(NodeResourcesFit):
    """A node takes more pods than its allocatable number."""

    def prepare(self, cycle: Cycle) -> Check | None:
        return without(super().prepare(cycle), "Too many pods")


class OwnAntiAffinityIgnored(InterPodAffinity):
    """The pod's own anti-affinity is not looked at, only that of the pods that are there."""

    def prepare(self, cycle: Cycle) -> Check | None:
        return without(super().prepare(cycle), "didn't match pod anti-affinity rules", "existing pods")


class AntiAffinityOneWay(InterPodAffinity):
    """The anti-affinity of the pods that are there does not keep others away."""

    def prepare(self, cycle: Cycle) -> Check | None:
        return without(super().prepare(cycle), "existing pods")


class AffinityIgnored(InterPodAffinity):
    """Required affinity to other pods is not looked at."""

    def prepare(self, cycle: Cycle) -> Check | None:
        return without(super().prepare(cycle), "didn't match pod affinity rules")


class SpreadIgnored(PodTopologySpread):
    """Hard spread constraints are not looked at."""

    def prepare(self, cycle: Cycle) -> Check | None:
        return None


ELSEWHERE = Failure("VolumeBinding", ("node(s) didn't match PersistentVolume's node affinity",), resolvable=False)


class VolumesIgnored(VolumeBinding):
    """A pod may be on any node, wherever its volumes are."""

    def prepare(self, cycle: Cycle) -> Check | None:
        return None


class BoundIsTaken(VolumeBinding):
    """A volume that is bound has its pod already and takes no other."""

    def prepare(self, cycle: Cycle) -> Check | None:
        if any(claim.bound for claim in claims_of(cycle.store, cycle.pod)):
            return lambda node, usage, delta: ELSEWHERE
        return super().prepare(cycle)


class TerminatingHoldNothing(Accounting):
    """What Terminating pods hold counts as free."""

    def usage(self, store: Store, assumed: Assumed) -> Callable[[str], Usage]:
        inner = super().usage(store, assumed)

        def without_terminating(name: str) -> Usage:
            usage = inner(name)
            for pod in store.pods_on(name):
                if pod.terminating and not pod.terminal:
                    usage = self.changed(usage, pod, -1)
            return usage

        return without_terminating


class EqualsPreempted(Preemption):
    """Pods of the same priority may be preempted."""

    def may_preempt(self, cycle: Cycle, victim: Pod) -> bool:
        return victim.spec.priority <= cycle.pod.spec.priority


class NobodyPreempted(Preemption):
    """A pod of higher priority waits like any other."""

    def may_preempt(self, cycle: Cycle, victim: Pod) -> bool:
        return False


class NobodyWakes(Scheduler):
    """A pod that fitted nowhere is never looked at again."""

    def observe(
        self, memory: SchedulerMemory, change: Change, reading: Reading
    ) -> tuple[SchedulerMemory, Iterable[str]]:
        memory, keys = super().observe(memory, change, reading)
        return memory, [key for key in keys if key not in memory.rejected]


@frozen
class BindAgain(Bind):
    """A binding that does not ask whether the pod has a node."""

    def apply(self, cluster: Cluster) -> Written:
        pod = cluster.store.table("Pod").objects[self.key]
        store, change = cluster.store.put(pod.with_(node=self.node))
        return cluster.with_(store=store), (change,)


class BindsTwice(Scheduler):
    """A pod that has just been bound is placed once more, and the binding is not refused."""

    def responsible(self, pod: Pod) -> bool:
        return not pod.terminal and pod.deletion_at is None

    def _wakes_itself(self, memory: SchedulerMemory, change: Change) -> bool:
        before, after = change.before, change.after
        return after is not None and (before is None or (before.node is None and after.node is not None))

    def bindings(
        self, cycle: Cycle, memory: SchedulerMemory, passing: Sequence[Node]
    ) -> Sequence[Plan[SchedulerMemory]]:
        pod = cycle.pod
        node = next((each.name for each in passing if each.name != pod.node), "")
        return [Plan(memory, (BindAgain(pod.key, pod.uid, node),) if node else ())]


def anti_affinity(app: str) -> dict[str, Any]:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": app}}}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def affinity(app: str) -> dict[str, Any]:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": app}}}
    return {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def pool(name: str, cpu: str = "8", **more: Any) -> dict[str, Any]:
    return {"name": name, "count": 1, "allocatable": {"cpu": cpu, "memory": "16Gi", "pods": 110}, **more}


def pod(name: str, **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "shop/app:1", "resources": {"requests": {"cpu": "500m"}}}
    own = {"containers": [container], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": own}


AT_ONCE: Case = {"start": "empty", "trace": []}
UP: Case = {"may": {"scale": {"workload": "deployment/web", "replicas": 2}}, "trace": ["scale deployment/web 2"]}
SPREAD = {
    "maxSkew": 1,
    "topologyKey": "topology.kubernetes.io/zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}
PORT = {"containers": [{"name": "c", "image": "shop/app:1", "ports": [{"containerPort": 80, "hostPort": 80}]}]}
HIGH = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 100}
ONE_FOR_ONE = {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}


def storage() -> list[dict[str, Any]]:
    """StatefulSet db of two, each with a disk in the zone of its first node."""
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "zonal",
        "resources": {"requests": {"storage": "1Gi"}},
    }
    container = {"name": "c", "image": "shop/db:1", "resources": {"requests": {"cpu": "500m"}}}
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [container]}}
    sts = {
        "replicas": 2,
        "serviceName": "db",
        "selector": {"matchLabels": {"app": "db"}},
        "template": template,
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": spec}],
    }
    kind = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "zonal"}}
    return [
        {**kind, "provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer"},
        {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": sts},
    ]


ZONAL: dict[str, Any] = {
    "objects": storage(),
    "nodes": "2x4cpu,16Gi@a,b",
    "placement": {"statefulset/db": ["node-1", "node-2"]},
}

CASES: list[Case] = [
    {
        "wrong": TaintsIgnored,
        "loop": with_filter,
        "caught": "placement-honoured",
        "deployment": {"replicas": 1},
        "nodePools": [pool("open"), pool("closed", taints=["for=others:NoSchedule"])],
        **UP,
    },
    {
        "wrong": CordonIgnored,
        "loop": with_filter,
        "caught": "placement-honoured",
        "deployment": {"replicas": 1},
        "nodes": "1x8cpu,16Gi",
        "may": {"loop-pause": {"loop": "node-lifecycle"}, "drain": 1},
        "events": 2,
        "trace": ["loop-pause node-lifecycle", "drain node-1"],
    },
    {
        "wrong": SelectorIgnored,
        "loop": with_filter,
        "caught": "placement-honoured",
        "objects": [pod("web", nodeSelector={"disk": "ssd"})],
        "nodePools": [pool("slow")],
        **AT_ONCE,
    },
    {
        "wrong": PortsIgnored,
        "loop": with_filter,
        "caught": "placement-honoured",
        "objects": [pod("blue", **PORT), pod("green", **PORT)],
        "nodes": "1x8cpu,16Gi",
        **AT_ONCE,
    },
    {
        "wrong": ResourcesIgnored,
        "loop": with_filter,
        "caught": "placement-honoured",
        "objects": [pod("web")],
        "nodes": "1x400m,16Gi",
        **AT_ONCE,
    },
    {
        "wrong": PodCountIgnored,
        "loop": with_filter,
        "caught": "placement-honoured",
        "objects": [pod("blue"), pod("green")],
        "nodes": "1x8cpu,16Gi,1pods",
        **AT_ONCE,
    },
    {
        "wrong": OwnAntiAffinityIgnored,
        "loop": with_filter,
        "caught": "placement-honoured",
        "deployment": {"replicas": 1, "pod": anti_affinity("web")},
        "nodes": "1x8cpu,16Gi",
        **UP,
    },
    {
        "wrong": AntiAffinityOneWay,
        "loop": with_filter,
        "caught": "placement-honoured",
        "deployment": {"replicas": 1, "cpu": "2"},
        "deployments": {"db": {"pod": anti_affinity("web")}},
        "nodePools": [pool("large"), pool("small", "2500m")],
        "placement": {"deployment/web": ["small-1"], "deployment/db": ["large-1"]},
        **UP,
    },
    {
        "wrong": AffinityIgnored,
        "loop": with_filter,
        "caught": "placement-honoured",
        "deployment": {"replicas": 1, "pod": affinity("db")},
        "deployments": {"db": {}},
        "nodePools": [pool("large"), pool("small", "1200m")],
        "placement": {"deployment/web": ["small-1"], "deployment/db": ["small-1"]},
        **UP,
    },
    {
        "wrong": SpreadIgnored,
        "loop": with_filter,
        "caught": "placement-honoured",
        "deployment": {"replicas": 1, "pod": {"topologySpreadConstraints": [SPREAD]}},
        "nodePools": [pool("large", zones=["a"]), pool("small", "400m", zones=["b"])],
        **UP,
    },
    {
        "wrong": TerminatingHoldNothing,
        "loop": lambda wrong: Scheduler(accounting=wrong()),
        "caught": "placement-honoured",
        "deployment": {"annotations": {"reconverge/stops-after": "10"}, "strategy": ONE_FOR_ONE},
        "nodes": "1x900m,16Gi",
        "may": {"rollout": 1},
        "trace": ["rollout deployment/web"],
    },
    {
        **ZONAL,
        "wrong": VolumesIgnored,
        "loop": with_filter,
        "caught": "placement-honoured",
        "may": {"drain": {"times": 1, "node": "node-1"}},
        "trace": ["drain node-1"],
    },
    {
        **ZONAL,
        "wrong": BoundIsTaken,
        "loop": with_filter,
        "caught": "pending-pods-placed",
        "may": {"delete-pod": 1},
        "trace": ["delete-pod statefulset/db#0"],
    },
    {
        "wrong": EqualsPreempted,
        "loop": lambda wrong: Scheduler(preemption=wrong()),
        "caught": "no-unprovoked-kill",
        "deployment": {"replicas": 1},
        "nodes": "1x900m,16Gi",
        **UP,
    },
    {
        "wrong": NobodyPreempted,
        "loop": lambda wrong: Scheduler(preemption=wrong()),
        "caught": "pending-pods-placed",
        "deployments": {"low": {}, "web": {"replicas": 0, "pod": {"priorityClassName": "high"}}},
        "objects": [HIGH],
        "nodes": "1x900m,16Gi",
        "may": {"scale": {"workload": "deployment/web", "replicas": 1}},
        "trace": ["scale deployment/web 1"],
    },
    {
        "wrong": NobodyWakes,
        "caught": "pending-pods-placed",
        "deployment": {"replicas": 1},
        "nodes": "1x8cpu,16Gi",
        "may": {"drain": 1, "uncordon": 1},
        "events": 2,
        "trace": ["drain node-1", "uncordon node-1"],
    },
    {
        "wrong": BindsTwice,
        "caught": "pod-on-one-node",
        "deployment": {"replicas": 1},
        "nodes": "2x8cpu,16Gi",
        **UP,
    },
]


@pytest.mark.parametrize("case", CASES)
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
