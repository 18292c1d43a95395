"""What a descheduler is told to do: its strategies with their settings, and whom it may evict.

Source: the descheduler's `pkg/api/types.go` and the `types.go` of each plugin.
"""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from reconverge.model.value import Seconds

Fit = Literal["old", "new", "better"]
"""Which rule says that an eviction is worth it.

`old`: none, as before 0.20 and 0.22: whatever is out of place goes, wherever it will end up. `new`: duplicates only
above the average of the nodes that they may use; spread only if a node below the average takes the pod; a preferred
node only if the pod fits on any other node. `better`, which no release has: a preferred node only if one that is
preferred more has room.
"""
HARD, SOFT = "DoNotSchedule", "ScheduleAnyway"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
LOWEST_CRITICAL_PRIORITY = 2_000_000_000


@frozen
class EvictorSettings:
    """Whom the descheduler may evict, and how many in one run (None: no limit)."""

    node_fit: bool = False
    """Whether a pod goes only if it fits on another node."""
    local_storage: bool = False
    system_critical: bool = False
    bare_pods: bool = False
    """Whether pods without an owner may go."""
    priority_below: int | None = None
    most_per_node: int | None = None
    most_per_namespace: int | None = None
    most: int | None = None


@frozen
class RemoveDuplicatesSettings:
    """Pods of owners of these kinds are left alone."""

    exclude_owner_kinds: tuple[str, ...] = ()


@frozen
class SpreadSettings:
    """Which constraints count; `node_fit` is topologyBalanceNodeFit, without effect under the old rule."""

    constraints: tuple[str, ...] = (HARD,)
    node_fit: bool = True


@frozen
class NodeAffinitySettings:
    """Which kinds of node affinity are looked at."""

    types: tuple[str, ...] = (REQUIRED,)


@frozen
class LowUtilizationSettings:
    """Shares of what a node can hold, in percent by resource name (cpu, memory, pods, extended ones).

    A node with all of its usage at or below `thresholds` has room, one with any above `targets` is too full. It does
    something only if more than `number_of_nodes` nodes have room.
    """

    thresholds: tuple[tuple[str, float], ...]
    targets: tuple[tuple[str, float], ...]
    number_of_nodes: int = 0


@frozen
class DeschedulerPolicy:
    """All settings. A strategy that is None is off; `every` is the time between two runs, in seconds."""

    every: Seconds = 300
    fit: Fit = "new"
    evictor: EvictorSettings = EvictorSettings()
    duplicates: RemoveDuplicatesSettings | None = None
    spread: SpreadSettings | None = None
    node_affinity: NodeAffinitySettings | None = None
    low_utilization: LowUtilizationSettings | None = None
