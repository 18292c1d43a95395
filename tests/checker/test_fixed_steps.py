"""A fixed step that cannot happen is a mistake in the scenario: what follows it would be a claim about nothing."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.checker import check
from reconverge.checker.scenario import ScenarioError
from reconverge.loading import LoadError


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ({"drain": {"node": "node-11"}}, 'there is no node "node-11". Did you mean "node-1"?'),
        (
            {"scale": {"workload": "deployment/wbe", "replicas": 3}},
            'there is no deployment/wbe. Did you mean "deployment/web"?',
        ),
        ({"container-crash": {"pod": "deployment/web#7"}}, "there is no pod deployment/web#7"),
        (
            {"container-hang": {"pod": "deployment/web#0", "container": "wbe"}},
            'the pod has no container "wbe", only app',
        ),
        ({"uncordon": {"node": "node-1"}}, "cannot happen where it stands"),
    ],
)
@pytest.mark.parametrize("mode", ["auto", "random"])
def test_a_step_that_is_not_possible_is_an_error(build: Any, step: dict[str, Any], said: str, mode: Any) -> None:
    scenario = build.scenario(build.deployment(), steps=[{"cordon": {"node": "node-2"}}, step])
    with pytest.raises(ScenarioError) as told:
        check(scenario, mode=mode, max_examples=1)
    assert str(told.value).startswith("spec.steps[1] (")
    assert str(told.value).endswith(said)


def test_steps_that_earlier_ones_make_possible_are_none(build: Any) -> None:
    steps = [{"cordon": {"node": "node-1"}}, {"time": {"seconds": 5}}, {"uncordon": {"node": "node-1"}}]
    assert check(build.scenario(build.deployment(), steps=steps)).violated == ()


@pytest.mark.parametrize(
    ("placement", "said"),
    [
        ({"deployment/web": ["node-7"]}, 'spec.placement.deployment/web: there is no node "node-7". Did you mean'),
        ({"deployment/wbe": ["node-1"]}, 'spec.placement: there is no deployment/wbe. Did you mean "deployment/web"?'),
    ],
)
def test_a_placement_that_cannot_be_meant_is_an_error(build: Any, placement: Any, said: str) -> None:
    with pytest.raises(LoadError) as told:
        check(build.scenario(build.deployment(), placement=placement))
    assert said in str(told.value)
