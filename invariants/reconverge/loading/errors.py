"""How reading input fails, and what is worth a remark without failing."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from attrs import frozen


class LoadError(Exception):
    """Input that cannot be used. `where` is `file:line` (or empty), `suggestion` what was probably meant."""

    def __init__(self, message: str, where: str = "", suggestion: str = "") -> None:
        super().__init__(message, where, suggestion)
        self.message = message
        self.where = where
        self.suggestion = suggestion

    def __str__(self) -> str:
        """One line: `file:line: what. Did you mean X?`."""
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text}. Did you mean {self.suggestion}?" if self.suggestion else text


@frozen
class Note:
    """A remark about input that was left out; `where` is `file:line`, or the file alone."""

    message: str
    where: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word closest to `word`, differing only in case or by a few letters; empty if none is close."""
    candidates = sorted(known)
    for each in candidates:
        if each.lower() == word.lower():
            return each
    close = get_close_matches(word, candidates, n=1, cutoff=0.6)
    return close[0] if close else ""


def quoted_nearest(word: str, known: Iterable[str]) -> str:
    """As `nearest`, in double quotes for a message."""
    close = nearest(word, known)
    return f'"{close}"' if close else ""
