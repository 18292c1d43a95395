"""A counterexample as a value: what happened step by step, and what is needed to replay it without any search.

Everything that people read or keep is made from this one value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import frozen

from reconverge.model.value import Seconds

FORMAT = "reconverge/trace/v1"

StepKind = Literal["event", "write", "refused", "time"]


@frozen
class Difference:
    """How one object changed in a step: `change` is created, changed or removed; fields as (name, before, after)."""

    object: str
    change: Literal["created", "changed", "removed"]
    fields: tuple[tuple[str, Any, Any], ...] = ()


@frozen
class TraceStep:
    """One step: when (seconds since the first event), who, what in words, why, and what changed.

    `deviation` says in words how the step departs from the default schedule, "" if it does not.
    """

    time: Seconds
    kind: StepKind
    actor: str
    text: str
    reason: str = ""
    differences: tuple[Difference, ...] = ()
    deviation: str = ""


@frozen
class Stroke:
    """One event of the sequence in the scenario's words, and the deviations of the schedule that follows it."""

    event: str
    arguments: Mapping[str, Any]
    deviations: tuple[Mapping[str, Any], ...] = ()


@frozen
class Pending:
    """A pod that waits at the end, and why, in Kubernetes' words."""

    pod: str
    reason: str


@frozen
class Trace:
    """A counterexample.

    `strokes` and `scenario` (a scenario document with its objects inline) replay it. `repeats_from` is the index of
    the step at which the endless loop begins, or None. `shortest` says whether no shorter sequence within the bounds
    breaks the same invariant, `minimal` whether no single event can be dropped.
    """

    invariant: str
    family: str
    object: str
    message: str
    facts: Mapping[str, Any]
    statement: str
    why: str
    remedy: str
    scenario: Mapping[str, Any]
    strokes: tuple[Stroke, ...]
    steps: tuple[TraceStep, ...]
    outcome: str
    """How the quiet run ended: rest, loop, growth, unfinished; or "broken" if the invariant broke in a step."""
    repeats_from: int | None = None
    shortest: bool = False
    minimal: bool = True
    waiting: tuple[Pending, ...] = ()
    """What is still waiting at the end."""
    kubernetes: str = ""
    seed: int | None = None

    @property
    def title(self) -> str:
        """`rollout-completes: deployment/web` - what is broken for whom."""
        return f"{self.invariant}: {self.object}" if self.object else self.invariant
