"""The node lifecycle controller: which nodes are alive, and the taints that say so.

Source: `pkg/controller/nodelifecycle/node_lifecycle_controller.go`.
"""

from reconverge.model.loops.node_lifecycle.controller import ALL_ZONES, NodeLifecycleController
from reconverge.model.loops.node_lifecycle.memory import NodeLifecycleMemory
from reconverge.model.loops.node_lifecycle.taints import implied_no_schedule
from reconverge.model.loops.node_lifecycle.writes import ChangeTaints, MarkNodeUnknown, MarkPodNotReady
from reconverge.model.loops.node_lifecycle.zones import FULL, NORMAL, PARTIAL, Zone, zone_of

__all__ = [
    "ALL_ZONES",
    "FULL",
    "NORMAL",
    "PARTIAL",
    "ChangeTaints",
    "MarkNodeUnknown",
    "MarkPodNotReady",
    "NodeLifecycleController",
    "NodeLifecycleMemory",
    "Zone",
    "implied_no_schedule",
    "zone_of",
]
