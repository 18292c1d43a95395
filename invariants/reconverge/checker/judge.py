"""Judging invariants along a run: only what a step touched is judged again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from typing import Any

from attrs import frozen

from reconverge.invariants import Invariant, Quiet, Situation, Step, Violation
from reconverge.invariants.relations import may_touch, promised_to, touched
from reconverge.model.store import Change

Invariants = tuple[Invariant, ...]


@frozen
class Found:
    """A violation and the invariant it breaks."""

    invariant: Invariant
    violation: Violation

    @property
    def identity(self) -> tuple[str, str]:
        """Which promise to whom: (invariant id, object)."""
        return self.invariant.id, self.violation.object


class Judge:
    """Judges a fixed set of invariants; `scopes` narrows an invariant to some objects, by their references."""

    def __init__(self, invariants: Iterable[Invariant], scopes: Mapping[str, frozenset[str]] | None = None) -> None:
        self.invariants = tuple(invariants)
        self.scopes = dict(scopes or {})
        self.always = tuple(each for each in self.invariants if each.kind == "always")
        self.stepwise = tuple(each for each in self.invariants if each.kind == "on_step")
        self.final = tuple(each for each in self.invariants if each.kind == "eventually")
        self.witnesses = tuple(each for each in self.invariants if each.kind == "sometimes")
        self.witnessed: set[str] = set()
        """Ids of `sometimes` invariants that an applicable quiet run has shown."""
        self.judged: Counter[str] = Counter()
        self.applicable: Counter[str] = Counter()
        self._seen: set[tuple[str, str]] = set()
        """(invariant id, key) of the same: looking there is cheaper than making the reference of each object."""
        self._relevant: dict[str | frozenset[str], tuple[frozenset[str], Invariants, Invariants]] = {}
        """By the kinds of changes: the kinds that were in the store, and the invariants that may be touched then."""
        self.subjects: dict[tuple[str, str], None] = {}
        """(invariant id, object) of everything that was applicable at least once, in order of appearance."""

    def step(self, step: Step) -> list[Found]:
        """What a step breaks: `always` in the situation after it, `on_step` in the step itself."""
        found: list[Found] = []
        if not step.changes:
            return found
        always, stepwise = self._concerned(step)
        keys: dict[str, Iterable[str]] = {}
        for invariant in always:
            for key in self._touched(invariant, step.after, step.changes, keys):
                found += self._judge(invariant, step.after, step.after, key)
        for invariant in stepwise:
            for key in self._touched(invariant, step.after, step.changes, keys):
                found += self._judge(invariant, step, step.after, key, step.before)
        return found

    def _concerned(self, step: Step) -> tuple[tuple[Invariant, ...], tuple[Invariant, ...]]:
        """The invariants that a step's changes can touch, of what there is in the store: (always, on_step)."""
        changes, there = step.changes, step.after.store.tables
        kinds = changes[0].kind if len(changes) == 1 else frozenset(each.kind for each in changes)
        known = self._relevant.get(kinds)
        if known is None or known[0] != there.keys():
            known = self._relevant[kinds] = (
                frozenset(there),
                self._touchable(self.always, kinds, there),
                self._touchable(self.stepwise, kinds, there),
            )
        return known[1], known[2]

    def _touchable(
        self, invariants: tuple[Invariant, ...], kinds: str | frozenset[str], there: Container[str]
    ) -> tuple[Invariant, ...]:
        each_kind = (kinds,) if isinstance(kinds, str) else kinds
        return tuple(
            each
            for each in invariants
            if (not each.for_each or each.for_each in there) and any(may_touch(each, kind) for kind in each_kind)
        )

    def situation(self, situation: Situation) -> list[Found]:
        """What of `always` does not hold in a situation, judged from scratch."""
        found = []
        for invariant in self.always:
            for key in self._all(invariant, situation):
                found += self._judge(invariant, situation, situation, key)
        return found

    def quiet(self, quiet: Quiet) -> list[Found]:
        """What does not hold at the end of a quiet run."""
        found = []
        for invariant in self.final:
            for key in self._all(invariant, quiet.after):
                found += self._judge(invariant, quiet, quiet.after, key)
        for invariant in self.witnesses:
            self._witness(invariant, quiet)
        return found

    def _witness(self, invariant: Invariant, quiet: Quiet) -> None:
        """Notes a `sometimes` invariant as shown if a quiet run to which it applies breaks it for no object."""
        if invariant.id in self.witnessed:
            return
        before = self.applicable[invariant.id]
        broken = [
            found
            for key in self._all(invariant, quiet.after)
            for found in self._judge(invariant, quiet, quiet.after, key)
        ]
        if not broken and self.applicable[invariant.id] > before:
            self.witnessed.add(invariant.id)

    def _touched(
        self,
        invariant: Invariant,
        situation: Situation,
        changes: tuple[Change, ...],
        known: dict[str, Iterable[str]],
    ) -> Iterable[str]:
        """Keys of the objects that the changes touch. `known` has them by kind, for the standard relation of kinds."""
        standard = invariant.touched_by is None
        if standard and invariant.for_each in known:
            return known[invariant.for_each]
        if len(changes) == 1:
            keys = touched(invariant, situation, changes[0])
        else:
            keys = dict.fromkeys(key for change in changes for key in touched(invariant, situation, change))
        if standard:
            known[invariant.for_each] = keys
        return keys

    def _all(self, invariant: Invariant, situation: Situation) -> list[str]:
        if not invariant.for_each:
            return [""]
        return sorted(situation.store.table(invariant.for_each).objects)

    def _judge(
        self, invariant: Invariant, on: Any, situation: Situation, key: str, before: Situation | None = None
    ) -> list[Found]:
        subject = None
        if invariant.for_each:
            subject = situation.store.get(invariant.for_each, key)
            if subject is None and before is not None:
                subject = before.store.get(invariant.for_each, key)
            if subject is None:
                return []
            scope = self.scopes.get(invariant.id)
            if scope is not None and subject.reference not in scope and promised_to(subject) not in scope:
                return []
        self.judged[invariant.id] += 1
        if not invariant.applicable(situation, subject):
            return []
        self.applicable[invariant.id] += 1
        if (invariant.id, key) not in self._seen:
            self._seen.add((invariant.id, key))
            self.subjects[invariant.id, promised_to(subject) if subject is not None else ""] = None
        return [
            Found(invariant, violation)
            for violation in invariant.judge(on, subject)
            if invariant.for_each or self._in_scope(invariant.id, violation.object)
        ]

    def _in_scope(self, id_: str, object_: str) -> bool:
        """Whether a violation that an invariant of the whole cluster reports is of an object that is asked for."""
        scope = self.scopes.get(id_)
        return scope is None or object_ in scope
