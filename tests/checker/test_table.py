"""In which rows of the resilience table violations are shown: none is left out."""

from __future__ import annotations

from pathlib import Path

from reconverge.checker import Scenario, check

EXAMPLE = Path(__file__).parents[2] / "examples" / "autoscaling" / "two-deployments-one-label.scenario.yaml"


def test_the_violations_of_an_autoscaler_are_shown_in_the_row_of_its_workload() -> None:
    result = check(Scenario.from_file(EXAMPLE))
    (name,) = [each.object for each in result.violated if each.object.startswith("horizontalpodautoscaler/")]
    shown = {each.workload for each in result.table if each.status == "violated"}
    assert f"deployment/{name.partition('/')[2]}" in shown
