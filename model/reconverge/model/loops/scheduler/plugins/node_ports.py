"""Host ports.

Source: `pkg/scheduler/framework/plugins/nodeports/node_ports.go`, `pkg/scheduler/framework/types.go` (HostPortInfo).
"""

from __future__ import annotations

from reconverge.model.loops.scheduler.accounting import Ports, host_ports
from reconverge.model.loops.scheduler.cycle import Cycle
from reconverge.model.loops.scheduler.plugin import Check, Delta, Failure, Filter
from reconverge.model.objects import Node
from reconverge.model.resources import Usage

_FAILURE = Failure("NodePorts", ("node(s) didn't have free ports for the requested pod ports",))
_ANY = ("", "0.0.0.0")


class NodePorts(Filter):
    """No host port that the pod wants may be taken; the address 0.0.0.0 clashes with every address."""

    name = "NodePorts"

    def prepare(self, cycle: Cycle) -> Check | None:
        wanted = host_ports(cycle.pod)
        if not wanted:
            return None

        def check(node: Node, usage: Usage, delta: Delta) -> Failure | None:
            return _FAILURE if usage.ports and _clash(wanted, usage.ports) else None

        return check


def _clash(wanted: Ports, taken: Ports) -> bool:
    return any(
        port == other_port and protocol == other_protocol and (address == other or address in _ANY or other in _ANY)
        for address, protocol, port in wanted
        for other, other_protocol, other_port in taken
    )
