"""Traces replay without any search, and say so when they do not."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest

from reconverge.checker import ReplayError, check, replay, simulate
from reconverge.checker.trace import Stroke
from reconverge.reports.trace_json import trace_from_json, trace_to_json


def test_every_counterexample_replays_to_the_same_trace(build: Any) -> None:
    scenario = build.scenario(
        build.deployment(replicas=2, cpu="1500m"), build.budget(minAvailable=2), events=2, deviations=1
    )
    result = check(scenario, budget=8000)
    assert result.traces
    for trace in result.traces:
        kept = trace_from_json(json.loads(json.dumps(trace_to_json(trace))))
        assert replay(kept) == trace


def test_a_trace_of_other_events_does_not_replay(build: Any) -> None:
    scenario = build.scenario(build.deployment(replicas=1), build.budget(minAvailable=1), events=1, deviations=0)
    trace = check(scenario).traces[0]
    other = attrs.evolve(trace, strokes=(Stroke("node-crash", {"node": "node-2"}),))
    with pytest.raises(ReplayError, match="is not broken"):
        replay(other)


def test_an_ordinary_run_is_the_same_for_the_same_seed(build: Any) -> None:
    scenario = build.scenario(build.deployment(replicas=2))
    assert simulate(scenario, seed=3) == simulate(scenario, seed=3)
    assert simulate(scenario, seed=3).strokes
