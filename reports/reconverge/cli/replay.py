"""`reconverge replay`, and reading kept traces."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from reconverge.checker.trace import Trace
from reconverge.cli.errors import UsageError
from reconverge.cli.output import Output
from reconverge.reports.terminal import trace_report
from reconverge.reports.trace_json import TraceFormatError, trace_from_text, trace_text


def read_trace(path: str) -> Trace:
    """The trace in a file. Raises UsageError."""
    try:
        return trace_from_text(Path(path).read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {(error.strerror or 'cannot be read').lower()}{_nearby(path)}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: this is not UTF-8 text") from None
    except TraceFormatError as error:
        raise UsageError(f"{path}: {error}") from None


def _nearby(path: str) -> str:
    """Says which traces there are when one is not."""
    kept = sorted(each.as_posix() for each in Path(".reconverge/traces").glob("*.json"))
    return f"; kept traces: {', '.join(kept[:5])}" if kept and not Path(path).exists() else ""


def replay_command(options: Namespace, output: Output) -> int:
    """Plays a trace again: 1 if it breaks the same invariant, 0 if it does not any more."""
    from reconverge.checker import ReplayError, replay

    if options.recording is not None:
        return _replay_recording(options, output)
    if options.trace is None:
        raise UsageError("name a trace, or a recording with --recording FILE (see reconverge replay --help)")
    kept = read_trace(options.trace)
    try:
        trace = replay(kept)
    except ReplayError as error:
        output.error(f"reconverge: {options.trace}: not reproduced: {error}")
        return 0
    if options.output == "json":
        output.write(trace_text(trace))
    else:
        output.lines(trace_report(trace, output.page(), everything=options.full))
    return 1


def _replay_recording(options: Namespace, output: Output) -> int:
    """Shows the run of the model that explains a recording: 1 if it is explained only in part."""
    from reconverge.checker.conformance import RecordingError, recording_trace
    from reconverge.cli.history import read

    if options.trace is not None:
        raise UsageError("a trace and a recording cannot be replayed at once")
    try:
        trace = recording_trace(read(options.recording))
    except RecordingError as error:
        raise UsageError(f"{options.recording}: {error}") from None
    if options.output == "json":
        output.write(trace_text(trace))
    else:
        output.lines(trace_report(trace, output.page(), everything=options.full))
    return 0 if trace.outcome == "rest" else 1
