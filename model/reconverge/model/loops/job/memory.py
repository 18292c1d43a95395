"""What the Job controller remembers.

Source: `pkg/controller/job/job_controller.go`, `pkg/controller/job/tracking_utils.go` (uidTrackingExpectations).
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.loops.expectations import Expectations
from reconverge.model.loops.job.backoff import Backoff
from reconverge.model.persistent import EMPTY, Map
from reconverge.model.value import Seconds, Value


@frozen
class JobMemory(Value):
    """By Job: expectations, back-off, uids of pods whose finalizer was removed but is still in view, refused versions.

    A Job whose status was refused is looked at again when its view has another version than the refused one. `ended`
    has, with a limit per index, the failed pods that wait to be replaced: (uid, when their end was noticed).
    """

    expected: Expectations = EMPTY
    backoffs: Map[str, Backoff] = EMPTY
    removing: Map[str, frozenset[int]] = EMPTY
    refused: Map[str, int] = EMPTY
    ended: Map[str, tuple[tuple[int, Seconds], ...]] = EMPTY

    def noting(self, key: str, backoff: Backoff, removing: frozenset[int]) -> JobMemory:
        """The memory with a Job's back-off and removed finalizers; neither is kept where there is none."""
        backoffs = self.backoffs.set(key, backoff) if backoff.failures else self.backoffs.discard(key)
        gone = self.removing.set(key, removing) if removing else self.removing.discard(key)
        return self.with_(backoffs=backoffs, removing=gone)

    def without(self, key: str) -> JobMemory:
        """The memory without a Job that is gone or finished."""
        kept = (self.expected, self.backoffs, self.removing, self.refused, self.ended)
        if not any(key in each for each in kept):
            return self
        return JobMemory(*(each.discard(key) for each in kept))  # type: ignore[arg-type]

    def keeping(self, key: str, ended: dict[int, Seconds]) -> JobMemory:
        """The memory with the failed pods of a Job that wait to be replaced."""
        if not ended:
            return self if key not in self.ended else self.with_(ended=self.ended.discard(key))
        return self.with_(ended=self.ended.set(key, tuple(sorted(ended.items()))))
