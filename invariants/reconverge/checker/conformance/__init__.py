"""The model against recordings of a real control plane: whether each recording is a run of the model."""

from reconverge.checker.conformance.as_trace import recording_steps, recording_trace
from reconverge.checker.conformance.conform import conform
from reconverge.checker.conformance.recording import Recording, RecordingError, read_recording
from reconverge.checker.conformance.report import Conformance, Unexplained
from reconverge.checker.conformance.simulated import recorded_control_plane

__all__ = [
    "Conformance",
    "Recording",
    "RecordingError",
    "Unexplained",
    "conform",
    "read_recording",
    "recorded_control_plane",
    "recording_steps",
    "recording_trace",
]
