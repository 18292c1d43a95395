"""The kubelet of a node that is shut down with grace: it lets nobody in, stops its pods, and then the power goes.

Source: `pkg/kubelet/nodeshutdown/{nodeshutdown_manager,nodeshutdown_manager_linux}.go`.
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.action import Action, Patch, Written
from reconverge.model.cluster import Cluster
from reconverge.model.errors import NotFound
from reconverge.model.local_pods import LocalPod
from reconverge.model.loop import Plan, Reading
from reconverge.model.loops.kubelet import pods
from reconverge.model.loops.kubelet.actions import Forget, FromNode, Locally
from reconverge.model.loops.kubelet.pressure import critical
from reconverge.model.machines import Machine
from reconverge.model.objects import Node, Pod
from reconverge.model.power import crashed
from reconverge.model.value import Seconds

NOT_ADMITTED = "NodeShutdown"
TERMINATED = "Terminated"
MESSAGE = "Pod was terminated in response to imminent node shutdown."


@frozen
class PowerOff(Action):
    """The machine goes off, as the last step of its shutdown. Raises NotFound if it is gone."""

    node: str
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """From here on as a crash: nobody is told."""
        machine = cluster.machines.get(self.node)
        if machine is None:
            raise NotFound(f"machine {self.node} not found")
        return crashed(cluster, machine)

    def describe(self) -> str:
        """Names the node."""
        return f"lets {self.node} go off"


def refused(machine: Machine) -> tuple[str, str] | None:
    """(reason, message) for a pod that comes while the machine shuts down; or None."""
    if machine.stops_at is None:
        return None
    return NOT_ADMITTED, "Pod was rejected: Pod was rejected as the node is shutting down."


def report(reading: Reading, machine: Machine) -> Plan[None]:
    """The node's pass: Ready is False, pods whose time is over are stopped; when none is left the power goes."""
    assert machine.stops_at is not None
    actions: list[Action] = []
    dues: list[Seconds] = [machine.stops_at]
    ending = [(local, _ends(reading, machine, local)) for local in machine.pods.values()]
    if machine.connected:
        node = reading.store.node(machine.name)
        if node is not None and node.ready == "True":
            actions.append(FromNode(machine.name, _not_ready(node), "node is shutting down"))
    for local, due in sorted(ending, key=lambda each: each[0].uid):
        if due > reading.now:
            dues.append(due)
        else:
            actions += _stop(reading, machine, local)
    if machine.stops_at <= reading.now or all(due <= reading.now for _, due in ending):
        return Plan(None, (*actions, PowerOff(machine.name)))
    return Plan(None, tuple(actions), requeue_at=min(dues))


def _not_ready(node: Node) -> Patch:
    fields = (("ready", "False"), ("ready_reason", "KubeletNotReady"))
    return Patch("Node", node.key, node.uid, fields, "node is shutting down", f"reports node/{node.name} not Ready")


def _ends(reading: Reading, machine: Machine, local: LocalPod) -> Seconds:
    """When a pod has stopped: critical ones begin when the time of the others is over, and all within theirs."""
    timings = reading.rules.kubelet
    pod = reading.store.pod(local.key)
    assert machine.stops_at is not None
    late = timings.shutdown_grace_critical
    last = pod is not None and pod.uid == local.uid and critical(pod)
    begins = machine.stops_at - (late if last else timings.shutdown_grace)
    grace = late if last else timings.shutdown_grace - late
    return begins + (pods.stop_time(local, min(local.spec.termination_grace, grace), timings) if local.alive else 0)


def _stop(reading: Reading, machine: Machine, local: LocalPod) -> list[Action]:
    """Stops a pod and fails it; the object stays."""
    actions: list[Action] = []
    if local.alive:
        actions.append(Locally(machine.name, local.stopped(), "stops", "the node is shutting down"))
    pod = reading.store.pod(local.key)
    if pod is not None and pod.uid == local.uid and not pod.terminal and machine.connected:
        actions.append(FromNode(machine.name, _terminated(pod)))
    return [*actions, Forget(machine.name, local.uid, local.key)]


def _terminated(pod: Pod) -> Patch:
    fields = (
        ("phase", "Failed"),
        ("reason", TERMINATED),
        ("message", MESSAGE),
        ("ready", False),
        ("disruption_target", "TerminationByKubelet"),
    )
    return Patch("Pod", pod.key, pod.uid, fields, "", f"reports {pod.reference} Failed (Terminated)")
