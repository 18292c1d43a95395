"""Swim lanes: a trace as a picture, one lane per actor, from left to right as things happen.

Steps stand at equal distances, not on a scale of time: hundreds of seconds of waiting and ten writes at one moment
would not fit one scale. Moments are marked above instead. The names of the lanes stand beside the picture, so that they
stay where they are while it scrolls.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from reconverge.reports import words
from reconverge.reports.html.elements import Markup, element, joined, text
from reconverge.reports.story import Beat

LANE = 30
"""Height of a lane, in pixels."""
STEP = 30
"""Distance between two steps, in pixels; a moment takes more where its name needs it."""
TOP = 26
MARGIN = 18
CHARACTER = 6.4
FOLDED = "other loops"
EVENTS = "events"


@frozen
class Place:
    """A step in the picture: the middle of its mark."""

    beat: Beat
    x: float
    y: float


def lanes(story: Sequence[Beat], anchor: str) -> Markup:
    """The picture with the names of its lanes; marks link to `#{anchor}-{index}`."""
    names = _names(story)
    places, moments, width = _layout(story, names)
    height = TOP + LANE * len(names) + 8
    shapes = [_stripe(row, width) for row in range(len(names))]
    shapes += [_moment(x, label, height) for x, label in moments]
    shapes += _loop(places, width, height)
    shapes.append(_path(places))
    shapes += [_mark(place, anchor) for place in places]
    picture = element(
        "svg", *shapes, width=round(width), height=height, viewBox=f"0 0 {round(width)} {height}", role="img",
        aria_label=f"{len(story)} steps of {words.listed(names)}",
    )  # fmt: skip
    labels = [element("div", text(name)) for name in names]
    column = element("div", *labels, class_="lane-names", style=f"padding-top:{TOP}px")
    return element("div", column, element("div", picture, class_="scroll"), class_="lanes")


def _lane(beat: Beat) -> str:
    return EVENTS if beat.number else beat.actor or FOLDED


def _names(story: Sequence[Beat]) -> list[str]:
    """The lanes from top to bottom: events, then loops in the order in which they first act."""
    found = dict.fromkeys(_lane(beat) for beat in story)
    return [*(name for name in (EVENTS,) if name in found), *(name for name in found if name != EVENTS)]


def _layout(story: Sequence[Beat], names: Sequence[str]) -> tuple[list[Place], list[tuple[float, str]], float]:
    """Where each step stands, the moments as (x, label), and the width of it all."""
    rows = {name: row for row, name in enumerate(names)}
    places: list[Place] = []
    moments: list[tuple[float, str]] = []
    x = free = float(MARGIN)
    for index, beat in enumerate(story):
        if index == 0 or beat.time != story[index - 1].time:
            x = max(x + (12 if index else 0), free)
            label = words.moment(beat.time)
            moments.append((x - STEP / 2, label))
            free = x + len(label) * CHARACTER + 4
        places.append(Place(beat, x, TOP + LANE * rows[_lane(beat)] + LANE / 2))
        x += STEP
    return places, moments, max(x, free) + MARGIN / 2


def _stripe(row: int, width: float) -> Markup:
    y = TOP + LANE * row + LANE / 2
    return element("line", x1=0, y1=y, x2=round(width), y2=y, class_="lane")


def _moment(x: float, label: str, height: int) -> Markup:
    line = element("line", x1=x, y1=4, x2=x, y2=height - 4, class_="moment")
    return joined(line, element("text", text(label), x=x + 4, y=14, class_="moment-name"))


def _path(places: Sequence[Place]) -> Markup:
    """The thread of what happened, from mark to mark."""
    points = " L".join(f"{place.x:g} {place.y:g}" for place in places)
    return element("path", d=f"M{points}", class_="thread") if len(places) > 1 else Markup("")


def _loop(places: Sequence[Place], width: float, height: int) -> list[Markup]:
    """A shade behind the part that repeats for ever."""
    first = next((place for place in places if place.beat.repeats), None)
    if first is None:
        return []
    x = first.x - STEP / 2
    told = element("title", text(first.beat.repeats))
    return [element("rect", told, x=x, y=TOP - 4, width=round(width - x), height=height - TOP, rx=6, class_="loop")]


def _mark(place: Place, anchor: str) -> Markup:
    beat = place.beat
    about = f"{words.moment(beat.time)} {_lane(beat)}: {beat.text}" + (f" ({beat.reason})" if beat.reason else "")
    title = element("title", text(about))
    shapes = [_shape(beat, place.x, place.y)]
    if beat.deviation:
        shapes.append(element("circle", cx=place.x, cy=place.y, r=11, class_="odd"))
    return element("a", title, *shapes, href=f"#{anchor}-{beat.index}")


def _shape(beat: Beat, x: float, y: float) -> Markup:
    if beat.broken:
        cross = f"M{x - 6:g} {y - 6:g}L{x + 6:g} {y + 6:g}M{x + 6:g} {y - 6:g}L{x - 6:g} {y + 6:g}"
        back = element("circle", cx=x, cy=y, r=10, class_="broken-back")
        return joined(back, element("path", d=cross, class_="broken"))
    if beat.number:
        circle = element("circle", cx=x, cy=y, r=10, class_="event")
        return joined(circle, element("text", text(str(beat.number)), x=x, y=y + 4, class_="event-name"))
    if beat.kind == "refused":
        return element("circle", cx=x, cy=y, r=6, class_="refused")
    if beat.minor:
        return element("circle", cx=x, cy=y, r=3, class_="minor")
    return element("circle", cx=x, cy=y, r=8 if beat.count > 1 else 5.5, class_="write")
