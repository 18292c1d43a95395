"""What search and reduction come to: a violation with the smallest sequence that is known to lead to it."""

from __future__ import annotations

from attrs import frozen

from reconverge.checker.judge import Found
from reconverge.checker.runner import Play


@frozen
class Finding:
    """A reduced counterexample."""

    found: Found
    plays: tuple[Play, ...]
    shortest: bool
    minimal: bool
