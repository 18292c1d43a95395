"""The document of `--output json`.

Format `reconverge/result/v1`: one scenario per document; several scenarios are
`{"format": "reconverge/results/v1", "reconverge": version, "results": [...]}`. Keys keep one order; lists are sorted
where their order means nothing. `trace` in a verdict and `traces` in the table are indices into `traces`, from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reconverge.checker.result import Bounds, Cell, Coverage, Exploration, Result, Verdict
from reconverge.reports import words
from reconverge.reports.account import account
from reconverge.reports.plain import plain
from reconverge.reports.trace_json import json_text, trace_to_json

FORMAT = "reconverge/result/v1"
FORMAT_OF_SEVERAL = "reconverge/results/v1"


def document(result: Result, version: str) -> dict[str, Any]:
    """One result as JSON data."""
    return {
        "format": FORMAT,
        "reconverge": version,
        "scenario": {"name": result.scenario, "kubernetes": result.kubernetes, "document": plain(result.document)},
        "exit_code": result.exit_code,
        "claim": words.claim(result),
        "explored": _explored(result.exploration, result.seed),
        "expectation": _expectation(result),
        "verdicts": [_verdict(each) for each in sorted(result.verdicts, key=lambda v: (v.invariant, v.object))],
        "table": [_cell(each) for each in result.table],
        "coverage": _coverage(result.coverage),
        "warnings": list(result.warnings),
        "not_covered": list(result.not_covered),
        "input": _input(result),
        "traces": [trace_to_json(trace) for trace in result.traces],
    }


def documents(results: Sequence[Result], version: str) -> dict[str, Any]:
    """One document for one result, or one that holds several."""
    if len(results) == 1:
        return document(results[0], version)
    return {
        "format": FORMAT_OF_SEVERAL,
        "reconverge": version,
        "exit_code": max((result.exit_code for result in results), default=0),
        "results": [document(result, version) for result in results],
    }


def document_text(results: Sequence[Result], version: str) -> str:
    """The document as text."""
    return json_text(documents(results, version))


def _bounds(bounds: Bounds) -> dict[str, int]:
    return {"events": bounds.events, "deviations": bounds.deviations}


def _explored(explored: Exploration, seed: int) -> dict[str, Any]:
    return {
        "mode": explored.mode,
        "complete": explored.complete,
        "states": explored.states,
        "transitions": explored.transitions,
        "sequences": explored.sequences,
        "steps": explored.steps,
        "bounds": _bounds(explored.bounds),
        "covered": [_bounds(each) for each in explored.covered],
        "symmetry": explored.symmetry,
        "seed": seed if explored.seed is None else explored.seed,
    }


def _expectation(result: Result) -> dict[str, Any] | None:
    expected = result.expectation
    if expected is None:
        return None
    return {"met": expected.met, "violated": list(expected.violated), "missed": list(expected.missed)}


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "invariant": verdict.invariant,
        "object": verdict.object,
        "status": verdict.status,
        "family": verdict.family,
        "message": verdict.message,
        "trace": verdict.trace,
        "accepted": verdict.accepted or None,
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {"workload": cell.workload, "event": cell.event, "status": cell.status, "traces": list(cell.traces)}


def _coverage(coverage: Coverage) -> dict[str, Any]:
    return {
        "events": dict(sorted(coverage.events.items())),
        "actions": dict(sorted(coverage.actions.items())),
        "judged": {
            name: {"judged": judged, "applicable": applicable}
            for name, (judged, applicable) in sorted(coverage.judged.items())
        },
        "never": list(coverage.never),
    }


def _input(result: Result) -> dict[str, Any] | None:
    read = account(result)
    if read is None:
        return None
    return {
        "files": read.files,
        "modelled": dict(sorted(read.modelled.items())),
        "left_out": dict(sorted(read.skipped.items())),
        "fields_ignored": read.ignored,
        "fields_unsupported": list(read.unsupported),
        "notes": list(read.notes),
    }
