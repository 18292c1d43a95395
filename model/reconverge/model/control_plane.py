"""The control plane: which loops run, and the steps that a cluster takes through them.

A step is a read (one pass begins), a write (its next action), or the passing of time to the next deadline. The
default order is rounds: each loop in turn serves the keys that were awake when its turn began.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from attrs import frozen

from reconverge.model.action import Action
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane_health import HEALTHY
from reconverge.model.elections import next_deadline, struck, with_new_leaders
from reconverge.model.errors import ApiError, Forbidden, StoreUnavailable
from reconverge.model.events.base import Event
from reconverge.model.loop import MACHINES, OVERTAKEN, ControlLoop, InFlight, LoopState, Plan, Reading
from reconverge.model.machines import Machine
from reconverge.model.parking import frees, parked, released
from reconverge.model.stalls import next_catch_up, with_caught_up
from reconverge.model.store import Change
from reconverge.model.table import Table
from reconverge.model.value import Seconds


@frozen
class Read:
    """A loop begins a pass for a key."""

    loop: str
    key: str


@frozen
class Write:
    """A loop makes the next write of the pass it is in."""

    loop: str


@frozen
class Wait:
    """Nothing can be done now: time passes to the next deadline."""

    until: Seconds


Move = Read | Write | Wait


@frozen
class Written:
    """The result of a write step."""

    cluster: Cluster
    action: Action
    changes: tuple[Change, ...]
    error: ApiError | None


class ControlPlane:
    """A set of control loops, in the order in which they take their turns."""

    def __init__(self, loops: Sequence[ControlLoop[Any]]) -> None:
        self.loops = tuple(loops)
        self.names = tuple(loop.name for loop in loops)
        self.by_name = {loop.name: loop for loop in loops}
        if len(self.by_name) != len(self.loops):
            raise ValueError("two control loops have one name")
        kinds = {kind for loop in loops for kind in loop.watches}
        self._watching = {kind: tuple(loop for loop in loops if kind in loop.watches) for kind in sorted(kinds)}

    def replacing(self, *loops: ControlLoop[Any]) -> ControlPlane:
        """This control plane with loops of the same names in their places. Raises KeyError for an unknown name."""
        others = {loop.name: loop for loop in loops}
        for name in others:
            self.by_name[name]
        return ControlPlane([others.get(loop.name, loop) for loop in self.loops])

    def including(self, *loops: ControlLoop[Any]) -> ControlPlane:
        """This control plane with more loops, which take their turns last. Raises ValueError for a taken name."""
        return ControlPlane([*self.loops, *loops])

    def start(self, cluster: Cluster) -> Cluster:
        """The cluster with all loops just started: nothing remembered, everything to be looked at."""
        loops = {}
        for loop in self.loops:
            reading = self._reading(loop, cluster, LoopState())
            loops[loop.name] = LoopState(memory=loop.start(), queue=dict.fromkeys(loop.relist(reading)))
        return cluster.with_(loops=loops, turn=0)

    # What can happen next ------------------------------------------------------------------------------------

    def next(self, cluster: Cluster) -> Move | None:
        """The next step of the default schedule; None when everything is at rest."""
        loops = cluster.loops
        turn = cluster.turn
        state = loops[self.names[turn]]
        health = cluster.machines.control_plane
        halted = () if health is HEALTHY else health.halted(self.names)
        if not state.paused and self.names[turn] not in halted:
            if state.in_flight is not None:
                return Write(self.names[turn])
            if state.serving:
                return Read(self.names[turn], state.serving[0])
        count = len(self.names)
        for offset in range(1, count + 1):
            name = self.names[(turn + offset) % count]
            state = loops[name]
            if state.paused or name in halted:
                continue
            if state.in_flight is not None:
                return Write(name)
            if state.serving:
                return Read(name, state.serving[0])
            if not state.queue:
                continue
            loop = self.by_name[name]
            first = self._order(loop, cluster, state)[0]
            return Read(name, first)
        due = self.next_deadline(cluster)
        return None if due is None else Wait(due)

    def ready(self, cluster: Cluster) -> list[Read | Write]:
        """Every read or write that could be the next step, in the order of the default schedule."""
        count = len(self.names)
        names = [self.names[(cluster.turn + offset) % count] for offset in range(count)]
        moves = self._begun(cluster, names[0])
        for name in names[1:]:
            moves += [*self._begun(cluster, name), *self._woken(cluster, name)]
        # What has woken in the loop whose turn it is comes in its next turn, after all others.
        moves += self._woken(cluster, names[0])
        health = cluster.machines.control_plane
        return moves if health is HEALTHY else [move for move in moves if not health.halts(move.loop)]

    def _begun(self, cluster: Cluster, name: str) -> list[Read | Write]:
        """What is left of a loop's turn: the next write of its pass, or its keys in order."""
        state = cluster.loops[name]
        if state.paused:
            return []
        if state.in_flight is not None:
            return [Write(name)]
        return [Read(name, key) for key in state.serving]

    def _woken(self, cluster: Cluster, name: str) -> list[Read | Write]:
        """The keys that a loop would serve in its next turn."""
        state = cluster.loops[name]
        if state.paused or state.in_flight is not None:
            return []
        awake = {key: None for key in state.queue if key not in state.serving}
        return [Read(name, key) for key in self._ordered(self.by_name[name], cluster, state, awake)]

    def next_deadline(self, cluster: Cluster) -> Seconds | None:
        """The earliest timer of any loop that is not paused and has a leader, or next election or end of a stall."""
        health = cluster.machines.control_plane
        if health is not HEALTHY:
            return next_deadline(cluster)
        states = cluster.loops.values()
        due = min((due for state in states if not state.paused for due in state.timers.values()), default=None)
        return _earliest(due, next_catch_up(cluster))

    # Taking a step -------------------------------------------------------------------------------------------

    def plans(self, cluster: Cluster, move: Read) -> Sequence[Plan[Any]]:
        """The alternatives of a pass, the default one first."""
        loop = self.by_name[move.loop]
        state = cluster.loops[move.loop]
        if state.unseen and any(key == move.key for key, _ in state.unseen):
            return (Plan(state.memory, note="waits for its own writes to be in its view"),)
        return loop.sync(self._reading(loop, cluster, state), state.memory, move.key)

    def begin(self, cluster: Cluster, move: Read, plan: Plan[Any]) -> Cluster:
        """The cluster after the read: the plan is in flight, its memory and timer are kept."""
        state = cluster.loops[move.loop]
        loop = self.by_name[move.loop]
        if state.serving:
            # Nearly always the first: a slice is much cheaper than a look at every key.
            first = state.serving[0] == move.key
            serving = state.serving[1:] if first else tuple(key for key in state.serving if key != move.key)
            queue = _without(state.queue, move.key)
        else:
            ordered = self._order(loop, cluster, state)
            serving = tuple(key for key in ordered if key != move.key)
            queue = {}
        timers = state.timers
        if plan.requeue_at is not None:
            timers = {**timers, move.key: plan.requeue_at}
        elif move.key in timers:
            timers = {key: due for key, due in timers.items() if key != move.key}
        after = LoopState(
            plan.memory,
            queue,
            serving,
            timers,
            InFlight(move.key, plan.actions, cluster.store.revision) if plan.actions else None,
            state.stalled,
            state.paused,
            _without(state.parked, move.key),
            state.unseen,
            state.back_at,
        )
        return self._with_loop(cluster, move.loop, after)

    def write(self, cluster: Cluster, move: Write) -> Written:
        """The cluster after the next write of the pass in flight. A refused one ends the pass; its key wakes again."""
        state = cluster.loops[move.loop]
        flight = state.in_flight
        if flight is None:
            raise ValueError(f"{move.loop} is in no pass")
        action, rest = flight.actions[0], flight.actions[1:]
        try:
            after, changes = action.apply(cluster)
        except ApiError as error:
            loop = self.by_name[move.loop]
            memory = loop.failed(state.memory, action, error)
            if isinstance(error, Forbidden | StoreUnavailable):
                reading = self._reading(loop, cluster, state)
                left = loop.denied(reading, action, rest, error) if isinstance(error, Forbidden) else ()
                remaining = InFlight(flight.key, left, flight.revision) if left else None
                held = parked(state, flight.key, memory, remaining, error)
                return Written(self._with_loop(cluster, move.loop, held), action, (), error)
            # With an old view and nothing learnt from the refusal the same pass would fail the same way; what it
            # missed wakes the key when it comes.
            learnt = not state.stalled or memory is not state.memory
            again = learnt and flight.key not in state.serving
            queue = {**state.queue, flight.key: None} if again else state.queue
            failed = state.with_(memory=memory, queue=queue, in_flight=None)
            return Written(self._with_loop(cluster, move.loop, failed), action, (), error)
        alone = flight.revision == cluster.store.revision
        remaining = InFlight(flight.key, rest, after.store.revision if alone else OVERTAKEN) if rest else None
        now = after.loops[move.loop]
        unseen = now.unseen
        if now.stalled and cluster.rules.stale_cache_guard and self.by_name[move.loop].guarded:
            unseen |= {(flight.key, change.kind) for change in changes if change.kind in now.stalled}
        made = LoopState(
            now.memory, now.queue, now.serving, now.timers, remaining, now.stalled, now.paused, now.parked, unseen,
            now.back_at,
        )  # fmt: skip
        moved = self._with_loop(after, move.loop, made)
        return Written(self.notify(moved, changes), action, changes, None)

    def wait(self, cluster: Cluster, until: Seconds) -> Cluster:
        """The cluster at a later time: keys whose timers have come are awake, stalls that are over have ended."""
        loops = dict(cluster.loops)
        for name, state in cluster.loops.items():
            due = [key for key, at in state.timers.items() if at <= until]
            if due:
                timers = {key: at for key, at in state.timers.items() if at > until}
                loops[name] = state.with_(queue={**state.queue, **dict.fromkeys(due)}, timers=timers)
        after = with_caught_up(self, cluster.with_(loops=loops, now=max(cluster.now, until)))
        return after if cluster.machines.control_plane is HEALTHY else with_new_leaders(self, after)

    def notify(self, cluster: Cluster, changes: Iterable[Change]) -> Cluster:
        """The cluster after the watches have delivered some changes: memories updated, keys awake."""
        loops = cluster.loops
        fresh = loops
        # Most loops see the same: one reading serves them all.
        common = Reading(cluster.store, cluster.now, cluster.rules)
        for change in changes:
            for loop in self._watching.get(change.kind, ()):
                if loop.idle_without and loop.idle_without not in cluster.store.tables:
                    continue
                state = fresh[loop.name]
                if change.kind in state.stalled:
                    continue
                reading = self._reading(loop, cluster, state) if loop.physical or state.stalled else common
                memory, keys = loop.observe(state.memory, change, reading)
                if keys == () and memory is state.memory:
                    continue
                new = [key for key in keys if key not in state.queue and key not in state.serving]
                if new or memory is not state.memory:
                    if fresh is loops:
                        fresh = dict(loops)
                    queue = {**state.queue, **dict.fromkeys(new)} if new else state.queue
                    fresh[loop.name] = LoopState(
                        memory,
                        queue,
                        state.serving,
                        state.timers,
                        state.in_flight,
                        state.stalled,
                        state.paused,
                        state.parked,
                        state.unseen,
                        state.back_at,
                    )
            if frees(change):
                fresh = released(fresh, (change,))
        return cluster if fresh is loops else cluster.with_(loops=fresh)

    def machine_changed(self, cluster: Cluster, before: Machine | None, after: Machine | None) -> Cluster:
        """The cluster after the loops that live on machines have noticed a change of one."""
        machine = after if after is not None else before
        if machine is None:
            return cluster
        return self.notify(cluster, (Change(MACHINES, machine.name, before, after),))

    def interrupt(self, cluster: Cluster) -> Cluster:
        """The cluster as an event finds it: keys of an unfinished turn go back to the queue, a new round begins."""
        loops = dict(cluster.loops)
        for name, state in cluster.loops.items():
            if state.serving:
                loops[name] = state.with_(queue={**dict.fromkeys(state.serving), **state.queue}, serving=())
        return cluster.with_(loops=loops, turn=0)

    def rewake(self, cluster: Cluster, loop: str, keys: Iterable[str]) -> Cluster:
        """The cluster with some keys of a loop awake."""
        state = cluster.loops[loop]
        return self._with_state(cluster, loop, state.with_(queue={**state.queue, **dict.fromkeys(keys)}))

    def reading(self, loop: ControlLoop[Any], cluster: Cluster) -> Reading:
        """What a loop has before it now."""
        return self._reading(loop, cluster, cluster.loops[loop.name])

    def strike(self, cluster: Cluster, event: Event) -> tuple[Cluster, tuple[Change, ...]]:
        """The cluster just after an event, its watches delivered, and the changes. Raises ApiError if it is refused."""
        if cluster.machines.control_plane is not HEALTHY:
            return struck(self, cluster, event)
        return event.strike(self, self.interrupt(cluster))

    def restart(self, cluster: Cluster, loop: str, stalled: dict[str, Table] | None = None) -> Cluster:
        """The cluster with a loop started anew: memory, timers and views lost, everything to be looked at.

        `stalled` are the kinds of which its first list is an old one, until that watch catches up.
        """
        fresh = self.by_name[loop]
        view = LoopState(stalled=stalled or {})
        reading = self._reading(fresh, cluster, view)
        state = view.with_(memory=fresh.start(), queue=dict.fromkeys(fresh.relist(reading)))
        return self._with_state(cluster, loop, state)

    def catch_up(self, cluster: Cluster, loop: str, kind: str) -> Cluster:
        """The cluster after a stalled watch of a loop has delivered everything that it missed, newest state only."""
        state = cluster.loops[loop]
        old = state.stalled[kind].objects
        now = cluster.store.table(kind).objects
        stalled = {each: table for each, table in state.stalled.items() if each != kind}
        unseen = frozenset(each for each in state.unseen if each[1] != kind)
        waiting = dict.fromkeys(sorted(key for key, _ in state.unseen - unseen))
        queue = {**state.queue, **waiting}
        back_at = {each: due for each, due in state.back_at.items() if each != kind}
        caught_up = state.with_(stalled=stalled, unseen=unseen, queue=queue, back_at=back_at)
        cluster = self._with_state(cluster, loop, caught_up)
        for key in sorted({*old, *now}):
            before, after = old.get(key), now.get(key)
            if before is not after:
                cluster = self._deliver(cluster, self.by_name[loop], Change(kind, key, before, after))
        return cluster

    def _deliver(self, cluster: Cluster, loop: ControlLoop[Any], change: Change) -> Cluster:
        state = cluster.loops[loop.name]
        memory, keys = loop.observe(state.memory, change, self._reading(loop, cluster, state))
        queue = {**state.queue, **{key: None for key in keys if key not in state.serving}}
        return self._with_state(cluster, loop.name, state.with_(memory=memory, queue=queue))

    # Inside --------------------------------------------------------------------------------------------------

    def _reading(self, loop: ControlLoop[Any], cluster: Cluster, state: LoopState) -> Reading:
        store = cluster.store.with_tables(state.stalled) if state.stalled else cluster.store
        return Reading(store, cluster.now, cluster.rules, cluster.machines if loop.physical else None)

    def _order(self, loop: ControlLoop[Any], cluster: Cluster, state: LoopState) -> list[str]:
        return self._ordered(loop, cluster, state, state.queue)

    def _ordered(self, loop: ControlLoop[Any], cluster: Cluster, state: LoopState, keys: dict[str, None]) -> list[str]:
        if len(keys) < 2:
            return list(keys)
        return loop.order(self._reading(loop, cluster, state), state.memory, keys)

    def _with_loop(self, cluster: Cluster, name: str, state: LoopState) -> Cluster:
        loops = cluster.loops.copy()
        loops[name] = state
        return Cluster(cluster.store, cluster.machines, loops, cluster.now, cluster.rules, self.names.index(name))

    def _with_state(self, cluster: Cluster, name: str, state: LoopState) -> Cluster:
        return cluster.with_(loops={**cluster.loops, name: state})


def _earliest(*moments: Seconds | None) -> Seconds | None:
    return min((each for each in moments if each is not None), default=None)


def _without(queue: dict[str, None], key: str) -> dict[str, None]:
    return {each: None for each in queue if each != key} if key in queue else queue
