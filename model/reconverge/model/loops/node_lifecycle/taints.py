"""Which taints a node's conditions imply.

Source: `pkg/controller/nodelifecycle/node_lifecycle_controller.go` (nodeConditionToTaintKeyStatusMap,
doNoScheduleTaintingPass, processTaintBaseEviction), `pkg/util/taints/taints.go`.
"""

from __future__ import annotations

from collections.abc import Iterable

from reconverge.model.objects import Node, Taint
from reconverge.model.objects.node import (
    DISK_PRESSURE,
    MEMORY_PRESSURE,
    NETWORK_UNAVAILABLE,
    NO_EXECUTE,
    NO_SCHEDULE,
    NOT_READY,
    PID_PRESSURE,
    UNREACHABLE,
    UNSCHEDULABLE,
)

Taints = tuple[Taint, ...]

READY_TAINTS = {"False": NOT_READY, "Unknown": UNREACHABLE}
"""Taint key by status of the Ready condition."""

CONDITION_TAINTS = {
    "MemoryPressure": MEMORY_PRESSURE,
    "DiskPressure": DISK_PRESSURE,
    "PIDPressure": PID_PRESSURE,
    "NetworkUnavailable": NETWORK_UNAVAILABLE,
}
"""Taint key by name of a condition that is True."""

KUBELET_CONDITIONS = frozenset({"MemoryPressure", "DiskPressure", "PIDPressure"})
"""The conditions that only a kubelet keeps: they become Unknown with Ready. NetworkUnavailable is the network's own."""

MANAGED = frozenset({NOT_READY, UNREACHABLE, UNSCHEDULABLE, *CONDITION_TAINTS.values()})
"""Keys of the NoSchedule taints that the controller keeps equal to what is implied."""

NOT_READY_NO_EXECUTE = Taint(NOT_READY, NO_EXECUTE)
UNREACHABLE_NO_EXECUTE = Taint(UNREACHABLE, NO_EXECUTE)


def implied_no_schedule(node: Node) -> Taints:
    """The NoSchedule taints that a node's conditions and its cordon imply."""
    keys = [READY_TAINTS[node.ready]] if node.ready in READY_TAINTS else []
    keys += [key for condition, key in CONDITION_TAINTS.items() if condition in node.pressure]
    if node.unschedulable:
        keys.append(UNSCHEDULABLE)
    return tuple(Taint(key, NO_SCHEDULE) for key in keys)


def managed_no_schedule(node: Node) -> Taints:
    """The NoSchedule taints of a node that the controller owns."""
    return tuple(taint for taint in node.taints if taint.effect == NO_SCHEDULE and taint.key in MANAGED)


def wanted_no_execute(ready: str) -> tuple[Taint, Taint] | None:
    """(taint, its opposite) that a node with this Ready status should and should not have; None if it is ready."""
    if ready == "False":
        return NOT_READY_NO_EXECUTE, UNREACHABLE_NO_EXECUTE
    if ready == "Unknown":
        return UNREACHABLE_NO_EXECUTE, NOT_READY_NO_EXECUTE
    return None


def has_taint(taints: Iterable[Taint], wanted: Taint) -> bool:
    """Whether a taint of the same key and effect is there; values do not matter (taints.TaintExists)."""
    return any(taint.key == wanted.key and taint.effect == wanted.effect for taint in taints)


def no_execute_of(node: Node) -> Taints:
    """The not-ready and unreachable NoExecute taints that a node has."""
    return tuple(t for t in (NOT_READY_NO_EXECUTE, UNREACHABLE_NO_EXECUTE) if has_taint(node.taints, t))


def awaits_no_execute(node: Node) -> bool:
    """Whether a node is due for a NoExecute taint that is rate limited: not ready, and no such taint yet."""
    return node.ready != "True" and not no_execute_of(node)


def changed_taints(taints: Taints, add: Iterable[Taint], remove: Iterable[Taint]) -> Taints:
    """The taints without those to remove, and with those to add at their end unless they are there."""
    gone = tuple(remove)
    kept = tuple(taint for taint in taints if not has_taint(gone, taint))
    return (*kept, *(taint for taint in add if not has_taint(kept, taint)))


def why(node: Node, taints: Iterable[Taint]) -> str:
    """The facts of the node that taints come from, as a clause for people: "Ready is Unknown"."""
    facts = []
    for taint in taints:
        condition = next((name for name, key in CONDITION_TAINTS.items() if key == taint.key), None)
        if condition is not None:
            facts.append(f"{condition} is {'True' if condition in node.pressure else 'not True'}")
        elif taint.key == UNSCHEDULABLE:
            facts.append("the node is cordoned" if node.unschedulable else "the node is no longer cordoned")
        else:
            facts.append(f"Ready is {node.ready}")
    return ", ".join(dict.fromkeys(facts))
