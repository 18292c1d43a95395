"""Load: how much CPU a workload's users ask of it, shared by the pods that serve.

It is a fact of the world outside, so it is kept with the machines. Of memory a pod uses the same whatever the load.
Source: what metrics-server reports of a pod; documentation of the resource metrics pipeline.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from attrs import frozen

from reconverge.model.labels import label
from reconverge.model.local_pods import LocalPod
from reconverge.model.machines import Machines
from reconverge.model.naming import pods_of
from reconverge.model.objects import ApiObject, Deployment, Pod, ReplicaSet, StatefulSet
from reconverge.model.objects.autoscaling import HorizontalPodAutoscaler, Metric
from reconverge.model.persistent import Map
from reconverge.model.store import Store
from reconverge.model.value import Value

LOAD = "reconverge/load"
"""Annotation of a workload: its total demand at the start, a quantity of CPU such as 800m."""
LOADS = "Load"
"""The pseudo-kind under which changes of load are delivered to the loops that measure it; keys are references."""
SCALABLE = ("Deployment", "ReplicaSet", "StatefulSet")
"""Kinds with a scale subresource."""


@frozen
class Demand(Value):
    """The load of one workload, as changes of it are delivered."""

    workload: str
    millicores: int

    @property
    def reference(self) -> str:
        """How people name it: `load/deployment/web`."""
        return f"load/{self.workload}"


def millicores(text: str) -> int:
    """A quantity of CPU, `800m` or `1.5`, in millicores, rounded up. Raises ValueError for other text."""
    amount = Fraction(text.removesuffix("m")) * (1 if text.endswith("m") else 1000)
    return -int(-amount // 1)


def load_of(machines: Machines, workload: ApiObject) -> int:
    """The total demand of a workload in millicores; 0 if nothing is said of it."""
    known = machines.load.get(workload.reference)
    if known is not None:
        return known
    annotated = label(workload.annotations, LOAD)
    return millicores(annotated) if annotated is not None else 0


def local_of(machines: Machines, pod: Pod) -> LocalPod | None:
    """The pod as its machine really runs it; None if it does not run."""
    machine = machines.get(pod.node) if pod.node is not None else None
    local = machine.pods.get(pod.uid) if machine is not None and machine.powered else None
    return local if local is not None and local.alive else None


def serves(machines: Machines, pod: Pod) -> bool:
    """Whether the pod takes a share of the load: ready, running, not Terminating."""
    return pod.ready and pod.active and local_of(machines, pod) is not None


def share_of(store: Store, machines: Machines, workload: ApiObject) -> int:
    """The load of each serving pod of a workload in millicores, rounded up; 0 if none serves."""
    serving = sum(serves(machines, pod) for pod in pods_of(store, workload))
    return -(-load_of(machines, workload) // serving) if serving else 0


# The load at the start ---------------------------------------------------------------------------------------


def with_start_loads(store: Store, machines: Machines) -> Machines:
    """The machines with the load of every workload that has one at the start.

    It is what the annotation says. A workload without it that has an autoscaler of its CPU is loaded so that the
    autoscaler is on target with the replicas that the workload has, so that it rests until something happens.
    """
    loads: dict[str, int] = {}
    for autoscaler in store.all("HorizontalPodAutoscaler"):
        target = store.get(autoscaler.target_kind, autoscaler.target)
        if target is not None and target.kind in SCALABLE:
            on_target = load_on_target(autoscaler, target)
            if on_target is not None:
                loads.setdefault(target.reference, on_target)
    for kind in SCALABLE:
        for each in store.all(kind):
            annotated = label(each.annotations, LOAD)
            if annotated is not None:
                loads[each.reference] = millicores(annotated)
    return machines.with_(load=Map(loads)) if loads else machines


def load_on_target(autoscaler: HorizontalPodAutoscaler, target: Any) -> int | None:
    """The load at which the first CPU metric is on target with the present replicas; None without such a metric."""
    wanted = next((each for each in (cpu_wanted(metric, target) for metric in autoscaler.metrics) if each), None)
    replicas = min(max(target.replicas, autoscaler.minimum), autoscaler.maximum) if target.replicas else 0
    return None if wanted is None else wanted * replicas


def cpu_wanted(metric: Metric, workload: Deployment | ReplicaSet | StatefulSet) -> int | None:
    """The usage per pod at which a CPU metric is on target, in millicores, rounded up; None for other metrics."""
    if metric.name != "cpu" or metric.kind not in ("Resource", "ContainerResource"):
        return None
    if metric.target == "AverageValue":
        return metric.amount
    containers = workload.template.spec.containers
    named = [each for each in containers if metric.container in ("", each.name)]
    return -(-sum(each.requests.cpu for each in named) * metric.amount // 100) or None
