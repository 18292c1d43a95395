"""The shape of a control loop, and what is kept of each between its steps.

A loop is a pure function in the form every Kubernetes controller has: changes wake keys, and `sync` makes, from what
it reads, a short plan of writes. Reading and each write are separate steps of the model.
Source: client-go `util/workqueue`, `tools/cache` (informers), `pkg/controller/controller_utils.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from attrs import field, frozen

from reconverge.model.action import Action, Create
from reconverge.model.errors import ApiError
from reconverge.model.machines import Machines
from reconverge.model.rules import Rules
from reconverge.model.store import Change, Store
from reconverge.model.table import Table
from reconverge.model.value import Seconds, Value

M = TypeVar("M")

MACHINES = "Machine"
"""The pseudo-kind under which changes of machines are delivered to the loops that live on them."""

REGISTRY = "ImageRegistry"
"""The pseudo-kind under which kubelets are told that the image registry answers again, or no longer."""

OVERTAKEN = -1
"""The revision of a pass in which somebody else has written since its read: no store has it."""


@frozen
class Reading:
    """What a loop has before it: its view of the store, the time, the rules; the machines only if it lives on them."""

    store: Store
    now: Seconds
    rules: Rules
    machines: Machines | None = None


@frozen
class Plan(Value, Generic[M]):
    """What one pass of a loop does: its memory after reading, the writes in order, and when to look again.

    `choice` says what sets this alternative apart where there are several ("n2"). `requeue_at` replaces the key's
    timer; None clears it. `note` says why nothing is done, where people would ask.
    """

    memory: M
    actions: tuple[Action, ...] = ()
    requeue_at: Seconds | None = None
    choice: str = ""
    note: str = ""


class ControlLoop(Generic[M]):
    """One control loop. Subclasses are stateless; what a loop remembers is its `memory`, a frozen value."""

    name: ClassVar[str]
    """As Kubernetes names it, in kebab-case."""
    watches: ClassVar[frozenset[str]]
    """Kinds whose changes it is told of."""
    physical: ClassVar[bool] = False
    """Whether it lives on the machines and may see them."""
    idle_without: ClassVar[str] = ""
    """A kind without which there is nothing to do: while no object of it has ever been there, it is told nothing."""
    guarded: ClassVar[bool] = False
    """Whether it waits for its own writes to be in its view, with the rule stale-cache-guard."""
    source: ClassVar[str] = ""
    """The upstream source file."""

    def start(self) -> M:
        """The memory of a loop that has just started."""
        return None  # type: ignore[return-value]

    def observe(self, memory: M, change: Change, reading: Reading) -> tuple[M, Iterable[str]]:
        """What a change does to the memory, and which keys it wakes. The event handlers of the informers."""
        raise NotImplementedError

    def order(self, reading: Reading, memory: M, keys: Iterable[str]) -> list[str]:
        """The order in which woken keys are served by default.

        By name, which is right where passes for different keys commute. Where they do not, a loop orders by what
        the candidates are, and by name only between interchangeable ones.
        """
        return sorted(keys)

    def sync(self, reading: Reading, memory: M, key: str) -> Sequence[Plan[M]]:
        """The possible plans of one pass for a key; more than one means real nondeterminism, the default first."""
        raise NotImplementedError

    def failed(self, memory: M, action: Action, error: ApiError) -> M:
        """The memory after a write was refused; the key is woken again."""
        return memory

    def denied(self, reading: Reading, action: Action, rest: tuple[Action, ...], error: ApiError) -> tuple[Action, ...]:
        """What a pass still writes after admission has refused one of its creations: all but more creations."""
        return tuple(each for each in rest if not isinstance(each, Create))

    def relist(self, reading: Reading) -> Iterable[str]:
        """All keys that the loop looks at after a start: everything it finds."""
        return ()

    def marks(self, memory: M, reading: Reading) -> Iterable[tuple[str, str, Any]]:
        """What of the memory makes states differ: (kind, key, value) per object, kind "" for the loop as a whole.

        Times in values are `Age` or relative; names of pods and nodes must not be in values, so that states that
        differ only in names are recognised as one.
        """
        return ()


@frozen
class InFlight:
    """A pass between its read and its last write."""

    key: str
    actions: tuple[Action, ...]
    revision: int = field(default=0, eq=False, repr=False)
    """The store's revision after its read or its last write: another one by now means that others have written.

    Once they have, it is OVERTAKEN to the end of the pass.
    """


@frozen
class LoopState(Value):
    """What is kept of one loop: memory, woken keys, keys of the present turn, timers, the pass in flight, old views.

    `parked` has the keys whose write was refused for a reason outside the pass, until that may be gone; `unseen` the
    (key, kind) of writes that the loop's own view lacks, since its watch of the kind has stalled. `back_at` has the
    stalled watches, by kind, that catch up by themselves, and when.
    """

    memory: Any = None
    queue: dict[str, None] = {}
    serving: tuple[str, ...] = ()
    timers: dict[str, Seconds] = {}
    in_flight: InFlight | None = None
    stalled: dict[str, Table] = {}
    paused: bool = False
    parked: dict[str, None] = {}
    unseen: frozenset[tuple[str, str]] = frozenset()
    back_at: dict[str, Seconds] = {}

    @property
    def busy(self) -> bool:
        """Whether there is something to do now."""
        return self.in_flight is not None or bool(self.serving) or bool(self.queue)
