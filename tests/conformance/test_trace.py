"""The run that explains a recording, as a trace."""

from __future__ import annotations

from reconverge.checker.conformance import Recording, recording_trace


def test_a_recording_is_a_trace(recordings: list[Recording]) -> None:
    recording = next(each for each in recordings if each.name.startswith("28"))
    trace = recording_trace(recording)
    assert trace.message.endswith(f"{len(recording.history)} of {len(recording.history)} observed changes explained")
    assert trace.outcome == "rest"
    events = [(step.text, step.differences[0].object) for step in trace.steps if step.kind == "event"]
    assert ("node dies (kubelet stops)", "machine/n1") in events
    writes = [(step.actor, step.text) for step in trace.steps if step.kind == "write"]
    assert ("node-lifecycle", "sets Ready=Unknown of node/n1") in writes
    assert len(writes) > len(recording.history) / 2
    assert [step.time for step in trace.steps] == sorted(step.time for step in trace.steps)
