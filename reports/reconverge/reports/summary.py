"""The end of a terminal report: verdicts by invariant, what was not covered, and the claim with its bounds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from attrs import frozen
from rich.text import Text

from reconverge.checker.result import Result, Status, Verdict
from reconverge.reports import words
from reconverge.reports.page import Page, indented, labelled, rule

LABEL = 18
OBJECTS_MOST = 4
NAMED_MOST = 4
"""Beyond so many inconclusive invariants their objects are not named."""
SENTENCES_MOST = 10
MARKS: dict[Status, str] = {"violated": "red", "held": "green", "inconclusive": "yellow", "never applicable": "dim"}


NEVER = " never happened: "
IDLE = re.compile("the (\\S+) loop wrote nothing: no run gave it anything to do")
READINGS = (
    {"budget-honoured": "API evictions only", "budget-kept": "every voluntary removal"},
    {"rollout-ceiling": "without terminating pods", "rollout-ceiling-terminating": "with terminating pods"},
    {"no-request-lost": "as long as nothing fails", "traffic-reaches-pods": "after failures, too"},
    {"no-livelock": "endless repetition and endless growth", "bounded-churn": "endless growth alone"},
)
"""Rules that people read in two ways, and which reading each id takes."""


@frozen
class Judged:
    """All verdicts of one invariant: its worst status and the objects that have it."""

    invariant: str
    status: Status
    objects: tuple[str, ...]
    accepted: bool = False


def judged(verdicts: Iterable[Verdict]) -> list[Judged]:
    """The verdicts by invariant, in alphabetical order."""
    out = []
    for invariant, group in groupby(sorted(verdicts, key=lambda each: each.invariant), lambda each: each.invariant):
        every = list(group)
        status = next(status for status in MARKS_ORDER if any(each.status == status for each in every))
        worst = [each for each in every if each.status == status]
        open_ = [each for each in worst if not each.accepted]
        objects = tuple(each.object for each in (open_ or worst) if each.object)
        out.append(Judged(invariant, status, objects, status == "violated" and not open_))
    return out


MARKS_ORDER: tuple[Status, ...] = ("violated", "inconclusive", "held", "never applicable")


def summary(result: Result, page: Page) -> list[Text]:
    """The lines of the summary."""
    lines = [rule(page), *_verdicts(result, page)]
    lines += _sentences("readings", _readings(result), page)
    lines += _happened(result, page)
    lines += _sentences("not explored", result.not_covered, page)
    lines += _sentences("never happened", never(result), page)
    lines += _sentences("warnings", result.warnings, page, "yellow")
    if lines[-1].plain != rule(page).plain:
        lines.append(Text())
    return lines + conclusion(result, page)


def _verdicts(result: Result, page: Page) -> list[Text]:
    every = judged(result.verdicts)
    lines = []
    for each in every:
        if each.status == "violated" and not each.accepted:
            lines += labelled("violated", _named(each, "red"), page, width=LABEL)
    for verdict in result.verdicts:
        if verdict.accepted:
            text = f"{verdict.invariant} ({verdict.object}): {verdict.accepted}"
            lines += labelled("accepted", text, page, width=LABEL)
    open_ = [each for each in every if each.status == "inconclusive"]
    if len(open_) > NAMED_MOST:
        lines += _names("inconclusive", open_, page)
    else:
        for each in open_:
            lines += labelled("inconclusive", _named(each, "yellow"), page, width=LABEL)
    lines += _names("held", [each for each in every if each.status == "held"], page)
    lines += _names("nothing to judge", [each for each in every if each.status == "never applicable"], page)
    return _without_repeated_labels(lines)


def _happened(result: Result, page: Page) -> list[Text]:
    """What was tried and done while exploring, so that nobody has to take a claim on trust."""
    lines = []
    writes: Counter[str] = Counter()
    for name, number in result.coverage.actions.items():
        # By loop; the kinds of its writes are in the JSON document.
        writes[name.partition(" ")[0]] += number
    for label, counted in (("events tried", result.coverage.events), ("writes by", writes)):
        told = [f"{name} {number:,}" for name, number in counted.items() if number]
        lines += labelled(label, words.listed(told), page, width=LABEL) if told else []
    return lines


def never(result: Result) -> list[str]:
    """What never happened, those of one reason together, without what the verdicts say: that nothing was to judge."""
    groups: dict[str, list[str]] = {}
    idle = [found[1] for text in result.coverage.never if (found := IDLE.fullmatch(text))]
    for text in result.coverage.never:
        if len(idle) > 1 and IDLE.fullmatch(text):
            groups.setdefault(f"the loops {words.listed(idle)} wrote nothing: no run gave them anything to do", [])
            continue
        name, happened, reason = text.partition(NEVER)
        if happened:
            groups.setdefault(reason, []).append(name)
        elif not text.endswith("was never applicable"):
            groups.setdefault(text, [])
    return [f"{words.listed(names)}: {reason}" if names else reason for reason, names in groups.items()]


def _readings(result: Result) -> list[str]:
    """Where a rule is read in two ways and one of them was judged: which reading each id takes."""
    decided = {verdict.invariant for verdict in result.verdicts if verdict.status in ("held", "violated")}
    return [
        "; ".join(f"{name}: {reading}" for name, reading in group.items()) for group in READINGS if decided & set(group)
    ]


def _named(each: Judged, style: str) -> Text:
    text = Text(each.invariant, style)
    if each.objects:
        text.append(f" ({words.listed(each.objects, OBJECTS_MOST)})", "")
    return text


def _names(label: str, group: Sequence[Judged], page: Page) -> list[Text]:
    return labelled(label, words.listed(each.invariant for each in group), page, width=LABEL) if group else []


def _without_repeated_labels(lines: list[Text]) -> list[Text]:
    """The same label twice running is shown once."""
    shown = ""
    for number, line in enumerate(lines):
        label = line.plain[:LABEL].strip()
        if label and label == shown:
            blank = Text(" " * LABEL)
            lines[number] = blank.append_text(line[LABEL:])
        shown = label or shown
    return lines


def _sentences(label: str, sentences: Sequence[str], page: Page, style: str = "") -> list[Text]:
    lines = []
    for number, text in enumerate(sentences[:SENTENCES_MOST]):
        lines += labelled("" if number else label, Text(words.sentence(text), style), page, width=LABEL)
    if len(sentences) > SENTENCES_MOST:
        more = f"and {len(sentences) - SENTENCES_MOST} more (--output json lists all)"
        lines += labelled("", more, page, width=LABEL)
    return lines


def conclusion(result: Result, page: Page, *, name: bool = False) -> list[Text]:
    """The last lines: whether the expectation is met, and what is claimed within which bounds."""
    mark, style = _mark(result, page)
    told = [(words.claim(result), style)]
    expected = result.expectation
    if expected is not None and expected.met:
        wanted = f"{words.listed(expected.violated)} violated" if expected.violated else "nothing violated"
        told.append((f"As expected: {wanted}.", "green"))
    elif expected is not None:
        told = [(f"Not as expected: {words.sentence(missed)}", "bold red") for missed in expected.missed]
        told.append((words.claim(result), ""))
    lines = []
    for number, (text, looks) in enumerate(told):
        first = f"{result.scenario}: " if name and not number else ""
        lead = Text(mark, style) if not number else None
        lines += indented(Text(f"{first}{text}", "" if name else looks), page, 2, lead)
    return lines


def _mark(result: Result, page: Page) -> tuple[str, str]:
    if result.expectation is not None:
        return (page.glyphs.good, "bold green") if result.expectation.met else (page.glyphs.broken, "bold red")
    if result.violated:
        return page.glyphs.broken, "bold red"
    return (page.glyphs.open, "bold yellow") if words.inconclusive(result) else (page.glyphs.good, "bold green")
