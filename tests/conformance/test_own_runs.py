"""What the model does with everything at once is explained as a run of the model: the walk overlooks no order."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance.own_runs import Recorder, node

from reconverge.checker.conformance import conform

pytestmark = pytest.mark.campaign

Document = dict[str, Any]
NODES = [node("n1", "a"), node("n2", "b"), node("n3", "c")]
SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web"},
    "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
}


def template(app: str, image: str = "img:1") -> Document:
    containers = [{"name": "c", "image": image, "resources": {"requests": {"cpu": "100m"}}}]
    return {"metadata": {"labels": {"app": app}}, "spec": {"containers": containers}}


def workload(kind: str, name: str, replicas: int, **spec: Any) -> Document:
    selector = {"matchLabels": {"app": name}}
    spec = {"replicas": replicas, "selector": selector, "template": template(name), **spec}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def budget(**spec: Any) -> Document:
    selector = {"matchLabels": {"app": "web"}}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "spec": {"selector": selector, **spec},
    }


def create(document: Document) -> Document:
    return {"do": "create", "kind": document["kind"], "name": document["metadata"]["name"], "code": 201}


def patch(kind: str, name: str, spec: Document) -> Document:
    return {"do": "patch", "kind": kind, "name": name, "patch": {"spec": spec}, "code": 200}


def rollout(kind: str, name: str, image: str = "img:2", behaviour: str | None = None) -> Document:
    metadata = {"annotations": {"sim/behaviour": behaviour}}
    return patch(kind, name, {"template": {**template(name, image), "metadata": metadata}})


def at(do: str, name: str, **more: Any) -> Document:
    return {"do": do, "node": name, "code": 200, **more}


WEB = workload("Deployment", "web", 6)
ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}}
PARTITION = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
SCRIPTS: dict[str, tuple[list[Document], list[Document]]] = {
    "a rollout of ten": (
        [workload("Deployment", "web", 10), SERVICE],
        [rollout("Deployment", "web")],
    ),
    "a rollout in big steps": ([workload("Deployment", "web", 6, strategy=ROLLING)], [rollout("Deployment", "web")]),
    "a rollout over another": (
        [workload("Deployment", "web", 4)],
        [rollout("Deployment", "web", "img:2", "never-ready"), rollout("Deployment", "web", "img:3")],
    ),
    "a rollout with minReadySeconds": (
        [workload("Deployment", "web", 3, minReadySeconds=1)],
        [rollout("Deployment", "web")],
    ),
    "down and up": ([WEB, SERVICE], [patch("Deployment", "web", {"replicas": n}) for n in (2, 9)]),
    "two drains under a budget": (
        [WEB, SERVICE, budget(maxUnavailable=1)],
        [step for name in ("n1", "n2") for step in (at("cordon", name), at("drain", name, timeout=60))],
    ),
    "a node dies and its object is deleted": (
        [WEB, SERVICE],
        [
            at("node dies (kubelet stops)", "n1"),
            {"do": "delete", "kind": "Node", "name": "n1", "options": {}, "code": 200},
        ],
    ),
    "a partitioned update": (
        [workload("StatefulSet", "db", 4, serviceName="db", updateStrategy=PARTITION)],
        [rollout("StatefulSet", "db")],
    ),
    "a parallel set goes down": (
        [workload("StatefulSet", "db", 5, serviceName="db", podManagementPolicy="Parallel")],
        [patch("StatefulSet", "db", {"replicas": 2})],
    ),
    "two Deployments at once": (
        [WEB, workload("Deployment", "api", 5)],
        [rollout("Deployment", "web"), {"do": "delete", "kind": "Deployment", "name": "api", "options": {}}],
    ),
}


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("objects", "steps"), SCRIPTS.values(), ids=SCRIPTS.keys())
def test_a_run_of_the_model_is_explained(objects: list[Document], steps: list[Document], seed: int) -> None:
    script = [*(create(each) for each in objects), *steps]
    recording = Recorder([*NODES, *objects], [dict(step) for step in script], seed).recording()
    assert len(recording.history) > 20
    found = conform(recording)
    assert found.explained, found.describe()
