"""Running one sequence of events, and judging along it: what search, minimising, replay and traces share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from attrs import frozen

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
from reconverge.model.events import Event, LoopResumes, TimePasses, WatchCatchesUp
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
    """The stretch after the last event: as `settle`, and in the end hindered loops recover and it settles again."""
    rested = settle(plane, cluster, course, watch)
    if rested.outcome == "rest" and hindered(rested.cluster):
        return settle(plane, revived(plane, rested.cluster), Course(), watch)
    return rested


def hindered(cluster: Cluster) -> bool:
    """Whether a loop is paused or has a stalled watch."""
    return any(state.paused or state.stalled for state in cluster.loops.values())


def revived(plane: ControlPlane, cluster: Cluster) -> Cluster:
    """The cluster with paused loops going on and stalled watches caught up: in a quiet run they do in the end."""
    for name in plane.names:
        if cluster.loops[name].paused:
            cluster, _ = plane.strike(cluster, LoopResumes(name))
        for kind in sorted(cluster.loops[name].stalled):
            cluster, _ = plane.strike(cluster, WatchCatchesUp(name, kind))
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


class Player:
    """Plays one sequence of events from the world's start, one stretch at a time, and judges along it.

    `until` is the id of the invariant at whose violation the run stops, None for never.
    """

    def __init__(self, world: World, judge: Judge, *, until: str | None = None, observer: Observer = NOBODY) -> None:
        self.world = world
        self.judge = judge
        self.until = until
        self.observer = observer
        self.start = world.start
        self.cluster = world.start
        self.plays: tuple[Play, ...] = ()
        self.found: list[tuple[int, Found]] = []
        self.rested: Rested | None = None
        self.quiet = False
        """Whether the last stretch was a quiet run to its end."""
        self._struck = world.start

    @property
    def events(self) -> tuple[Event, ...]:
        """The events so far."""
        return tuple(play.event for play in self.plays)

    @property
    def done(self) -> bool:
        """Whether the invariant that it looks for is broken."""
        return self.until is not None and any(each.invariant.id == self.until for _, each in self.found)

    def begin(self) -> None:
        """Lets a start that is not at rest come to it: free events strike at rest, only fixed ones strike before."""
        if not self.world.prefix and self.world.plane.next(self.world.start) is not None:
            self.settle(Course(), last=False)

    def strike(self, play: Play) -> bool:
        """Makes the event happen; False if it is not enabled or the API refuses it."""
        if not play.event.enabled(self.cluster):
            return False
        try:
            after, changes = self.world.plane.strike(self.cluster, play.event)
        except ApiError:
            return False
        before, self.cluster, self._struck = self.cluster, after, after
        if self.observer.struck is not None:
            self.observer.struck(Struck(play.event, before, after, changes))
        step = Step(
            Situation(before, self.events, self.start),
            Situation(after, (*self.events, play.event), self.start),
            "environment",
            changes,
            play.event,
        )
        self.plays = (*self.plays, play)
        self._note(self.judge.step(step))
        return True

    def settle(self, course: Course, *, last: bool) -> None:
        """Runs the stretch that follows; the last one is the quiet run."""
        if self.done:
            return
        self.quiet = last
        self.rested = (quiet_run if last else settle)(self.world.plane, self.cluster, course, self._watch)
        self.cluster = self.rested.cluster
        if self.observer.rested is not None and not self.done:
            self.observer.rested(self.rested)

    def _watch(self, taken: Taken) -> bool:
        if self.observer.taken is not None:
            self.observer.taken(taken)
        if not taken.changes:
            return False
        before = Situation(taken.before, self.events, self.start)
        after = Situation(taken.after, self.events, self.start)
        actor = taken.move.loop  # type: ignore[union-attr]
        self._note(self.judge.step(Step(before, after, actor, taken.changes, None, taken.action)))
        return self.done

    def judge_end(self) -> None:
        """Judges what is promised for the end of the quiet run."""
        if self.rested is None or self.done or self.rested.outcome == "unfinished":
            return
        quiet = Quiet(
            Situation(self._struck, self.events, self.start),
            Situation(self.rested.cluster, self.events, self.start),
            self.rested.outcome,
            self.rested.repeating,
        )
        self._note(self.judge.quiet(quiet))

    def judge_start(self) -> None:
        """Judges what always holds in the situation as it is, from scratch."""
        self._note(self.judge.situation(Situation(self.cluster, (), None)))

    def _note(self, found: list[Found]) -> None:
        for each in found:
            self.found.append((len(self.plays), each))
            if self.observer.found is not None:
                self.observer.found(each)

    def result(self) -> Run:
        """What has come of it so far."""
        return Run(self.plays, tuple(self.found), self.rested, self.cluster)


def run(
    world: World,
    plays: Sequence[Play],
    judge: Judge,
    *,
    until: str | None = None,
    observer: Observer = NOBODY,
    permitted: bool = False,
) -> Run:
    """Plays a sequence from the world's start; events that are not enabled are left out.

    Stops as soon as the invariant with the id `until` is broken. An empty sequence is the start's own quiet run.
    With `permitted`, events that the world does not permit at their place are left out, too.
    """
    player = Player(world, judge, until=until, observer=observer)
    if not plays:
        player.judge_start()
    else:
        player.begin()
    for place, play in enumerate(plays):
        following = plays[place + 1] if place + 1 < len(plays) else None
        if permitted and not world.permits(player.cluster, play.event, Counter(each.name for each in player.events)):
            continue
        if not player.strike(play):
            continue
        player.settle(_course(play, following, player.cluster), last=following is None)
        if player.done:
            break
    if not player.quiet and not player.done:
        # The last event that could happen was followed by a stretch cut short for another that could not.
        player.settle(Course(), last=True)
    player.judge_end()
    return player.result()


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
