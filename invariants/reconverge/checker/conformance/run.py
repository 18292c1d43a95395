"""A run of the model's control plane in which several passes are under way at once.

Real controllers serve several keys at a time, and a pass that has been read long ago may write now. The default
schedule of the model makes one pass per loop at a time; here a pass leaves the loop as soon as it has been read, and
becomes a flight. One key is never in two flights (work queues do not hand a key out twice), except where a loop is
several independent workers upstream.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import frozen

from reconverge.checker.conformance.compact import Seen, seen
from reconverge.checker.conformance.foresight import Guided
from reconverge.checker.conformance.names import Names
from reconverge.model.action import Action
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane, Read, Write
from reconverge.model.errors import ApiError
from reconverge.model.loop import InFlight, Plan
from reconverge.model.store import Change
from reconverge.model.table import Table
from reconverge.model.value import Seconds, Value

SCRIPT = "script"
"""The name under which the script's requests are flights."""

SEVERAL_WORKERS = frozenset({"node-lifecycle"})
"""Loops whose passes for one key are made by several workers: health, NoSchedule taints, NoExecute taints, pods."""


@frozen
class Flight(Value):
    """A pass, or a request of the script, between its read and its last write."""

    number: int
    loop: str
    key: str
    actions: tuple[Action, ...]


@frozen
class Point(Value):
    """A moment of the run: the cluster (in which no loop is in a pass), the flights, and who is who."""

    cluster: Cluster
    flights: tuple[Flight, ...] = ()
    names: Names = Names()

    def flight(self, number: int) -> Flight | None:
        """The flight of that number, or None."""
        return next((each for each in self.flights if each.number == number), None)

    def flights_of(self, loop: str, key: str) -> list[Flight]:
        """The flights of one key of a loop."""
        return [each for each in self.flights if each.loop == loop and each.key == key]

    def awake(self, loop: str) -> dict[str, None]:
        """The keys of a loop that wait to be served."""
        state = self.cluster.loops[loop]
        return {**dict.fromkeys(state.serving), **state.queue}


@frozen
class Begin:
    """A pass is read; of its alternatives the one with these writes is taken.

    `view` has older tables of some kinds: what the loop's watches of them have delivered so far. `wanted` are the pods
    of which a loop that can be told (Guided) takes some, by their keys.
    """

    number: int
    loop: str
    key: str
    actions: tuple[Action, ...]
    choice: int = 0
    view: tuple[tuple[str, Table], ...] = ()
    wanted: tuple[str, ...] = ()


@frozen
class Make:
    """A write of a flight. `names` are the names from then on, None if nothing is named by it."""

    number: int
    action: Action
    names: Names | None = None


@frozen
class Amend:
    """A write of a flight is replaced by what the pass makes of a later look."""

    number: int
    before: Action
    after: Action


@frozen
class Pass:
    """Time passes."""

    until: Seconds


@frozen
class Ask:
    """A request of the script begins: its writes are a flight."""

    number: int
    step: int
    actions: tuple[Action, ...]


@frozen
class Happen:
    """Something happens to a machine."""

    step: int
    what: Callable[[Cluster, Names], tuple[Cluster, tuple[Change, ...]]]


Move = Begin | Make | Amend | Pass | Ask | Happen


@frozen
class Entry:
    """One move of the run, the point after it, and what a watcher has seen of it."""

    move: Move | None
    point: Point
    seen: tuple[Seen, ...] = ()


Trail = tuple[Entry, ...]
"""The latest part of a run."""


