"""Reducing a counterexample on the pure model: fewer events, no odd timing, smaller numbers, the same broken promise.

Delta debugging over named events; an event that is not enabled is left out when a candidate is run. The passes, each
repeated while it helps: cut after the violation, drop chunks, single events, pairs, drop one event while exchanging
two names in the rest (without it most traces that create and destroy things stay too long), drop deviations, smaller
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import attrs
from attrs import frozen

from reconverge.checker.judge import Found
from reconverge.checker.runner import Play, Run, run
from reconverge.checker.schedule import Deviation, Interruption, OutOfTurn, Tie
from reconverge.checker.world import World
from reconverge.model.events import Event, RollOut, Scale

Plays = tuple[Play, ...]

MOST_REPLAYS = 4_000
"""A counterexample that resists is returned as it is after so many replays."""


@frozen
class Minimal:
    """The reduced sequence, its violation, the replays it took, and whether no single event can be dropped."""

    plays: Plays
    found: Found
    replays: int
    minimal: bool


class Minimiser:
    """Reduces sequences that break one invariant for one kind of object."""

    def __init__(self, world: World, target: Found) -> None:
        self.world = world
        self.target = target
        self.replays = 0
        self._tried: dict[Plays, tuple[Plays, Found] | None] = {}

    def reduce(self, plays: Plays) -> Minimal:
        """The smallest sequence that the passes reach from `plays`.

        Raises ValueError if the sequence does not break the invariant when it is run again.
        """
        best = self.attempt(plays)
        if best is None:
            raise ValueError(f"{self.target.invariant.id} does not break when the sequence is run again")
        passes: tuple[Callable[[Plays], Iterator[Plays]], ...] = (
            chunks, without_deviations, singles, pairs, swaps, smaller_numbers,
        )  # fmt: skip
        improved = True
        while improved and self.replays < MOST_REPLAYS:
            improved = False
            for candidates in passes:
                better = self._first(candidates, best[0])
                while better is not None:
                    best, improved = better, True
                    better = self._first(candidates, best[0])
        return Minimal(best[0], best[1], self.replays, self.replays < MOST_REPLAYS)

    def _first(self, candidates: Callable[[Plays], Iterator[Plays]], plays: Plays) -> tuple[Plays, Found] | None:
        for candidate in candidates(plays):
            if self.replays >= MOST_REPLAYS:
                return None
            result = self.attempt(candidate)
            if result is not None and cost(result[0]) < cost(plays):
                return result
        return None

    def attempt(self, plays: Plays) -> tuple[Plays, Found] | None:
        """The part of a sequence that breaks the same invariant for the same kind of object, or None.

        Shorter by what was not enabled and by what came after the violation.
        """
        if plays not in self._tried:
            self.replays += 1
            self._tried[plays] = self._run(plays)
        return self._tried[plays]

    def _run(self, plays: Plays) -> tuple[Plays, Found] | None:
        result = run(self.world, plays, self.world.judge(self.target.invariant.id), permitted=True)
        for count, found in result.found:
            if self._same(found):
                return _used(result, count), found
        return None

    def _same(self, found: Found) -> bool:
        if found.invariant.id != self.target.invariant.id:
            return False
        return _kind(found.violation.object) == _kind(self.target.violation.object)


def _used(result: Run, count: int) -> Plays:
    fixed = result.plays[:count]
    if not fixed:
        return fixed
    last = fixed[-1]
    kept = tuple(each for each in last.deviations if not isinstance(each, Interruption))
    return (*fixed[:-1], Play(last.event, kept))


def _kind(name: str) -> str:
    return name.partition("/")[0]


def cost(plays: Plays) -> tuple[Any, ...]:
    """What is smaller is better: events, deviations, then the numbers in them."""
    deviations = [each for play in plays for each in play.deviations]
    return (
        len(plays),
        len(deviations),
        sum(_size(each) for each in deviations),
        sum(_complexity(play.event) for play in plays),
    )


def _size(deviation: Deviation) -> int:
    if isinstance(deviation, Interruption):
        return deviation.after
    return deviation.at + deviation.choice


def _complexity(event: Event) -> int:
    if isinstance(event, Scale):
        return event.replicas
    return int(isinstance(event, RollOut) and event.behaviour != "ready")


# Passes ------------------------------------------------------------------------------------------------------


def chunks(plays: Plays) -> Iterator[Plays]:
    """Without a half, a quarter ... of the events, largest first."""
    size = len(plays) // 2
    while size >= 2:
        for start in range(0, len(plays), size):
            yield plays[:start] + plays[start + size :]
        size //= 2


def singles(plays: Plays) -> Iterator[Plays]:
    """Without one event."""
    for place in range(len(plays)):
        yield plays[:place] + plays[place + 1 :]


def pairs(plays: Plays) -> Iterator[Plays]:
    """Without two events."""
    if len(plays) > 24:
        return
    for first, second in combinations(range(len(plays)), 2):
        yield tuple(play for place, play in enumerate(plays) if place not in (first, second))


def swaps(plays: Plays) -> Iterator[Plays]:
    """Without one event, two names exchanged in the rest."""
    names = sorted({name for play in plays for name in _names(play.event)})
    if len(plays) > 24:
        return
    for place in range(len(plays)):
        rest = plays[:place] + plays[place + 1 :]
        for one, other in combinations(names, 2):
            if _like(one, other):
                yield tuple(Play(_renamed(play.event, one, other), play.deviations) for play in rest)


def without_deviations(plays: Plays) -> Iterator[Plays]:
    """Without all deviations, without those of one stretch, without one."""
    if not any(play.deviations for play in plays):
        return
    yield tuple(Play(play.event) for play in plays)
    for place, play in enumerate(plays):
        for each in range(len(play.deviations)):
            fewer = play.deviations[:each] + play.deviations[each + 1 :]
            yield (*plays[:place], Play(play.event, fewer), *plays[place + 1 :])


def smaller_numbers(plays: Plays) -> Iterator[Plays]:
    """An earlier interruption, an earlier tie or turn, a smaller choice, a scaling nearer to nothing."""
    for place, play in enumerate(plays):
        for each, deviation in enumerate(play.deviations):
            for smaller in _smaller(deviation):
                changed = (*play.deviations[:each], smaller, *play.deviations[each + 1 :])
                yield (*plays[:place], Play(play.event, changed), *plays[place + 1 :])
        if isinstance(play.event, Scale):
            for replicas in range(play.event.replicas):
                yield (*plays[:place], Play(play.event.with_(replicas=replicas), play.deviations), *plays[place + 1 :])


def _smaller(deviation: Deviation) -> Iterator[Deviation]:
    if isinstance(deviation, Interruption):
        for after in range(deviation.after):
            yield Interruption(after)
        return
    make = Tie if isinstance(deviation, Tie) else OutOfTurn
    for at in range(deviation.at + 1):
        for choice in range(deviation.choice + 1 if at == deviation.at else deviation.choice + 2):
            if (at, choice) != (deviation.at, deviation.choice):
                yield make(at, choice)


def _names(event: Event) -> list[str]:
    return [
        value
        for field in attrs.fields(type(event))
        if isinstance(value := getattr(event, field.name), str) and field.name in _NAMING
    ]


_NAMING = ("node", "zone", "pod", "workload", "loop")


def _like(one: str, other: str) -> bool:
    """Whether two names can stand for each other: both of workloads, both of pods, or neither."""
    return ("/" in one) == ("/" in other) and ("#" in one) == ("#" in other)


def _renamed(event: Event, one: str, other: str) -> Event:
    exchanged = {one: other, other: one}
    changes = {
        field.name: exchanged[getattr(event, field.name)]
        for field in attrs.fields(type(event))
        if field.name in _NAMING and getattr(event, field.name) in exchanged
    }
    return event.with_(**changes) if changes else event
