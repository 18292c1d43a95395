"""What the scheduler remembers between its cycles.

Source: `pkg/scheduler/backend/queue/scheduling_queue.go`, `pkg/scheduler/backend/queue/nominator.go`,
`pkg/scheduler/backend/cache/cache.go` (assumed pods).
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.persistent import EMPTY, Map
from reconverge.model.value import Seconds, Value


@frozen
class Rejection(Value):
    """A pod that was found unschedulable: the plugins that rejected it, and when it was queued again, if it was."""

    uid: int
    plugins: tuple[str, ...] = ()
    queued_at: Seconds | None = None


@frozen
class Backoff:
    """How often in a row a pod has failed, and until when it waits; None until its next turn sets it."""

    failures: int
    until: Seconds | None = None


@frozen
class Binding:
    """A binding that was decided and has not been seen in the watch yet."""

    uid: int
    node: str


@frozen
class SchedulerMemory(Value):
    """The scheduler's queue and cache, as far as they are not in the store. All maps are by pod key.

    A pod that has never been rejected is in none of them: its queue timestamp is its creation.
    """

    rejected: Map[str, Rejection] = EMPTY
    assumed: Map[str, Binding] = EMPTY
    nominated: Map[str, str] | None = None
    """Node that a pod waits for; None until the first cycle has read the nominations that are in the store."""
    backoffs: Map[str, Backoff] = EMPTY
    refused: Map[str, int] = EMPTY
    """Uid of a pod about which the API has said that it is gone, while the watch still shows it."""
    start: int = 0
    """Index of the node at which the next search begins; only clusters of 100 nodes or more move it."""
