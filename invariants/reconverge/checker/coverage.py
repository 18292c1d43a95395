"""What never happened and so was not tested: said out loud, so that no claim is empty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reconverge.checker.judge import Judge
from reconverge.checker.world import World

AFTERWARDS = frozenset({"node-recover", "uncordon", "zone-recover", "resume-rollout", "loop-resume", "watch-catch-up"})
"""Events that only ever follow another one: in sequences of one event their absence says nothing."""


def never_happened(world: World, events: Counter[str], judge: Judge, most_events: int) -> Iterator[str]:
    """One sentence for each event that was allowed and never possible, and each invariant without anything to judge."""
    for allowance in world.allowances:
        if most_events == 0 or (most_events == 1 and not world.prefix and allowance.event in AFTERWARDS):
            continue
        if not events.get(allowance.event):
            yield f"{allowance.event} never happened: it was possible in no state that was reached"
    for invariant in world.invariants:
        if invariant.kind == "sometimes":
            if judge.applicable[invariant.id] and invariant.id not in judge.witnessed:
                yield f"{invariant.id} was not seen once: {invariant.statement}"
        elif not judge.applicable[invariant.id]:
            yield f"{invariant.id} was never applicable"
