"""The cluster autoscaler as a control loop.

`ClusterAutoscaler` takes its options and its simulation of the scheduler as arguments; every rule is a method.
"""

from reconverge.model.loops.cluster_autoscaler.controller import SCAN, ClusterAutoscaler
from reconverge.model.loops.cluster_autoscaler.memory import AutoscalerMemory, Deletion
from reconverge.model.loops.cluster_autoscaler.options import AutoscalerOptions
from reconverge.model.loops.cluster_autoscaler.simulation import IGNORABLE, Simulation, Snapshot
from reconverge.model.loops.cluster_autoscaler.writes import CANDIDATE, TO_BE_DELETED, to_be_deleted

__all__ = [
    "CANDIDATE",
    "IGNORABLE",
    "SCAN",
    "TO_BE_DELETED",
    "AutoscalerMemory",
    "AutoscalerOptions",
    "ClusterAutoscaler",
    "Deletion",
    "Simulation",
    "Snapshot",
    "to_be_deleted",
]
