"""The report as Markdown, for pull requests and job summaries."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reconverge.checker.result import Result
from reconverge.checker.trace import Trace
from reconverge.reports import words
from reconverge.reports.account import account, kinds, nodes
from reconverge.reports.story import Beat, beats
from reconverge.reports.summary import judged
from reconverge.reports.table import cell_text, grid
from reconverge.reports.terminal import grouped


def markdown(results: Sequence[Result], hints: Sequence[Sequence[str]]) -> str:
    """The text of a Markdown file with one section per result."""
    return "\n".join(_result(result, told) for result, told in zip(results, hints, strict=True))


def _result(result: Result, hints: Sequence[str]) -> str:
    lines = [f"# {escaped(result.scenario)}", "", f"**{escaped(words.claim(result))}**", ""]
    expected = result.expectation
    if expected is not None:
        missed = [f"Not as expected: {words.sentence(each)}" for each in expected.missed]
        lines += [*(missed or ["As expected."]), ""]
    lines += _header(result)
    lines += _table(result)
    for index, trace in enumerate(result.traces):
        lines += _trace(trace, index + 1, grouped(result, index), hints[index] if index < len(hints) else "")
    return "\n".join([*lines, *_summary(result)])


def _header(result: Result) -> list[str]:
    lines = []
    read = account(result)
    if read is not None:
        lines.append(f"- read: {words.count(read.total, 'object')} ({escaped(kinds(read.modelled))})")
        lines += [f"- left out: {escaped(kinds(read.skipped))}"] if read.skipped else []
        lines += [f"- unsupported: {escaped(each)}" for each in read.unsupported]
        lines += [f"- note: {escaped(each)}" for each in read.notes]
    where = nodes(result)
    lines += [f"- nodes: {escaped(where)}"] if where else []
    return [*lines, f"- rules: Kubernetes {result.kubernetes}, seed {result.seed}", ""]


def _table(result: Result) -> list[str]:
    whole = grid(result)
    if not whole.workloads:
        return []
    lines = [_row("workload", *whole.events), _row(*["---"] * (len(whole.events) + 1))]
    lines += [_row(escaped(each), *(cell_text(cell) for cell in whole.row(each))) for each in whole.workloads]
    return [*lines, ""]


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _trace(trace: Trace, number: int, also: Sequence[str], hint: str) -> list[str]:
    lines = [f"## #{number} {escaped(trace.title)}", "", escaped(words.headline(trace)), ""]
    if also:
        lines += [f"It breaks for the same reason for {escaped(words.listed(also, 8))}.", ""]
    lines += [f"{words.events_heading(trace)}.", ""]
    lines += ["| when | who | what |", "| --- | --- | --- |"]
    for beat in beats(trace):
        if beat.repeats:
            lines.append(_row("", "", f"*{beat.repeats}:*"))
        who = f"**event {beat.number}**" if beat.number else escaped(beat.actor)
        lines.append(_row(words.moment(beat.time), who, _what(beat)))
    ended = words.outcome(trace)
    lines += ["", *([ended, ""] if ended else [])]
    lines += [f"- **{escaped(who)}:** {escaped(reason)}" for who, reason in words.waiting(trace)]
    lines += [""] if trace.waiting else []
    advice = (("Promise", trace.statement), ("Why it matters", trace.why), ("Remedy", trace.remedy))
    lines += [f"- **{label}:** {escaped(words.sentence(text))}" for label, text in advice if text]
    return [*lines, *([f"- **Replay:** `{hint}`"] if hint else []), ""]


def _what(beat: Beat) -> str:
    text = escaped(beat.text)
    text = f"**{text}**" if beat.number or beat.broken else f"refused: {text}" if beat.kind == "refused" else text
    text = f"{text} ({escaped(beat.reason)})" if beat.reason else text
    text = f"{text}<br>*{escaped(beat.deviation)}*" if beat.deviation else text
    for difference in beat.differences:
        for name, before, after in difference.fields:
            change = f"{difference.object} {words.field_name(name)}: {words.value(before)} → {words.value(after)}"
            text += f"<br>{escaped(change)}"
    return text + (" ✗" if beat.broken else "")


def _summary(result: Result) -> list[str]:
    lines = ["## Verdicts", ""]
    for each in judged(result.verdicts):
        status = "accepted" if each.accepted else each.status
        objects = f": {escaped(words.listed(each.objects, 8))}" if each.objects and status != "held" else ""
        lines.append(f"- `{each.invariant}` {status}{objects}")
    sentences = [("Not explored", result.not_covered), ("Never happened", result.coverage.never)]
    for label, group in [*sentences, ("Warning", result.warnings)]:
        lines += [f"- {label}: {escaped(words.sentence(text))}" for text in group]
    return [*lines, ""]


def escaped(text: str) -> str:
    """The text on one line, with what Markdown would take for marks taken literally."""
    return re.sub(r"([\\`*_|<>\[\]])", r"\\\1", " ".join(text.split()))
