"""What becomes of the loops when their process loses its leader, and when etcd loses its quorum or has it again.

Source: client-go `tools/leaderelection/leaderelection.go` (a leader that loses its lease exits), documentation of etcd.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from reconverge.model.action import Written
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane_health import (
    HEALTHY,
    LEASE_DURATION,
    RENEW_DEADLINE,
    TOOLS,
    WITHOUT_API,
    ControlPlaneHealth,
    loops_of,
    process_of,
)
from reconverge.model.errors import ApiError, StoreUnavailable
from reconverge.model.loop import InFlight
from reconverge.model.loops.kubelet.actions import NO_QUORUM
from reconverge.model.parking import unparked
from reconverge.model.stalls import next_catch_up
from reconverge.model.store import Change
from reconverge.model.value import Seconds

if TYPE_CHECKING:
    from reconverge.model.control_plane import ControlPlane
    from reconverge.model.events.base import Event

HEARTBEATS = "Lease"
"""Leases stand for what kubelets do anyway: that they end is a fact, not a write."""


def with_health(cluster: Cluster, health: ControlPlaneHealth) -> Cluster:
    """The cluster with another health of its control plane."""
    known = HEALTHY if health == HEALTHY else health
    return cluster.with_(machines=cluster.machines.with_(control_plane=known))


def next_deadline(cluster: Cluster) -> Seconds | None:
    """The earliest timer of any loop that may act, or the next election or end of a stall."""
    health = cluster.machines.control_plane
    halted = health.halted(cluster.loops)
    timers = (
        due
        for name, state in cluster.loops.items()
        if not state.paused and name not in halted
        for due in state.timers.values()
    )
    others = (each for each in (health.next_election(), next_catch_up(cluster)) if each is not None)
    return min((*timers, *others), default=None)


def with_new_leaders(plane: ControlPlane, cluster: Cluster) -> Cluster:
    """The cluster with those processes started anew whose election is over by now."""
    health = cluster.machines.control_plane
    elected = health.elected(cluster.now)
    if not elected:
        return cluster
    cluster = with_health(cluster, health.without_elections(elected))
    for process in elected:
        for loop in loops_of(process, plane.names):
            cluster = plane.restart(cluster, loop)
    return cluster


def without_leader(cluster: Cluster, processes: Iterable[str]) -> Cluster:
    """The cluster with some processes without a leader for as long as an election takes; their passes are lost."""
    listed = list(processes)
    loops = dict(cluster.loops)
    for process in listed:
        for loop in loops_of(process, loops):
            loops[loop] = loops[loop].with_(in_flight=None)
    health = cluster.machines.control_plane.electing(listed, cluster.now + LEASE_DURATION)
    return with_health(cluster.with_(loops=loops), health)


def struck(plane: ControlPlane, cluster: Cluster, event: Event) -> Written:
    """The cluster just after an event, where the control plane is not in its best state or the past is remembered.

    Raises StoreUnavailable if somebody wants to write to the API without quorum.
    """
    health = cluster.machines.control_plane
    if health.remembers:
        cluster = with_health(cluster, health.remembering(cluster.store))
    after, changes = event.strike(plane, plane.interrupt(cluster))
    if not health.writable and any(_is_write(after, change) for change in changes):
        raise StoreUnavailable(NO_QUORUM)
    return after, changes


def _is_write(cluster: Cluster, change: Change) -> bool:
    return change.kind in cluster.store.tables and change.kind != HEARTBEATS


def member_lost(cluster: Cluster, members: int) -> Cluster:
    """The cluster with one member of etcd less, of so many in all."""
    health = cluster.machines.control_plane
    up = (members if health.up == health.members else health.up) - 1
    after = health.with_(members=members, up=up)
    if health.writable and not after.writable:
        after = after.with_(lost_at=cluster.now)
    return with_health(cluster, after)


def member_back(cluster: Cluster) -> Cluster:
    """The cluster with one member of etcd more.

    With quorum again, what kubelets could not report they report now. Leaders that have not been able to renew their
    leases have exited: their successors wait until those leases are seen to be stale.
    """
    health = cluster.machines.control_plane
    after = health.with_(up=health.up + 1)
    if health.writable or not after.writable:
        return with_health(cluster, after)
    lost_for = cluster.now - (health.lost_at if health.lost_at is not None else cluster.now)
    loops = {
        name: unparked(state, state.parked) if name in WITHOUT_API else state for name, state in cluster.loops.items()
    }
    back = with_health(cluster.with_(loops=loops), after.with_(lost_at=None))
    if lost_for < RENEW_DEADLINE:
        return back
    return without_leader(back, sorted({process_of(name) for name in loops if name not in WITHOUT_API | TOOLS}))


def overlapping(plane: ControlPlane, cluster: Cluster, loop: str, *, caught_up: bool) -> Written:
    """The cluster with a new leader of a loop, after the old one has still made the writes of the pass it was in.

    Unless it has caught up first, the new leader does not see those writes yet: its watches are where they were.
    """
    state = cluster.loops[loop]
    flight = state.in_flight if state.in_flight is not None else InFlight("", ())
    before = cluster.store
    changes: list[Change] = []
    cluster = cluster.with_(loops={**cluster.loops, loop: state.with_(in_flight=None)})
    for action in flight.actions:
        try:
            cluster, made = action.apply(cluster)
        except ApiError:
            break
        changes.extend(made)
    cluster = plane.notify(cluster, changes)
    kinds = sorted({change.kind for change in changes if change.kind in plane.by_name[loop].watches})
    stalled = {} if caught_up else {kind: before.table(kind) for kind in kinds}
    return plane.restart(cluster, loop, stalled), tuple(changes)
