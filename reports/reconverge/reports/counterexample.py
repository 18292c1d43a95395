"""One counterexample on a terminal: what broke, the events, the steps, what waits, and what to do."""

from __future__ import annotations

from rich.text import Text

from reconverge.checker.trace import Difference, Trace
from reconverge.reports import words
from reconverge.reports.page import Page, columns, indented, labelled, rule
from reconverge.reports.story import Beat, beats

ACTOR_MOST = 21
INDENT = 3
LABEL = 10
WAITING_MOST = 6
KIND_STYLES = {"event": "bold cyan", "refused": "yellow", "time": "dim", "write": ""}


def counterexample(
    trace: Trace,
    page: Page,
    *,
    number: int = 1,
    also: tuple[str, ...] = (),
    hint: str = "",
    everything: bool = False,
    same_as: int = 0,
) -> list[Text]:
    """The lines of one counterexample.

    `also` names the other objects that break for the same reason, `hint` the command that replays it; with
    `everything` no step is folded. `same_as` is the number of a counterexample with just these steps, which are then
    not shown again.
    """
    lines = [rule(page, "red"), *_title(trace, page, number), *_message(trace, page, also), Text()]
    if same_as:
        lines += indented(f"It breaks in the very steps of #{same_as}.", page, INDENT)
    else:
        lines += [*_events(trace, page), Text(), *steps(trace, page, everything=everything), *end(trace, page)]
    advice = _advice(trace, page, hint)
    return [*lines, Text(), *advice] if advice else lines


def _title(trace: Trace, page: Page, number: int) -> list[Text]:
    mark = f"#{number} "
    return indented(Text(trace.title, "bold"), page, max(INDENT, len(mark)), Text(mark, "bold red"))


def _message(trace: Trace, page: Page, also: tuple[str, ...]) -> list[Text]:
    lines = indented(words.headline(trace), page, INDENT)
    facts = words.facts(trace)
    if facts:
        lines += indented(Text(facts, "dim"), page, INDENT)
    if also:
        text = f"It breaks for the same reason for {words.listed(also, 8)}."
        lines += indented(text, page, INDENT)
    return lines


def _events(trace: Trace, page: Page) -> list[Text]:
    lines = indented(Text(words.events_heading(trace), "bold"), page, INDENT)
    told = [step.text for step in trace.steps if step.kind == "event"]
    for number, stroke in enumerate(trace.strokes, start=1):
        text = told[number - 1] if len(told) == len(trace.strokes) else words.stroke(stroke.event, stroke.arguments)
        lines += indented(text, page, INDENT + 3, Text(f"{' ' * INDENT}{number}. "))
    return lines


def steps(trace: Trace, page: Page, *, everything: bool = False) -> list[Text]:
    """The steps: when, who, what and why, with what changed below where that says more."""
    story = beats(trace, everything=everything)
    if not story:
        return []
    when = max(len(words.moment(beat.time)) for beat in story)
    who = min(ACTOR_MOST, max(len(_actor(beat, page)) for beat in story))
    told_at_the_end = {each.reason for each in trace.waiting} if not everything else set()
    lines: list[Text] = []
    shown = ("", "")
    for beat in story:
        if beat.repeats:
            lines += _marked(f"{beat.repeats}:", page.glyphs.loop, "bold magenta", page)
        time, actor = words.moment(beat.time), _actor(beat, page)
        if time != shown[0]:
            shown = ("", "")
        cells = ("" if time == shown[0] else time, "" if actor == shown[1] else actor)
        again = beat.kind == "write" and beat.reason in told_at_the_end
        lines += _beat(beat, page, cells, (when, who), "" if again else beat.reason)
        shown = (time, actor)
    return lines


def _actor(beat: Beat, page: Page) -> str:
    return f"event {beat.number}" if beat.number else beat.actor or page.glyphs.ellipsis


def _marked(text: str, mark: str, style: str, page: Page) -> list[Text]:
    """A line outside the columns of the steps, with a mark at the edge of the page."""
    return indented(Text(text, style), page, INDENT, Text(mark, style))


def _beat(beat: Beat, page: Page, cells: tuple[str, str], widths: tuple[int, int], reason: str) -> list[Text]:
    time, actor = cells
    style = "bold red" if beat.broken else "dim" if beat.minor else KIND_STYLES[beat.kind]
    what = Text(_what(beat), style)
    at = 1 + 2 + widths[0] + 2 + widths[1] + 2
    # A short reason stands beside what it explains, a long one below it.
    beside = reason and len(what) + len(reason) + 3 <= page.width - at
    if beside:
        what.append(f" ({reason})", "dim")
    lead = Text(page.glyphs.broken if beat.broken else " ", "bold red")
    name = Text(actor, "bold cyan" if beat.number else "dim")
    lines = columns([lead, Text(time, "dim"), name, what], [1, *widths], page)
    if reason and not beside and not beat.minor:
        lines += indented(Text(reason, "dim"), page, at + 2, Text(" " * (at + 2)))
    if beat.deviation:
        odd = Text(" " * at).append(page.glyphs.odd, "magenta")
        lines += indented(Text(beat.deviation, "magenta"), page, at + 2, odd)
    for difference in beat.differences:
        lines += _difference(difference, page, at)
    return lines


def _what(beat: Beat) -> str:
    return f"refused: {beat.text}" if beat.kind == "refused" and "refused" not in beat.text else beat.text


def _difference(difference: Difference, page: Page, at: int) -> list[Text]:
    """`deployment/web  replicas: 3 -> 4`, one line per object."""
    text = Text(difference.object, "dim")
    for number, (name, before, after) in enumerate(difference.fields):
        text.append(", " if number else "  ", "dim")
        text.append(f"{words.field_name(name)}: ", "dim")
        text.append(words.value(before), "red")
        text.append(f" {page.glyphs.arrow} ", "dim")
        text.append(words.value(after), "green")
    return indented(text, page, at + 2)


def end(trace: Trace, page: Page) -> list[Text]:
    """How the run ended and what still waits."""
    lines = []
    ended = words.outcome(trace)
    if ended:
        looping = trace.outcome in ("loop", "growth")
        mark, style = (page.glyphs.loop, "bold magenta") if looping else (page.glyphs.broken, "bold red")
        if not trace.invariant and trace.outcome == "rest":
            mark, style = page.glyphs.good, "bold green"
        lines += _marked(ended, mark, style, page)
    return lines + waiting(trace, page)


def waiting(trace: Trace, page: Page) -> list[Text]:
    """The pods that wait at the end, and why."""
    lines = []
    every = words.waiting(trace)
    for who, reason in every[:WAITING_MOST]:
        text = Text(f"{who}: ", "bold")
        text.append(reason)
        lines += indented(text, page, INDENT + 2, Text(" " * INDENT))
    if len(every) > WAITING_MOST:
        lines += indented(f"and {len(every) - WAITING_MOST} more", page, INDENT)
    return lines


def _advice(trace: Trace, page: Page, hint: str) -> list[Text]:
    lines = []
    for label, text in (("promise", trace.statement), ("matters", trace.why), ("remedy", trace.remedy)):
        if text:
            lines += labelled(label, words.sentence(text), page, INDENT, LABEL)
    if hint:
        # Never broken: people copy it.
        line = Text(" " * INDENT)
        line.append("replay".ljust(LABEL), "dim")
        line.append(hint)
        lines.append(line)
    return lines
