"""Walking the model along a recording: depth-first, every observed change explained before the next."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from attrs import frozen

from reconverge.checker.conformance.answers import Answer, answer_of, drained, missing_answer
from reconverge.checker.conformance.explain import Explainer
from reconverge.checker.conformance.foresight import Foresight, guided
from reconverge.checker.conformance.names import Names
from reconverge.checker.conformance.options import Options
from reconverge.checker.conformance.pace import REST, Pacer
from reconverge.checker.conformance.recording import Observed, Recording
from reconverge.checker.conformance.run import SCRIPT, Ask, Entry, Happen, Mover, Point, Trail
from reconverge.checker.conformance.script import Stroke, strokes
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane
from reconverge.model.value import Seconds, Value

EARLY = 1.3
"""How many seconds before the model a change may be observed: heartbeats, periods and watches have phases."""
LATE = 1.5
"""How many seconds after the model a change is observed at the latest, where nothing else is observed meanwhile."""
PERIODIC = {"pod-gc": 40.0, "drain": 5.0}
"""Loops that look only every so often, at moments that a recording does not tell: how much later they may be."""
SKEW = 0.02
"""Seconds by which the clock of the script and the arrival of watch events may differ."""
ANSWER_WITHIN = 0.6
"""Seconds in which a request is answered."""
WINDOW = 90
"""Moves that are kept for passes that were read in the past."""


@frozen
class State(Value):
    """How far the walk has come: the run, the observations explained, the script's steps taken, its answers."""

    trail: Trail
    explained: int = 0
    struck: int = 0
    """Steps of the script that have begun, in order."""
    waiting: tuple[int, ...] = ()
    """Steps whose refusal has not been seen yet."""
    answers: tuple[Answer, ...] = ()
    busy: tuple[str, ...] = ()
    """What the model would have done where the recording says that all was quiet."""

    @property
    def point(self) -> Point:
        """The present."""
        return self.trail[-1].point


@frozen
class Stuck:
    """Where the walk came to its end: the furthest state, and the observation that nothing explains."""

    state: State
    observed: Observed | None


