"""Keys whose write was refused for a reason that lies outside the pass: they wait until the reason may be gone.

Upstream such a key is tried again and again, 5 ms after the first refusal, twice as long after each one, up to
1000 s. Repeating what must get the same answer is left out, so that a cluster which waits for a quota comes to rest.
Source: client-go `util/workqueue/default_rate_limiters.go`, `pkg/controller/resourcequota/replenishment_controller.go`.
"""

from __future__ import annotations

from collections.abc import Iterable

from reconverge.model.errors import Forbidden
from reconverge.model.limits import LIMIT_RANGE
from reconverge.model.loop import InFlight, LoopState
from reconverge.model.quota import QUOTA
from reconverge.model.store import Change

Loops = dict[str, LoopState]


def parked(state: LoopState, key: str, memory: object, remaining: InFlight | None, error: Exception) -> LoopState:
    """The state of a loop whose pass for a key was refused; the pass goes on with what remains of it, if anything."""
    timers = state.timers
    if isinstance(error, Forbidden) and error.until is not None:
        timers = {**timers, key: min(error.until, timers.get(key, error.until))}
    return state.with_(memory=memory, in_flight=remaining, timers=timers, parked={**state.parked, key: None})


def frees(change: Change) -> bool:
    """Whether what admission has refused in the namespace may be let in after the change."""
    if change.kind == "Pod":
        before, after = change.before, change.after
        return before is not None and not before.terminal and (after is None or after.terminal)
    return change.kind in (QUOTA, LIMIT_RANGE)


def released(loops: Loops, changes: Iterable[Change]) -> Loops:
    """The loops with the keys of those namespaces awake again in which some change has made room."""
    if not any(state.parked for state in loops.values()):
        return loops
    spaces = {change.object.namespace for change in changes if frees(change)}
    after = dict(loops)
    for name, state in loops.items():
        keys = [key for key in state.parked if key.partition("/")[0] in spaces]
        if keys:
            after[name] = unparked(state, keys)
    return after


def unparked(state: LoopState, keys: Iterable[str]) -> LoopState:
    """The state with some parked keys awake."""
    woken = dict.fromkeys(keys)
    left = {key: None for key in state.parked if key not in woken}
    new = {key: None for key in woken if key not in state.serving}
    return state.with_(parked=left, queue={**state.queue, **new})
