"""What must always, eventually and sometimes hold: the invariants and how to write one's own."""

from reconverge.invariants.kinds import Family, Invariant, Kind, Registry, Violation, invariant
from reconverge.invariants.situation import Quiet, Situation, Step

__all__ = [
    "Family",
    "Invariant",
    "Kind",
    "Quiet",
    "Registry",
    "Situation",
    "Step",
    "Violation",
    "invariant",
]
