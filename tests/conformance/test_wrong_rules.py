"""With a deliberately wrong rule in a loop, some recording is no longer explained: the walk is not too lenient."""

from __future__ import annotations

import pytest
from tests.conformance.conftest import PATIENCE
from tests.conformance.wrong_rules import WRONG, Made

from reconverge.checker.conformance import Recording, conform, recorded_control_plane

RECORDED = frozenset({
    "kubelet", "node-lifecycle", "taint-eviction", "deployment", "replicaset", "statefulset", "daemonset", "job",
    "endpoints", "disruption", "scheduler", "pod-gc", "garbage-collector", "drain",
})  # fmt: skip
"""Loops that the recordings exercise; they have no cloud and no autoscalers."""


@pytest.mark.campaign
@pytest.mark.parametrize(("made", "numbers"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_rule_is_noticed(made: Made, numbers: tuple[str, ...], recordings: list[Recording]) -> None:
    plane = recorded_control_plane().replacing(made())
    concerned = [each for each in recordings if each.name.startswith(numbers)]
    assert concerned
    assert any(not conform(each, plane, PATIENCE).explained for each in concerned)


def test_every_loop_has_a_wrong_rule() -> None:
    assert {made().name for made, _ in WRONG.values()} == RECORDED
