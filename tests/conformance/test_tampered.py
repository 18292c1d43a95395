"""A recording that has been tampered with is not explained, and what is said about it leads to the place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from attrs import evolve

from reconverge.checker.conformance import Recording, conform
from reconverge.checker.conformance.recording import Observed

pytestmark = pytest.mark.campaign

PATIENCE = 12


def find(recordings: list[Recording], number: str) -> Recording:
    return next(each for each in recordings if each.name.startswith(number))


def changed(recording: Recording, index: int, **fields: Any) -> Recording:
    """The recording with some fields of one observation changed."""
    history = list(recording.history)
    history[index] = evolve(history[index], fields={**history[index].fields, **fields})
    return evolve(recording, history=tuple(history))


def without(recording: Recording, index: int) -> Recording:
    """The recording without one observation."""
    kept = [each for each in recording.history if each.index != index]
    return evolve(recording, history=tuple(evolve(each, index=place) for place, each in enumerate(kept)))


def counted(observed: Observed) -> str | None:
    """A count in the observation that is no part of the object's spec."""
    counts = ("replicas", "ready", "available", "unavailable", "currentHealthy", "disruptionsAllowed", "expectedPods")
    numbers: Mapping[str, Any] = observed.fields
    return next((name for name in counts if name in observed.changed and type(numbers[name]) is int), None)


@pytest.mark.parametrize("number", ["11", "26", "34", "41"])
def test_no_count_can_be_another(recordings: list[Recording], number: str) -> None:
    recording = find(recordings, number)
    for observed in recording.history:
        name = counted(observed)
        if name is not None:
            tampered = changed(recording, observed.index, **{name: observed.fields[name] + 1})
            found = conform(tampered, None, PATIENCE)
            assert not found.explained, f"{observed} with one {name} more"


@pytest.mark.parametrize("number", ["09", "28", "34"])
def test_no_pod_event_can_be_missing(recordings: list[Recording], number: str) -> None:
    recording = find(recordings, number)
    for observed in recording.history:
        if observed.kind == "Pod" and observed.event != "MODIFIED":
            assert not conform(without(recording, observed.index), None, PATIENCE).explained, f"without {observed}"


def test_the_first_unexplained_change_is_described(recordings: list[Recording]) -> None:
    recording = find(recordings, "07")
    index = next(each.index for each in recording.history if each.kind == "ReplicaSet" and "ready" in each.changed)
    found = conform(changed(recording, index, ready=3, available=3), None, PATIENCE)
    assert found.unexplained is not None
    assert found.unexplained.observed == changed(recording, index, ready=3, available=3).history[index]
    text = found.unexplained.describe()
    assert "pkg/controller/replicaset/replica_set.go" in text
    assert "ready: 1 in the model, 3 recorded" in text
    assert found.explained_count == index


def test_another_end_is_a_difference(recordings: list[Recording]) -> None:
    recording = find(recordings, "11")
    pods = {name: {**fields, "node": "n9"} for name, fields in recording.final["Pod"].items()}
    found = conform(evolve(recording, final={**recording.final, "Pod": pods}))
    assert found.unexplained is None
    assert found.final_differences == ("Pod web-<rs2>-a has node=n2, recorded is n9",)


def test_another_answer_is_a_difference(recordings: list[Recording]) -> None:
    recording = find(recordings, "26")
    steps = list(recording.steps)
    place = next(index for index, step in enumerate(steps) if step.do == "evict")
    cause = [{"reason": "DisruptionBudget", "message": "other words"}]
    steps[place] = evolve(steps[place], arguments={**steps[place].arguments, "causes": cause})
    found = conform(evolve(recording, steps=tuple(steps)))
    assert [answer.step.index for answer in found.answers_differences] == [place]
    assert "The disruption budget web needs 2 healthy pods and has 2 currently" in found.describe()


def test_a_model_that_goes_on_where_the_recording_rests_is_noticed(recordings: list[Recording]) -> None:
    recording = find(recordings, "11")
    place = next(each.index for each in recording.history if each.changed == ("generation",))
    found = conform(evolve(recording, history=recording.history[: place + 1]), None, PATIENCE)
    assert found.unexplained is not None
    assert found.unexplained.observed is None
    assert "the model goes on" in found.describe()
    assert "creates" in found.describe() or "ReplicaSet" in found.describe()
