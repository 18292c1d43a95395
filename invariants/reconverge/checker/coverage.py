"""What never happened and so was not tested: said out loud, so that no claim is empty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reconverge.checker.judge import Judge
from reconverge.checker.world import World


def never_happened(world: World, events: Counter[str], judge: Judge) -> Iterator[str]:
    """One sentence for each event that was allowed and never possible, and each invariant without anything to judge."""
    for allowance in world.allowances:
        if not events.get(allowance.event):
            yield f"{allowance.event} never happened: it was possible in no state that was reached"
    for invariant in world.invariants:
        if invariant.kind != "sometimes" and not judge.applicable[invariant.id]:
            yield f"{invariant.id} was never applicable"
