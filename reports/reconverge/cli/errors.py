"""How the command fails on what it was given."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class UsageError(Exception):
    """Arguments, configuration or files that cannot be used; the text is one line for people."""


def unknown(what: str, word: str, known: Iterable[str]) -> UsageError:
    """An error about a word that is not known, with the nearest that is, or all if they are few."""
    every = sorted(known)
    lowered = {each.lower(): each for each in every}
    close = [lowered[each] for each in get_close_matches(word.lower(), list(lowered), n=1)]
    if close:
        return UsageError(f"unknown {what} {word!r}. Did you mean {close[0]!r}?")
    hint = f"; known: {', '.join(every)}" if len(every) <= 12 else ""
    return UsageError(f"unknown {what} {word!r}{hint}")
