"""Running one sequence of events, and judging along it: what search, minimising, replay and traces share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from attrs import field, frozen

from reconverge.checker.judge import Found, Judge
from reconverge.checker.rest import RestDetector
from reconverge.checker.schedule import Course, Deviation, Interruption, Taken, stretch
from reconverge.checker.world import World
from reconverge.invariants import Quiet, Situation, Step
from reconverge.invariants.situation import Outcome
from reconverge.model.action import Action
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane
from reconverge.model.errors import ApiError
from reconverge.model.events import Event, LoopResumes, TimePasses
from reconverge.model.store import Change


@frozen
class Play:
    """One event of a sequence and the deviations in the stretch that follows it."""

    event: Event
    deviations: tuple[Deviation, ...] = ()


@frozen
class Struck:
    """An event that has happened: the clusters around it."""

    event: Event
    before: Cluster
    after: Cluster
    changes: tuple[Change, ...]


@frozen
class Rested:
    """How a stretch ended, and the steps of the part that repeats (empty unless it is a loop or growth)."""

    cluster: Cluster
    outcome: Outcome
    steps: int
    repeats_from: int | None = None
    repeating: tuple[tuple[str, Action], ...] = ()


Watcher = Callable[[Taken], bool]
"""Told of every step; True ends the run there."""


def settle(
    plane: ControlPlane, cluster: Cluster, course: Course, watch: Watcher, *, first_tie: int = 0, first_step: int = 0
) -> Rested:
    """Runs a stretch to its end, with every step shown to `watch`."""
    detector = RestDetector(plane, cluster)
    actions: list[tuple[str, Action] | None] = []
    outcome: Outcome | None = None
    for taken in stretch(plane, cluster, course, first_tie=first_tie, first_step=first_step):
        cluster = taken.after
        stop = watch(taken)
        wrote = taken.action is not None and bool(taken.changes)
        actions.append((taken.move.loop, taken.action) if wrote and taken.action is not None else None)  # type: ignore[union-attr]
        outcome = detector.look(taken)
        if outcome is not None or stop:
            break
    if course.horizon is not None and outcome is None:
        cluster = plane.wait(cluster, course.horizon)
    if detector.repeats_from is None:
        return Rested(cluster, outcome or "rest", len(actions))
    repeated = tuple(each for each in actions[detector.repeats_from :] if each is not None)
    return Rested(cluster, outcome or "rest", len(actions), detector.repeats_from, repeated)


def quiet_run(plane: ControlPlane, cluster: Cluster, course: Course, watch: Watcher) -> Rested:
    """The stretch after the last event: as `settle`, and in the end paused loops go on and it settles again."""
    rested = settle(plane, cluster, course, watch)
    if rested.outcome == "rest" and any(state.paused for state in rested.cluster.loops.values()):
        return settle(plane, revived(plane, rested.cluster), Course(), watch)
    return rested


def revived(plane: ControlPlane, cluster: Cluster) -> Cluster:
    """The cluster with every paused loop going on: in a quiet run they do in the end."""
    for name in plane.names:
        if cluster.loops[name].paused:
            cluster, _ = plane.strike(cluster, LoopResumes(name))
    return cluster


@frozen
class Run:
    """What came of a sequence: the plays that could be made, the violations in order, and how it ended."""

    plays: tuple[Play, ...]
    found: tuple[tuple[int, Found], ...]
    """(number of plays begun when it broke, violation)."""
    rested: Rested | None
    cluster: Cluster


@frozen
class Observer:
    """Who is told of a run as it goes: events, steps and ends. All are optional."""

    struck: Callable[[Struck], None] | None = None
    taken: Callable[[Taken], None] | None = None
    rested: Callable[[Rested], None] | None = None
    found: Callable[[Found], None] | None = None


NOBODY = Observer()


def run(
    world: World,
    plays: Sequence[Play],
    judge: Judge,
    *,
    until: str | None = None,
    observer: Observer = NOBODY,
    every_rest: bool = False,
) -> Run:
    """Plays a sequence from the world's start; events that are not enabled are left out.

    Stops as soon as the invariant with the id `until` is broken. `every_rest` judges the quiet run after each event,
    not only the last one.
    """
    return _Runner(world, judge, until, observer, every_rest).play(plays)


@frozen
class _Runner:
    world: World
    judge: Judge
    until: str | None
    observer: Observer
    every_rest: bool
    found: list[tuple[int, Found]] = field(factory=list)

    def play(self, plays: Sequence[Play]) -> Run:
        cluster = self.world.start
        start = cluster
        events: tuple[Event, ...] = ()
        made: list[Play] = []
        rested: Rested | None = None
        for play, following in _with_next(plays):
            if not play.event.enabled(cluster):
                continue
            try:
                struck = self._strike(cluster, play.event)
            except ApiError:
                continue
            events = (*events, play.event)
            made.append(play)
            before = Situation(struck.before, events[:-1], start)
            after = Situation(struck.after, events, start)
            self._note(len(made), self.judge.step(Step(before, after, "environment", struck.changes, play.event)))
            if self._done():
                return Run(tuple(made), tuple(self.found), None, struck.after)
            course = _course(play, following, struck.after)
            rested = self._settle(struck.after, course, events, start, len(made), following is None)
            cluster = rested.cluster
            if self._done():
                return Run(tuple(made), tuple(self.found), rested, cluster)
            if following is None or (self.every_rest and course.stop_after is None and course.horizon is None):
                self._judge_end(struck.after, rested, events, start, len(made))
                if self._done():
                    break
        if not made:
            rested = self._settle(cluster, Course(), events, start, 0, True)
            cluster = rested.cluster
            self._judge_end(start, rested, events, start, 0)
        return Run(tuple(made), tuple(self.found), rested, cluster)

    def _strike(self, cluster: Cluster, event: Event) -> Struck:
        after, changes = self.world.plane.strike(cluster, event)
        struck = Struck(event, cluster, after, changes)
        if self.observer.struck is not None:
            self.observer.struck(struck)
        return struck

    def _settle(
        self, cluster: Cluster, course: Course, events: tuple[Event, ...], start: Cluster, count: int, last: bool
    ) -> Rested:
        def watch(taken: Taken) -> bool:
            if self.observer.taken is not None:
                self.observer.taken(taken)
            if taken.changes:
                before = Situation(taken.before, events, start)
                after = Situation(taken.after, events, start)
                actor = taken.move.loop  # type: ignore[union-attr]
                self._note(count, self.judge.step(Step(before, after, actor, taken.changes, None, taken.action)))
                return self._done()
            return False

        rested = (quiet_run if last else settle)(self.world.plane, cluster, course, watch)
        if self.observer.rested is not None and not self._done():
            self.observer.rested(rested)
        return rested

    def _judge_end(
        self, before: Cluster, rested: Rested, events: tuple[Event, ...], start: Cluster, count: int
    ) -> None:
        quiet = Quiet(
            Situation(before, events, start),
            Situation(rested.cluster, events, start),
            rested.outcome,
            rested.repeating,
        )
        self._note(count, self.judge.quiet(quiet))

    def _note(self, count: int, found: list[Found]) -> None:
        for each in found:
            self.found.append((count, each))
            if self.observer.found is not None:
                self.observer.found(each)

    def _done(self) -> bool:
        return self.until is not None and any(each.invariant.id == self.until for _, each in self.found)


def _with_next(plays: Sequence[Play]) -> Iterator[tuple[Play, Play | None]]:
    for place, play in enumerate(plays):
        yield play, plays[place + 1] if place + 1 < len(plays) else None


def _course(play: Play, following: Play | None, cluster: Cluster) -> Course:
    """The course of the stretch after an event: to its rest, to an interruption, or for some seconds."""
    deviations = play.deviations
    if following is None:
        deviations = tuple(each for each in deviations if not isinstance(each, Interruption))
    if following is not None and isinstance(following.event, TimePasses):
        # The clock stands until the event that lets it run.
        return Course.of(deviations, horizon=cluster.now)
    if isinstance(play.event, TimePasses) and following is not None:
        return Course.of(deviations, horizon=cluster.now + play.event.seconds)
    return Course.of(deviations)


