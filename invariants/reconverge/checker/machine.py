"""A Hypothesis state machine of a scenario: one named rule per kind of event, arguments drawn by name.

This is what people extend, what HypoFuzz runs, and what shrinks in Hypothesis' own way. When an invariant breaks, the
sequence is also reduced on the pure model, and the failure shows that reduced trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from reconverge.checker.build_trace import trace_of
from reconverge.checker.judge import Found
from reconverge.checker.minimise import Minimiser
from reconverge.checker.runner import Play, Player, hindered
from reconverge.checker.scenario import Scenario
from reconverge.checker.schedule import Course, Interruption
from reconverge.checker.trace import Trace
from reconverge.checker.world import Allowance, World
from reconverge.model.control_plane import ControlPlane
from reconverge.model.events import Event

LATEST_INTERRUPTION = 40
"""The next event strikes after at most so many steps, if it strikes early."""


class InvariantBroken(AssertionError):
    """An invariant broke in a state machine; `trace` is the reduced counterexample."""

    def __init__(self, trace: Trace, text: str) -> None:
        super().__init__(text)
        self.trace = trace


def outline(trace: Trace) -> str:
    """A trace in a few lines: what broke, and the events that break it."""
    events = [f"  {number}. {step.text}" for number, step in enumerate(_events(trace), 1)]
    return "\n".join([f"{trace.title}: {trace.message}", *events])


def _events(trace: Trace) -> list[Any]:
    return [step for step in trace.steps if step.kind == "event"]


def state_machine(
    scenario: Scenario, *, plane: ControlPlane | None = None, render: Callable[[Trace], str] = outline
) -> type[RuleBasedStateMachine]:
    """The state machine of a scenario. Its `TestCase` is a test; `settings` on that work as Hypothesis says.

    Turn `Phase.explain` off in them: it is slow and tells little about sequences of events.
    """
    world = scenario.world(plane)
    rules = {_method(allowance): _rule(allowance) for allowance in world.allowances}
    members: dict[str, Any] = {
        "__doc__": f"The scenario {scenario.name}: one rule per kind of event.",
        "world": world,
        "scenario": scenario,
        "render": staticmethod(render),
        **rules,
    }
    return type("ClusterMachine", (_ClusterMachine,), members)


class _ClusterMachine(RuleBasedStateMachine):
    """What the machines of all scenarios share."""

    world: World
    scenario: Scenario
    render: Callable[[Trace], str]

    def __init__(self) -> None:
        super().__init__()
        self.player = Player(self.world, self.world.judge())
        self.player.begin()
        for event in self.world.prefix:
            self._play(Play(event))

    def enabled(self, allowance: Allowance) -> list[Event]:
        """The events of one kind that may strike now."""
        used = Counter(event.name for event in self.player.events)
        return [event for event in self.world.candidates(self.player.cluster, used) if event.name == allowance.event]

    def strike(self, event: Event, after: int | None) -> None:
        """Plays an event; the next one strikes after so many steps, or when all has settled."""
        self._play(Play(event, () if after is None else (Interruption(after),)))

    def _play(self, play: Play) -> None:
        player = self.player
        if not player.strike(play):
            return
        player.settle(Course.of(play.deviations), last=False)
        # A quiet run ends with all loops recovered: what rests with one hindered is no end yet.
        if not play.deviations and not hindered(player.cluster):
            player.judge_end()
        if player.found:
            self._fail(player.found[0][1])

    def teardown(self) -> None:
        """The quiet run after the last event is judged, too."""
        if not self.player.found:
            self.player.settle(Course(), last=True)
            self.player.judge_end()
            if self.player.found:
                self._fail(self.player.found[0][1])

    def _fail(self, found: Found) -> None:
        minimal = Minimiser(self.world, found).reduce(self.player.plays)
        trace = trace_of(
            self.world, minimal.plays, minimal.found, document=self.scenario.document,
            kubernetes=self.scenario.rules.version, minimal=minimal.minimal,
        )  # fmt: skip
        raise InvariantBroken(trace, type(self).render(trace))


def _method(allowance: Allowance) -> str:
    return allowance.event.replace("-", "_")


def _rule(allowance: Allowance) -> Any:
    """The rule of one kind of event: which of the enabled ones, by name, and whether the next one strikes early."""

    def strike(self: _ClusterMachine, data: Any, after: int | None) -> None:
        event = data.draw(st.sampled_from(self.enabled(allowance)), label=allowance.event)
        self.strike(event, after)

    def possible(self: _ClusterMachine) -> bool:
        return bool(self.enabled(allowance))

    strike.__name__ = strike.__qualname__ = _method(allowance)
    decorated = rule(data=st.data(), after=st.none() | st.integers(0, LATEST_INTERRUPTION))(strike)
    return precondition(possible)(decorated)
