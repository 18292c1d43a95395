"""Stalled watches that catch up by themselves after a time.

Source: client-go `tools/cache/reflector.go` (a watch that breaks is made anew from the last version seen).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconverge.model.cluster import Cluster
from reconverge.model.value import Seconds

if TYPE_CHECKING:
    from reconverge.model.control_plane import ControlPlane


def next_catch_up(cluster: Cluster) -> Seconds | None:
    """When the first of the stalled watches catches up by itself; None if none does."""
    return min(
        (due for state in cluster.loops.values() if state.back_at for due in state.back_at.values()), default=None
    )


def with_caught_up(plane: ControlPlane, cluster: Cluster) -> Cluster:
    """The cluster with those watches caught up whose time has come."""
    for name in plane.names:
        back_at = cluster.loops[name].back_at
        for kind in sorted(back_at) if back_at else ():
            if back_at[kind] <= cluster.now:
                cluster = plane.catch_up(cluster, name, kind)
    return cluster
