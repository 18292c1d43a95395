"""Back-off of pods that could not be scheduled.

Source: `pkg/scheduler/backend/queue/backoff_queue.go`.
"""

from __future__ import annotations

from collections.abc import Iterable

from reconverge.model.loops.scheduler.memory import Backoff, SchedulerMemory
from reconverge.model.rules import Rules
from reconverge.model.value import Seconds

_MOST_COUNTED = 8
"""Failed writes in a row that are counted."""


def backs_off(rules: Rules) -> bool:
    """Whether a rejected pod has to wait out its back-off; since 1.33 an idle scheduler takes it at once."""
    return rules.scheduler_waits_for_backoff


def backoff_length(rules: Rules, failures: int) -> Seconds:
    """How long a pod waits after so many failures: the first time doubled each time, up to the longest."""
    doubled: Seconds = rules.scheduler_backoff_first * 2 ** (failures - 1)
    return min(doubled, rules.scheduler_backoff_most)


def failures_of(memory: SchedulerMemory, key: str) -> int:
    """How often in a row the pod has failed, as far as that is counted."""
    backoff = memory.backoffs.get(key)
    return backoff.failures if backoff is not None else 0


def failed_again(memory: SchedulerMemory, key: str, rules: Rules, now: Seconds) -> SchedulerMemory:
    """The memory with one more failure of a pod, whose back-off begins now."""
    failures = failures_of(memory, key)
    # Once the back-off is at its longest, more failures change nothing and are not counted.
    if not failures or backoff_length(rules, failures) < rules.scheduler_backoff_most:
        failures += 1
    return _with(memory, key, Backoff(failures, now + backoff_length(rules, failures)))


def postponed(memory: SchedulerMemory, keys: Iterable[str]) -> SchedulerMemory:
    """The memory with one more failure of some pods, whose back-off begins at their next turn."""
    for key in keys:
        memory = _with(memory, key, Backoff(min(failures_of(memory, key) + 1, _MOST_COUNTED)))
    return memory


def waiting_until(
    memory: SchedulerMemory, key: str, rules: Rules, now: Seconds
) -> tuple[SchedulerMemory, Seconds | None]:
    """When the back-off of a pod is over, None if it is; and the memory, in which it has begun."""
    backoff = memory.backoffs[key]
    until = backoff.until
    if until is None:
        until = now + backoff_length(rules, backoff.failures)
        memory = _with(memory, key, Backoff(backoff.failures, until))
    return memory, until if now < until else None


def _with(memory: SchedulerMemory, key: str, backoff: Backoff) -> SchedulerMemory:
    return memory.with_(backoffs=memory.backoffs.set(key, backoff))
