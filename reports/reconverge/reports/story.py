"""A trace as people want to be told it: what matters line by line, the rest folded.

Nothing is decided about looks here: the terminal, the Markdown and the HTML report are made from the same beats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

from reconverge.checker.trace import Difference, StepKind, Trace, TraceStep
from reconverge.model.value import Seconds
from reconverge.reports import words

CYCLE_LEAST, CYCLE_LONGEST = 3, 8
"""A part of so many beats at most that comes so many times or more, but for names, is told once."""
BEATS_MOST = 60
"""Longer stories lose their middle; the trace itself keeps every step."""
HEAD, TAIL = 40, 19
NAMES_MOST = 4
FIELDS_MOST = 4

_DIGITS = re.compile(r"\d+")
_NAME = re.compile(r"\b[a-z]+/[\w./#-]+|\b[\w.]+-\w+[\w.-]*")
_STATUS = re.compile(r"\bstatus\b|^(?:updates|sets|writes) (?:endpoints|endpointslice)|^reports pod/")
_IMPLIED = re.compile(r"cleans up pod/|admits pod/|marks pod/\S+ as disrupted")
_UNSHOWN_KINDS = ("lease/", "machine/")
"""Objects whose changes an event's own words tell better."""
_BOOKKEEPING = frozenset({"generation", "observedGeneration", "revision", "resourceVersion", "templateDigest", "uid"})


@frozen
class Beat:
    """One line of the story: the step at `index`, or `count` steps from there told as one."""

    index: int
    time: Seconds
    kind: StepKind
    actor: str
    text: str
    reason: str = ""
    differences: tuple[Difference, ...] = ()
    deviation: str = ""
    count: int = 1
    number: int = 0
    """Which event of the sequence it is, from 1; 0 for anything else."""
    broken: bool = False
    """Whether the invariant broke in this step."""
    repeats: str = ""
    """Set on the first step of an endless loop: how often it comes back."""
    minor: bool = False
    """Whether it only reports what is already known, or stands for such steps."""


def beats(trace: Trace, *, everything: bool = False) -> list[Beat]:
    """The story of a trace; with `everything` each step is a beat of its own."""
    told = list(_marked(trace))
    if everything:
        return told
    told = [beat for beat, before in zip(told, [None, *told], strict=False) if not _goes_without_saying(beat, before)]
    told = list(_cycles(list(_folded(list(_alike(told))))))
    if len(told) <= BEATS_MOST:
        return told
    return [*told[:HEAD], _gap(told[HEAD:-TAIL]), *told[-TAIL:]]


def _marked(trace: Trace) -> Iterator[Beat]:
    """One beat per step, with the marks that no folding may hide."""
    number = 0
    last = len(trace.steps) - 1
    for index, step in enumerate(trace.steps):
        number += step.kind == "event"
        broken = trace.outcome == "broken" and index == last
        yield Beat(
            index=index,
            time=step.time,
            kind=step.kind,
            actor=step.actor,
            text=step.text,
            reason=_reason(step),
            differences=telling(step, everything=broken),
            deviation=step.deviation,
            number=number if step.kind == "event" else 0,
            broken=broken,
            repeats=_period(trace) if index == trace.repeats_from else "",
            minor=step.kind in ("write", "time") and (step.kind == "time" or bool(_STATUS.search(step.text))),
        )


def _reason(step: TraceStep) -> str:
    """The reason, unless the text has it already; that a refused step was refused is told by its kind."""
    reason = step.reason.removeprefix("refused: ")
    return "" if reason in step.text else reason


def _period(trace: Trace) -> str:
    """How often the loop comes back, as far as the steps tell."""
    first = trace.steps[trace.repeats_from or 0].time
    lasts = trace.steps[-1].time - first
    return f"repeats every {words.duration(lasts)} from here" if lasts > 0 else "repeats from here, without end"


def _goes_without_saying(beat: Beat, before: Beat | None) -> bool:
    """Time passing shows in the next line's time; an eviction deletes; a kubelet admits what it starts."""
    if beat.broken or beat.repeats or beat.deviation:
        return False
    if before is not None and before.text == beat.text.replace("deletes ", "evicts ", 1) and before.kind == "write":
        return True
    return beat.kind == "time" or bool(_IMPLIED.match(beat.text))


def _may_fold(beat: Beat) -> bool:
    return not (beat.broken or beat.deviation or beat.number)


def _alike(told: Sequence[Beat]) -> Iterator[Beat]:
    """In one turn of an actor, steps that differ only in names become one beat; in which order they came is no news."""
    start = 0
    for end in range(1, len(told) + 1):
        if end < len(told) and not told[end].repeats and _same_turn(told[start], told[end]):
            continue
        groups: dict[tuple[str, str], list[Beat]] = {}
        for beat in told[start:end]:
            groups.setdefault((beat.kind, shape(beat.text)), []).append(beat)
        yield from (_joined(group) if len(group) > 1 else group[0] for group in groups.values())
        start = end


def _same_turn(one: Beat, other: Beat) -> bool:
    return _may_fold(one) and _may_fold(other) and (one.time, one.actor) == (other.time, other.actor)


def shape(text: str) -> str:
    """The text with every name taken out: what two steps that do the same to different objects share."""
    return _NAME.sub("*", text)


