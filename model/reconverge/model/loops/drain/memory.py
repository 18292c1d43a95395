"""What a drain keeps of itself: its options, how far each pod is, and what is to be said of it.

Source: kubectl `pkg/drain/drain.go`, `pkg/cmd/drain/drain.go`.
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.persistent import EMPTY, Map
from reconverge.model.value import Seconds, Value

ASKING, REFUSED, EVICTED, ERROR = "asking", "refused", "evicted", "error"
NEW, LISTING, EVICTING, DONE = "new", "listing", "evicting", "done"


@frozen
class DrainOptions:
    """The command's options; the defaults are what people write to get a node empty. `timeout` in seconds or None.

    `until_empty` lists the pods again when those listed are gone, until none is left, as machine controllers do that
    drain on their own (cluster-api); kubectl lists once.
    """

    ignore_daemonsets: bool = True
    force: bool = True
    delete_emptydir_data: bool = True
    timeout: Seconds | None = None
    grace: Seconds | None = None
    until_empty: bool = False


@frozen
class PodDrain(Value):
    """How far one pod has come: asking, refused (parked), evicted (Terminating), error (given up)."""

    uid: int
    state: str = ASKING
    answer: str = ""
    """What the eviction API last answered."""
    asked_at: Seconds = 0
    retry_at: Seconds | None = None
    """When a refused request is repeated; None while nothing has changed since."""


@frozen
class Drain(Value):
    """One drain: new (not cordoned yet), listing, evicting, done. `begun_at` is its first pass."""

    options: DrainOptions = DrainOptions()
    state: str = NEW
    begun_at: Seconds = 0
    pods: Map[str, PodDrain] = EMPTY
    """The pods that it waits for, by key."""
    error: str = ""


@frozen
class DrainStatus:
    """What is to be said of a drain: draining, drained or failed; the pods it waits for, each with the last answer."""

    state: str
    waiting: tuple[tuple[str, str], ...] = ()
    error: str = ""


DrainMemory = Map[str, Drain]
"""Drains by node, those that have ended too, until the node goes or is drained again."""


def begin_drain(memory: DrainMemory, node: str, options: DrainOptions | None = None) -> DrainMemory:
    """The memory with a drain of the node begun; whoever begins it wakes the key `node`."""
    return memory.set(node, Drain(options or DrainOptions()))


def cancel_drain(memory: DrainMemory, node: str) -> DrainMemory:
    """The memory without the node's drain: the process is interrupted. The node stays as it is."""
    return memory.discard(node)


def drain_status(memory: DrainMemory, node: str) -> DrainStatus | None:
    """The state of the node's drain; None if there is none."""
    drain = memory.get(node)
    if drain is None:
        return None
    waiting = tuple((key, _answer(drain.pods[key])) for key in sorted(drain.pods) if drain.pods[key].state != ERROR)
    if drain.error:
        return DrainStatus("failed", waiting, drain.error)
    return DrainStatus("drained" if drain.state == DONE else "draining", waiting)


def _answer(pod: PodDrain) -> str:
    if pod.state == EVICTED:
        return "evicted, and still Terminating: its kubelet has not reported that it has stopped"
    return pod.answer or "not asked for yet"


def waiting(drain: Drain) -> list[str]:
    """Keys of the pods that it still waits for."""
    return sorted(key for key, pod in drain.pods.items() if pod.state != ERROR)


def is_due(pod: PodDrain, now: Seconds) -> bool:
    """Whether a pod is to be asked for now."""
    return pod.state == ASKING or (pod.state == REFUSED and pod.retry_at is not None and pod.retry_at <= now)


def ends_at(drain: Drain) -> Seconds | None:
    """When it gives up; None if it never does, or has not begun."""
    return None if drain.options.timeout is None or drain.state == NEW else drain.begun_at + drain.options.timeout


def next_look(drain: Drain) -> Seconds | None:
    """When there is something to do again: the next repeated request, or the end of the drain's time."""
    moments = [pod.retry_at for pod in drain.pods.values() if pod.retry_at is not None]
    deadline = ends_at(drain)
    return min((*moments, *(() if deadline is None else (deadline,))), default=None)


def given_up(drain: Drain, key: str, message: str, answer: str = "") -> Drain:
    """The drain with a pod given up. kubectl goes on with the others, and reports all errors at the end."""
    pod = drain.pods[key]
    given_up = pod.with_(state=ERROR, answer=answer or pod.answer, retry_at=None)
    error = f"{drain.error}; {message}" if drain.error else message
    return drain.with_(pods=drain.pods.set(key, given_up), error=error)


def note(drain: Drain) -> str:
    """What each pod that it waits for was answered last."""
    return "; ".join(f"{key}: {_answer(drain.pods[key])}" for key in waiting(drain))
