"""Traces in the Informal Trace Format of Apalache and Quint, for the viewers that read it.

One file holds one trace, so several traces become a JSON list of them. Numbers that do not fit are written as the
format asks, `{"#bigint": "..."}`. Source: Apalache ADR 015.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reconverge.checker.result import Result
from reconverge.checker.trace import Trace, TraceStep
from reconverge.reports.plain import number, plain
from reconverge.reports.trace_json import json_text

VARS = ("time", "actor", "kind", "text", "reason", "changes")
LARGEST = 2**53 - 1


def itf_text(results: Sequence[Result], version: str) -> str:
    """The traces of all results as text."""
    traces = [itf(trace, version) for result in results for trace in result.traces]
    return json_text(traces[0] if len(traces) == 1 else traces)


def itf(trace: Trace, version: str) -> dict[str, Any]:
    """One trace; a loop is given by the index at which it begins."""
    data: dict[str, Any] = {
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "description": f"{trace.title}: {trace.message}",
            "source": f"reconverge {version}",
        },
        "vars": list(VARS),
        "states": [_state(index, step) for index, step in enumerate(trace.steps)],
    }
    if trace.repeats_from is not None:
        data["loop"] = trace.repeats_from
    return data


def _state(index: int, step: TraceStep) -> dict[str, Any]:
    changes = [
        {
            "object": each.object,
            "change": each.change,
            "fields": [{"name": name, "before": _told(b), "after": _told(a)} for name, b, a in each.fields],
        }
        for each in step.differences
    ]
    return {
        "#meta": {"index": index},
        # The format has whole numbers only.
        "time": _whole(step.time),
        "actor": step.actor,
        "kind": step.kind,
        "text": step.text,
        "reason": step.reason,
        "changes": changes,
    }


def _whole(time: float) -> Any:
    value = number(time)
    return value if isinstance(value, int) else str(value)


def _told(value: Any) -> Any:
    """A value without what the format lacks: null, fractions, and whole numbers beyond 53 bits."""
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > LARGEST:
        return {"#bigint": str(value)}
    if isinstance(value, float):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [_told(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _told(each) for key, each in value.items()}
    return plain(value)
