"""Machines that lose their power, and what of that the API can see: heartbeats that end."""

from __future__ import annotations

from typing import Any

from reconverge.model.action import Written
from reconverge.model.cluster import Cluster
from reconverge.model.local_pods import KILLED, LocalContainer, LocalPod
from reconverge.model.loop import MACHINES
from reconverge.model.machines import Machine
from reconverge.model.parts import Part
from reconverge.model.persistent import Map
from reconverge.model.store import Change


def with_machine(cluster: Cluster, after: Machine) -> Written:
    """The cluster with a machine replaced."""
    before = cluster.machines.get(after.name)
    return cluster.with_(machines=cluster.machines.put(after)), (Change(MACHINES, after.name, before, after),)


def silenced(cluster: Cluster, node: str) -> Written:
    """The cluster with a node's heartbeat ended now: the last renewal of its lease is this moment."""
    lease = cluster.store.lease(node)
    if lease is None or lease.renewed_at is not None:
        return cluster, ()
    store, change = cluster.store.put(lease.with_(renewed_at=cluster.now))
    return cluster.with_(store=store), (change,)


def halted(cluster: Cluster, machine: Machine) -> Machine:
    """The machine with all its containers dead."""

    def dead(pod: LocalPod) -> LocalPod:
        if pod.state != "running":
            return pod.with_(checked=False)
        ended = tuple(_after_halt(part, each, cluster) for part, each in pod.parts())
        return pod.with_containers(ended).with_(ready=False, checked=False)

    return machine.with_(pods=Map({uid: dead(pod) for uid, pod in machine.pods.items()}), stops_at=None)


def _after_halt(part: Part, container: LocalContainer, cluster: Cluster) -> LocalContainer:
    """A container after its machine went off. The sandbox is gone with it, so that initialisation begins anew."""
    if part.role == "init":
        return LocalContainer(restarts=container.restarts)
    if container.state != "running":
        return container
    return LocalContainer("exited", cluster.now, container.restarts, 0, KILLED)


def crashed(cluster: Cluster, machine: Machine, **changes: Any) -> Written:
    """The cluster with a machine off, and its heartbeat ended."""
    off, changed = with_machine(cluster, halted(cluster, machine).with_(powered=False, **changes))
    after, silence = silenced(off, machine.name)
    return after, (*changed, *silence)