def _joined(run: Sequence[Beat]) -> Beat:
    """Several steps that do the same, as one; a reason that differs in numbers only is that of the first."""
    reasons = {_DIGITS.sub("0", shape(beat.reason)) for beat in run}
    return evolve(
        run[0],
        text=merged([beat.text for beat in run]),
        reason=run[0].reason if len(reasons) == 1 else "",
        differences=(),
        count=len(run),
    )


def merged(texts: Sequence[str]) -> str:
    """`deletes pod/a, pod/b and 3 more`: texts that differ in the middle, with what differs listed."""
    split = [text.split(" ") for text in dict.fromkeys(texts)]
    if len(split) == 1:
        return f"{texts[0]}, {len(texts)} times"
    shortest = min(len(each) for each in split)
    head = next((n for n in range(shortest) if len({each[n] for each in split}) > 1), shortest)
    tail = next((n for n in range(shortest - head) if len({each[-1 - n] for each in split}) > 1), shortest - head)
    middles = [" ".join(each[head : len(each) - tail]) for each in split]
    return " ".join(
        filter(None, [*split[0][:head], words.listed(middles, NAMES_MOST), *split[0][len(split[0]) - tail :]])
    )


def _folded(told: Sequence[Beat]) -> Iterator[Beat]:
    """Stretches of status updates become a count."""
    run: list[Beat] = []
    for beat in told:
        if beat.minor and beat.kind == "write" and _may_fold(beat) and not (beat.repeats and run):
            run.append(beat)
            continue
        yield from _status_updates(run)
        run = [beat] if beat.minor and beat.kind == "write" and _may_fold(beat) else []
        if not run:
            yield beat
    yield from _status_updates(run)


def _status_updates(run: Sequence[Beat]) -> list[Beat]:
    total = sum(beat.count for beat in run)
    if total < 2:
        return list(run)
    actors = sorted({beat.actor for beat in run})
    who = actors[0] if len(actors) == 1 else ""
    note = "" if who else f"by {words.listed(actors)}"
    return [
        evolve(run[0], actor=who, text=f"{total} status updates", reason=note, differences=(), count=total, minor=True)
    ]


def _cycles(told: Sequence[Beat]) -> Iterator[Beat]:
    """A part that comes again and again, but for names and numbers, is told once and counted."""
    keys = [(beat.actor, beat.kind, _DIGITS.sub("0", shape(beat.text))) for beat in told]
    ends = _ends(told)
    at = 0
    while at < len(told):
        length, times = _cycle(keys, at, ends[at])
        yield from told[at : at + length]
        if times > 1:
            yield _again(told[at : at + length], told[at + length : at + length * times], times - 1)
        at += length * times


def _ends(told: Sequence[Beat]) -> list[int]:
    """For each beat: up to where beats may be folded with it."""
    ends = [len(told)] * len(told)
    for at in range(len(told) - 1, -1, -1):
        following = at + 1
        if not _may_fold(told[at]):
            ends[at] = at
        elif following < len(told):
            ends[at] = following if told[following].repeats else ends[following]
    return ends


def _cycle(keys: Sequence[object], at: int, end: int) -> tuple[int, int]:
    """The length of the part that begins here, and how often it comes; (1, 1) if it does not come again."""
    best = (1, 1)
    for length in range(1, CYCLE_LONGEST + 1):
        times = 1
        while at + length * (times + 1) <= end and _comes_again(keys, at, length, times):
            times += 1
        # A longer part must tell more than the beats that a shorter one leaves over.
        if times >= CYCLE_LEAST and length * (times - 1) > best[0] * best[1]:
            best = (length, times)
    return best


def _comes_again(keys: Sequence[object], at: int, length: int, times: int) -> bool:
    return keys[at + length * times : at + length * (times + 1)] == keys[at : at + length]


def _again(part: Sequence[Beat], rest: Sequence[Beat], times: int) -> Beat:
    steps = "this" if len(part) == 1 else f"these {len(part)} steps"
    until = f", until {words.moment(rest[-1].time)}" if rest[-1].time != part[-1].time else ""
    total = sum(beat.count for beat in rest)
    again = "once more" if times == 1 else f"{times:,} more times"
    return Beat(rest[0].index, rest[0].time, "write", "", f"{steps} {again}{until}", count=total, minor=True)


def _gap(hidden: Sequence[Beat]) -> Beat:
    total = sum(beat.count for beat in hidden)
    repeats = next((beat.repeats for beat in hidden if beat.repeats), "")
    text = f"{words.count(total, 'more step')}, until {words.moment(hidden[-1].time)}"
    return Beat(hidden[0].index, hidden[0].time, "write", "", text, count=total, repeats=repeats, minor=True)


def telling(step: TraceStep, *, everything: bool = False) -> tuple[Difference, ...]:
    """The differences that say more than the step's words.

    Loops say what they write, so only an event's own are told, and all of the step that breaks something.
    """
    if step.kind != "event" and not everything:
        return ()
    kept = []
    for difference in step.differences:
        if difference.change != "changed" or difference.object.startswith(_UNSHOWN_KINDS):
            continue
        fields = tuple(each for each in difference.fields if _tells(each, step.text, everything=everything))
        if fields:
            kept.append(evolve(difference, fields=fields[:FIELDS_MOST]))
    return tuple(kept[:FIELDS_MOST])


def _tells(field: tuple[str, object, object], text: str, *, everything: bool) -> bool:
    name, before, after = field
    if name.rpartition(".")[2] in _BOOKKEEPING or before == after:
        return False
    return everything or before not in (None, "", (), []) or words.value(after) not in text
