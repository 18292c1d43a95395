"""Checking a scenario: search, reduce, group, and say what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal

from attrs import evolve, frozen

from reconverge.checker.build_trace import trace_of
from reconverge.checker.coverage import never_happened
from reconverge.checker.explore import Counterexample, Explorer, Kinds, Search
from reconverge.checker.finding import Finding
from reconverge.checker.fixed_steps import require_steps
from reconverge.checker.grouping import causes
from reconverge.checker.judge import Judge
from reconverge.checker.minimise import Minimal, Minimiser
from reconverge.checker.not_judged import not_judged
from reconverge.checker.result import (
    Bounds,
    Coverage,
    Expectation,
    Exploration,
    Result,
    Status,
    Verdict,
)
from reconverge.checker.runner import Play
from reconverge.checker.scenario import Expected, Scenario
from reconverge.checker.table import resilience_table
from reconverge.checker.trace import Trace
from reconverge.checker.walks import Walks, random_walks
from reconverge.checker.world import World
from reconverge.model.control_plane import ControlPlane

Mode = Literal["auto", "exhaustive", "random"]

ORDINARY_BUDGET = 120_000
"""Steps spent by default when nobody asked for bounds: about ten seconds."""
ASKED_BUDGET = 5_000_000
"""Steps spent at most when bounds were asked for."""
ORDINARY_WALKS = 100
SHORTER_BUDGET = 8_000
"""Steps spent on looking for anything shorter than a reduced sequence that was found at random."""


def check(
    scenario: Scenario,
    *,
    mode: Mode = "auto",
    seed: int = 0,
    max_examples: int | None = None,
    budget: int | None = None,
    plane: ControlPlane | None = None,
    symmetry: bool = True,
    accepted: Mapping[tuple[str, str], str] | None = None,
) -> Result:
    """Checks a scenario. Raises LoadError if it names invariants that do not exist.

    `budget` is the most steps of an exhaustive search, `max_examples` the number of random walks. `accepted` are
    violations, by invariant and object ("" for all), with the written reason for accepting each.
    """
    world = scenario.world(plane, symmetry=symmetry)
    require_steps(world, scenario.file)
    if mode == "random":
        walks = random_walks(world, walks=max_examples or ORDINARY_WALKS, seed=seed, deviations=scenario.deviations)
        return _Conclusion(scenario, world, seed, _of_walks(scenario, walks), accepted or {}).result()
    explored = _exhaustive(scenario, world, mode, budget)
    return _Conclusion(scenario, world, seed, explored, accepted or {}).result()


@frozen
class Explored:
    """What a search has found, exhaustive or random, in one shape."""

    counterexamples: dict[tuple[str, str], Counterexample]
    judge: Judge
    exploration: Exploration
    events: Counter[str]
    actions: Counter[str]
    kinds: Kinds
    edges: tuple[tuple[int, int, str], ...]
    not_covered: tuple[str, ...]
    conclusive: bool
    """Whether what was not violated held within the bounds that are claimed."""


def _of_walks(scenario: Scenario, walks: Walks) -> Explored:
    bounds = Bounds(scenario.events, scenario.deviations)
    exploration = Exploration(
        "random", False, walks.states, walks.transitions, walks.walks, walks.steps, bounds, (), True
    )
    return Explored(
        walks.counterexamples, walks.judge, exploration, walks.events, walks.actions, walks.kinds,
        (),
        ("random walks prove nothing about the sequences that they did not take: --exhaustive",), False,
    )  # fmt: skip


def _exhaustive(scenario: Scenario, world: World, mode: Mode, budget: int | None) -> Explored:
    bounds = Bounds(scenario.events, scenario.deviations)
    if budget is None:
        budget = ASKED_BUDGET if scenario.bounds_given or mode == "exhaustive" else ORDINARY_BUDGET
    search = Explorer(world, bounds, budget).search()
    covered = tuple(search.covered)
    claimed = search.complete or (not scenario.bounds_given and mode == "auto" and _worth_claiming(search, bounds))
    exploration = Exploration(
        "exhaustive", search.complete, search.states, search.transitions, search.sequences, search.steps,
        bounds, covered, world.symmetry,
    )  # fmt: skip
    return Explored(
        search.counterexamples, search.judge, exploration, search.events, search.actions, search.kinds,
        tuple(search.edges),
        tuple(_not_covered(search, bounds, budget)), claimed,
    )  # fmt: skip


def _worth_claiming(search: Search, bounds: Bounds) -> bool:
    """Whether bounds that nobody asked for were covered far enough to be claimed: at least each single event."""
    return any(each.events >= min(1, bounds.events) for each in search.covered) and not search.unfinished


def _not_covered(search: Search, bounds: Bounds, budget: int) -> Iterable[str]:
    if search.unfinished:
        runs = "1 quiet run was" if search.unfinished == 1 else f"{search.unfinished:,} quiet runs were"
        yield f"{runs} given up before coming to rest or repeating"
    if not search.complete and not search.unfinished and search.steps > budget:
        yield (
            f"sequences of {counted(bounds.events, 'event')} with {counted(bounds.deviations, 'deviation')} were not "
            f"explored to the end within {budget:,} steps: --events {bounds.events} --deviations {bounds.deviations} "
            f"explores on"
        )
    elif search.complete:
        yield (
            f"sequences of more than {counted(bounds.events, 'event')} or {counted(bounds.deviations, 'deviation')}: "
            f"--events {bounds.events + 1}, --deviations {bounds.deviations + 1}, or --random for long walks"
        )


def counted(number: int, noun: str) -> str:
    """`1 event`, `2 events`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


