"""One counterexample on the HTML page: what broke, the picture, the steps, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from reconverge.checker.trace import Difference, Trace
from reconverge.reports import words
from reconverge.reports.html.elements import Markup, element, joined, text
from reconverge.reports.html.elements import words as tagged
from reconverge.reports.html.lanes import lanes
from reconverge.reports.story import Beat, beats


def finding(trace: Trace, number: int, *, anchor: str, also: Sequence[str], hint: str) -> Markup:
    """The article of a counterexample; `anchor` is unique on the page."""
    story = beats(trace)
    parts = [_title(trace, number), tagged("p", words.headline(trace), class_="message")]
    facts = words.facts(trace)
    if facts:
        parts.append(tagged("p", facts, class_="dim"))
    if also:
        parts.append(tagged("p", f"It breaks for the same reason for {words.listed(also, 8)}."))
    parts += [_events(trace)]
    if story:
        parts += [lanes(story, anchor), _steps(story, anchor), _everything(trace, story)]
    parts += [_end(trace), _advice(trace, hint)]
    return element("article", *parts, id=anchor)


def _title(trace: Trace, number: int) -> Markup:
    mark = tagged("span", f"#{number}", class_="number")
    return element("h2", mark, text(trace.title), tagged("span", trace.family, class_="tag"))


def _events(trace: Trace) -> Markup:
    told = [step.text for step in trace.steps if step.kind == "event"]
    items = [
        tagged("li", told[index] if len(told) == len(trace.strokes) else words.stroke(each.event, each.arguments))
        for index, each in enumerate(trace.strokes)
    ]
    heading = tagged("h3", words.events_heading(trace))
    return joined(heading, element("ol", *items, class_="events")) if items else heading


def _steps(story: Sequence[Beat], anchor: str = "") -> Markup:
    rows: list[Markup] = []
    shown = ("", "")
    for beat in story:
        if beat.repeats:
            rows.append(element("tr", tagged("td", f"↻ {beat.repeats}", colspan=3), class_="mark"))
            shown = ("", "")
        time, who = words.moment(beat.time), f"event {beat.number}" if beat.number else beat.actor or "…"
        rows.append(_row(beat, "" if time == shown[0] else time, "" if (time, who) == shown else who, anchor))
        shown = (time, who)
    head = element("tr", *(tagged("th", name, scope="col") for name in ("when", "who", "what")))
    return element("table", element("thead", head), element("tbody", *rows), class_="steps")


def _row(beat: Beat, time: str, who: str, anchor: str) -> Markup:
    cells = (
        tagged("td", time, class_="when"),
        tagged("td", who, class_="who"),
        element("td", _what(beat), class_="what"),
    )
    looks = "broken" if beat.broken else "event" if beat.number else "minor" if beat.minor else None
    return element("tr", *cells, class_=looks, id=f"{anchor}-{beat.index}" if anchor else None)


def _what(beat: Beat) -> Markup:
    refused = "refused: " if beat.kind == "refused" else "✗ " if beat.broken else ""
    parts = [text(f"{refused}{beat.text}")]
    if beat.reason:
        parts += [text(" "), tagged("span", f"({beat.reason})", class_="reason")]
    if beat.deviation:
        parts += [element("br"), tagged("span", f"≈ {beat.deviation}", class_="deviation")]
    for each in beat.differences:
        parts += [element("br"), _difference(each)]
    return joined(*parts)


def _difference(difference: Difference) -> Markup:
    parts = [text(difference.object)]
    for number, (name, before, after) in enumerate(difference.fields):
        parts += [
            text(f"{', ' if number else '  '}{words.field_name(name)}: "),
            tagged("span", words.value(before), class_="before"),
            text(" → "),
            tagged("span", words.value(after), class_="after"),
        ]
    return element("span", *parts, class_="change")


def _everything(trace: Trace, story: Sequence[Beat]) -> Markup:
    """All steps, where the story has folded some."""
    if len(story) == len(trace.steps):
        return Markup("")
    told = tagged("summary", f"All {len(trace.steps):,} steps, unfolded")
    return element("details", told, _steps(beats(trace, everything=True)))


def _end(trace: Trace) -> Markup:
    parts = []
    ended = words.outcome(trace)
    if ended:
        mark = "↻" if trace.outcome in ("loop", "growth") else "✗"
        parts.append(tagged("p", f"{mark} {ended}", class_="end"))
    if trace.waiting:
        items = [element("li", tagged("strong", f"{who}: "), text(reason)) for who, reason in words.waiting(trace)]
        parts.append(element("ul", *items))
    return joined(*parts)


def _advice(trace: Trace, hint: str) -> Markup:
    rows = []
    for label, told in (("promise", trace.statement), ("why it matters", trace.why), ("remedy", trace.remedy)):
        if told:
            rows += [tagged("dt", label), tagged("dd", words.sentence(told))]
    if hint:
        rows += [tagged("dt", "replay"), element("dd", tagged("code", hint, class_="command"))]
    return element("dl", *rows) if rows else Markup("")
