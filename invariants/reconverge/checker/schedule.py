"""Running one stretch between two events: the default schedule, and departures from it.

By default everything settles: loops in rounds, ties taken in a fixed order, time passing until nothing is left to do.
A deviation is one departure: a tie resolved otherwise, a loop served out of turn, or the next event striking before
everything has settled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from reconverge.model.action import Action
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane, Move, Read, Wait, Write
from reconverge.model.errors import ApiError
from reconverge.model.store import Change
from reconverge.model.value import Seconds


@frozen
class Tie:
    """At the `at`-th choice between equals (from 0), the alternative at place `choice` is taken, not the first."""

    at: int
    choice: int

    def document(self) -> dict[str, Any]:
        """As a trace keeps it."""
        return {"tie": {"at": self.at, "choice": self.choice}}


@frozen
class OutOfTurn:
    """At step `at` (from 0), the ready read or write at place `choice` is taken instead of the one whose turn it is."""

    at: int
    choice: int

    def document(self) -> dict[str, Any]:
        """As a trace keeps it."""
        return {"out-of-turn": {"at": self.at, "choice": self.choice}}


@frozen
class Interruption:
    """The next event strikes after so many steps instead of when everything has settled."""

    after: int

    def document(self) -> dict[str, Any]:
        """As a trace keeps it."""
        return {"interruption": {"after": self.after}}


Deviation = Tie | OutOfTurn | Interruption


def deviation_from(document: Mapping[str, Any]) -> Deviation:
    """The deviation that a trace has kept. Raises ValueError if it is none."""
    match dict(document):
        case {"tie": {"at": int(at), "choice": int(choice)}}:
            return Tie(at, choice)
        case {"out-of-turn": {"at": int(at), "choice": int(choice)}}:
            return OutOfTurn(at, choice)
        case {"interruption": {"after": int(after)}}:
            return Interruption(after)
    raise ValueError(f"not a deviation: {document!r}")


@frozen
class Taken:
    """One step that was taken: the clusters around it, and what was written.

    `alternatives` are the words for each choice of a read that had several; `tie` is its number among those.
    """

    move: Move
    before: Cluster
    after: Cluster
    action: Action | None = None
    changes: tuple[Change, ...] = ()
    error: ApiError | None = None
    alternatives: tuple[str, ...] = ()
    tie: int = -1
    chosen: int = 0
    out_of_turn: bool = False


@frozen
class Course:
    """How to run a stretch: ties and turns taken otherwise, and where to stop.

    `horizon` is the time beyond which no waiting goes; None waits until everything rests.
    """

    ties: Mapping[int, int] = {}
    turns: Mapping[int, int] = {}
    stop_after: int | None = None
    horizon: Seconds | None = None

    @classmethod
    def of(cls, deviations: tuple[Deviation, ...], horizon: Seconds | None = None) -> Course:
        """The course that some deviations make."""
        ties = {each.at: each.choice for each in deviations if isinstance(each, Tie)}
        turns = {each.at: each.choice for each in deviations if isinstance(each, OutOfTurn)}
        stops = [each.after for each in deviations if isinstance(each, Interruption)]
        return cls(ties, turns, min(stops) if stops else None, horizon)


DEFAULT_COURSE = Course()


def stretch(
    plane: ControlPlane, cluster: Cluster, course: Course = DEFAULT_COURSE, *, first_tie: int = 0, first_step: int = 0
) -> Iterator[Taken]:
    """The steps of a stretch, one by one, until everything rests, the horizon or the stop is reached, or for ever.

    `first_tie` and `first_step` number the first choice and step when a stretch is taken up in its middle.
    """
    tie, step = first_tie, first_step
    while course.stop_after is None or step < course.stop_after:
        move, out_of_turn = _next_move(plane, cluster, course, step)
        if move is None:
            return
        if isinstance(move, Wait):
            if course.horizon is not None and move.until > course.horizon:
                return
            taken = Taken(move, cluster, plane.wait(cluster, move.until))
        elif isinstance(move, Write):
            written = plane.write(cluster, move)
            taken = Taken(
                move, cluster, written.cluster, written.action, written.changes, written.error, out_of_turn=out_of_turn
            )
        else:
            taken = _read(plane, cluster, move, course, tie, out_of_turn)
            tie += bool(taken.alternatives)
        cluster = taken.after
        step += 1
        yield taken


def _next_move(plane: ControlPlane, cluster: Cluster, course: Course, step: int) -> tuple[Move | None, bool]:
    if step in course.turns:
        ready = plane.ready(cluster)
        choice = course.turns[step]
        if choice < len(ready):
            return ready[choice], True
    return plane.next(cluster), False


def _read(plane: ControlPlane, cluster: Cluster, move: Read, course: Course, tie: int, out_of_turn: bool) -> Taken:
    plans = plane.plans(cluster, move)
    if len(plans) == 1:
        return Taken(move, cluster, plane.begin(cluster, move, plans[0]), out_of_turn=out_of_turn)
    chosen = course.ties.get(tie, 0)
    if chosen >= len(plans):
        chosen = 0
    after = plane.begin(cluster, move, plans[chosen])
    words = tuple(plan.choice for plan in plans)
    return Taken(move, cluster, after, alternatives=words, tie=tie, chosen=chosen, out_of_turn=out_of_turn)
