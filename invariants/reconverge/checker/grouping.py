"""One cause is one finding: violations that come about in the same way are shown once, by the smallest trace."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from reconverge.checker.event_words import words_of
from reconverge.checker.minimise import cost

if TYPE_CHECKING:
    from reconverge.checker.check import Finding

_NUMBER = re.compile(r"\d+")


def causes(findings: list[Finding]) -> list[list[Finding]]:
    """Findings grouped by cause, smallest sequence first in each group and among groups.

    The same cause: one invariant, the same kinds of events in the same order, and the same words about it apart from
    names and numbers.
    """
    groups: dict[Any, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(_cause(finding), []).append(finding)
    ordered = [sorted(group, key=lambda each: (cost(each.plays), each.found.identity)) for group in groups.values()]
    return sorted(ordered, key=lambda group: (cost(group[0].plays), group[0].found.identity))


def _cause(finding: Finding) -> tuple[Any, ...]:
    kinds = tuple(play.event.name for play in finding.plays)
    timing = tuple(type(each).__name__ for play in finding.plays for each in play.deviations)
    return finding.found.invariant.id, kinds, timing, _words(finding)


def _words(finding: Finding) -> str:
    """The message without the names of what it is about."""
    text = finding.found.violation.message
    names = {finding.found.violation.object, finding.found.violation.object.rpartition("/")[2]}
    for play in finding.plays:
        names.update(str(value) for value in words_of(play.event)[1].values() if isinstance(value, str))
    names.update({name.rpartition("/")[2] for name in names})
    for name in sorted(names, key=len, reverse=True):
        if name:
            text = text.replace(name, "*")
    text = _NUMBER.sub("0", re.sub(r"(?:pod|node|deployment|replicaset|statefulset|service)/[^\s:;,]+", "*", text))
    # Of several things that wait for the same reason it does not matter how many there are.
    head, colon, rest = text.partition(": ")
    return head + colon + "; ".join(sorted(set(rest.split("; "))))
