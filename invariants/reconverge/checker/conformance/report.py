"""The outcome of holding the model against a recording, in words that lead to the rule in question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from reconverge.checker.conformance.answers import Answer
from reconverge.checker.conformance.recording import Observed
from reconverge.model.value import Seconds


@frozen
class Allowed:
    """A visible write that the model could have made: by which loop, for which key, and what would have been seen.

    `differences` has (model, recorded) by field if it is about the observed object and of the same event.
    """

    loop: str
    key: str
    source: str
    """The upstream source of the loop."""
    text: str
    differences: Mapping[str, tuple[Any, Any]]


@frozen
class Unexplained:
    """The first observation that no run of the model explains, or a rest that the model would not have kept.

    `observed` is None where the recording was quiet, or at its end, while the model had something to do. `at` is the
    model's time in seconds. `objects` are the model's compact fields of the objects concerned, by `Kind/name`.
    """

    recording: str
    observed: Observed | None
    at: Seconds
    allowed: tuple[Allowed, ...]
    objects: Mapping[str, Mapping[str, Any]]

    def describe(self) -> str:
        """Several lines: what was observed, what the model would have allowed, and where it stands."""
        return "\n".join([self._headline(), *self._allowed(), *self._state()])

    def _headline(self) -> str:
        if self.observed is not None:
            return f"{self.recording}: not explained: {self.observed}"
        return f"{self.recording}: at {self.at:g} s nothing more was observed, but the model goes on"

    def _allowed(self) -> list[str]:
        if not self.allowed:
            return ["  the model allows nothing visible at this point"]
        lines = ["  the model allows instead:"]
        for each in self.allowed:
            lines.append(f"  - {each.loop} ({each.key}) [{each.source}]: {each.text}")
            for name, (mine, theirs) in sorted(each.differences.items()):
                lines.append(f"      {name}: {mine} in the model, {theirs} recorded")
        return lines

    def _state(self) -> list[str]:
        lines = [f"  the model at {self.at:g} s:"]
        for name, fields in sorted(self.objects.items()):
            words = ", ".join(f"{field}={value}" for field, value in fields.items())
            lines.append(f"  - {name}: {words}")
        return lines if self.objects else []


@frozen
class Conformance:
    """Whether a recording is a run of the model.

    `explained` means that every observation is explained, no rest is broken, the end state is the recorded one and all
    answers are. `explained_count` of `total` observations are explained.
    """

    recording: str
    explained_count: int
    total: int
    unexplained: Unexplained | None = None
    final_differences: tuple[str, ...] = ()
    answers_differences: tuple[Answer, ...] = ()

    @property
    def explained(self) -> bool:
        """Whether nothing differs."""
        return self.unexplained is None and not self.final_differences and not self.answers_differences

    def describe(self) -> str:
        """One line if everything is explained, else what is not."""
        if self.explained:
            return f"{self.recording}: all {self.total} observations explained"
        lines = [] if self.unexplained is None else [self.unexplained.describe()]
        lines += [f"{self.recording}: in the end {each}" for each in self.final_differences]
        lines += [f"{self.recording}: {each}" for each in self.answers_differences]
        return "\n".join(lines)
