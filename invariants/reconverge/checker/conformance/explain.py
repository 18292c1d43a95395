"""The ways in which one observed change can come about: a flight goes on, or a pass is read and begins to write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen

from reconverge.checker.conformance.options import SCHEDULER, Option, Options, writes_of
from reconverge.checker.conformance.recording import Observed
from reconverge.checker.conformance.run import Amend, Begin, Flight, Move, Mover, Point, Trail
from reconverge.model.action import Action, Bind, Patch
from reconverge.model.loop import Plan

LOOKS_AGAIN = ("daemonset",)
"""Loops that list their pods again before they report, so that the status may be of any moment since the pass began."""


@frozen
class Explainer:
    """Explains observed changes."""

    mover: Mover
    counter: Iterator[int]
    options: Options

    def explanations(self, trail: Trail, observed: Observed) -> Iterator[Trail]:
        """The trails in which the change has happened, the likeliest first."""
        yield from self._flights(trail, observed)
        passes = self.options.passes(trail, observed)
        yield from self._taken(trail, sorted(passes, key=lambda option: (option.odds, -option.place)))
        if observed.kind == "Pod":
            yield from self._scheduled_after_others(trail, observed)
        yield from self._taken(trail, sorted(self.options.outdated(trail, observed), key=lambda option: option.odds))

    def _taken(self, trail: Trail, options: Iterator[Option] | Sequence[Option]) -> Iterator[Trail]:
        for option in options:
            inserted = self.mover.inserted(trail, option.place, option.first)
            after = None if inserted is None else self.mover.moves(inserted, option.writes)
            if after is not None:
                yield after

    # Flights that go on --------------------------------------------------------------------------------------

    def _flights(self, trail: Trail, observed: Observed) -> Iterator[Trail]:
        point = trail[-1].point
        for flight in point.flights:
            for found, names in self.options.fitting(point, flight.actions, observed):
                after = self.mover.moves(trail, writes_of(flight.number, found, names))
                if after is not None:
                    yield after
            if flight.loop in LOOKS_AGAIN and isinstance(flight.actions[0], Patch):
                yield from self._looked_again(trail, flight, observed)

    def _looked_again(self, trail: Trail, flight: Flight, observed: Observed) -> Iterator[Trail]:
        """The flight's status write with the status of a later look than the one with which the pass began."""
        point, loop = trail[-1].point, self.mover.plane.by_name[flight.loop]
        before = flight.actions[0]
        for entry in reversed(trail):
            if entry.point.flight(flight.number) is None:
                return
            reading = self.mover.plane.reading(loop, entry.point.cluster)
            for plan in loop.sync(reading, loop.start(), flight.key):
                for after in plan.actions:
                    if not _same_write(before, after):
                        continue
                    for found, names in self.options.fitting(point, (after,), observed):
                        amend = Amend(flight.number, before, after)
                        taken = self.mover.moves(trail, [amend, *writes_of(flight.number, found, names)])
                        if taken is not None:
                            yield taken

    # The scheduler decides for one pod after the other, and its bindings arrive in any order -------------------

    def _scheduled_after_others(self, trail: Trail, observed: Observed) -> Iterator[Trail]:
        """The pod was decided for after others, whose bindings are on their way: to where they are observed later."""
        now = trail[-1].point
        key = f"default/{now.names.of_recording('Pod', observed.name)}"
        if key not in now.awake(SCHEDULER):
            return
        nodes = self._coming_bindings(now, observed)
        nodes.pop(key, None)
        others = list(nodes)
        tried = [others[:count] for count in range(1, len(others) + 1)] + [[each] for each in others[1:]]
        for place in range(len(trail) - 1, max(-1, len(trail) - 12), -1):
            if key not in trail[place].point.awake(SCHEDULER):
                return
            for order in tried:
                after = self._with_others(trail, place, order, nodes)
                if after is not None:
                    yield from self._taken(after, self.options.of_key(after, observed, SCHEDULER, key))

    def _coming_bindings(self, point: Point, observed: Observed) -> dict[str, str]:
        """Keys of the pods that are bound next, and to where, in the order in which that is observed."""
        nodes: dict[str, str] = {}
        for key, node in self.options.foresight.bindings(observed.index, point.names):
            nodes.setdefault(key, node)
        return nodes

    def _with_others(self, trail: Trail, place: int, order: Sequence[str], nodes: Mapping[str, str]) -> Trail | None:
        part = trail[: place + 1]
        moves: list[Move] = []
        for key in order:
            if key not in part[-1].point.awake(SCHEDULER):
                continue
            plans = self.options.plans(part[-1].point, SCHEDULER, key)
            plan = next((each for each in plans if _binds(each, nodes[key])), None)
            if plan is None:
                continue
            begin = Begin(next(self.counter), SCHEDULER, key, plan.actions)
            after = self.mover.moves(part, (begin,))
            if after is None:
                return None
            moves.append(begin)
            part = after
        return self.mover.inserted(trail, place, moves) if moves else None


def _binds(plan: Plan[object], node: str) -> bool:
    return any(isinstance(action, Bind) and action.node == node for action in plan.actions)


def _same_write(before: Action, after: Action) -> bool:
    """Whether two patches set the same fields of the same object."""
    if not isinstance(before, Patch) or not isinstance(after, Patch):
        return False
    fields = [name for name, _ in before.fields], [name for name, _ in after.fields]
    return (before.kind, before.key) == (after.kind, after.key) and fields[0] == fields[1]
