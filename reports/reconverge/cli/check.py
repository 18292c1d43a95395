"""`reconverge check`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reconverge.checker import check
from reconverge.checker.result import Result
from reconverge.cli.arguments import REPORTS
from reconverge.cli.config import Config, find
from reconverge.cli.errors import UsageError, unknown
from reconverge.cli.inputs import scenarios
from reconverge.cli.output import Output
from reconverge.reports import words
from reconverge.reports.acceptance import acceptances, unused
from reconverge.reports.files import keep_traces, replay_hints, write_whole
from reconverge.reports.kinds import KINDS, Job
from reconverge.reports.summary import never
from reconverge.reports.version import installed_version


def check_command(options: Namespace, output: Output) -> int:
    """Checks every scenario, shows and keeps what was found, and gives the exit code."""
    config = find(Path.cwd())
    wanted = reports_wanted(options, config)
    how = _how(options, config)
    accept = config.get("accept", {})
    how["accepted"] = acceptances(accept)
    results = []
    for scenario in scenarios(options, config):
        with output.busy(f"checking {scenario.name}"):
            results.append(check(scenario, **how))
    hints = [_kept(result, output) for result in results]
    job = Job(results, hints, installed_version())
    _show(job, options.output or config.get("output", "text"), output)
    for kind, path in wanted:
        _write(path, KINDS[kind](job))
    for key in unused(results, accept):
        output.error(f"reconverge: accepted but not violated: {key!r}; remove it from {config.file}")
    return exit_code(results, strict=bool(options.strict or config.get("strict")), output=output)


def _how(options: Namespace, config: Config) -> dict[str, Any]:
    """How to search, as far as it is said; the checker has the defaults."""
    how: dict[str, Any] = {}
    mode = "exhaustive" if options.exhaustive else "random" if options.random else config.get("mode")
    if mode is not None:
        how["mode"] = mode
    for name in ("seed", "max-examples", "budget"):
        value = getattr(options, name.replace("-", "_"))
        value = config.get(name) if value is None else value
        if value is not None:
            how[name.replace("-", "_")] = value
    return how


def reports_wanted(options: Namespace, config: Config) -> list[tuple[str, Path]]:
    """The kinds and files of --report, tested before anything is computed. Raises UsageError."""
    configured = config.get("report", ())
    if isinstance(configured, dict):
        configured = [f"{kind}={path}" for kind, path in configured.items()]
    found = [_report(text, Path()) for text in options.report or ()]
    if options.report is None:
        found = [_report(text, config.folder) for text in configured]
    return found


def _report(text: str, folder: Path) -> tuple[str, Path]:
    kind, equals, path = text.partition("=")
    if kind not in KINDS:
        raise unknown("kind of report", kind, REPORTS)
    if not equals or not path:
        raise UsageError(f"--report {text}: say where to write it, as {kind}=FILE")
    target = folder / path
    if target.is_dir():
        raise UsageError(f"--report {text}: {path} is a directory")
    return kind, target


def _kept(result: Result, output: Output) -> list[str]:
    """Keeps the traces; the commands that replay them, or none if they could not be kept."""
    if not result.traces:
        return []
    try:
        return replay_hints(keep_traces(result, Path.cwd()), Path.cwd())
    except OSError as error:
        output.error(f"reconverge: the traces could not be kept: {error.filename}: {error.strerror}")
        return []


def _show(job: Job, form: str, output: Output) -> None:
    if form == "json":
        output.write(KINDS["json"](job))
        return
    from reconverge.reports.terminal import reports

    output.lines(reports(job.results, output.page(), hints=job.hints))


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None


def exit_code(results: Sequence[Result], *, strict: bool, output: Output) -> int:
    """The worst of all results; with `strict` also for what stayed open or never happened."""
    worst = max(result.exit_code for result in results)
    if worst or not strict:
        return worst
    for result in results:
        lacking = [*(["something stayed inconclusive"] if words.inconclusive(result) else []), *_untested(result)]
        if lacking:
            output.error(f"reconverge: --strict: {result.scenario}: {'; '.join(lacking)}")
            worst = 1
    return worst


def _untested(result: Result) -> list[str]:
    """What never happened, and which invariants had nothing to judge although they were asked for by name."""
    asked = result.document.get("spec", {}).get("check") or ()
    names = {name for each in asked for name in (each if isinstance(each, dict) else [each])}
    idle = [each.invariant for each in result.verdicts if each.status == "never applicable" and each.invariant in names]
    return [*(f"never happened: {text}" for text in never(result)), *(f"{name} had nothing to judge" for name in idle)]
