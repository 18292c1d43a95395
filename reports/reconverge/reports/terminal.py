"""The report that people read on a terminal: header, table, counterexamples, summary."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from reconverge.checker.result import Result
from reconverge.checker.trace import Trace
from reconverge.reports import words
from reconverge.reports.counterexample import counterexample, end, steps
from reconverge.reports.header import header
from reconverge.reports.page import Page, indented, plain_text, rule
from reconverge.reports.summary import conclusion, summary
from reconverge.reports.table import table


def report(result: Result, page: Page, *, hints: Sequence[str] = ()) -> list[Text]:
    """All lines of a report; `hints` are the commands that replay the traces, in the order of the traces."""
    parts = [header(result, page), table(result, page)]
    for index, trace in enumerate(result.traces):
        hint = hints[index] if index < len(hints) else ""
        also, same = grouped(result, index), _same_steps(result, index)
        parts.append(counterexample(trace, page, number=index + 1, also=also, hint=hint, same_as=same))
    parts.append(summary(result, page))
    lines: list[Text] = []
    for part in parts:
        if part:
            lines += [Text(), *part] if lines else part
    return _fitted(lines, page)


def grouped(result: Result, index: int) -> tuple[str, ...]:
    """The other objects whose violation has the cause that a trace shows."""
    of_trace = result.traces[index].object
    names = (verdict.object for verdict in result.verdicts if verdict.trace == index and verdict.object != of_trace)
    return tuple(dict.fromkeys(names))


def _same_steps(result: Result, index: int) -> int:
    """The number of an earlier counterexample with the same steps, from 1; 0 if there is none."""
    trace = result.traces[index]
    same = (
        number
        for number, each in enumerate(result.traces[:index], start=1)
        if trace.steps and (each.steps, each.waiting) == (trace.steps, trace.waiting)
    )
    return next(same, 0)


def trace_report(trace: Trace, page: Page, *, hint: str = "", everything: bool = False) -> list[Text]:
    """One trace on its own, as `replay` and `simulate` show it."""
    if trace.invariant:
        return _fitted(counterexample(trace, page, hint=hint, everything=everything), page)
    lines = [Text(trace.message or "A run without violation", "bold"), rule(page)]
    return _fitted([*lines, *steps(trace, page, everything=everything), *end(trace, page)], page)


def reports(results: Sequence[Result], page: Page, *, hints: Sequence[Sequence[str]] = ()) -> list[Text]:
    """The lines for several results: those that are as they should be in brief, the others in full, then a tally."""
    if len(results) == 1:
        return report(results[0], page, hints=hints[0] if hints else ())
    lines: list[Text] = []
    for index, result in enumerate(results):
        if result.exit_code == 0:
            lines += _fitted(conclusion(result, page, name=True), page)
        else:
            lines += [Text(), *report(result, page, hints=hints[index] if hints else ()), Text()]
    bad = [result.scenario for result in results if result.exit_code]
    tally = f"{words.count(len(results), 'scenario')}: {len(results) - len(bad):,} passed"
    if bad:
        tally += f", {len(bad):,} failed ({words.listed(bad, 6)})"
    return [*lines, *indented(Text(tally, "bold red" if bad else "bold green"), page, 0)]


def report_text(result: Result, page: Page | None = None, *, hints: Sequence[str] = ()) -> str:
    """The report as text without colour, for test failures, logs and files."""
    return plain_text(report(result, page or Page(), hints=hints))


def _fitted(lines: list[Text], page: Page) -> list[Text]:
    """The lines with the characters that the terminal has; none is longer for it by more than the arrows need."""
    for line in lines:
        fitted = page.fitted(line.plain)
        if fitted != line.plain:
            spans = line.spans
            line.plain = fitted
            line.spans = spans
    return lines
