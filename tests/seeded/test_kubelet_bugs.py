"""Wrong rules of the kubelet and of the endpoints controller."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from attrs import evolve

from reconverge.model.local_pods import LocalPod
from reconverge.model.loop import Plan, Reading
from reconverge.model.loops.endpoints import EndpointsController
from reconverge.model.loops.kubelet import Kubelet
from reconverge.model.machines import Machine
from reconverge.model.objects import Endpoint, Node, Pod, Service
from reconverge.model.resources import Capacity
from reconverge.model.store import Store

Case = Mapping[str, Any]


class AdmitsAll(Kubelet):
    """Every pod that is bound to the node is taken in, whether it fits or not."""

    def rejected(self, machine: Machine, node: Node, pod: Pod) -> tuple[str, str] | None:
        return None


class RejectsRunning(Kubelet):
    """A restarted kubelet rejects the pods that run on its machine."""

    def rejected(self, machine: Machine, node: Node, pod: Pod) -> tuple[str, str] | None:
        known = any(local.uid == pod.uid for local in machine.pods.values())
        return ("Unknown", "not mine") if known else super().rejected(machine, node, pod)


class KeepsHalf(Kubelet):
    """Half of what the node has to give is kept back."""

    def rejected(self, machine: Machine, node: Node, pod: Pod) -> tuple[str, str] | None:
        resources = node.allocatable.resources
        half = Capacity(evolve(resources, cpu=resources.cpu // 2), node.allocatable.pods)
        return super().rejected(machine, node.with_(allocatable=half), pod)


class NeverReadyAgain(Kubelet):
    """A container that was restarted does not become ready again."""

    def probe(self, reading: Reading, local: LocalPod) -> bool:
        return local.restarts == 0 and super().probe(reading, local)


class NoProbe(Kubelet):
    """A pod counts as ready as soon as it runs."""

    def probe(self, reading: Reading, local: LocalPod) -> bool:
        return local.state == "running"


class NeverStops(Kubelet):
    """A deleted pod is not stopped."""

    def terminate(self, reading: Reading, machine: Machine, pod: Pod, local: LocalPod) -> Plan[None]:
        return Plan(None)


class StopsButKeepsObject(Kubelet):
    """A deleted pod is stopped, and its object is not removed."""

    def terminate(self, reading: Reading, machine: Machine, pod: Pod, local: LocalPod) -> Plan[None]:
        plan = super().terminate(reading, machine, pod, local)
        return plan.with_(actions=tuple(each for each in plan.actions if "force-deletes" not in each.describe()))


class RunsOn(Kubelet):
    """A pod whose object is gone runs on."""

    def kill_unknown(self, reading: Reading, machine: Machine, local: LocalPod) -> Plan[None]:
        return Plan(None)


class NewestOnly(EndpointsController):
    """Only pods of the newest template are listed, ready or not."""

    def endpoints(self, store: Store, service: Service) -> tuple[Endpoint, ...]:
        pods = store.pods_matching(service.namespace, service.selector)
        newest = max(pods, key=lambda pod: pod.created_at, default=None)
        kept = {pod.key for pod in pods if newest is not None and pod.template_digest == newest.template_digest}
        return tuple(each for each in super().endpoints(store, service) if each.pod in kept)


class RestartedForgotten(EndpointsController):
    """A pod whose container was restarted gets no traffic any more."""

    def serving(self, pod: Pod) -> bool:
        return pod.ready and pod.restarts == 0


class TerminatingDropped(EndpointsController):
    """A Terminating pod is not listed any more."""

    def listed(self, pod: Pod) -> bool:
        return pod.deletion_at is None and super().listed(pod)


class AnyServes(EndpointsController):
    """What is listed takes traffic, ready or not."""

    def serving(self, pod: Pod) -> bool:
        return True


def pod(name: str, **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "shop/app:1", "resources": {"requests": {"cpu": "500m"}}}
    own = {"containers": [container], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": own}


DRAIN: Case = {"may": {"drain": 1}, "nodes": "2x4cpu,16Gi", "trace": ["drain node-1"]}

CASES: list[Case] = [
    {
        "wrong": AdmitsAll,
        "caught": "requests-within-capacity",
        "objects": [pod("blue", nodeName="node-1"), pod("green", nodeName="node-1")],
        "nodes": "1x900m,16Gi",
        "start": "empty",
        "trace": [],
    },
    {
        "wrong": KeepsHalf,
        "caught": "admission-agrees",
        "objects": [pod("web")],
        "nodes": "1x900m,16Gi",
        "start": "empty",
        "trace": [],
    },
    {
        "wrong": RejectsRunning,
        "caught": "no-unprovoked-kill",
        "deployment": {},
        "nodes": "1x4cpu,16Gi",
        "may": {"kubelet-restart": 1},
        "trace": ["kubelet-restart node-1"],
    },
    {
        "wrong": NeverReadyAgain,
        "caught": "replicas-restored",
        "deployment": {},
        "nodes": "1x4cpu,16Gi",
        "may": {"container-crash": 1},
        "trace": ["container-crash deployment/web#0"],
    },
    {"wrong": NeverStops, "caught": "drain-completes", "deployment": {}, **DRAIN},
    {"wrong": StopsButKeepsObject, "caught": "drain-completes", "deployment": {}, **DRAIN},
    {
        "wrong": RunsOn,
        "caught": "orphans-removed",
        "deployment": {},
        "nodes": "1x4cpu,16Gi",
        "may": {"force-delete-pod": 1},
        "trace": ["force-delete-pod deployment/web#0"],
    },
    {
        "wrong": NewestOnly,
        "caught": "service-available",
        "deployment": {"replicas": 2, "annotations": {"reconverge/behaviour": "not-ready-first"}},
        "service": True,
        "nodes": "1x4cpu,16Gi",
        "may": {"rollout": {"behaviour": "not-ready-first"}},
        "trace": ["rollout deployment/web not-ready-first"],
    },
    {
        "wrong": NoProbe,
        "caught": "readiness-true",
        "deployment": {},
        "nodes": "1x4cpu,16Gi",
        "may": {"rollout": {"behaviour": ["ready", "never-ready"]}},
        "trace": ["rollout deployment/web never-ready"],
    },
    {
        "wrong": NoProbe,
        "caught": "readiness-true",
        "deployment": {"annotations": {"reconverge/behaviour": "not-ready-first"}},
        "nodes": "1x4cpu,16Gi",
        "start": "empty",
        "trace": [],
    },
    {
        "wrong": TerminatingDropped,
        "caught": "endpoints-true",
        "deployment": {},
        "service": True,
        "nodes": "2x4cpu,16Gi",
        "may": {"node-crash": 1},
        "trace": ["node-crash node-1"],
    },
    {
        "wrong": AnyServes,
        "caught": "endpoints-true",
        "deployment": {},
        "service": True,
        "nodes": "1x4cpu,16Gi",
        "may": {"pod-unready": 1, "container-crash": 1},
        "trace": ["pod-unready deployment/web#0"],
    },
    {
        "wrong": RestartedForgotten,
        "caught": "service-available",
        "deployment": {"replicas": 2},
        "service": True,
        "nodes": "1x4cpu,16Gi",
        "may": {"container-crash": 1, "delete-pod": 1},
        "events": 2,
        "trace": ["container-crash deployment/web#0", "delete-pod deployment/web#1"],
    },
]


@pytest.mark.parametrize("case", CASES)
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
