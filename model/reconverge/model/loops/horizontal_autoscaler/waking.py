"""Which autoscalers a change concerns.

Upstream nothing wakes a sync but the clock; here what a sync reads does, so that a cluster that rests costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reconverge.model.load import LOADS
from reconverge.model.loop import MACHINES, Reading
from reconverge.model.objects import HorizontalPodAutoscaler, Pod
from reconverge.model.store import Change

KIND = "HorizontalPodAutoscaler"


def woken(reading: Reading, change: Change, base: str) -> Iterable[str]:
    """Keys of the autoscalers for which a sync may come to something else after a change."""
    if change.kind == KIND:
        return (change.key,) if _spec_differs(change) else ()
    if change.kind == "Pod":
        return _by_pod(reading, change)
    if change.kind == MACHINES:
        return sorted(reading.store.table(KIND).objects) if _connection_differs(change) else ()
    if change.before is None or change.after is None or change.kind == LOADS:
        return sorted(reading.store.table(KIND).objects)
    return _by_target(reading, change, base)


def _spec_differs(change: Change) -> bool:
    before: HorizontalPodAutoscaler | None = change.before
    after: HorizontalPodAutoscaler | None = change.after
    return before is None or after is None or before.with_(status=after.status) != after


def _connection_differs(change: Change) -> bool:
    before, after = change.before, change.after
    return before is None or after is None or before.connected != after.connected


def _by_pod(reading: Reading, change: Change) -> list[str]:
    before: Pod | None = change.before
    after: Pod | None = change.after
    if before is not None and after is not None and _alike(before, after):
        return []
    pods = [pod for pod in (before, after) if pod is not None]
    found = []
    for autoscaler in reading.store.in_namespace(KIND, change.object.namespace):
        target = reading.store.get(autoscaler.target_kind, autoscaler.target)
        if target is not None and any(target.selector.matches(pod.labels) for pod in pods):
            found.append(autoscaler.key)
    return found


def _alike(before: Pod, after: Pod) -> bool:
    return (
        before.phase == after.phase
        and before.ready == after.ready
        and before.ready_since == after.ready_since
        and before.deletion_at == after.deletion_at
        and before.started_at == after.started_at
        and before.labels == after.labels
    )


def _by_target(reading: Reading, change: Change, base: str) -> list[str]:
    before: Any = change.before
    after: Any = change.after
    if (
        before.replicas == after.replicas
        and before.selector == after.selector
        and not (base == "status" and before.status.replicas != after.status.replicas)
    ):
        return []
    return [
        each.key
        for each in reading.store.in_namespace(KIND, after.namespace)
        if each.target_kind == after.kind and each.target == after.key
    ]
