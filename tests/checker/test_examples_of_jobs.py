"""The examples of Jobs and CronJobs are as they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconverge.checker import Scenario, check

FILES = sorted((Path(__file__).resolve().parents[2] / "examples" / "jobs").glob("*.scenario.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.partition(".")[0])
def test_an_example_is_as_it_says(file: Path) -> None:
    scenario = Scenario.from_file(file)
    assert scenario.loaded is not None
    assert scenario.loaded.accounting.unsupported == ()
    expectation = check(scenario).expectation
    assert expectation is not None
    assert expectation.missed == ()
