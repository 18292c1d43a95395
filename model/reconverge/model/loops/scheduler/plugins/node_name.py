"""Pods whose author names the node.

Source: `pkg/scheduler/framework/plugins/nodename/node_name.go`.
"""

from __future__ import annotations

from reconverge.model.loops.scheduler.cycle import Cycle
from reconverge.model.loops.scheduler.plugin import Check, Delta, Failure, Filter
from reconverge.model.objects import Node
from reconverge.model.resources import Usage

_FAILURE = Failure("NodeName", ("node(s) didn't match the requested node name",), resolvable=False)


class NodeName(Filter):
    """A pod with spec.nodeName fits that node only; it is bound at its creation, so this rarely speaks."""

    name = "NodeName"
    node_only = True

    def prepare(self, cycle: Cycle) -> Check | None:
        wanted = cycle.pod.spec.node_name
        if wanted is None:
            return None

        def check(node: Node, usage: Usage, delta: Delta) -> Failure | None:
            return None if node.name == wanted else _FAILURE

        return check
