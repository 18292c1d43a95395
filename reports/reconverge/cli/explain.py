"""`reconverge explain` and `reconverge list`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from reconverge.cli.config import find
from reconverge.cli.errors import unknown
from reconverge.cli.inputs import invariant_files
from reconverge.cli.output import Output
from reconverge.reports import reference
from reconverge.reports.page import Page, columns, indented, labelled, rule
from reconverge.reports.reference import Entry

if TYPE_CHECKING:
    from reconverge.invariants import Registry

SINGULAR = {
    "invariants": "invariant",
    "events": "event",
    "loops": "control loop",
    "rules": "rule",
    "annotations": "annotation",
}


def explain_command(options: Namespace, output: Output) -> int:
    """Says what an id means; several things of one name are all explained. Raises UsageError."""
    every = [entry for group in SINGULAR for entry in entries(group, options)]
    found = [entry for entry in every if entry.id == options.id]
    if not found:
        raise unknown("id", options.id, {entry.id for entry in every})
    page = output.page()
    for number, entry in enumerate(found):
        output.lines([*([Text()] if number else []), *explained(entry, page)])
    return 0


def list_command(options: Namespace, output: Output) -> int:
    """Lists all of a group."""
    output.lines(listing(entries(options.what, options), output.page()))
    return 0


def entries(group: str, options: Namespace) -> list[Entry]:
    """All entries of a group. Raises LoadError for own invariants that cannot be read."""
    if group == "invariants":
        return reference.invariants(_registry(options))
    if group == "loops":
        from reconverge.checker import loops_of_kinds, standard_control_plane
        from reconverge.model.loops.kube_proxy import KubeProxy

        return reference.loops((*standard_control_plane().loops, *loops_of_kinds()), [KubeProxy()])
    if group == "annotations":
        return reference.of_programs()
    return reference.events() if group == "events" else reference.rules()


def _registry(options: Namespace) -> Registry:
    from reconverge.checker.user_invariants import load_invariants
    from reconverge.invariants.stock import stock

    files = invariant_files(options, find(Path.cwd()))
    return stock().extended(load_invariants(files)) if files else stock()


def explained(entry: Entry, page: Page) -> list[Text]:
    """The lines of one entry."""
    title = Text(entry.id, "bold")
    title.append(f"  {SINGULAR[entry.group]}", "dim")
    lines = [title, rule(page), *indented(entry.headline, page, 0)]
    width = max([12, *(len(label) + 2 for label, _ in entry.details)])
    for label, text in entry.details:
        lines += labelled(label, text, page, width=width)
    return lines


def listing(every: Sequence[Entry], page: Page) -> list[Text]:
    """A line or two per entry: id and what it is, with the few words beside the id below."""
    width = max(len(entry.id) for entry in every)
    lines = []
    for entry in every:
        text = Text(entry.headline)
        if entry.note:
            text.append(f" ({entry.note})", "dim")
        lines += columns([Text(entry.id, "bold"), text], [width], page)
    return lines
