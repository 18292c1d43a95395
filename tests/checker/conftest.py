"""Small scenarios for the tests of the checker."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.checker import Scenario


class Build:
    """Builds manifests and scenarios from a few words."""

    @staticmethod
    def deployment(name: str = "web", replicas: int = 2, cpu: str = "500m", **spec: Any) -> dict[str, Any]:
        """A Deployment as a manifest; `affinity` and other pod fields go under `pod`."""
        pod = spec.pop("pod", {})
        annotations = spec.pop("annotations", {})
        labels = {"app": name}
        container = {"name": "app", "image": "app:1", "resources": {"requests": {"cpu": cpu}}}
        template = {
            "metadata": {"labels": labels, "annotations": annotations},
            "spec": {"containers": [container], **pod},
        }
        return {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name},
            "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template, **spec},
        }

    @staticmethod
    def budget(name: str = "web", **spec: Any) -> dict[str, Any]:
        """A PodDisruptionBudget as a manifest."""
        return {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": name},
            "spec": {"selector": {"matchLabels": {"app": name}}, **spec},
        }

    @staticmethod
    def document(*objects: dict[str, Any], nodes: int = 2, cpu: str = "2", **spec: Any) -> dict[str, Any]:
        """A scenario document of objects on equal nodes in one zone."""
        pool = {"name": "node", "count": nodes, "allocatable": {"cpu": cpu, "memory": "8Gi", "pods": 110}}
        return {
            "apiVersion": "reconverge/v1alpha1",
            "kind": "Scenario",
            "metadata": {"name": "small"},
            "spec": {"objects": list(objects), "nodePools": [pool], **spec},
        }

    @classmethod
    def scenario(cls, *objects: dict[str, Any], **spec: Any) -> Scenario:
        """The scenario of such a document."""
        return Scenario.from_document(cls.document(*objects, **spec))


@pytest.fixture
def build() -> type[Build]:
    """The builder of small scenarios."""
    return Build
