"""The page that a terminal report is set on: its width, its characters, its styles, and how lines are broken.

Parts of a report are lists of rich `Text` lines without trailing blanks, so that the plain text of a report is the same
whether it is shown in colour, written to a file or compared with a stored one.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen
from rich.console import Console
from rich.text import Text

WIDTH_LEAST = 40


@frozen
class Glyphs:
    """The characters of a report that a terminal may lack."""

    rule: str = "─"
    arrow: str = "→"
    none: str = "·"
    bar: str = "│"
    broken: str = "✗"
    good: str = "✓"
    open: str = "?"
    loop: str = "↻"
    odd: str = "≈"
    ellipsis: str = "…"
    bullet: str = "•"


UNICODE = Glyphs()
ASCII = Glyphs("-", "->", ".", "|", "x", "+", "?", "@", "~", "...", "*")


@frozen
class Page:
    """Width in columns, and the characters to use."""

    width: int = 80
    glyphs: Glyphs = UNICODE

    def fitted(self, text: str) -> str:
        """The text with the marks of this page in place of those that only Unicode has."""
        if self.glyphs is UNICODE:
            return text
        for name in ("arrow", "none", "ellipsis", "bullet"):
            text = text.replace(getattr(UNICODE, name), getattr(self.glyphs, name))
        return text


_MEASURE = Console(width=200, force_terminal=False, no_color=True)
"""Rich breaks lines only with a console at hand; this one never writes."""


def wrapped(text: Text | str, width: int) -> list[Text]:
    """The text in lines of at most `width` columns; empty text is one empty line."""
    whole = Text(text) if isinstance(text, str) else text
    lines = list(whole.wrap(_MEASURE, max(width, 10)))
    for line in lines:
        line.rstrip()
    return lines or [Text()]


def indented(text: Text | str, page: Page, indent: int = 4, first: Text | str | None = None) -> list[Text]:
    """The text with a hanging indent; `first` is what stands in the indent of the first line."""
    lines = wrapped(text, page.width - indent)
    lead = Text(first) if isinstance(first, str) else first.copy() if first is not None else Text()
    out = []
    for number, line in enumerate(lines):
        start = lead if number == 0 else Text()
        start.append(" " * max(0, indent - start.cell_len))
        out.append(_stripped(start.append_text(line)))
    return out


def columns(cells: Sequence[Text | str], widths: Sequence[int], page: Page, gap: int = 2) -> list[Text]:
    """One row of a table without lines: each cell wrapped in its width, the last one in what is left of the page."""
    left = page.width - sum(widths) - gap * len(widths)
    wraps = [wrapped(cell, width) for cell, width in zip(cells, [*widths, left], strict=True)]
    rows = []
    for number in range(max(len(wrap) for wrap in wraps)):
        row = Text()
        at = 0
        for wrap, width in zip(wraps, [*widths, left], strict=True):
            row.append(" " * (at - row.cell_len))
            if number < len(wrap):
                row.append_text(wrap[number])
            at += width + gap
        rows.append(_stripped(row))
    return rows


def labelled(label: str, text: Text | str, page: Page, indent: int = 0, width: int = 12) -> list[Text]:
    """A label in a column of its own and text beside it."""
    cell = Text(" " * indent)
    cell.append(label, "dim")
    return indented(text, page, indent + width, cell)


def rule(page: Page, style: str = "dim") -> Text:
    """A line across the page."""
    return Text(page.glyphs.rule * page.width, style)


def _stripped(line: Text) -> Text:
    line.rstrip()
    return line


def plain_text(lines: Sequence[Text]) -> str:
    """The lines as text without colour, with a line feed at the end."""
    return "".join(f"{line.plain}\n" for line in lines)
