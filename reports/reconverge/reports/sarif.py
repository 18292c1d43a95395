"""The report as SARIF 2.1.0, for code scanning: one result per violation, at the object that it is about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from reconverge.checker.result import Result, Verdict
from reconverge.checker.trace import Trace
from reconverge.reports import words
from reconverge.reports.story import beats
from reconverge.reports.trace_json import json_text

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif_text(results: Sequence[Result], version: str) -> str:
    """The text of a SARIF file with one run."""
    rules: dict[str, dict[str, Any]] = {}
    found = []
    for result in results:
        for verdict in result.verdicts:
            if verdict.status == "violated":
                rules.setdefault(verdict.invariant, _rule(verdict, result))
                found.append(_finding(verdict, result))
    driver: dict[str, Any] = {"name": "reconverge", "rules": [rules[name] for name in sorted(rules)]}
    if re.match(r"\d", version):
        driver["version"] = version
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": found,
        "properties": {"claims": {result.scenario: words.claim(result) for result in results}},
    }
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _trace(verdict: Verdict, result: Result) -> Trace | None:
    return result.traces[verdict.trace] if verdict.trace is not None else None


def _rule(verdict: Verdict, result: Result) -> dict[str, Any]:
    trace = _trace(verdict, result)
    rule: dict[str, Any] = {"id": verdict.invariant, "properties": {"family": verdict.family}}
    if trace is not None and trace.statement:
        rule["shortDescription"] = {"text": words.sentence(trace.statement)}
    if trace is not None and trace.why:
        rule["fullDescription"] = {"text": words.sentence(trace.why)}
    if trace is not None and trace.remedy:
        rule["help"] = {"text": words.sentence(trace.remedy)}
    return rule


def _finding(verdict: Verdict, result: Result) -> dict[str, Any]:
    trace = _trace(verdict, result)
    about = f"{verdict.object}: " if verdict.object and verdict.object not in verdict.message else ""
    finding: dict[str, Any] = {
        "ruleId": verdict.invariant,
        "level": "error",
        "message": {"text": words.sentence(f"{about}{verdict.message or verdict.invariant}")},
        "locations": [_location(verdict.object, result)],
        "partialFingerprints": {"reconverge/v1": _fingerprint(verdict, result)},
    }
    if trace is not None:
        finding["codeFlows"] = [{"threadFlows": [{"locations": _flow(trace, result)}]}]
    if verdict.accepted:
        finding["suppressions"] = [{"kind": "external", "justification": verdict.accepted}]
    return finding


def _fingerprint(verdict: Verdict, result: Result) -> str:
    return sha256(f"{result.scenario}\n{verdict.invariant}\n{verdict.object}".encode()).hexdigest()[:32]


def _location(symbol: str, result: Result) -> dict[str, Any]:
    """The place of an object in the input if it is known, and its name."""
    location: dict[str, Any] = {}
    if symbol:
        location["logicalLocations"] = [{"fullyQualifiedName": symbol, "kind": "resource"}]
    place = places(result).get(symbol)
    if place is not None:
        file, line = place
        location["physicalLocation"] = {
            "artifactLocation": {"uri": quote(file.replace("\\", "/"))},
            "region": {"startLine": max(line, 1)},
        }
    return location


def places(result: Result) -> Mapping[str, tuple[str, int]]:
    """The file and line of each object that was read, by `kind/name`."""
    loaded = result.input
    if loaded is None or not hasattr(loaded, "objects"):
        return {}
    return {
        each.reference: (document.file, document.line)
        for each, document in zip(loaded.objects, loaded.raw, strict=False)
        if document.file
    }


def _flow(trace: Trace, result: Result) -> list[dict[str, Any]]:
    told = []
    for beat in beats(trace):
        reason = f" ({beat.reason})" if beat.reason else ""
        text = f"{words.moment(beat.time)} {beat.actor}: {beat.text}{reason}".replace("  ", " ")
        location = {"message": {"text": text}, **_location(trace.object, result)}
        told.append({"location": location, "importance": "essential" if beat.number or beat.broken else "important"})
    return told
