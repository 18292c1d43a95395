"""The cluster: one immutable value of everything that is, and what the control loops remember."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from reconverge.model.machines import Machines
from reconverge.model.rules import Rules
from reconverge.model.store import EMPTY_STORE, Store
from reconverge.model.value import Seconds, Value

if TYPE_CHECKING:
    from reconverge.model.loop import LoopState


@frozen
class Cluster(Value):
    """Store (what the API knows), machines (what is), loops (what the control loops remember), and the time.

    `turn` is the index of the control loop whose turn it is in the current round.
    """

    store: Store = EMPTY_STORE
    machines: Machines = Machines()
    loops: dict[str, LoopState] = {}
    now: Seconds = 0
    rules: Rules = Rules()
    turn: int = 0
