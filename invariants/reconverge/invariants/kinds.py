"""What an invariant is: a small pure function with a name, a reason and a remedy.

Four kinds: `always` is judged on every state, `on_step` on every step, `eventually` on the quiet run after the last
event, `sometimes` on the whole exploration. Two families: a `law` holds for any configuration if the control loops
are right, an `objective` is what the user's configuration is for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from attrs import field, frozen

from reconverge.invariants.situation import Situation
from reconverge.model.store import Change

Kind = Literal["always", "on_step", "eventually", "sometimes"]
Family = Literal["law", "objective"]


@frozen
class Violation:
    """One broken promise: about which object (`deployment/web`), in one sentence, with the facts that show it."""

    object: str
    message: str
    facts: Mapping[str, Any] = field(factory=dict)


Judge = Callable[[Any, Any], Iterable[Violation]]
"""Called with a Situation, Step or Quiet (by kind) and the object that it is judged for."""
Applies = Callable[[Situation, Any], bool]
Touches = Callable[[Situation, Change], Iterable[str]]


@frozen
class Invariant:
    """A promise and how to judge it. `for_each` is the kind of object it is judged for, or "" for the cluster."""

    id: str
    kind: Kind
    family: Family
    for_each: str
    statement: str
    """What is promised, in one sentence."""
    why: str
    """Why it matters, in one sentence."""
    remedy: str
    """What to change when it is broken."""
    source: str
    """The upstream document or source file that says so."""
    judge: Judge = field(repr=False)
    applies: Applies | None = field(default=None, repr=False)
    """Whether it is applicable to an object as things stand; None for always."""
    touched_by: Touches | None = field(default=None, repr=False)
    """Keys of the objects that a change may affect; None for the standard relation of kinds."""
    watches: frozenset[str] = frozenset()
    """Kinds of objects whose changes can break it; empty for all that `touched_by` or the standard relation knows."""
    default: bool = True
    """Whether it is checked unless a scenario chooses otherwise."""
    needs: str = ""
    """The optional loop or the kind of object that it is about: where there is none, it is checked only if named."""

    def applicable(self, situation: Situation, subject: Any) -> bool:
        """Whether there is something to judge."""
        return self.applies is None or self.applies(situation, subject)


class Registry:
    """Invariants by id. Ids are unique."""

    def __init__(self, invariants: Iterable[Invariant] = ()) -> None:
        self._by_id: dict[str, Invariant] = {}
        for each in invariants:
            self.add(each)

    def add(self, invariant: Invariant) -> None:
        """Adds one. Raises ValueError if its id is taken."""
        if invariant.id in self._by_id:
            raise ValueError(f"two invariants have the id {invariant.id!r}")
        self._by_id[invariant.id] = invariant

    def __getitem__(self, id_: str) -> Invariant:
        return self._by_id[id_]

    def __contains__(self, id_: str) -> bool:
        return id_ in self._by_id

    def __iter__(self) -> Any:
        return iter(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)

    def ids(self) -> list[str]:
        """All ids, in alphabetical order."""
        return sorted(self._by_id)

    def extended(self, more: Iterable[Invariant]) -> Registry:
        """A registry that also has more invariants. Raises ValueError if an id is taken."""
        return Registry([*self._by_id.values(), *more])


def invariant(
    id: str,
    kind: Kind,
    *,
    for_each: str = "",
    family: Family = "objective",
    statement: str = "",
    why: str = "",
    remedy: str = "",
    source: str = "",
    applies: Applies | None = None,
    touched_by: Touches | None = None,
    watches: Iterable[str] = (),
    default: bool = True,
    needs: str = "",
) -> Callable[[Judge], Invariant]:
    """Makes an Invariant of a function that yields violations; its docstring is the statement unless one is given.

    The function is called with a Situation (always), Step (on_step) or Quiet (eventually), and with the object of
    kind `for_each` (None if that is empty).
    """

    def make(judge: Judge) -> Invariant:
        text = statement or " ".join((judge.__doc__ or "").split())
        told = (id, kind, family, for_each, text, why, remedy, source)
        return Invariant(*told, judge, applies, touched_by, frozenset(watches), default, needs)

    return make
