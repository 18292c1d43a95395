"""Cordoned nodes.

Source: `pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go`.
"""

from __future__ import annotations

from reconverge.model.loops.scheduler.cycle import Cycle
from reconverge.model.loops.scheduler.plugin import Check, Delta, Failure, Filter
from reconverge.model.objects import Node, Taint
from reconverge.model.objects.node import NO_SCHEDULE, UNSCHEDULABLE
from reconverge.model.resources import Usage

_FAILURE = Failure("NodeUnschedulable", ("node(s) were unschedulable",), resolvable=False)
_TAINT = Taint(UNSCHEDULABLE, NO_SCHEDULE)


def _check(node: Node, usage: Usage, delta: Delta) -> Failure | None:
    return _FAILURE if node.unschedulable else None


class NodeUnschedulable(Filter):
    """A node with spec.unschedulable takes only pods that tolerate the taint of cordoned nodes."""

    name = "NodeUnschedulable"
    node_only = True

    def prepare(self, cycle: Cycle) -> Check | None:
        if any(each.tolerates(_TAINT) for each in cycle.pod.spec.tolerations):
            return None
        return _check
