"""Wrong rules of a tool that applies manifests again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from reconverge.checker import Scenario
from reconverge.model.loops.gitops import GitOps, Manifest
from reconverge.model.value import Seconds

Case = Mapping[str, Any]


class DefaultsApplied(GitOps):
    """What a manifest does not say is set to its default, not left as it is."""

    def __init__(self, manifests: Iterable[Manifest], every: Seconds) -> None:
        super().__init__([Manifest(each.object) for each in manifests], every)


def web() -> dict[str, Any]:
    """Deployment web, which says nothing of its replicas."""
    container = {"name": "c", "image": "shop/app:1", "resources": {"requests": {"cpu": "500m"}}}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}


def autoscaler() -> dict[str, Any]:
    """A HorizontalPodAutoscaler of web for half of the CPU that its pods request."""
    cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec: dict[str, Any] = {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 6}
    spec["metrics"] = [{"type": "Resource", "resource": cpu}]
    meta = {"name": "web"}
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": meta, "spec": spec}


POOL = {"name": "node", "count": 2, "allocatable": {"cpu": "4", "memory": "16Gi", "pods": 110}}


def applying(wrong: Any) -> GitOps:
    """A tool with the manifest of web, every minute."""
    spec = {"objects": [web()], "nodePools": [POOL], "may": {}, "events": 0}
    document = {"apiVersion": "reconverge/v1alpha1", "kind": "Scenario", "metadata": {"name": "web"}, "spec": spec}
    found = next(each for each in Scenario.from_document(document).objects if each.kind == "Deployment")
    loop: GitOps = wrong([Manifest(found, frozenset({"replicas"}))], 60)
    return loop


CASES: list[Case] = [
    {
        "wrong": DefaultsApplied,
        "loop": applying,
        "caught": "autoscaler-bounds",
        "objects": [web(), autoscaler()],
        "nodePools": [POOL],
        "loops": {"gitops": {"every": 60, "objects": [web()]}},
        "may": {"load": {"times": 1, "millicores": [1000]}},
        "trace": [],
    },
]


@pytest.mark.parametrize("case", CASES)
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
