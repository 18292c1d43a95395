"""Passes that would make an observed change: which loop, which key, read when and with which view.

A pass may have been read at any earlier moment since its key woke, for its write arrives later than it was decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import field, frozen

from reconverge.checker.conformance.batches import orders
from reconverge.checker.conformance.foresight import Foresight, Guided
from reconverge.checker.conformance.match import Visible, first_visible, foreseen, matched
from reconverge.checker.conformance.names import Names
from reconverge.checker.conformance.passes import may_write
from reconverge.checker.conformance.recording import Observed
from reconverge.checker.conformance.run import SEVERAL_WORKERS, Begin, Make, Move, Mover, Point, Trail, viewed
from reconverge.model.action import Action, Create, Patch
from reconverge.model.control_plane import Read
from reconverge.model.loop import Plan
from reconverge.model.loops.scheduler.plugins.node_affinity import named_nodes
from reconverge.model.objects import Pod

SCHEDULER = "scheduler"
FORGETFUL = frozenset({"deployment", "statefulset", "disruption", "endpoints"})
"""Loops without memory, whose watches may be behind each other."""
EXPECTING = frozenset({"replicaset", "daemonset", "job"})
"""Loops that remember what they have asked for: with an old view they may report, but not create or delete."""
MOST_BEHIND = 24
"""Moves of the run by which a watch may be behind."""


@frozen
class Option:
    """A pass that would make the observed change: moves to insert after entry `place` of the trail, then `writes`."""

    odds: int
    """At how many places the rest of its writes is at odds with what is observed later."""
    place: int
    first: tuple[Move, ...]
    writes: tuple[Make, ...]


@frozen
class Options:
    """Finds passes. `history` are all observations; plans are kept by point, for they do not change."""

    mover: Mover
    counter: Iterator[int]
    history: Sequence[Observed]
    foresight: Foresight
    _plans: dict[tuple[int, str, str, tuple[str, ...]], tuple[Point, Sequence[Plan[object]]]] = field(factory=dict)

    def passes(self, trail: Trail, observed: Observed) -> Iterator[Option]:
        """Passes of all awake keys that would begin with the observed change."""
        now = trail[-1].point
        for loop in self.mover.plane.names:
            for key in now.awake(loop):
                if may_write(now.cluster, loop, key, observed, now.names):
                    yield from self.of_key(trail, observed, loop, key)

    def of_key(self, trail: Trail, observed: Observed, loop: str, key: str) -> Iterator[Option]:
        """Passes of one key, read at any moment since it woke; of those with the same writes the latest."""
        now = trail[-1].point
        tried: list[tuple[Action, ...]] = []
        for place in range(len(trail) - 1, -1, -1):
            point = trail[place].point
            if key not in point.awake(loop):
                return
            finish = self._finish(point, loop, key)
            if finish is None:
                return
            at = self.mover.moves((trail[place],), finish) if finish else (trail[place],)
            if at is None:
                return
            for choice, plan in self._matching(at[-1].point, loop, key, observed):
                if not plan.actions or plan.actions in tried:
                    continue
                for found, names in self.fitting(now, plan.actions, observed):
                    tried.append(plan.actions)
                    wanted = self._wanted(at[-1].point, loop, observed)
                    begin = Begin(next(self.counter), loop, key, plan.actions, choice, (), wanted)
                    yield self._option(place, (*finish, begin), begin, found, names, observed)

    def _option(
        self, place: int, moves: tuple[Move, ...], begin: Begin, found: Visible, names: Names, observed: Observed
    ) -> Option:
        done = (*found.silent, found.action)
        later = [action for action in begin.actions if action not in done]
        odds = foreseen(found.cluster, later, names, self.history[observed.index + 1 :])
        return Option(odds, place, moves, writes_of(begin.number, found, names))

    # Passes with an old view ---------------------------------------------------------------------------------

    def outdated(self, trail: Trail, observed: Observed) -> Iterator[Option]:
        """Passes read now, with the watch of one kind some changes behind, as far as the key was awake then or is now.

        Each kind has a watch of its own, so a loop may know of its own last write and not yet of an earlier one of
        another kind. What the others remember comes from their watches, so they are not tried.
        """
        now = trail[-1].point
        for loop in self.mover.plane.names:
            if loop not in FORGETFUL | EXPECTING:
                continue
            for key in now.awake(loop):
                if may_write(now.cluster, loop, key, observed, now.names) and not now.flights_of(loop, key):
                    yield from self._outdated_of_key(trail, observed, loop, key)

    def _outdated_of_key(self, trail: Trail, observed: Observed, loop: str, key: str) -> Iterator[Option]:
        now = trail[-1].point
        tried: list[tuple[Action, ...]] = []
        for kind in sorted(self.mover.plane.by_name[loop].watches):
            last = now.cluster.store.table(kind)
            for entry in trail[-2:-MOST_BEHIND:-1]:
                table = entry.point.cluster.store.table(kind)
                if table is last:
                    continue
                last = table
                view = ((kind, table),)
                plans = self.mover.plans(viewed(now.cluster, loop, view), Read(loop, key))
                for choice, plan in enumerate(plans):
                    if not plan.actions or plan.actions in tried:
                        continue
                    if loop in EXPECTING and not all(isinstance(action, Patch) for action in plan.actions):
                        continue
                    for found, names in self.fitting(now, plan.actions, observed):
                        tried.append(plan.actions)
                        begin = Begin(next(self.counter), loop, key, plan.actions, choice, view)
                        yield self._option(len(trail) - 1, (begin,), begin, found, names, observed)

    def _finish(self, point: Point, loop: str, key: str) -> tuple[Move, ...] | None:
        """The writes that end the key's flight, all invisible; None if one of them is visible."""
        if loop in SEVERAL_WORKERS:
            return ()
        moves: list[Move] = []
        for flight in point.flights_of(loop, key):
            if first_visible(point.cluster, flight.actions, point.names) is not None:
                return None
            moves.extend(Make(flight.number, action) for action in flight.actions)
        return tuple(moves)

    def _matching(self, point: Point, loop: str, key: str, observed: Observed) -> list[tuple[int, Plan[object]]]:
        plans = self.plans(point, loop, key, self._wanted(point, loop, observed))
        if loop == SCHEDULER and observed.fields.get("node") is not None and len(plans) > 1:
            node = observed.fields["node"]
            return [(index, plan) for index, plan in enumerate(plans) if plan.choice == node]
        return list(enumerate(plans))

    def _wanted(self, point: Point, loop: str, observed: Observed) -> tuple[str, ...]:
        """The pods that are deleted next, for a loop that can be told."""
        if not isinstance(self.mover.plane.by_name[loop], Guided):
            return ()
        return self.foresight.doomed(observed.index, point.names)

    def plans(self, point: Point, loop: str, key: str, wanted: tuple[str, ...] = ()) -> Sequence[Plan[object]]:
        """The alternatives of a pass at a point."""
        kept = self._plans.get((id(point), loop, key, wanted))
        if kept is None:
            if len(self._plans) > 20_000:
                self._plans.clear()
            kept = point, self.mover.plans(point.cluster, Read(loop, key), wanted)
            self._plans[id(point), loop, key, wanted] = kept
        return kept[1]

    def fitting(self, point: Point, actions: tuple[Action, ...], observed: Observed) -> Iterator[tuple[Visible, Names]]:
        """The writes, of some that may be next, that are the observed change."""
        for order in orders(actions):
            found = first_visible(point.cluster, order, point.names)
            names = None if found is None else matched(found.seen, observed, point.names)
            if found is not None and names is not None and self._may_become(found.action, observed):
                yield found, names

    def _may_become(self, action: Action, observed: Observed) -> bool:
        """Whether a pod that may run on one node only is bound to that node later, if it is bound at all."""
        if not isinstance(action, Create) or not isinstance(action.object, Pod):
            return True
        allowed = named_nodes(action.object.spec)
        bound = self.foresight.node_of(observed.name, observed.index)
        return allowed is None or bound is None or bound in allowed


def writes_of(number: int, found: Visible, names: Names) -> tuple[Make, ...]:
    """The moves that make the silent writes of a flight and the visible one, by which objects are named."""
    return (*(Make(number, action) for action in found.silent), Make(number, found.action, names))
