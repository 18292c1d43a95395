"""How long a Job waits before it makes pods again after failures.

Source: `pkg/controller/job/backoff_utils.go`.
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.objects import Pod
from reconverge.model.value import Seconds

FIRST: Seconds = 10
MOST: Seconds = 600


@frozen
class Backoff:
    """Failures since the last success, and when the last of them was."""

    failures: int = 0
    last: Seconds = 0

    @property
    def until(self) -> Seconds | None:
        """When pods may be made again: 10 s after the first failure, then doubling to 600 s; None for at once."""
        return None if self.failures == 0 else self.last + min(FIRST * 2 ** (self.step - 1), MOST)

    @property
    def step(self) -> int:
        """The number of failures as far as it matters: after the seventh the wait does not get longer."""
        return min(self.failures, 7)

    def after(self, succeeded: list[Pod], failed: list[Pod], now: Seconds) -> Backoff:
        """The record after newly finished pods (newBackoffRecord): of failures only those after the last success."""
        if not succeeded and not failed:
            return self
        moments = sorted(ended_at(pod, now) for pod in failed)
        if not succeeded:
            return Backoff(self.failures + len(moments), moments[-1])
        success = max(ended_at(pod, now) for pod in succeeded)
        later = [moment for moment in moments if moment > success]
        return Backoff(len(later), later[-1]) if later else Backoff()


def ended_at(pod: Pod, now: Seconds) -> Seconds:
    """When a pod ended (getFinishedTime): when its deletion was asked for, or else when its end is noticed."""
    if pod.deletion_at is not None and not pod.terminal:
        return pod.deletion_at - (pod.grace or 0)
    return now
