"""Exhaustive search: every sequence of events within the bounds, shortest first.

Breadth-first over event sequences, in stages of rising (events, deviations). States between events are merged when
they are the same up to renaming. Deviations are branches off the default schedule of a stretch.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Mapping

from attrs import evolve, field, frozen

from reconverge.checker.judge import Found, Judge
from reconverge.checker.result import Bounds
from reconverge.checker.runner import Observer, Play, Rested, hindered, quiet_run, run, settle
from reconverge.checker.schedule import Course, Deviation, Interruption, OutOfTurn, Taken, Tie
from reconverge.checker.world import World
from reconverge.invariants import Quiet, Situation, Step
from reconverge.model.canonical import fingerprint
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import Read
from reconverge.model.errors import ApiError
from reconverge.model.events import Event


@frozen
class Place:
    """A state in the search, and the way to it."""

    cluster: Cluster
    plays: tuple[Play, ...] = ()
    deviations: int = 0
    number: int = -1
    """The number of its state among those that settled; -1 in the middle of a stretch."""

    @property
    def events(self) -> tuple[Event, ...]:
        """The events that led here."""
        return tuple(play.event for play in self.plays)

    def used(self) -> Mapping[str, int]:
        """How often each kind of event has happened."""
        return Counter(event.name for event in self.events)


@frozen
class Branch:
    """A stretch to be run with deviations: the place before its event, the event, and the deviations."""

    place: Place
    event: Event
    deviations: tuple[Deviation, ...]


@frozen
class Counterexample:
    """A violation and the sequence that led to it."""

    found: Found
    plays: tuple[Play, ...]


Kinds = dict[tuple[str, str], set[frozenset[str]]]
"""By invariant and object: the sets of event kinds that broke it."""


@frozen
class Search:
    """What an exhaustive search has found and seen. Mutable inside while it runs."""

    counterexamples: dict[tuple[str, str], Counterexample]
    covered: list[Bounds]
    complete: bool
    states: int
    transitions: int
    steps: int
    sequences: int
    events: Counter[str]
    actions: Counter[str]
    judge: Judge
    edges: list[tuple[int, int, str]] = field(factory=list)
    """(state, state, event) of the default schedule, by order of discovery; kept for small worlds."""
    unfinished: int = 0
    """Quiet runs that were given up."""
    kinds: Kinds = field(factory=dict)


StateKey = tuple[bytes, tuple[tuple[str, int], ...]]

MOST_EDGES = 100_000
"""Edges are kept up to this many, for pictures and exact counts."""


class Explorer:
    """One exhaustive search."""

    def __init__(self, world: World, bounds: Bounds, budget: int, *, stop_at_first: bool = False) -> None:
        self.world = world
        self.bounds = bounds
        self.budget = budget
        self.stop_at_first = stop_at_first
        self.judge = world.judge()
        self.limited = world.limited()
        self.found: dict[tuple[str, str], Counterexample] = {}
        self.visited: dict[StateKey, list[tuple[int, int]]] = {}
        self.numbers: dict[StateKey, int] = {}
        self.buckets: dict[tuple[int, int], deque[Place | Branch]] = defaultdict(deque)
        self.transitions = self.steps = self.sequences = self.unfinished = 0
        self.kinds: Kinds = defaultdict(set)
        self.endless = False
        """Whether the start repeats itself or grows without end."""
        self.edges: list[tuple[int, int, str]] = []
        self.events: Counter[str] = Counter()
        self.actions: Counter[str] = Counter()

    # The search ----------------------------------------------------------------------------------------------

    def search(self) -> Search:
        """Runs until everything within the bounds is explored, the budget is spent, or the first violation."""
        covered: list[Bounds] = []
        start = self._start()
        if start is not None:
            covered.append(Bounds(0, 0))
            self._keep(start)
        # A start that never comes to rest is judged to its end by its own quiet run; no event strikes after it.
        complete = start is not None or (self.endless and not self.bounds.events)
        for stage in self._stages():
            bucket = self.buckets[stage]
            while bucket and complete:
                if self.steps > self.budget or (self.stop_at_first and self.found):
                    complete = False
                    break
                task = bucket.popleft()
                if isinstance(task, Branch):
                    self._stretch(task.place, task.event, task.deviations)
                else:
                    self._expand(task)
            if not complete:
                break
            covered.append(Bounds(*stage))
        return Search(
            self.found, _widest(covered), complete and not self.unfinished, max(1, len(self.visited)), self.transitions,
            self.steps, self.sequences, self.events, self.actions, self.judge, self.edges, self.unfinished, self.kinds,
        )  # fmt: skip

    def _stages(self) -> list[tuple[int, int]]:
        return [
            (events, deviations)
            for events in range(1, self.bounds.events + 1)
            for deviations in range(self.bounds.deviations + 1)
        ]

    def _start(self) -> Place | None:
        """The start with the fixed prefix played; None if it does not come to rest."""
        plays = tuple(Play(event) for event in self.world.prefix)
        observer = Observer(taken=self._count)
        result = run(self.world, plays, self.judge, observer=observer)
        for count, found in result.found:
            self._note([found], plays[:count])
        self.transitions += len(result.plays)
        self.events.update(play.event.name for play in result.plays)
        rested = result.rested
        if rested is None or rested.outcome != "rest":
            self.unfinished += rested is None or rested.outcome == "unfinished"
            self.endless = not self.unfinished
            return None
        return Place(result.cluster, result.plays)

    def _count(self, taken: Taken) -> None:
        self.steps += 1
        if taken.changes:
            self.actions[f"{taken.move.loop} {type(taken.action).__name__}"] += 1  # type: ignore[union-attr]

    def _depth(self, place: Place) -> int:
        return len(place.plays) - len(self.world.prefix)

    def _expand(self, place: Place) -> None:
        """Every event that may strike here."""
        for event in self.world.candidates(place.cluster, place.used()):
            if self.steps > self.budget:
                return
            self._stretch(place, event, ())

    def _keep(self, place: Place) -> int:
        """Remembers a state and queues it for expansion; returns its number, whether it is new or not."""
        key = self._key(place)
        cost = (self._depth(place), place.deviations)
        earlier = self.visited.get(key)
        number = self.numbers.setdefault(key, len(self.numbers))
        if earlier is not None and any(e <= cost[0] and d <= cost[1] for e, d in earlier):
            return number
        self.visited.setdefault(key, []).append(cost)
        if cost[0] < self.bounds.events:
            self.buckets[(cost[0] + 1, cost[1])].append(evolve(place, number=number))
        return number

    # One stretch ---------------------------------------------------------------------------------------------

    def _stretch(self, place: Place, event: Event, deviations: tuple[Deviation, ...]) -> None:
        """Runs the stretch after one event with some deviations, and queues what branches off it."""
        plane = self.world.plane
        try:
            struck, changes = plane.strike(place.cluster, event)
        except ApiError:
            return
        self.transitions += 1
        self.sequences += 1
        self.events[event.name] += 1
        plays = (*place.plays, Play(event, deviations))
        events = tuple(play.event for play in plays)
        start = self.world.start
        before = Situation(place.cluster, place.events, start)
        self._note(
            self.judge.step(Step(before, Situation(struck, events, start), "environment", changes, event)), plays
        )
        watch = _Watch(self, place, event, deviations, plays, events)
        rested = settle(plane, struck, Course.of(deviations), watch)
        self._end(place, struck, plays, rested, deviations)

    def _end(
        self, place: Place, struck: Cluster, plays: tuple[Play, ...], rested: Rested, deviations: tuple[Deviation, ...]
    ) -> None:
        """Judges the end of a stretch, and keeps the state it rests in."""
        start = self.world.start
        events = tuple(play.event for play in plays)
        final = rested
        if rested.outcome == "rest" and hindered(rested.cluster):
            final = quiet_run(self.world.plane, rested.cluster, Course(), lambda taken: False)
        if final.outcome == "unfinished":
            self.unfinished += 1
            return
        quiet = Quiet(
            Situation(struck, events, start), Situation(final.cluster, events, start), final.outcome, final.repeating
        )
        self._note(self.judge.quiet(quiet), plays)
        if rested.outcome == "rest":
            after = Place(rested.cluster, plays, place.deviations + len(deviations))
            number = self._keep(after)
            if place.number >= 0 and len(self.edges) < MOST_EDGES:
                self.edges.append((place.number, number, str(plays[-1].event)))

    def _key(self, place: Place) -> StateKey:
        """What makes a state: the cluster up to renaming, and how often limited events have happened."""
        used = place.used()
        cluster = fingerprint(self.world.plane, place.cluster, symmetry=self.world.symmetry)
        return cluster, tuple(sorted((name, used[name]) for name in used if name in self.limited))

    def _note(self, found: list[Found], plays: tuple[Play, ...]) -> None:
        for each in found:
            self.kinds[each.identity].add(frozenset(play.event.name for play in plays))
            if each.identity not in self.found:
                self.found[each.identity] = Counterexample(each, plays)


class _Watch:
    """Watches one stretch: judges every step, and queues the branches that the budget of deviations allows."""

    def __init__(
        self,
        explorer: Explorer,
        place: Place,
        event: Event,
        deviations: tuple[Deviation, ...],
        plays: tuple[Play, ...],
        events: tuple[Event, ...],
    ) -> None:
        self.explorer = explorer
        self.place = place
        self.event = event
        self.deviations = deviations
        self.plays = plays
        self.events = events
        self.step = 0
        self.last = _last_position(deviations)
        spent = place.deviations + len(deviations)
        self.left = explorer.bounds.deviations - spent
        depth = explorer._depth(place) + 1
        self.ties = explorer.buckets[(depth, spent + 1)] if self.left > 0 else None
        more = self.left > 0 and depth < explorer.bounds.events
        self.next_events = explorer.buckets[(depth + 1, spent + 1)] if more else None

    def __call__(self, taken: Taken) -> bool:
        explorer = self.explorer
        explorer.steps += 1
        if self.left > 0:
            self._branch(taken)
        self.step += 1
        if taken.changes:
            start = explorer.world.start
            actor = taken.move.loop  # type: ignore[union-attr]
            explorer.actions[f"{actor} {type(taken.action).__name__}"] += 1
            step = Step(
                Situation(taken.before, self.events, start), Situation(taken.after, self.events, start), actor,
                taken.changes, None, taken.action,
            )  # fmt: skip
            explorer._note(explorer.judge.step(step), self.plays)
        return False

    def _branch(self, taken: Taken) -> None:
        """Other ways out of the state before this step. Deviations come in order, so that no set comes twice."""
        if self.step < self.last:
            return
        if taken.alternatives and self.ties is not None:
            for choice in range(len(taken.alternatives)):
                if choice != taken.chosen and not any(
                    isinstance(d, Tie) and d.at == taken.tie for d in self.deviations
                ):
                    self.ties.append(Branch(self.place, self.event, (*self.deviations, Tie(taken.tie, choice))))
        if self.ties is not None and isinstance(taken.move, Read) and _begins_turn(taken):
            self._turns(taken)
        idle = isinstance(taken.move, Read) and taken.before.store is taken.after.store and not _begun(taken)
        if idle:
            return
        if self.next_events is not None:
            # Striking before this step: in the middle of a pass, or before time goes on.
            play = Play(self.event, (*self.deviations, Interruption(self.step)))
            self.next_events.append(
                Place(taken.before, (*self.place.plays, play), self.place.deviations + len(play.deviations))
            )

    def _turns(self, taken: Taken) -> None:
        """Each other loop that is ready takes its turn before the one whose turn begins."""
        assert self.ties is not None
        ready = self.explorer.world.plane.ready(taken.before)
        loops = {taken.move.loop}  # type: ignore[union-attr]
        for choice, move in enumerate(ready):
            if move.loop not in loops:
                loops.add(move.loop)
                self.ties.append(Branch(self.place, self.event, (*self.deviations, OutOfTurn(self.step, choice))))


def _begins_turn(taken: Taken) -> bool:
    """Whether a read is the first of its loop's turn.

    In the middle of a turn another loop would see little else than before it or after it.
    """
    return not taken.before.loops[taken.move.loop].serving  # type: ignore[union-attr]


def _begun(taken: Taken) -> bool:
    """Whether a read has put a pass in flight, so that something can fall between the read and its first write."""
    return taken.after.loops[taken.move.loop].in_flight is not None  # type: ignore[union-attr]


def _last_position(deviations: tuple[Deviation, ...]) -> int:
    return max((each.at for each in deviations if isinstance(each, OutOfTurn)), default=-1)


def _widest(covered: list[Bounds]) -> list[Bounds]:
    """The bounds that no other covered bounds include."""
    every = set(covered)
    complete = [
        each
        for each in covered
        if all(Bounds(e, d) in every or e == 0 for e in range(1, each.events + 1) for d in range(each.deviations + 1))
    ]
    return [
        each
        for each in complete
        if not any(
            other != each and other.events >= each.events and other.deviations >= each.deviations for other in complete
        )
    ]
