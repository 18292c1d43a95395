"""The text of PodScheduled=False.

Source: `pkg/scheduler/framework/types.go` (FitError), `pkg/scheduler/schedule_one.go`,
`pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go` (PostFilter).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from reconverge.model.loops.scheduler.plugin import Failure
from reconverge.model.rules import Rules

REASON = "Unschedulable"
"""The reason of the condition."""
NO_NODES = "no nodes available to schedule pods"
NO_CLAIMS = "no new claims to deallocate"


def fit_error(nodes: int, failures: Iterable[Failure]) -> str:
    """How many of the nodes are available, none, and how many failed for each reason, sorted as text."""
    counts: Counter[str] = Counter()
    of_pod: set[str] = set()
    for failure in failures:
        (of_pod if failure.of_pod else counts).update(failure.reasons)
    if of_pod:
        return f"0/{nodes} nodes are available: {', '.join(sorted(of_pod))}."
    reasons = ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
    return f"0/{nodes} nodes are available: {reasons}." if reasons else f"0/{nodes} nodes are available."


def unschedulable_message(rules: Rules, fit: str, preemption: str) -> str:
    """The whole message: the failed fit, then what preemption says, empty if it has found a node or is off."""
    if not preemption:
        return fit
    claims = f"{NO_CLAIMS}, " if rules.message_mentions_claims else ""
    return f"{fit} {claims}preemption: {preemption}"
