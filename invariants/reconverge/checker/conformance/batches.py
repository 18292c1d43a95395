"""Which writes of one pass may arrive in another order than they were decided in."""

from __future__ import annotations

from reconverge.model.action import Action, Create, DeletePod, MarkDisrupted, Patch
from reconverge.model.eviction import Evict
from reconverge.model.loops.node_lifecycle.writes import MarkPodNotReady
from reconverge.model.loops.pod_gc import FailOrphan
from reconverge.model.loops.pod_writes import RemoveFinalizer
from reconverge.model.objects import Pod


def orders(actions: tuple[Action, ...]) -> list[tuple[Action, ...]]:
    """The writes of a flight in every order that puts another one of its first batch first.

    Pods are created, deleted and marked by one pass in parallel, or in the order of a list that has none; what is done
    to one pod is done in order.
    """
    start = next((place for place, action in enumerate(actions) if _about(action) is not None), len(actions))
    batch: dict[object, Action] = {}
    for action in actions[start:]:
        about = _about(action)
        if about is None:
            break
        batch.setdefault(about, action)
    found = []
    for first in batch.values():
        others = tuple(action for action in actions[start:] if action is not first)
        found.append((*actions[:start], first, *others))
    return found or [actions]


def _about(action: Action) -> object | None:
    """The pod that an action is about, if its place among those about other pods is open. Equal new pods are one."""
    if isinstance(action, Create) and isinstance(action.object, Pod):
        return (action.object.name, action.object.spec)
    if isinstance(action, Patch) and action.kind == "Pod" and {name for name, _ in action.fields} <= TOLD:
        return action.key
    return action.key if isinstance(action, PER_POD) else None


TOLD = {"unscheduled", "nominated_node"}
"""What the scheduler writes of a pod that has no node, while it deletes others for it."""
PER_POD = (Evict, DeletePod, MarkDisrupted, MarkPodNotReady, FailOrphan, RemoveFinalizer)
"""Writes about one pod each."""
