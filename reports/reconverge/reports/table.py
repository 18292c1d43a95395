"""The resilience table: workloads down, kinds of event across."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve, frozen
from rich.text import Text

from reconverge.checker.result import Cell, Result
from reconverge.reports import words
from reconverge.reports.page import Page, indented

ROWS_MOST = 24
"""Beyond this many workloads, those that hold throughout are told in one line."""
NAME_MOST = 40
STYLES = {"held": "green", "violated": "bold red", "inconclusive": "yellow", "never applicable": "dim"}


@frozen
class Grid:
    """The table's cells by workload and event, in the order of their first appearance."""

    workloads: tuple[str, ...]
    events: tuple[str, ...]
    cells: Mapping[tuple[str, str], Cell]
    brief: bool = False
    """Whether violated cells are shown by their numbers alone."""

    def cell(self, workload: str, event: str) -> Cell | None:
        """The cell, or None where nothing was judged."""
        return self.cells.get((workload, event))

    def shown(self, workload: str, event: str, none: str) -> str:
        """The text of a cell."""
        text = cell_text(self.cell(workload, event), none)
        return text.removeprefix("violated ") if self.brief else text

    def row(self, workload: str) -> list[Cell | None]:
        """All cells of a workload."""
        return [self.cell(workload, event) for event in self.events]


def grid(result: Result) -> Grid:
    """The cells of a result as a table."""
    return Grid(
        tuple(dict.fromkeys(cell.workload for cell in result.table)),
        tuple(dict.fromkeys(cell.event for cell in result.table)),
        {(cell.workload, cell.event): cell for cell in result.table},
    )


def cell_text(cell: Cell | None, none: str = "·") -> str:
    """`held`, `violated #2`, `open`, or a dot where nothing was judged."""
    if cell is None or cell.status == "never applicable":
        return none
    if cell.status == "violated":
        return " ".join(["violated", *(f"#{trace + 1}" for trace in cell.traces)])
    return "open" if cell.status == "inconclusive" else cell.status


def table(result: Result, page: Page) -> list[Text]:
    """The lines of the table, in blocks of columns that fit the page; none if there are no cells.

    Where it saves a block, violated cells show their numbers alone.
    """
    whole = grid(result)
    if not whole.workloads or not whole.events:
        return []
    shown, quiet = _rows(whole)
    name_width = min(NAME_MOST, page.width // 2, max(len(name) for name in whole.workloads))
    lines: list[Text] = []
    brief = len(_blocks(evolve(whole, brief=True), page, name_width)) < len(_blocks(whole, page, name_width))
    whole = evolve(whole, brief=brief)
    for events in _blocks(whole, page, name_width):
        lines += [Text()] if lines else []
        lines += _heading(events, whole, page, name_width)
        lines += [_row(name, events, whole, page, name_width) for name in shown]
    if quiet:
        text = f"{words.count(len(quiet), 'more workload')}, where nothing is violated: {words.listed(quiet, 6)}"
        lines += indented(Text(text, "dim"), page, 4, Text("  "))
    return lines + _legend(whole, page)


def _rows(whole: Grid) -> tuple[Sequence[str], Sequence[str]]:
    """The workloads to show, and those that hold throughout where there are too many."""
    if len(whole.workloads) <= ROWS_MOST:
        return whole.workloads, ()
    quiet = [name for name in whole.workloads if all(_is_quiet(cell) for cell in whole.row(name))]
    return [name for name in whole.workloads if name not in set(quiet)], quiet


def _is_quiet(cell: Cell | None) -> bool:
    return cell is None or cell.status in ("held", "never applicable")


def _width(event: str, whole: Grid, page: Page) -> int:
    cells = [whole.shown(name, event, page.glyphs.none) for name in whole.workloads]
    return max(len(event), *(len(text) for text in cells))


def _blocks(whole: Grid, page: Page, name_width: int) -> list[list[str]]:
    """The events in groups whose columns fit beside the names."""
    blocks: list[list[str]] = [[]]
    used = 2 + name_width
    for event in whole.events:
        width = _width(event, whole, page) + 2
        if blocks[-1] and used + width > page.width:
            blocks.append([])
            used = 2 + name_width
        blocks[-1].append(event)
        used += width
    return blocks


def _heading(events: Sequence[str], whole: Grid, page: Page, name_width: int) -> list[Text]:
    line = Text(" " * (2 + name_width))
    for event in events:
        line.append("  ")
        line.append(event.ljust(_width(event, whole, page)), "dim")
    line.rstrip()
    return [line]


def _row(name: str, events: Sequence[str], whole: Grid, page: Page, name_width: int) -> Text:
    shown = name if len(name) <= name_width else _shortened(name, name_width, page.glyphs.ellipsis)
    line = Text(f"  {shown.ljust(name_width)}")
    for event in events:
        cell = whole.cell(name, event)
        text = whole.shown(name, event, page.glyphs.none)
        line.append("  ")
        line.append(text.ljust(_width(event, whole, page)), STYLES[cell.status] if cell else "dim")
    line.rstrip()
    return line


def _shortened(name: str, width: int, ellipsis: str) -> str:
    """The name without its middle: its kind and its end tell most."""
    keep = width - len(ellipsis)
    return f"{name[: keep - keep // 2]}{ellipsis}{name[len(name) - keep // 2 :]}"


def _legend(whole: Grid, page: Page) -> list[Text]:
    """What the words mean that do not say it themselves."""
    seen = {whole.shown(w, e, page.glyphs.none).split(" ")[0] for w in whole.workloads for e in whole.events}
    parts = []
    if page.glyphs.none in seen:
        parts.append(f"{page.glyphs.none} not tried or nothing to judge")
    if "open" in seen:
        parts.append("open: not explored to the end")
    if whole.brief and any(text.startswith("#") for text in seen):
        parts.append("#n violated, as shown below")
    return indented(Text("; ".join(parts), "dim"), page, 2) if parts else []
