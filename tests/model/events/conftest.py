"""A cluster in which most events can happen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.checker import Scenario
from reconverge.checker.event_words import words_of
from reconverge.model.events import Event
from reconverge.model.labels import Selector, labels_of
from reconverge.model.objects import PodDisruptionBudget, Taint


@pytest.fixture
def shop(lab: Any) -> Callable[..., Any]:
    """Deployment web (2) and a pod of its own under a budget, on three nodes in zones a and b, at rest."""

    def make(*more: Any, **options: Any) -> Any:
        nodes = [lab.node("n1", zone="a"), lab.node("n2", zone="a", taints=(Taint("db", "NoSchedule", "x"),))]
        nodes.append(lab.node("n3", zone="b"))
        alone = lab.pod("alone", labels=labels_of({"app": "alone"}))
        budget = PodDisruptionBudget(name="alone", selector=Selector(labels_of({"app": "alone"})), min_available=1)
        made = lab.of(*nodes, lab.deployment(2), alone, budget, *more, **options)
        made.settle()
        return made

    return make


def _through_words(event: Event) -> Event:
    name, arguments = words_of(event)
    document = {
        "apiVersion": "reconverge/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "words"},
        "spec": {
            "nodePools": [{"name": "n", "count": 1, "allocatable": {"cpu": "1", "memory": "1Gi"}}],
            "steps": [{name: arguments}],
        },
    }
    (again,) = Scenario.from_document(document).steps
    return again


@pytest.fixture(scope="session")
def through_words() -> Callable[[Event], Event]:
    """An event written as a scenario writes it, and read again."""
    return _through_words
