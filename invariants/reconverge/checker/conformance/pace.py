"""What the model does between two observed changes: time passes, the script goes on, unobserved passes are made."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from reconverge.checker.conformance.compact import seen
from reconverge.checker.conformance.match import first_visible
from reconverge.checker.conformance.run import Begin, Make, Move, Mover, Pass, Point, Trail
from reconverge.model.action import Action
from reconverge.model.control_plane import Read
from reconverge.model.errors import ApiError
from reconverge.model.value import Seconds

READ_WHEN_NEEDED = frozenset({
    "deployment", "replicaset", "statefulset", "daemonset", "job", "endpoints", "disruption", "scheduler",
    "garbage-collector", "drain",
})  # fmt: skip
"""Loops whose passes are read only when an observed change asks for it, or when everything has had time to rest.

They act on what they find, so a pass that is read later does the same. The others keep timers from what they see, and
their passes that write nothing visible are made at once.
"""

REST = 0.25
"""Seconds without an observed change after which every controller has caught up."""

MOST_PASSES = 400


@frozen
class Pacer:
    """Makes the unobserved moves. `mover` is the control plane's; numbers of flights come from `counter`."""

    mover: Mover
    counter: Iterator[int]

    def settle_silent(self, trail: Trail, *, everything: bool) -> Trail:
        """The trail after the passes that write nothing visible: of some loops, or of all."""
        for _ in range(MOST_PASSES):
            after = self._finished(trail, everything=everything)
            after = self._one_pass(after, everything=everything)
            if after is trail:
                return trail
            trail = after
        return trail

    def served(self, trail: Trail, loop: str) -> Trail:
        """The trail after the passes of one loop that write nothing visible."""
        for key in trail[-1].point.awake(loop):
            moves = self.silent_pass(trail[-1].point, loop, key, everything=True)
            trail = self.mover.moves(trail, moves) or trail
        return trail

    def _finished(self, trail: Trail, *, everything: bool) -> Trail:
        """Flights whose next writes are invisible go on."""
        for flight in trail[-1].point.flights:
            if not everything and flight.loop in READ_WHEN_NEEDED:
                continue
            for action in flight.actions:
                if silent_writes(trail[-1].point, (action,)) is None:
                    break
                after = self.mover.moves(trail, (Make(flight.number, action),))
                if after is None:
                    break
                trail = after
        return trail

    def _one_pass(self, trail: Trail, *, everything: bool) -> Trail:
        point = trail[-1].point
        for loop in self.mover.plane.names:
            if not everything and loop in READ_WHEN_NEEDED:
                continue
            for key in point.awake(loop):
                moves = self.silent_pass(point, loop, key, everything=everything)
                after = self.mover.moves(trail, moves) if moves else None
                if after is not None:
                    return after
        return trail

    def silent_pass(self, point: Point, loop: str, key: str, *, everything: bool) -> list[Move]:
        """The moves of a pass that writes nothing visible; none if it would, or if it is under way.

        Where a pass has alternatives it is left until everything has had time, for one of them may be observed.
        """
        if point.flights_of(loop, key):
            return []
        plans = self.mover.plans(point.cluster, Read(loop, key))
        if len(plans) > 1 and not everything:
            return []
        for plan in plans:
            writes = silent_writes(point, plan.actions)
            if writes is not None:
                number = next(self.counter)
                return [Begin(number, loop, key, plan.actions), *(Make(number, action) for action in writes)]
        return []

    def silent_earlier(self, trail: Trail) -> Trail:
        """The trail with passes that would write something visible now, but had nothing to do when their key woke."""
        for loop in self.mover.plane.names:
            for key in trail[-1].point.awake(loop):
                for place in range(len(trail) - 2, -1, -1):
                    point = trail[place].point
                    if key not in point.awake(loop):
                        break
                    moves = self.silent_pass(point, loop, key, everything=True)
                    after = self.mover.inserted(trail, place, moves) if moves else None
                    if after is not None:
                        return after
        return trail

    def advance(self, trail: Trail, until: Seconds) -> Trail:
        """The trail at a later time, every timer served on the way as far as nothing visible comes of it."""
        while True:
            now = trail[-1].point.cluster.now
            due = self.mover.plane.next_deadline(trail[-1].point.cluster)
            target = until if due is None or due > until else max(due, now)
            if target - now > REST:
                trail = self.settle_silent(trail, everything=True)
                due = self.mover.plane.next_deadline(trail[-1].point.cluster)
                target = until if due is None or due > until else max(due, now)
            after = (
                self.mover.moves(trail, (Pass(target),)) if target > now or (due is not None and due <= now) else trail
            )
            assert after is not None
            trail = self.settle_silent(after, everything=False)
            if target >= until and not self._due(trail, until):
                return trail

    def _due(self, trail: Trail, until: Seconds) -> bool:
        due = self.mover.plane.next_deadline(trail[-1].point.cluster)
        return due is not None and due <= until

    def would_do(self, point: Point) -> Iterator[tuple[str, str, str]]:
        """(loop, key, what is seen) of every visible write that the model could make next."""
        for flight in point.flights:
            found = first_visible(point.cluster, flight.actions, point.names)
            if found is not None:
                yield flight.loop, flight.key, found.action.describe()
        for loop in self.mover.plane.names:
            for key in point.awake(loop):
                if point.flights_of(loop, key):
                    continue
                for plan in list(self.mover.plans(point.cluster, Read(loop, key)))[:4]:
                    found = first_visible(point.cluster, plan.actions, point.names)
                    if found is not None:
                        yield loop, key, found.action.describe()


def silent_writes(point: Point, actions: tuple[Action, ...]) -> tuple[Action, ...] | None:
    """The writes that a pass makes of some, up to one that is refused; None if a watcher sees one of them."""
    cluster = point.cluster
    for place, action in enumerate(actions):
        try:
            cluster, changes = action.apply(cluster)
        except ApiError:
            return actions[: place + 1]
        if seen(changes, point.names):
            return None
    return actions
