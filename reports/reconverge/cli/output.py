"""Writing to the terminal, to pipes and to files that stand for them."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.text import Text

    from reconverge.reports.page import Page

WIDTH_MOST = 120
"""Longer lines are hard to read; wider terminals stay empty on the right."""
WIDTH_WITHOUT_TERMINAL = 80


class Output:
    """Standard output and error of one run. After a broken pipe everything else is dropped silently."""

    def __init__(self, color: str = "auto") -> None:
        self.color = color
        self.out: TextIO = sys.stdout
        self.broken = False
        for stream in (sys.stdout, sys.stderr):
            _make_bold(stream)

    def write(self, text: str) -> None:
        """Writes text to standard output as it is."""
        if self.broken:
            return
        try:
            self.out.write(text)
            self.out.flush()
        except BrokenPipeError:
            self._drop()

    def lines(self, lines: Sequence[Text]) -> None:
        """Writes lines of a report, in colour where the terminal has it."""
        from rich.console import Console

        if self.broken:
            return
        buffer = io.StringIO()
        console = Console(
            file=buffer,
            width=max([WIDTH_MOST, *(line.cell_len for line in lines)]),
            force_terminal=self._in_color(),
            color_system="auto" if self._in_color() else None,
            legacy_windows=False,
            highlight=False,
            markup=False,
            emoji=False,
        )
        for line in lines:
            console.print(line, soft_wrap=True)
        self.write(buffer.getvalue())

    def error(self, text: str) -> None:
        """Writes one line to standard error."""
        with contextlib.suppress(BrokenPipeError):
            print(text, file=sys.stderr, flush=True)

    @contextlib.contextmanager
    def busy(self, text: str) -> Iterator[None]:
        """Says on the terminal what is being done, and takes it back afterwards; nothing where nobody looks."""
        if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
            yield
            return
        sys.stderr.write(f"{text} ...")
        sys.stderr.flush()
        try:
            yield
        finally:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def page(self) -> Page:
        """The page of the terminal: its width, and plain characters where its encoding has no others."""
        from reconverge.reports.page import ASCII, UNICODE, WIDTH_LEAST, Page

        encoding = (getattr(self.out, "encoding", None) or "ascii").lower().replace("-", "")
        glyphs = UNICODE if encoding.startswith("utf") else ASCII
        return Page(max(WIDTH_LEAST, min(self._width(), WIDTH_MOST)), glyphs)

    def _width(self) -> int:
        told = os.environ.get("COLUMNS", "")
        if told.isdigit() and int(told):
            return int(told)
        with contextlib.suppress(OSError, ValueError, AttributeError):
            return os.get_terminal_size(self.out.fileno()).columns or WIDTH_WITHOUT_TERMINAL
        return WIDTH_WITHOUT_TERMINAL

    def _in_color(self) -> bool:
        """--color decides; else NO_COLOR, then FORCE_COLOR, then whether it is a terminal that knows colour."""
        if self.color != "auto":
            return self.color == "always"
        if os.environ.get("NO_COLOR"):
            return False
        if os.environ.get("FORCE_COLOR"):
            return True
        return self.out.isatty() and os.environ.get("TERM") != "dumb"

    def _drop(self) -> None:
        """The reader has gone: nothing more is written, not even by the interpreter when it ends."""
        self.broken = True
        with contextlib.suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.out.fileno())


def _make_bold(stream: TextIO) -> None:
    """Lets a stream take any text: UTF-8 to pipes and files, escapes on a terminal that lacks a character."""
    if not isinstance(stream, io.TextIOWrapper):
        return
    if stream.isatty():
        stream.reconfigure(errors="backslashreplace")
    elif not os.environ.get("PYTHONIOENCODING"):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    else:
        stream.reconfigure(errors="backslashreplace")