class Mover:
    """Makes the moves of one control plane."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane

    def move(self, point: Point, move: Move) -> Entry | None:
        """The point after a move; None if it cannot be made there."""
        match move:
            case Begin():
                return self._begin(point, move)
            case Make():
                return self._make(point, move)
            case Amend():
                return self._amend(point, move)
            case Pass():
                return Entry(move, point.with_(cluster=self.plane.wait(point.cluster, move.until)))
            case Ask():
                flight = Flight(move.number, SCRIPT, str(move.step), move.actions)
                return Entry(move, point.with_(flights=(*point.flights, flight)))
            case Happen():
                try:
                    after, changes = move.what(point.cluster, point.names)
                except ApiError:
                    return None
                cluster = self.plane.notify(after, changes)
                return Entry(move, point.with_(cluster=cluster), tuple(seen(changes, point.names)))

    def _begin(self, point: Point, move: Begin) -> Entry | None:
        if move.key not in point.awake(move.loop):
            return None
        if move.loop not in SEVERAL_WORKERS and point.flights_of(move.loop, move.key):
            return None
        read = Read(move.loop, move.key)
        cluster = viewed(point.cluster, move.loop, move.view)
        plans = self.plans(cluster, read, move.wanted)
        plan = plans[move.choice] if move.choice < len(plans) else None
        if plan is None or plan.actions != move.actions:
            plan = next((each for each in plans if each.actions == move.actions), None)
        if plan is None:
            return None
        after = self.plane.begin(cluster, read, plan)
        state = after.loops[move.loop]
        if state.in_flight is None and not state.stalled:
            return Entry(move, point.with_(cluster=after))
        cluster = after.with_(loops={**after.loops, move.loop: state.with_(in_flight=None, stalled={})})
        if state.in_flight is None:
            return Entry(move, point.with_(cluster=cluster))
        flight = Flight(move.number, move.loop, move.key, plan.actions)
        return Entry(move, point.with_(cluster=cluster, flights=(*point.flights, flight)))

    def _amend(self, point: Point, move: Amend) -> Entry | None:
        flight = point.flight(move.number)
        if flight is None or move.before not in flight.actions:
            return None
        actions = tuple(move.after if each == move.before else each for each in flight.actions)
        changed = flight.with_(actions=actions)
        return Entry(move, point.with_(flights=tuple(changed if each is flight else each for each in point.flights)))

    def _make(self, point: Point, move: Make) -> Entry | None:
        flight = point.flight(move.number)
        if flight is None or move.action not in flight.actions:
            return None
        place = flight.actions.index(move.action)
        rest = (*flight.actions[:place], *flight.actions[place + 1 :])
        cluster, changes, error = self._write(point.cluster, flight, flight.actions[place])
        if error is not None:
            rest = ()
        left = flight.with_(actions=rest)
        flights = tuple(left if each.number == move.number else each for each in point.flights)
        flights = tuple(each for each in flights if each.actions)
        names = move.names if move.names is not None else point.names
        visible = tuple(seen(changes, names))
        if move.names is not None and not visible:
            return None
        return Entry(move, Point(cluster, flights, names), visible)

    def _write(
        self, cluster: Cluster, flight: Flight, action: Action
    ) -> tuple[Cluster, tuple[Change, ...], ApiError | None]:
        if flight.loop == SCRIPT:
            try:
                after, changes = action.apply(cluster)
            except ApiError as error:
                return cluster, (), error
            return self.plane.notify(after, changes), changes, None
        state = cluster.loops[flight.loop].with_(in_flight=InFlight(flight.key, (action,)))
        written = self.plane.write(cluster.with_(loops={**cluster.loops, flight.loop: state}), Write(flight.loop))
        return written.cluster, written.changes, written.error

    def plans(self, cluster: Cluster, read: Read, wanted: tuple[str, ...] = ()) -> Sequence[Plan[Any]]:
        """The alternatives of a pass, with a loop that can be told told which pods are wanted."""
        loop = self.plane.by_name[read.loop]
        if isinstance(loop, Guided):
            loop.wanted = wanted
        return self.plane.plans(cluster, read)

    def moves(self, trail: Trail, moves: Sequence[Move]) -> Trail | None:
        """The trail with some moves more; None if one of them cannot be made."""
        for move in moves:
            entry = self.move(trail[-1].point, move)
            if entry is None:
                return None
            trail = (*trail, entry)
        return trail

    def inserted(self, trail: Trail, place: int, moves: Sequence[Move]) -> Trail | None:
        """The trail with moves made after its entry `place`, and everything later made again.

        None if that changes what was seen later, so that it would be another run.
        """
        again = self.moves(trail[: place + 1], moves)
        if again is None:
            return None
        for entry in trail[place + 1 :]:
            assert entry.move is not None
            made = self.move(again[-1].point, entry.move)
            if made is None or made.seen != entry.seen:
                return None
            again = (*again, made)
        return again


def viewed(cluster: Cluster, loop: str, view: tuple[tuple[str, Table], ...]) -> Cluster:
    """The cluster in which a loop sees older tables of some kinds."""
    if not view:
        return cluster
    return cluster.with_(loops={**cluster.loops, loop: cluster.loops[loop].with_(stalled=dict(view))})
