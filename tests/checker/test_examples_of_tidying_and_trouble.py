"""The examples of the descheduler, quotas, node pools, versions, the control plane, preemption and rollouts hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reconverge.checker import Scenario, check

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FOLDERS = ("control-plane", "descheduler", "node-pools", "preemption", "quota", "rollouts", "versions")
FILES = [file for folder in FOLDERS for file in sorted((EXAMPLES / folder).glob("*.scenario.yaml"))]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.partition(".")[0])
def test_an_example_is_as_it_says(file: Path) -> None:
    expectation = check(Scenario.from_file(file)).expectation
    assert expectation is not None
    assert expectation.missed == ()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.partition(".")[0])
def test_an_example_is_the_same_as_plain_data(file: Path) -> None:
    """A trace keeps its scenario as JSON, settings of loops among it."""
    scenario = Scenario.from_file(file)
    again = Scenario.from_document(json.loads(json.dumps(scenario.document)))
    assert again.objects == scenario.objects
    assert [loop.name for loop in again.loops] == [loop.name for loop in scenario.loops]
    assert (again.steps, again.allowances) == (scenario.steps, scenario.allowances)
