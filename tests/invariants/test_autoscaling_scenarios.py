"""Autoscalers in whole scenarios: the examples, and how optional loops are asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reconverge.checker import check
from reconverge.checker.scenario import Scenario
from reconverge.loading import LoadError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "autoscaling"


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.scenario.yaml")), ids=lambda file: file.name.split(".")[0])
def test_the_examples_are_as_they_say(file: Path) -> None:
    expectation = check(Scenario.from_file(file)).expectation
    assert expectation is not None
    assert expectation.missed == ()


@pytest.mark.parametrize("name", ["gitops-with-replicas", "manifest-with-replicas-applied"])
def test_a_scenario_is_the_same_without_its_files(name: str) -> None:
    """A trace keeps the manifests of loops and applies as plain data."""
    document = json.loads(json.dumps(Scenario.from_file(EXAMPLES / f"{name}.scenario.yaml").document))
    expectation = check(Scenario.from_document(document)).expectation
    assert expectation is not None
    assert expectation.missed == ()


def asked(loops: Any) -> dict[str, Any]:
    pool = {"name": "n", "count": 1, "allocatable": {"cpu": "4", "memory": "8Gi"}}
    spec = {"nodePools": [pool], "objects": [], "loops": loops}
    return {"apiVersion": "reconverge/v1alpha1", "kind": "Scenario", "metadata": {"name": "asked"}, "spec": spec}


@pytest.mark.parametrize(
    ("loops", "said"),
    [
        ({"gitopps": {}}, 'spec.loops.gitopps is no optional loop that is known. Did you mean "gitops"?'),
        ({"gitops": {"each": 5}}, 'unknown field "spec.loops.gitops.each"'),
        ({"gitops": {"every": 0, "objects": []}}, "spec.loops.gitops.every must be at least 1, not 0"),
        ({"gitops": {"every": 60}}, "spec.loops.gitops.objects is required"),
        ({"gitops": {"objects": ["nowhere.yaml"]}}, 'there is no manifest "nowhere.yaml"'),
    ],
)
def test_loops_that_cannot_be_built_are_named(loops: Any, said: str) -> None:
    with pytest.raises(LoadError) as caught:
        Scenario.from_document(asked(loops))
    assert said in str(caught.value)
