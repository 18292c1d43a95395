"""`reconverge conform` and `reconverge audit`: the model and the invariants against what has happened."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reconverge.cli.errors import UsageError
from reconverge.cli.output import Output

if TYPE_CHECKING:
    from reconverge.checker.audit import Audit
    from reconverge.checker.conformance import Conformance, Recording


def read(path: str) -> Recording:
    """The recording in a file. Raises UsageError."""
    from reconverge.checker.conformance import RecordingError, read_recording

    if not Path(path).exists():
        raise UsageError(f"{path}: no such file or directory")
    try:
        return read_recording(Path(path))
    except OSError as error:
        raise UsageError(f"{path}: {(error.strerror or 'cannot be read').lower()}") from None
    except (RecordingError, UnicodeDecodeError, json.JSONDecodeError) as error:
        text = str(error)
        raise UsageError(text if text.startswith(path) else f"{path}: {text}") from None


def conform_command(options: Namespace, output: Output) -> int:
    """Holds the model against recordings: 1 if one of them is no run of it."""
    from reconverge.checker.conformance import RecordingError, conform

    results = []
    for path in options.files:
        try:
            results.append(conform(read(path)))
        except RecordingError as error:
            raise UsageError(f"{path}: {error}") from None
        if options.output == "text":
            output.write(results[-1].describe() + "\n")
    if options.output == "json":
        output.write(json.dumps({"recordings": [_conformance(each) for each in results]}, indent=2) + "\n")
    return 0 if all(each.explained for each in results) else 1


def _conformance(result: Conformance) -> dict[str, Any]:
    found = result.unexplained
    return {
        "recording": result.recording,
        "explained": result.explained,
        "explained_count": result.explained_count,
        "total": result.total,
        "first_unexplained": None if found is None else found.describe(),
        "final_differences": list(result.final_differences),
        "answers_differences": [str(each) for each in result.answers_differences],
    }


def audit_command(options: Namespace, output: Output) -> int:
    """Judges the invariants along a recording or a watch of a cluster: 1 if one is broken."""
    from reconverge.checker.audit import audit_recording, audit_stream
    from reconverge.checker.conformance import RecordingError

    audits = []
    for path in options.files:
        try:
            audits.append(audit_recording(read(path)) if _is_recording(path) else audit_stream(path))
        except RecordingError as error:
            raise UsageError(f"{path}: {error}") from None
    if options.output == "json":
        output.write(json.dumps({"audits": [_audit(each) for each in audits]}, indent=2) + "\n")
    else:
        for audit in audits:
            output.write("\n".join(_told(audit)) + "\n")
    return 1 if any(each.findings for each in audits) else 0


def _is_recording(path: str) -> bool:
    """Whether a file is one JSON object with a history, not a stream of objects."""
    try:
        document = json.loads(Path(path).read_text("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path}: {(error.strerror or 'cannot be read').lower()}") from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        return False
    return isinstance(document, dict) and "history" in document


def _told(audit: Audit) -> list[str]:
    kinds = len(audit.judged)
    if not audit.findings:
        return [f"{audit.name}: {audit.steps} steps, {kinds} invariants judged, none broken"]
    lines = [f"{audit.name}: {audit.steps} steps, {kinds} invariants judged, {len(audit.findings)} violations"]
    return lines + [
        f"  {each.when}  {each.found.invariant.id}: {each.found.violation.message}" for each in audit.findings
    ]


def _audit(audit: Audit) -> dict[str, Any]:
    return {
        "name": audit.name,
        "steps": audit.steps,
        "judged": list(audit.judged),
        "violations": [
            {
                "when": each.when,
                "invariant": each.found.invariant.id,
                "object": each.found.violation.object,
                "message": each.found.violation.message,
            }
            for each in audit.findings
        ],
    }
