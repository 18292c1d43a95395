"""Whether the cluster comes to rest when nothing happens to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from attrs import fields

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Quiet
from reconverge.model.action import Action, Patch, Update
from reconverge.model.naming import workload_of
from reconverge.model.objects import Pod
from reconverge.model.store import Store

BOOKKEEPING = frozenset({"status", "endpoints", "unscheduled", "revision", "deployment_revision"})
"""Fields that only report: writing them again and again moves nothing."""
MOST_SHOWN = 6
"""How many different steps of a loop a message shows."""


@invariant(
    "no-livelock",
    "eventually",
    statement="When the environment leaves the cluster alone, its control loops come to rest.",
    why="Loops that undo each other's work restart pods for ever and hide every other trouble.",
    remedy="Find the two loops that disagree (the message names them) and let one of them decide.",
    source="documentation of controllers (control loops, desired state)",
)
def no_livelock(quiet: Quiet, _: None) -> Iterable[Violation]:
    """Judges a loop in which something besides kubelets and status reports goes on, and endless growth.

    A container that crashes and is restarted again and again is its own trouble, not the control loops'.
    """
    if quiet.outcome == "growth":
        return (Violation("cluster", f"the control loops do not come to rest: {_what_grows(quiet)}", _facts(quiet)),)
    if quiet.outcome != "loop" or not any(moves(actor, action) for actor, action in quiet.repeating):
        return ()
    steps = list(dict.fromkeys(f"{actor} {action.describe()}" for actor, action in quiet.repeating))
    more = f" and {len(steps) - MOST_SHOWN} more" if len(steps) > MOST_SHOWN else ""
    message = f"the same {len(quiet.repeating)} writes repeat without end: {', '.join(steps[:MOST_SHOWN])}{more}"
    return (Violation("cluster", message, _facts(quiet)),)


def moves(actor: str, action: Action) -> bool:
    """Whether a write is more than a kubelet's care of its pods, or a report."""
    if actor == "kubelet":
        return False
    if isinstance(action, Patch):
        return not BOOKKEEPING.issuperset(name for name, _ in action.fields)
    if isinstance(action, Update):
        names = (field.name for field in fields(type(action.before)))
        before, after = action.before, action.after
        return not BOOKKEEPING.issuperset(name for name in names if getattr(before, name) != getattr(after, name))
    return True


@invariant(
    "bounded-churn",
    "eventually",
    family="law",
    statement="When nothing happens, the number of objects and evictions stays bounded.",
    why="Pods that pile up fill etcd and slow down every component, far beyond the workload that makes them.",
    remedy="Let the scheduler place the pods (no nodeName), so that what does not fit waits instead of failing.",
    source="documentation of Pod garbage collection",
)
def bounded_churn(quiet: Quiet, _: None) -> Iterable[Violation]:
    """Broken by growth without end; a loop that only repeats itself is bounded."""
    if quiet.outcome != "growth":
        return ()
    return (Violation(_grower(quiet.store) or "cluster", _what_grows(quiet), _facts(quiet)),)


def _finished(store: Store) -> Counter[str]:
    """Finished pods by the workload that they belonged to."""
    counts: Counter[str] = Counter()
    for pod in store.all("Pod"):
        if pod.terminal:
            counts[_whose(store, pod)] += 1
    return counts


def _whose(store: Store, pod: Pod) -> str:
    workload = workload_of(store, pod)
    return pod.reference if workload is None else workload.reference


def _grower(store: Store) -> str:
    counts = _finished(store)
    return min(counts, key=lambda name: (-counts[name], name), default="")


def _what_grows(quiet: Quiet) -> str:
    store = quiet.store
    name = _grower(store)
    if not name:
        return f"objects grow without end: {store.count('Pod')} pods so far"
    before, now = _finished(quiet.before.store)[name], _finished(store)[name]
    last = [pod for pod in store.all("Pod") if pod.terminal and _whose(store, pod) == name][-1]
    why = last.message or last.reason
    return f"finished pods of {name} grow without end: {before} before, {now} by now{f' ({why})' if why else ''}"


def _facts(quiet: Quiet) -> dict[str, object]:
    actors = Counter(actor for actor, _ in quiet.repeating)
    return {"outcome": quiet.outcome, "writes": len(quiet.repeating), "actors": dict(sorted(actors.items()))}
