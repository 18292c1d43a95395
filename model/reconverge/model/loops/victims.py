"""Which pods a ReplicaSet gives up when it has too many.

Source: `pkg/controller/controller_utils.go` (ActivePodsWithRanks), `pkg/controller/replicaset/replica_set.go`
(getPodsToDelete, getIndirectlyRelatedPods).
"""

from __future__ import annotations

from itertools import combinations, islice
from math import comb, floor, log2
from typing import Any

from reconverge.model.likeness import node_likeness, pod_likeness
from reconverge.model.loop import Reading
from reconverge.model.objects import Pod, ReplicaSet
from reconverge.model.value import Seconds

MOST_ALTERNATIVES = 64
"""Beyond this many equal choices the checker is offered a part of them: one window of equals after the other."""

_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


def siblings_per_node(reading: Reading, rs: ReplicaSet) -> dict[str, int]:
    """Active pods per node of all ReplicaSets with the same controlling owner; nothing for one that has none.

    Counted once, before any victim is chosen: a scale-down by several does not restore an even spread.
    """
    if rs.owner is None:
        return {}
    store = reading.store
    sets = store.replica_sets_of(rs.owner.uid)
    counts: dict[str, int] = {}
    for each in sets:
        for pod in store.pods_of(each.uid):
            if pod.active and pod.node is not None:
                counts[pod.node] = counts.get(pod.node, 0) + 1
    return counts


def rank(pod: Pod, siblings: dict[str, int], now: Seconds) -> tuple[Any, ...]:
    """The key by which victims are ordered, earliest first; pods with equal keys are told apart by uid alone.

    Ages are compared in logarithmic buckets, so that a few seconds of difference do not decide. They count from times
    that the API keeps in whole seconds. See `ranked` for where the last two of its parts do not count.
    """
    return (
        pod.node is not None,
        _PHASES.get(pod.phase, 1),
        pod.ready,
        pod.deletion_cost,
        -siblings.get(pod.node or "", 0),
        # Ready for a shorter time goes first.
        _bucket(now - floor(pod.ready_since)) if pod.ready else 0,
        -pod.restarts,
        -pod.sidecar_restarts,
        _bucket(now - floor(pod.created_at)),
    )


_READY, _READY_AGE = 2, 5
"""Places in the key of whether a pod is ready, and of the age of that."""


def ranked(pods: list[Pod], siblings: dict[str, int], now: Seconds) -> list[tuple[tuple[Any, ...], Pod]]:
    """The pods with their keys, earliest victim first.

    Ready pods whose ready times differ inside one bucket are told apart by uid at once, whatever else they are.
    """
    keyed = [(rank(pod, siblings, now), pod) for pod in pods]
    times: dict[tuple[Any, ...], set[int]] = {}
    for key, pod in keyed:
        times.setdefault(key[: _READY_AGE + 1], set()).add(floor(pod.ready_since))
    cut = [
        (key[: _READY_AGE + 1] if key[_READY] and len(times[key[: _READY_AGE + 1]]) > 1 else key, pod)
        for key, pod in keyed
    ]
    return sorted(cut, key=lambda each: each[0])


def _bucket(seconds: Seconds) -> int:
    nanoseconds = seconds * 1e9
    return floor(log2(nanoseconds)) if nanoseconds >= 1 else -1


def ranked_victims(reading: Reading, rs: ReplicaSet, active: list[Pod], count: int) -> list[tuple[str, list[Pod]]]:
    """The possible sets of victims, the default first, each with a name for people where there are several."""
    if count >= len(active):
        return [("", list(active))]
    siblings = siblings_per_node(reading, rs)
    keyed = ranked(active, siblings, reading.now)
    last = keyed[count - 1][0]
    certain = [pod for key, pod in keyed[:count] if key != last]
    equal = [pod for key, pod in keyed if key == last]
    missing = count - len(certain)
    if missing == len(equal):
        return [("", certain + equal)]
    return _alternatives(reading, certain, equal, missing)


def _alternatives(reading: Reading, certain: list[Pod], equal: list[Pod], missing: int) -> list[tuple[str, list[Pod]]]:
    """One alternative per set of victims that differs in what the victims and their nodes are."""
    likeness = {pod.key: _place_likeness(reading, pod) for pod in equal}
    ordered = sorted(equal, key=lambda pod: (likeness[pod.key], pod.key))
    if comb(len(ordered), missing) <= MOST_ALTERNATIVES * 4:
        groups = list(combinations(ordered, missing))
    else:
        groups = [tuple(ordered[start : start + missing]) for start in range(len(ordered) - missing + 1)]
    different = {tuple(sorted(likeness[pod.key] for pod in group)): group for group in reversed(groups)}
    chosen = sorted(different.values(), key=lambda group: groups.index(group))
    return [(", ".join(pod.name for pod in group), [*certain, *group]) for group in islice(chosen, MOST_ALTERNATIVES)]


def _place_likeness(reading: Reading, pod: Pod) -> str:
    node = reading.store.node(pod.node) if pod.node is not None else None
    place = node_likeness(reading.store, node, reading.now) if node is not None else ""
    return repr((pod_likeness(pod, reading.now), place))