class Walker:
    """One walk of a control plane along a recording."""

    def __init__(
        self, recording: Recording, plane: ControlPlane, start: Cluster, most_tries: int, window: int = WINDOW
    ) -> None:
        self.recording = recording
        plane = guided(plane)
        self.mover = Mover(plane)
        counter = count(1)
        self.pacer = Pacer(self.mover, counter)
        options = Options(self.mover, counter, recording.history, Foresight(recording.history))
        self.explainer = Explainer(self.mover, counter, options)
        self.strokes = strokes(recording)
        self.counter = counter
        self.start = State((Entry(None, Point(start, (), _real_names(recording))),))
        self.most_tries = most_tries
        self.window = window
        self.tries = 0

    def walk(self) -> tuple[State | None, Stuck]:
        """The state in which everything is explained, or None; and how far the walk came."""
        furthest = Stuck(self.start, self._observation(self.start))
        stack = [self._successors(self.start)]
        while stack and self.tries < self.most_tries:
            state = next(stack[-1], None)
            if state is None:
                stack.pop()
                continue
            self.tries += 1
            if state.explained > furthest.state.explained or furthest.state.explained == 0:
                furthest = Stuck(state, self._observation(state))
            if state.explained == len(self.recording.history):
                ended = self.prepared(state, self.recording.ends_at)
                if not ended.busy:
                    return ended, Stuck(ended, None)
                furthest = Stuck(state, None)
                continue
            stack.append(self._successors(state))
        return None, furthest

    def _observation(self, state: State) -> Observed | None:
        history = self.recording.history
        return history[state.explained] if state.explained < len(history) else None

    def _successors(self, state: State) -> Iterator[State]:
        observed = self.recording.history[state.explained]
        prepared = self.prepared(state, observed.at)
        if prepared.busy:
            return
        yield from self._explained(prepared, observed)
        latest = observed.at + EARLY
        while True:
            due = self.mover.plane.next_deadline(prepared.point.cluster)
            if due is None or due > latest:
                return
            trail = self.pacer.advance(prepared.trail, max(due, prepared.point.cluster.now))
            prepared = prepared.with_(trail=trail)
            yield from self._explained(prepared, observed)

    def _explained(self, state: State, observed: Observed) -> Iterator[State]:
        for trail in self.explainer.explanations(state.trail, observed):
            settled = self.pacer.settle_silent(trail, everything=False)
            yield self._answered(state.with_(trail=settled[-self.window :], explained=state.explained + 1))

    # The script ----------------------------------------------------------------------------------------------

    def prepared(self, state: State, until: Seconds) -> State:
        """The state at the time of an observation, with the script's steps up to then taken."""
        while state.struck < len(self.strokes):
            stroke = self.strokes[state.struck]
            if stroke.step.at > until + SKEW:
                break
            state = self._advanced(state, stroke.step.at)
            if state.busy:
                return state
            state = self._struck(state, stroke)
        state = self._advanced(state, until)
        return state if state.busy else self._answered(state)

    def _advanced(self, state: State, until: Seconds) -> State:
        """The state at a later time before which nothing was observed: the model has nothing to do for long either."""
        for loops, late in self._lateness():
            if not state.busy and until - state.point.cluster.now > late + REST:
                state = self._idle(self._passed(state, until - late), loops)
        return state if state.busy else self._passed(state, until)

    def _lateness(self) -> list[tuple[frozenset[str], Seconds]]:
        """Loops, and how many seconds after the model's they may act in a recording: the longest first."""
        others = frozenset((*self.mover.plane.names, SCRIPT)) - PERIODIC.keys()
        return [*((frozenset({loop}), late + LATE) for loop, late in PERIODIC.items()), (others, LATE)]

    def _passed(self, state: State, until: Seconds) -> State:
        if until <= state.point.cluster.now:
            return state
        return state.with_(trail=self.pacer.advance(state.trail, until)[-self.window :])

    def _idle(self, state: State, loops: frozenset[str]) -> State:
        """The state, with what some loops would do now in `busy`: nothing, if the model is to agree."""
        trail = self.pacer.settle_silent(state.trail, everything=True)
        while (earlier := self.pacer.silent_earlier(trail)) is not trail:
            trail = self.pacer.settle_silent(earlier, everything=True)
        state = state.with_(trail=trail[-self.window :])
        would = self.pacer.would_do(state.point)
        return state.with_(busy=tuple(f"{loop} ({key}) {what}" for loop, key, what in would if loop in loops))

    def _struck(self, state: State, stroke: Stroke) -> State:
        state = state.with_(struck=state.struck + 1)
        if stroke.refused:
            return self._answered(state.with_(waiting=(*state.waiting, stroke.step.index)))
        point = state.point
        if stroke.step.do == "drain ends":
            state = state.with_(trail=self.pacer.served(state.trail, "drain"))
            answer = drained(stroke.step, state.point.cluster, state.point.names)
            return state.with_(answers=(*state.answers, answer))
        if stroke.incident is not None:
            trail = self.mover.moves(state.trail, (Happen(stroke.step.index, stroke.incident),))
        elif stroke.request is not None:
            actions = stroke.request(point.cluster, point.names)
            ask = (Ask(next(self.counter), stroke.step.index, actions),) if actions else ()
            trail = self.mover.moves(state.trail, ask)
        else:
            return state
        assert trail is not None
        return state.with_(trail=self.pacer.settle_silent(trail, everything=False))

    def _answered(self, state: State) -> State:
        """The state after the requests that are to be refused have been asked, as far as the model refuses them."""
        for index in state.waiting:
            stroke = self.strokes[index]
            assert stroke.request is not None
            actions = stroke.request(state.point.cluster, state.point.names)
            answer = answer_of(stroke.step, state.point.cluster, actions)
            if answer.same:
                left = tuple(each for each in state.waiting if each != index)
                state = state.with_(waiting=left, answers=(*state.answers, answer))
            elif state.point.cluster.now > stroke.step.at + ANSWER_WITHIN:
                left = tuple(each for each in state.waiting if each != index)
                state = state.with_(waiting=left, answers=(*state.answers, missing_answer(stroke.step, answer)))
        return state


def _real_names(recording: Recording) -> Names:
    names = Names()
    for node in recording.initial_nodes:
        names = names.bound("Node", node, node) or names
    return names
