"""The canonical form of machines and of what runs on them: times relative to now, no names."""

from __future__ import annotations

from typing import Any

from reconverge.model.cluster import Cluster
from reconverge.model.likeness import age
from reconverge.model.local_pods import LocalContainer, LocalPod
from reconverge.model.machines import Machine
from reconverge.model.parts import Part
from reconverge.model.value import Seconds


def unseen(machine: Machine) -> tuple[Any, ...]:
    """What of a machine the API may not show."""
    return (
        machine.powered,
        machine.reachable,
        machine.kubelet,
        machine.runtime,
        machine.network,
        machine.exists,
        machine.stopped,
        machine.pressure,
        machine.strain,
        machine.stops_at,
    )


def machine(machine: Machine | None, cluster: Cluster, stalled: bool | str | None = "") -> tuple[Any, ...] | None:
    """The physical side of a node, without its pods; `stalled` is about its kube-proxy, empty where there is none."""
    if machine is None:
        return None
    known: tuple[Any, ...] = (
        machine.zone, machine.powered, machine.reachable, machine.kubelet, machine.runtime, machine.network,
        machine.exists,
    )  # fmt: skip
    if machine.strain is not None:
        strain = machine.strain.relative(cluster.rules.kubelet, cluster.now)
        known = (*known, sorted(machine.pressure), strain)
    if stalled != "":
        known = (*known, ("proxy stalled", stalled))
    if machine.stops_at is not None:
        known = (*known, ("goes off", age(machine.stops_at, cluster.now)))
    if machine.stopped:
        known = (*known, "stopped")
    if not machine.group:
        return known
    boots = None if machine.boots_at is None else age(machine.boots_at, cluster.now)
    return (*known, machine.group, machine.subnet, boots)


def local_pod(local: LocalPod, now: Seconds) -> tuple[Any, ...]:
    """A pod on a machine, without the API's side. When it was admitted matters until its first container starts."""
    return (
        local.state,
        age(local.since, now) if local.state == "admitted" else "",
        local.checked,
        local.ready,
        local.forced_ready,
        tuple(_container(part, each, local, now) for part, each in local.parts()),
        None if local.stop_by is None else age(local.stop_by, now),
    )


def _container(part: Part, container: LocalContainer, local: LocalPod, now: Seconds) -> tuple[Any, ...]:
    """A container. Its exit code decides only where not every exit is followed by a restart."""
    decides = container.state == "exited" and (part.role == "init" or local.spec.restart_policy != "Always")
    return (
        container.state,
        age(container.since, now),
        container.backoff,
        container.restarts > 0,
        container.exit_code if decides else "",
        None if container.hung_at is None else age(container.hung_at, now),
    )
