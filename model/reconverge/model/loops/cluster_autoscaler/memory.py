"""What the cluster autoscaler remembers between its scans, all of it lost at a restart.

Source: autoscaler `cluster-autoscaler/clusterstate/clusterstate.go`,
`cluster-autoscaler/core/scaledown/unneeded/nodes.go`, `cluster-autoscaler/core/scaledown/actuation/actuator.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import frozen

from reconverge.model.likeness import At
from reconverge.model.persistent import EMPTY, Map
from reconverge.model.value import Seconds, Value

MARKING, DELAYING, EVICTING, WAITING, DELETING, ABORTING = (
    "marking", "delaying", "evicting", "waiting", "deleting", "aborting",
)  # fmt: skip
ASKING, REFUSED, EVICTED = "asking", "refused", "evicted"


@frozen
class PodEviction(Value):
    """How far the eviction of one pod is. One of a DaemonSet is asked for once, and not waited for."""

    uid: int
    state: str = ASKING
    daemon: bool = False
    asked_at: Seconds = 0
    retry_at: Seconds | None = None
    answer: str = ""


@frozen
class Deletion(Value):
    """A node on its way out. `due` is when its phase ends: the delay, the time for evictions, or that for leaving."""

    uid: int
    group: str
    drains: bool
    phase: str = MARKING
    since: Seconds = 0
    due: Seconds | None = None
    pods: Map[str, PodEviction] = EMPTY
    error: str = ""


@frozen
class Backoff(Value):
    """A group that has failed to scale up: until when it is left alone, and how long that is."""

    until: Seconds
    length: Seconds
    failed_at: Seconds


@frozen
class Mismatch(Value):
    """A group whose number of instances is not its size, and since when."""

    current: int
    expected: int
    since: Seconds


@frozen
class AutoscalerMemory(Value):
    """Maps are by node, except `scale_ups` (when the nodes of one must have come), `backoffs` and `sizes`: by group."""

    threshold: float = 0.5
    """The highest utilisation of a node that may go: the setting, for those who judge what is left."""
    cleaned: bool = False
    """Whether the taints that an earlier process has left have been taken away."""
    next_scan: Seconds | None = None
    unneeded: Map[str, Seconds] = EMPTY
    deletions: Map[str, Deletion] = EMPTY
    scaled_up_at: Seconds | None = None
    failed_at: Seconds | None = None
    deleted_at: Seconds | None = None
    scale_ups: Map[str, Seconds] = EMPTY
    backoffs: Map[str, Backoff] = EMPTY
    unregistered: Map[str, Seconds] = EMPTY
    sizes: Map[str, Mismatch] = EMPTY

    def with_deletion(self, node: str, deletion: Deletion) -> AutoscalerMemory:
        """The memory with the state of one node's removal set."""
        return self.with_(deletions=self.deletions.set(node, deletion))

    def without_deletion(self, node: str) -> AutoscalerMemory:
        """The memory without a node's removal."""
        return self.with_(deletions=self.deletions.discard(node))


def marks(
    memory: AutoscalerMemory, now: Seconds, longest: Seconds, cooldown: Seconds
) -> Iterator[tuple[str, str, Any]]:
    """What sets states apart. Moments that lie further back than any timer looks count as past.

    `longest` is the longest time that an unneeded node waits, `cooldown` the longest after a change.
    """
    for name in sorted(memory.unneeded):
        yield "Node", name, ("unneeded", _until(memory.unneeded[name] + longest, now))
    for name in sorted(memory.deletions):
        deletion = memory.deletions[name]
        yield "Node", name, (deletion.phase, deletion.drains, _at(deletion.due), At(deletion.since))
        for key in sorted(deletion.pods):
            pod = deletion.pods[key]
            asked = At(pod.asked_at) if pod.state == REFUSED else None
            yield "Pod", key, (pod.state, pod.daemon, asked, _at(pod.retry_at))
    for name in sorted(memory.unregistered):
        yield "Node", name, ("unregistered", _until(memory.unregistered[name] + cooldown, now))
    moments = (memory.scaled_up_at, memory.failed_at, memory.deleted_at)
    yield "", "", (memory.cleaned, *(None if each is None else _until(each + cooldown, now) for each in moments))
    for group in sorted(memory.scale_ups):
        yield "", "", ("scale-up", group, At(memory.scale_ups[group]))
    for group in sorted(memory.backoffs):
        backoff = memory.backoffs[group]
        yield "", "", ("backoff", group, backoff.length, _until(backoff.until, now))
    for group in sorted(memory.sizes):
        size = memory.sizes[group]
        yield "", "", ("size", group, size.current, size.expected, _until(size.since + cooldown, now))


def _at(moment: Seconds | None) -> At | None:
    return None if moment is None else At(moment)


def _until(moment: Seconds, now: Seconds) -> At | None:
    """A deadline as far as it is still to come."""
    return At(moment) if moment > now else None
