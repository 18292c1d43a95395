"""The horizontal pod autoscaler: changes how many pods a workload has by how much they use."""

from reconverge.model.loops.horizontal_autoscaler.calculator import ReplicaCalculator
from reconverge.model.loops.horizontal_autoscaler.controller import HorizontalAutoscaler
from reconverge.model.loops.horizontal_autoscaler.memory import History, Recommendation, ScaleEvent
from reconverge.model.loops.horizontal_autoscaler.metrics import MetricsServer
from reconverge.model.loops.horizontal_autoscaler.scale_rules import Rescale, ScaleRules
from reconverge.model.loops.horizontal_autoscaler.stabilisation import Normaliser

__all__ = [
    "History",
    "HorizontalAutoscaler",
    "MetricsServer",
    "Normaliser",
    "Recommendation",
    "ReplicaCalculator",
    "Rescale",
    "ScaleEvent",
    "ScaleRules",
]
