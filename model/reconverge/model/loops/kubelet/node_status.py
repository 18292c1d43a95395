"""What a kubelet says of its own node: it registers, renews its lease, and reports Ready.

Source: `pkg/kubelet/kubelet_node_status.go`, `pkg/kubelet/nodestatus/setters.go`.
"""

from __future__ import annotations

from reconverge.model.action import Action, Patch
from reconverge.model.loop import Plan, Reading
from reconverge.model.loops.kubelet.actions import FromNode, Register, from_node
from reconverge.model.machines import Machine


def report_node(reading: Reading, machine: Machine) -> Plan[None]:
    """Registers, renews the lease, and reports Ready. A hung container runtime is not noticed here."""
    if not machine.connected:
        return Plan(None)
    node = reading.store.node(machine.name)
    if node is None:
        register = machine.registers
        return Plan(None, (FromNode(machine.name, Register(register)),) if register is not None else ())
    actions: list[Action] = []
    lease = reading.store.lease(machine.name)
    if lease is not None and lease.renewed_at is not None:
        renewed = f"renews the lease of node/{machine.name}"
        fields = (("renewed_at", None),)
        actions.append(Patch("Lease", lease.key, lease.uid, fields, "heartbeats again", renewed))
    if not machine.network:
        if node.ready == "True":
            reason = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady"
            failed = (("ready", "False"), ("ready_reason", "KubeletNotReady"))
            actions.append(Patch("Node", node.key, node.uid, failed, reason, f"reports node/{node.name} not Ready"))
        return Plan(None, from_node(machine, actions))
    if node.ready != "True":
        due = node.created_at + reading.rules.kubelet.node_ready
        if node.ready_reason == "KubeletNotReady" and reading.now < due:
            return Plan(None, from_node(machine, actions), requeue_at=due)
        ready = (("ready", "True"), ("ready_reason", "KubeletReady"))
        actions.append(Patch("Node", node.key, node.uid, ready, "", f"reports node/{node.name} Ready"))
    return Plan(None, from_node(machine, actions))
