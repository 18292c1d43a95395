"""Whether a kubelet takes a bound pod: against the pods that it has admitted already.

Source: `pkg/kubelet/lifecycle/predicate.go`.
"""

from __future__ import annotations

from reconverge.model.loops.kubelet import pressure, shutdown
from reconverge.model.machines import Machine
from reconverge.model.objects import Node, Pod
from reconverge.model.objects.node import NO_EXECUTE
from reconverge.model.objects.placement import Toleration
from reconverge.model.resources import Resources, total

Rejection = tuple[str, str]
"""(reason, message) as they stand in the pod's status."""


def rejection(machine: Machine, node: Node, pod: Pod) -> Rejection | None:
    """Why the kubelet rejects the pod, or None. NoSchedule taints are not looked at."""
    return (
        shutdown.refused(machine)
        or pressure.refused(machine, pod)
        or _does_not_fit(machine, node, pod)
        or _wrong_node(node, pod)
        or _port_taken(machine, pod)
        or _untolerated(node, pod.spec.tolerations)
    )


def _does_not_fit(machine: Machine, node: Node, pod: Pod) -> Rejection | None:
    held = [each for each in machine.pods.values() if each.uid != pod.uid and each.state != "stopped" and each.checked]
    if len(held) + 1 > node.allocatable.pods:
        return _out_of("pods", 1, len(held), node.allocatable.pods)
    used = total(each.spec.requests for each in held)
    return _short_of(pod.spec.requests, used, node.allocatable.resources)


def _short_of(wanted: Resources, used: Resources, allocatable: Resources) -> Rejection | None:
    for name, amount in wanted.amounts():
        if amount > 0 and used.amount(name) + amount > allocatable.amount(name):
            return _out_of(name, amount, used.amount(name), allocatable.amount(name))
    return None


def _out_of(resource: str, requested: int, used: int, capacity: int) -> Rejection:
    message = (
        f"Pod was rejected: Node didn't have enough resource: {resource}, "
        f"requested: {requested}, used: {used}, capacity: {capacity}"
    )
    return f"OutOf{resource}", message


def _wrong_node(node: Node, pod: Pod) -> Rejection | None:
    required = pod.spec.affinity.node_required
    labels = dict(node.labels)
    selected = all(labels.get(key) == value for key, value in pod.spec.node_selector)
    if selected and (required is None or any(term.matches(node.labels, node.name) for term in required)):
        return None
    return (
        "NodeAffinity",
        "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    )


def _port_taken(machine: Machine, pod: Pod) -> Rejection | None:
    wanted = {port[1:] for container in pod.spec.containers for port in container.host_ports}
    if not wanted:
        return None
    for other in machine.pods.values():
        if other.uid == pod.uid or other.state == "stopped":
            continue
        if any(port[1:] in wanted for container in other.spec.containers for port in container.host_ports):
            message = "node(s) didn't have free ports for the requested pod ports"
            return "NodePorts", f"Pod was rejected: Predicate NodePorts failed: {message}"
    return None


def _untolerated(node: Node, tolerations: tuple[Toleration, ...]) -> Rejection | None:
    for taint in node.taints:
        if taint.effect == NO_EXECUTE and not any(each.tolerates(taint) for each in tolerations):
            message = "node(s) had taints that the pod didn't tolerate"
            return "TaintToleration", f"Pod was rejected: Predicate TaintToleration failed: {message}"
    return None
