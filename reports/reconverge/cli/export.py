"""`reconverge export-test`: a kept trace as a test of one's own."""

from __future__ import annotations

import json
import textwrap
from argparse import Namespace
from pathlib import Path
from typing import Any

import yaml

from reconverge.checker.trace import Trace
from reconverge.cli.errors import UsageError
from reconverge.cli.output import Output
from reconverge.cli.replay import read_trace
from reconverge.reports.files import slug, write_whole
from reconverge.reports.scenarios import SUFFIXES, is_scenario_file
from reconverge.reports.trace_json import trace_to_json

SCENARIO_NOTE = ("As found: this passes as long as exactly this is violated. Once it is mended, remove `expect`.",)
PYTEST_TEXT = '''\
"""{title}: {message}"""

import json
import textwrap

from reconverge.checker import replay
from reconverge.reports import trace_from_json

TRACE = r"""
{trace}
"""


def test_{name}_is_reproduced() -> None:
    """Fails with a ReplayError once this no longer happens."""
    replay(trace_from_json(json.loads(TRACE)))
'''


def export_command(options: Namespace, output: Output) -> int:
    """Writes the test to a file or to standard output. Raises UsageError for a form that cannot hold the trace."""
    trace = read_trace(options.trace)
    form = _form(trace, options)
    text = scenario_text(trace) if form == "scenario" else pytest_text(trace)
    if options.to is None:
        output.write(text)
        return 0
    try:
        write_whole(Path(options.to), text)
    except OSError as error:
        raise UsageError(f"{options.to}: cannot be written: {error.strerror}") from None
    output.error(f"reconverge: wrote {options.to}; pytest collects it")
    return 0


def _form(trace: Trace, options: Namespace) -> str:
    odd = any(stroke.deviations for stroke in trace.strokes)
    form: str = options.form or ("scenario" if _names_scenario(options.to) else "")
    if not form and options.to is not None and options.to.endswith(".py"):
        form = "pytest"
    form = form or ("pytest" if odd else "scenario")
    if form == "scenario" and odd:
        raise UsageError("this trace needs odd timing or luck, which a scenario's steps cannot fix; use --as pytest")
    if form == "scenario" and options.to is not None and not _names_scenario(options.to):
        raise UsageError(f"{options.to}: pytest collects a scenario only if its name ends in {' or '.join(SUFFIXES)}")
    return form


def _names_scenario(path: str | None) -> bool:
    return path is not None and is_scenario_file(path)


def scenario_text(trace: Trace) -> str:
    """The trace as a scenario file: its events as steps, nothing free, the violation expected."""
    spec = {key: each for key, each in trace.scenario.get("spec", {}).items() if key not in REPLACED}
    scoped: Any = {trace.invariant: trace.object} if trace.object else trace.invariant
    spec |= {
        "steps": [*trace.scenario.get("spec", {}).get("steps", ()), *_steps(trace)],
        "may": {},
        "events": 0,
        "deviations": 0,
        "check": [scoped],
        "expect": {"violated": [scoped]},
    }
    document = {
        "apiVersion": trace.scenario.get("apiVersion", "reconverge/v1alpha1"),
        "kind": "Scenario",
        "metadata": {"name": slug(trace.title)},
        "spec": spec,
    }
    said = [_line(trace.title), *textwrap.wrap(_line(trace.message), 98), *SCENARIO_NOTE]
    head = "".join(f"# {line}\n" for line in said)
    return head + yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)


REPLACED = ("steps", "may", "events", "deviations", "check", "skip", "expect")


def _steps(trace: Trace) -> list[dict[str, Any]]:
    """The strokes that are not among the scenario's own steps, which come first in every trace."""
    prefix = len(trace.scenario.get("spec", {}).get("steps", ()))
    return [{stroke.event: dict(stroke.arguments)} for stroke in trace.strokes[prefix:]]


def pytest_text(trace: Trace) -> str:
    """The trace as a Python test that plays it again."""
    name = slug(trace.title).replace("-", "_").replace(".", "_")
    data = json.dumps(trace_to_json(trace), ensure_ascii=True, indent=1)
    message = _line(trace.message).replace("\\", "/").replace('"', "'")
    return PYTEST_TEXT.format(title=_line(trace.title), message=message, name=name, trace=data)


def _line(text: str) -> str:
    return " ".join(text.split())
