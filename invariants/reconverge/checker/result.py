"""What a check says: verdicts, what was explored, and what was not.

Every verdict carries its bounds; an incomplete search is inconclusive, never green.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import frozen

from reconverge.checker.trace import Trace

Status = Literal["held", "violated", "never applicable", "inconclusive"]


@frozen
class Verdict:
    """One invariant for one object. `trace` is an index into the result's traces, or None.

    Violations with one cause share one trace: `grouped_with` names the object whose trace it is.
    """

    invariant: str
    object: str
    status: Status
    family: str
    message: str = ""
    trace: int | None = None
    accepted: str = ""
    """The written reason for which a violation is accepted, or ""."""


@frozen
class Bounds:
    """The most events in one sequence, and the most departures from the default schedule."""

    events: int
    deviations: int


@frozen
class Exploration:
    """What was explored. `covered` are the largest bounds explored completely; None if not even the start was."""

    mode: Literal["exhaustive", "random"]
    complete: bool
    states: int
    transitions: int
    sequences: int
    steps: int
    bounds: Bounds
    covered: tuple[Bounds, ...] = ()
    symmetry: bool = True
    seed: int | None = None


@frozen
class Coverage:
    """What happened at least once: events by name, actions by loop, judgements per invariant (judged, applicable)."""

    events: Mapping[str, int]
    actions: Mapping[str, int]
    judged: Mapping[str, tuple[int, int]]
    never: tuple[str, ...] = ()
    """Sentences on what never happened and so was not tested."""


@frozen
class Cell:
    """One cell of the resilience table: a workload under one kind of event."""

    workload: str
    event: str
    status: Status
    traces: tuple[int, ...] = ()


@frozen
class Expectation:
    """What a scenario expects to be violated, and how the result misses it; `missed` is empty if it is met."""

    violated: tuple[str, ...]
    missed: tuple[str, ...]

    @property
    def met(self) -> bool:
        """Whether exactly the expected invariants are violated."""
        return not self.missed


@frozen
class Result:
    """The outcome of checking one scenario."""

    scenario: str
    document: Mapping[str, Any]
    kubernetes: str
    seed: int
    exploration: Exploration
    verdicts: tuple[Verdict, ...]
    traces: tuple[Trace, ...]
    coverage: Coverage
    table: tuple[Cell, ...]
    warnings: tuple[str, ...]
    not_covered: tuple[str, ...] = ()
    """Plain sentences: what was not explored and which option covers it."""
    expectation: Expectation | None = None
    edges: tuple[tuple[int, int, str], ...] = ()
    """(state, state, event) between settled states, numbered in order of discovery; only of small exhaustive searches,
    and only for the default schedule."""
    input: Any = None
    """What was read, as the loader accounts for it; None for scenarios built in Python."""

    @property
    def violated(self) -> tuple[Verdict, ...]:
        """The violated verdicts that nobody has accepted."""
        return tuple(each for each in self.verdicts if each.status == "violated" and not each.accepted)

    @property
    def exit_code(self) -> int:
        """0 if nothing is violated (or the expectation is met), 1 otherwise."""
        if self.expectation is not None:
            return 0 if self.expectation.met else 1
        return 1 if self.violated else 0
