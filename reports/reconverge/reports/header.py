"""The top of a terminal report: what was read, and under which rules and bounds it was checked."""

from __future__ import annotations

from rich.text import Text

from reconverge.checker.result import Result
from reconverge.reports import words
from reconverge.reports.account import Account, account, kinds, nodes
from reconverge.reports.page import Page, indented, labelled, rule

NOTES_MOST = 8
LABEL = 13


def header(result: Result, page: Page) -> list[Text]:
    """The lines of the header."""
    lines = [Text(result.scenario or "scenario", "bold"), rule(page)]
    read = account(result)
    if read is not None:
        lines += _read(read, page)
    where = nodes(result)
    if where:
        lines += labelled("nodes", where, page, width=LABEL)
    seed = f"seed {result.seed}"
    lines += labelled("rules", f"Kubernetes {result.kubernetes}, {seed}", page, width=LABEL)
    lines += labelled("explored", words.reach(result), page, width=LABEL)
    return lines


def _read(read: Account, page: Page) -> list[Text]:
    source = f" from {words.count(read.files, 'file')}" if read.files else ""
    lines = labelled("read", f"{words.count(read.total, 'object')}{source}: {kinds(read.modelled)}", page, width=LABEL)
    if read.skipped:
        total = sum(read.skipped.values())
        text = f"{words.count(total, 'object')} of kinds that are not modelled: {kinds(read.skipped, 6)}"
        lines += labelled("left out", text, page, width=LABEL)
    if read.ignored:
        text = f"{words.count(read.ignored, 'field')} on which nothing modelled depends"
        lines += labelled("ignored", text, page, width=LABEL)
    if read.unsupported:
        text = f"{words.count(len(read.unsupported), 'field')} that would matter:"
        lines += labelled("unsupported", Text(text, "yellow"), page, width=LABEL)
        lines += _places(read.unsupported, page)
    if read.notes:
        lines += labelled("notes", words.count(len(read.notes), "remark") + " on the input:", page, width=LABEL)
        lines += _places(read.notes, page)
    return lines


def _places(places: tuple[str, ...], page: Page) -> list[Text]:
    lines = []
    for place in places[:NOTES_MOST]:
        lines += indented(Text(place), page, LABEL + 2, Text(" " * LABEL))
    if len(places) > NOTES_MOST:
        lines += indented(f"and {len(places) - NOTES_MOST} more (--output json lists all)", page, LABEL + 2)
    return lines
