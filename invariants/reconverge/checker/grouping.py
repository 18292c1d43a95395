"""One cause is one finding: violations that come about in the same way are shown once, by the smallest trace."""

from __future__ import annotations

import re
from typing import Any

from reconverge.checker.finding import Finding
from reconverge.checker.minimise import cost
from reconverge.model.store import Store

_POD = re.compile(r"pod/[^\s:;,]+")
_NUMBER = re.compile(r"\d+")


def causes(findings: list[Finding], store: Store) -> list[list[Finding]]:
    """Findings grouped by cause, smallest sequence first in each group and among groups.

    The same cause: one invariant, the same kinds of events in the same order, and the same words about it apart from
    names (those of the start's objects and of pods made since) and numbers.
    """
    names = {each.name for each in store.objects()} | {each.reference for each in store.objects()}
    masks = re.compile("|".join(rf"(?<![\w-]){re.escape(name)}(?![\w-])" for name in sorted(names, key=_longest)))
    groups: dict[Any, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(_cause(finding, masks), []).append(finding)
    ordered = [sorted(group, key=lambda each: (cost(each.plays), each.found.identity)) for group in groups.values()]
    return sorted(ordered, key=lambda group: (cost(group[0].plays), group[0].found.identity))


def _longest(name: str) -> tuple[int, str]:
    return -len(name), name


def _cause(finding: Finding, masks: re.Pattern[str]) -> tuple[Any, ...]:
    kinds = tuple(play.event.name for play in finding.plays)
    timing = tuple(type(each).__name__ for play in finding.plays for each in play.deviations)
    return finding.found.invariant.id, kinds, timing, _words(finding, masks)


def _words(finding: Finding, masks: re.Pattern[str]) -> str:
    """The message without the names of what it is about."""
    text = _POD.sub("*", finding.found.violation.message)
    text = _NUMBER.sub("0", masks.sub("*", text))
    # Of several things that wait for the same reason it does not matter how many there are.
    head, colon, rest = text.partition(": ")
    return head + colon + "; ".join(sorted(set(rest.split("; "))))
