"""`kubectl drain` as a loop."""

from reconverge.model.loops.drain.filters import DAEMON_SET_POD, LOCAL_STORAGE, UNMANAGED
from reconverge.model.loops.drain.loop import DrainLoop
from reconverge.model.loops.drain.memory import (
    ASKING,
    DONE,
    ERROR,
    EVICTED,
    EVICTING,
    LISTING,
    NEW,
    REFUSED,
    Drain,
    DrainMemory,
    DrainOptions,
    DrainStatus,
    PodDrain,
    begin_drain,
    cancel_drain,
    drain_status,
)

__all__ = [
    "ASKING",
    "DAEMON_SET_POD",
    "DONE",
    "ERROR",
    "EVICTED",
    "EVICTING",
    "LISTING",
    "LOCAL_STORAGE",
    "NEW",
    "REFUSED",
    "UNMANAGED",
    "Drain",
    "DrainLoop",
    "DrainMemory",
    "DrainOptions",
    "DrainStatus",
    "PodDrain",
    "begin_drain",
    "cancel_drain",
    "drain_status",
]