class _Conclusion:
    """From what was explored to what is said."""

    def __init__(
        self,
        scenario: Scenario,
        world: World,
        seed: int,
        explored: Explored,
        accepted: Mapping[tuple[str, str], str],
    ) -> None:
        self.scenario = scenario
        self.world = world
        self.seed = seed
        self.explored = explored
        self.accepted = accepted
        self._reductions: dict[tuple[str, str, tuple[Play, ...]], Minimal] = {}

    def result(self) -> Result:
        """The whole result."""
        findings = [self._reduced(each) for each in self.explored.counterexamples.values()]
        groups = causes(findings, self.world.start.store)
        traces: list[Trace] = []
        verdicts: dict[tuple[str, str], Verdict] = {}
        for group in groups:
            chosen = group[0]
            traces.append(self._trace(chosen))
            for each in group:
                id_, object_ = each.found.identity
                verdicts[id_, object_] = Verdict(
                    id_, object_, "violated", each.found.invariant.family, each.found.violation.message,
                    len(traces) - 1, self._acceptance(id_, object_),
                )  # fmt: skip
        listed = [*verdicts.values(), *self._others(verdicts)]
        explored = self.explored
        table = resilience_table(self.world, explored.events, explored.kinds, groups, explored.conclusive)
        coverage = Coverage(
            dict(sorted(explored.events.items())),
            dict(sorted(explored.actions.items())),
            {
                each.id: (explored.judge.judged[each.id], explored.judge.applicable[each.id])
                for each in self.world.invariants
            },
            tuple(never_happened(self.world, explored.events, explored.actions, explored.judge, self.scenario.events)),
        )
        seed = self.seed if explored.exploration.mode == "random" else None
        return Result(
            scenario=self.scenario.name,
            document=self.scenario.document,
            kubernetes=self.scenario.rules.version,
            seed=self.seed,
            exploration=evolve(explored.exploration, seed=seed),
            verdicts=tuple(listed),
            traces=tuple(traces),
            coverage=coverage,
            table=table,
            warnings=(*self.scenario.warnings, *_warnings(self.scenario)),
            not_covered=explored.not_covered,
            expectation=self._expectation(listed),
            edges=explored.edges,
            input=self.scenario.loaded,
        )

    def _reduced(self, counterexample: Counterexample) -> Finding:
        prefix = len(self.world.prefix)
        if prefix:
            # Fixed steps are the scenario's own; only what was free is reduced, and that search was shortest first.
            return Finding(counterexample.found, counterexample.plays, self.explored.conclusive, True)
        minimal = self._minimal(counterexample)
        if self.explored.exploration.mode == "random":
            shorter, complete = self._shorter(minimal)
            minimal = self._minimal(shorter) if shorter is not None else minimal
            if minimal.found.identity == counterexample.found.identity:
                return Finding(minimal.found, minimal.plays, complete, minimal.minimal)
        exhaustive = self.explored.exploration.mode == "exhaustive"
        shortest = exhaustive and len(minimal.plays) <= len(counterexample.plays)
        same = minimal.found.identity == counterexample.found.identity
        if not same:
            # Reduced to another object of the same kind, which has its own counterexample: keep this one's own.
            smallest = minimal.minimal and minimal.plays == counterexample.plays
            return Finding(counterexample.found, counterexample.plays, exhaustive, smallest)
        return Finding(minimal.found, minimal.plays, shortest, minimal.minimal)

    def _shorter(self, minimal: Minimal) -> tuple[Counterexample | None, bool]:
        """A sequence with fewer events that breaks the same promise to the same object, and whether none is shorter.

        Searched exhaustively below the length that reduction has reached, as far as a small budget goes.
        """
        events = len(minimal.plays) - 1
        if events < 1:
            return None, True
        deviations = sum(len(play.deviations) for play in minimal.plays)
        only = evolve(self.world, invariants=(minimal.found.invariant,))
        search = Explorer(only, Bounds(events, deviations), SHORTER_BUDGET).search()
        shorter = search.counterexamples.get(minimal.found.identity)
        return shorter, search.complete or shorter is not None

    def _minimal(self, counterexample: Counterexample) -> Minimal:
        """One sequence is reduced once for one promise and kind of object: growth breaks it for hundreds of pods."""
        found = counterexample.found
        target = (found.invariant.id, found.violation.object.partition("/")[0], counterexample.plays)
        if target not in self._reductions:
            self._reductions[target] = Minimiser(self.world, found).reduce(counterexample.plays)
        return self._reductions[target]

    def _trace(self, finding: Finding) -> Trace:
        return trace_of(
            self.world, finding.plays, finding.found, document=self.scenario.document,
            kubernetes=self.scenario.rules.version, shortest=finding.shortest, minimal=finding.minimal,
            seed=self.seed if self.explored.exploration.mode == "random" else None,
        )  # fmt: skip

    def _others(self, violated: Mapping[tuple[str, str], Verdict]) -> Iterable[Verdict]:
        """Verdicts for everything that was applicable and not violated, and for what never was applicable."""
        judge = self.explored.judge
        status: Status = "held" if self.explored.conclusive else "inconclusive"
        for invariant in self.world.invariants:
            subjects = [object_ for id_, object_ in judge.subjects if id_ == invariant.id]
            if invariant.kind == "sometimes":
                continue
            if not subjects and not any(id_ == invariant.id for id_, _ in violated):
                yield Verdict(invariant.id, "", "never applicable", invariant.family)
            for object_ in subjects:
                if (invariant.id, object_) not in violated and not self._covered_by(violated, invariant.id, object_):
                    yield Verdict(invariant.id, object_, status, invariant.family)

    def _covered_by(self, violated: Mapping[tuple[str, str], Verdict], id_: str, object_: str) -> bool:
        """An invariant of the whole cluster that is violated for some object did not hold."""
        return object_ == "" and any(each == id_ for each, _ in violated)

    def _acceptance(self, id_: str, object_: str) -> str:
        return self.accepted.get((id_, object_)) or self.accepted.get((id_, "")) or ""

    def _expectation(self, verdicts: Iterable[Verdict]) -> Expectation | None:
        if self.scenario.expect is None:
            return None
        return expectation(self.scenario.expect, list(verdicts), self.explored.conclusive)


def expectation(expect: tuple[Expected, ...], verdicts: list[Verdict], conclusive: bool) -> Expectation:
    """How the verdicts meet what was expected to be violated: exactly that, no less and no more."""
    violated = [each for each in verdicts if each.status == "violated"]
    missed = [
        f"{wanted} was expected to be violated and was not"
        for wanted in expect
        if not any(wanted.covers(each.invariant, each.object) for each in violated)
    ]
    missed += [
        f"{Expected(each.invariant, each.object)} is violated and was expected to hold: {each.message}"
        for each in violated
        if not any(wanted.covers(each.invariant, each.object) for wanted in expect)
    ]
    if not conclusive and not missed:
        missed = ["what was expected to hold was not explored to the end"]
    return Expectation(tuple(str(each) for each in expect), tuple(missed))


def _warnings(scenario: Scenario) -> Iterable[str]:
    return not_judged(scenario.objects, scenario.loaded) if scenario.loaded is not None else ()
