"""Why a replica is missing, in Kubernetes' own words where it has any."""

from __future__ import annotations

from reconverge.model.cluster import Cluster
from reconverge.model.objects import Pod

DEFAULT_SCHEDULER = "default-scheduler"
"""The scheduler of pods that name none."""


def why_missing(cluster: Cluster, pod: Pod) -> str:
    """What keeps a pod from being ready and really running: a clause that begins with the pod's name."""
    if pod.terminal:
        return f"{pod.reference} has {pod.phase}{f' ({pod.reason})' if pod.reason else ''}"
    if pod.node is None:
        if pod.spec.scheduling_gates:
            return f"{pod.reference} is held by its scheduling gates"
        return f"{pod.reference} is Pending: {why_unplaced(pod)}"
    where = _machine_trouble(cluster, pod.node)
    doing = "is Terminating" if pod.deletion_at is not None else "is bound"
    if where:
        return f"{pod.reference} {doing} on {pod.node}, {where}"
    if pod.deletion_at is not None:
        return f"{pod.reference} is Terminating on {pod.node}"
    if pod.ready:
        return f"{pod.reference} on {pod.node} is {pod.phase} and ready"
    return f"{pod.reference} on {pod.node} is {not_ready(pod)}"


def not_ready(pod: Pod) -> str:
    """How far a pod that is not ready has come: its phase, what it waits for, how often it was restarted."""
    waits = f" ({pod.waiting})" if pod.waiting else ""
    again = pod.restarts_in_all
    restarted = "" if not again else f", restarted {'once' if again == 1 else f'{again} times'}"
    return f"{pod.phase}, not ready{restarted}{waits}"


def why_unplaced(pod: Pod) -> str:
    """What the scheduler has said of a pod without a node, or why it has said nothing."""
    if pod.unscheduled is not None:
        return pod.unscheduled[1]
    if pod.spec.scheduler_name != DEFAULT_SCHEDULER:
        return f"it is for the scheduler {pod.spec.scheduler_name}, which is not modelled"
    return "the scheduler has not looked at it"


def _machine_trouble(cluster: Cluster, node: str) -> str:
    machine = cluster.machines.get(node)
    if machine is None or not machine.exists:
        return "whose machine is gone"
    if not machine.powered:
        return "whose machine is down"
    if not machine.reachable:
        return "whose kubelet does not reach the API server"
    if not machine.runtime:
        return "whose container runtime hangs"
    if not machine.network:
        return "whose container network is not ready"
    return "whose kubelet does not run" if not machine.kubelet else ""
