"""Small worlds have exactly so many states, and symmetry takes away states but no verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from reconverge.checker.check import check
from reconverge.checker.result import Result

WORLDS: Mapping[str, Any] = {
    "three empty nodes, cordoned and uncordoned": {
        "nodes": "3x4cpu,16Gi",
        "may": {"cordon": {}, "uncordon": {}},
        "events": 3,
    },
    "the same in three zones": {
        "nodes": "3x4cpu,16Gi@a,b,c",
        "may": {"cordon": {}, "uncordon": {}},
        "events": 3,
    },
    "one replica, a node drained and uncordoned": {
        "replicas": 1,
        "nodes": "3x4cpu,16Gi",
        "may": {"drain": 1, "uncordon": 1},
        "events": 2,
    },
    "two replicas, a node dies and returns": {
        "replicas": 2,
        "nodes": "3x4cpu,16Gi",
        "may": {"node-crash": 1, "node-recover": 1},
        "events": 2,
    },
    "one replica, a rollout and a drain": {
        "replicas": 1,
        "nodes": "2x4cpu,16Gi",
        "may": {"rollout": 1, "drain": 1},
        "events": 2,
    },
    "no room for a third replica": {
        "replicas": 2,
        "nodes": "2x900m,16Gi",
        "may": {"scale": 1, "node-crash": 1},
        "events": 2,
    },
}

COUNTS = {
    # By how many of three alike nodes are cordoned, or by which: 4 and 2^3.
    "three empty nodes, cordoned and uncordoned": (4, 8),
    # Nodes of different zones are never alike.
    "the same in three zones": (8, 8),
    # The start; the pod's node or an empty one drained, or one of three; and each of those uncordoned again.
    "one replica, a node drained and uncordoned": (5, 7),
    # The start; a pod's node or the empty one dead, or one of three; and each of those back again.
    "two replicas, a node dies and returns": (5, 7),
    # The start; rolled out; the pod's node or the empty one drained; and both, the pod on the node that is left.
    "one replica, a rollout and a drain": (5, 6),
    "no room for a third replica": (9, 13),
}
"""States with and without symmetry."""


def explored(studio: Any, name: str, *, symmetry: bool, deviations: int = 0) -> Result:
    world = dict(WORLDS[name])
    replicas = world.pop("replicas", 0)
    objects = [studio.deployment(replicas=replicas)] if replicas else []
    scenario = studio.scenario(*objects, deviations=deviations, **world)
    result = check(scenario, mode="exhaustive", symmetry=symmetry)
    assert result.exploration.complete
    assert result.exploration.symmetry == symmetry
    return result


def verdicts(result: Result) -> set[tuple[str, str]]:
    """What is said of each invariant, of some object or other: which of two alike nodes it is does not matter."""
    return {(each.invariant, each.status) for each in result.verdicts}


@pytest.mark.parametrize("name", WORLDS)
def test_states_are_counted_exactly(studio: Any, name: str) -> None:
    found = [explored(studio, name, symmetry=symmetry).exploration.states for symmetry in (True, False)]
    assert tuple(found) == COUNTS[name]


@pytest.mark.parametrize("deviations", [0, pytest.param(1, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("name", WORLDS)
def test_symmetry_changes_no_verdict(studio: Any, name: str, deviations: int) -> None:
    merged = explored(studio, name, symmetry=True, deviations=deviations)
    plain = explored(studio, name, symmetry=False, deviations=deviations)
    assert verdicts(merged) == verdicts(plain)
    assert merged.exploration.states <= plain.exploration.states
    assert merged.exploration.transitions <= plain.exploration.transitions
