"""The cloud's scaling groups: they keep the number of their instances, and spread them over zones."""

from reconverge.model.loops.node_group.actions import (
    DropInstance,
    LaunchInstance,
    ResizeGroup,
    RunInstance,
    TerminateInstance,
)
from reconverge.model.loops.node_group.loop import NodeGroupLoop

__all__ = ["DropInstance", "LaunchInstance", "NodeGroupLoop", "ResizeGroup", "RunInstance", "TerminateInstance"]
