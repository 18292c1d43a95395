"""The ways in which one observed change can come about: a flight goes on, or a pass is read and begins to write.

A pass may have been read at any earlier moment since its key woke, for its write arrives later than it was decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import field, frozen

from reconverge.checker.conformance.batches import orders
from reconverge.checker.conformance.foresight import Foresight, Guided
from reconverge.checker.conformance.match import Visible, first_visible, foreseen, matched
from reconverge.checker.conformance.names import Names
from reconverge.checker.conformance.passes import may_write
from reconverge.checker.conformance.recording import Observed
from reconverge.checker.conformance.run import (
    SEVERAL_WORKERS,
    Amend,
    Begin,
    Flight,
    Make,
    Move,
    Mover,
    Point,
    Trail,
    viewed,
)
from reconverge.model.action import Action, Bind, Create, Patch
from reconverge.model.control_plane import Read
from reconverge.model.loop import Plan
from reconverge.model.loops.scheduler.plugins.node_affinity import named_nodes
from reconverge.model.objects import Pod

SCHEDULER = "scheduler"
FORGETFUL = frozenset({"deployment", "statefulset", "disruption", "endpoints"})
"""Loops without memory, whose watches may be behind each other."""
EXPECTING = frozenset({"replicaset", "daemonset", "job"})
"""Loops that remember what they have asked for: with an old view they may report, but not create or delete."""
LOOKS_AGAIN = ("daemonset",)
"""Loops that list their pods again before they report, so that the status may be of any moment since the pass began."""
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
class Explainer:
    """Explains observed changes. `coming` are all observations; plans are kept by point, for they do not change."""

    mover: Mover
    counter: Iterator[int]
    history: Sequence[Observed]
    foresight: Foresight
    _plans: dict[tuple[int, str, str, tuple[str, ...]], tuple[Point, Sequence[Plan[object]]]] = field(factory=dict)

    def explanations(self, trail: Trail, observed: Observed) -> Iterator[Trail]:
        """The trails in which the change has happened, the likeliest first."""
        yield from self._flights(trail, observed)
        options = sorted(self._passes(trail, observed), key=lambda option: (option.odds, -option.place))
        for option in options:
            after = self._taken(trail, option)
            if after is not None:
                yield after
        if observed.kind == "Pod":
            yield from self._scheduled_after_others(trail, observed)
        for option in sorted(self._outdated(trail, observed), key=lambda option: option.odds):
            after = self._taken(trail, option)
            if after is not None:
                yield after

    def _taken(self, trail: Trail, option: Option) -> Trail | None:
        inserted = self.mover.inserted(trail, option.place, option.first)
        return None if inserted is None else self.mover.moves(inserted, option.writes)

    # Flights that go on --------------------------------------------------------------------------------------

    def _flights(self, trail: Trail, observed: Observed) -> Iterator[Trail]:
        point = trail[-1].point
        for flight in point.flights:
            for writes in self._next_writes(point, flight, observed):
                after = self.mover.moves(trail, writes)
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
                    for found, names in self._fitting(point, (after,), observed):
                        amend = Amend(flight.number, before, after)
                        taken = self.mover.moves(trail, [amend, *writes_of(flight.number, found, names)])
                        if taken is not None:
                            yield taken

    def _next_writes(self, point: Point, flight: Flight, observed: Observed) -> Iterator[tuple[Make, ...]]:
        for found, names in self._fitting(point, flight.actions, observed):
            yield writes_of(flight.number, found, names)

    def _fitting(
        self, point: Point, actions: tuple[Action, ...], observed: Observed
    ) -> Iterator[tuple[Visible, Names]]:
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

    # Passes that begin ---------------------------------------------------------------------------------------

    def _passes(self, trail: Trail, observed: Observed) -> Iterator[Option]:
        now = trail[-1].point
        for loop in self.mover.plane.names:
            for key in now.awake(loop):
                if may_write(now.cluster, loop, key, observed, now.names):
                    yield from self._of_key(trail, observed, loop, key)

    def _of_key(self, trail: Trail, observed: Observed, loop: str, key: str) -> Iterator[Option]:
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
                for found, names in self._fitting(now, plan.actions, observed):
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

    def _outdated(self, trail: Trail, observed: Observed) -> Iterator[Option]:
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
                    for found, names in self._fitting(now, plan.actions, observed):
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
        orders = [others[:count] for count in range(1, len(others) + 1)] + [[each] for each in others[1:]]
        for place in range(len(trail) - 1, max(-1, len(trail) - 12), -1):
            if key not in trail[place].point.awake(SCHEDULER):
                return
            for order in orders:
                after = self._with_others(trail, place, order, nodes)
                if after is not None:
                    for option in self._of_key(after, observed, SCHEDULER, key):
                        taken = self._taken(after, option)
                        if taken is not None:
                            yield taken

    def _coming_bindings(self, point: Point, observed: Observed) -> dict[str, str]:
        """Keys of the pods that are bound next, and to where, in the order in which that is observed."""
        nodes: dict[str, str] = {}
        for key, node in self.foresight.bindings(observed.index, point.names):
            nodes.setdefault(key, node)
        return nodes

    def _with_others(self, trail: Trail, place: int, order: Sequence[str], nodes: Mapping[str, str]) -> Trail | None:
        part = trail[: place + 1]
        moves: list[Move] = []
        for key in order:
            if key not in part[-1].point.awake(SCHEDULER):
                continue
            plan = next((each for each in self.plans(part[-1].point, SCHEDULER, key) if _binds(each, nodes[key])), None)
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


def writes_of(number: int, found: Visible, names: Names) -> tuple[Make, ...]:
    """The moves that make the silent writes of a flight and the visible one, by which objects are named."""
    return (*(Make(number, action) for action in found.silent), Make(number, found.action, names))
