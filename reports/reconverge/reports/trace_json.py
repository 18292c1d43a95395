"""Traces as JSON documents and back, exactly.

The format is `reconverge/trace/v1`: the fields of `Trace` by their names, with `format` first. Fields at their
defaults are left out of steps, differences and strokes, so that a person can read the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from reconverge.checker.trace import FORMAT, Difference, Pending, Stroke, Trace, TraceStep
from reconverge.reports.plain import number, plain


class TraceFormatError(ValueError):
    """A document that is no trace, or one of another version of the format; the text says what is wrong."""


def trace_to_json(trace: Trace) -> dict[str, Any]:
    """The trace as JSON data."""
    return {
        "format": FORMAT,
        "invariant": trace.invariant,
        "family": trace.family,
        "object": trace.object,
        "message": trace.message,
        "facts": plain(trace.facts),
        "statement": trace.statement,
        "why": trace.why,
        "remedy": trace.remedy,
        "outcome": trace.outcome,
        "repeats_from": trace.repeats_from,
        "shortest": trace.shortest,
        "minimal": trace.minimal,
        "kubernetes": trace.kubernetes,
        "seed": trace.seed,
        "strokes": [_stroke(each) for each in trace.strokes],
        "steps": [_step(each) for each in trace.steps],
        "waiting": [{"pod": each.pod, "reason": each.reason} for each in trace.waiting],
        "scenario": plain(trace.scenario),
    }


def _stroke(stroke: Stroke) -> dict[str, Any]:
    data: dict[str, Any] = {"event": stroke.event, "arguments": plain(stroke.arguments)}
    return data | ({"deviations": plain(stroke.deviations)} if stroke.deviations else {})


def _step(step: TraceStep) -> dict[str, Any]:
    data: dict[str, Any] = {"time": number(step.time), "kind": step.kind, "actor": step.actor, "text": step.text}
    if step.reason:
        data["reason"] = step.reason
    if step.deviation:
        data["deviation"] = step.deviation
    if step.differences:
        data["differences"] = [_difference(each) for each in step.differences]
    return data


def _difference(difference: Difference) -> dict[str, Any]:
    data: dict[str, Any] = {"object": difference.object, "change": difference.change}
    fields = [[name, plain(before), plain(after)] for name, before, after in difference.fields]
    return data | ({"fields": fields} if fields else {})


def trace_from_json(data: Any) -> Trace:
    """The trace of JSON data. Raises TraceFormatError for anything that `trace_to_json` does not make."""
    if not isinstance(data, Mapping) or "format" not in data:
        raise TraceFormatError("this is not a trace of reconverge")
    if data["format"] != FORMAT:
        raise TraceFormatError(f"this is {data['format']!r}; this version reads {FORMAT!r}")
    rest = {name: each for name, each in data.items() if name != "format"}
    try:
        rest["strokes"] = tuple(_read_stroke(each) for each in rest["strokes"])
        rest["steps"] = tuple(_read_step(each) for each in rest["steps"])
        rest["waiting"] = tuple(Pending(**each) for each in rest.get("waiting", ()))
        return Trace(**rest)
    except KeyError as error:
        raise TraceFormatError(f"this trace has no {error}") from None
    except (TypeError, ValueError) as error:
        raise TraceFormatError(f"this trace is damaged: {error}") from None


def _read_stroke(data: Mapping[str, Any]) -> Stroke:
    return Stroke(data["event"], data["arguments"], tuple(data.get("deviations", ())))


def _read_step(data: Mapping[str, Any]) -> TraceStep:
    differences = tuple(
        Difference(each["object"], each["change"], tuple((n, b, a) for n, b, a in each.get("fields", ())))
        for each in data.get("differences", ())
    )
    return TraceStep(**{**data, "differences": differences})


def trace_text(trace: Trace) -> str:
    """The trace as the text of a file."""
    return json_text(trace_to_json(trace))


def json_text(data: Any) -> str:
    """JSON data as text, in the order of the data, with a line feed at the end."""
    return json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def trace_from_text(text: str) -> Trace:
    """The trace in the text of a file. Raises TraceFormatError."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise TraceFormatError(f"this is not JSON: {error}") from None
    return trace_from_json(data)
