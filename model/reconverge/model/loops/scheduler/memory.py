"""What the scheduler remembers between its cycles.

Source: `pkg/scheduler/backend/queue/scheduling_queue.go`, `pkg/scheduler/backend/queue/nominator.go`,
`pkg/scheduler/backend/cache/cache.go` (assumed pods).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import frozen

from reconverge.model.likeness import At
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


def marks(memory: SchedulerMemory) -> Iterator[tuple[str, str, Any]]:
    """What of the memory makes states differ, one entry per object: facts of pods, of nodes, of the loop as a whole."""
    facts: dict[tuple[str, str], tuple[Any, ...]] = {}

    def say(kind: str, key: str, fact: Any) -> None:
        facts[kind, key] = (*facts.get((kind, key), ()), fact)

    for key in sorted(memory.rejected):
        rejection = memory.rejected[key]
        queued = None if rejection.queued_at is None else At(rejection.queued_at)
        say("Pod", key, ("rejected", rejection.plugins, queued))
    for key in sorted(memory.assumed):
        say("Pod", key, "assumed")
        say("Node", memory.assumed[key].node, "assumed")
    for key in sorted(memory.nominated or EMPTY):
        say("Pod", key, "nominated")
        say("Node", (memory.nominated or EMPTY)[key], "nominated")
    for key in sorted(memory.backoffs):
        backoff = memory.backoffs[key]
        until = None if backoff.until is None else At(backoff.until)
        say("Pod", key, ("backoff", backoff.failures, until))
    for key in sorted(memory.refused):
        say("Pod", key, "refused")
    for (kind, key), said in sorted(facts.items(), key=lambda entry: entry[0]):
        yield (kind, key, said)
    if memory.start:
        yield ("", "", ("start", memory.start))
