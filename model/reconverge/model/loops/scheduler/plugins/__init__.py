"""The filters and scores of the default scheduler profile, in the order in which it runs them.

Left out: NodeVolumeLimits, DynamicResources, and the score ImageLocality (no images are known, so it is the same
everywhere).
Source: `pkg/scheduler/apis/config/v1/default_plugins.go`.
"""

from __future__ import annotations

from reconverge.model.loops.scheduler.plugin import Filter, Score
from reconverge.model.loops.scheduler.plugins.inter_pod_affinity import InterPodAffinity, InterPodAffinityScore
from reconverge.model.loops.scheduler.plugins.node_affinity import NodeAffinity, NodeAffinityScore
from reconverge.model.loops.scheduler.plugins.node_name import NodeName
from reconverge.model.loops.scheduler.plugins.node_ports import NodePorts
from reconverge.model.loops.scheduler.plugins.node_resources import (
    BalancedAllocation,
    LeastAllocated,
    NodeResourcesFit,
)
from reconverge.model.loops.scheduler.plugins.node_unschedulable import NodeUnschedulable
from reconverge.model.loops.scheduler.plugins.pod_topology_spread import PodTopologySpread, PodTopologySpreadScore
from reconverge.model.loops.scheduler.plugins.taint_toleration import TaintToleration, TaintTolerationScore
from reconverge.model.loops.scheduler.plugins.volumes import VolumeBinding, VolumeRestrictions, VolumeZone

VOLUME_FILTERS: tuple[Filter, ...] = (VolumeRestrictions(), VolumeBinding(), VolumeZone())

FILTERS: tuple[Filter, ...] = (
    NodeUnschedulable(),
    NodeName(),
    TaintToleration(),
    NodeAffinity(),
    NodePorts(),
    NodeResourcesFit(),
    *VOLUME_FILTERS,
    PodTopologySpread(),
    InterPodAffinity(),
)

SCORES: tuple[Score, ...] = (
    TaintTolerationScore(),
    NodeAffinityScore(),
    LeastAllocated(),
    PodTopologySpreadScore(),
    InterPodAffinityScore(),
    BalancedAllocation(),
)

__all__ = [
    "FILTERS",
    "SCORES",
    "VOLUME_FILTERS",
    "BalancedAllocation",
    "InterPodAffinity",
    "InterPodAffinityScore",
    "LeastAllocated",
    "NodeAffinity",
    "NodeAffinityScore",
    "NodeName",
    "NodePorts",
    "NodeResourcesFit",
    "NodeUnschedulable",
    "PodTopologySpread",
    "PodTopologySpreadScore",
    "TaintToleration",
    "TaintTolerationScore",
    "VolumeBinding",
    "VolumeRestrictions",
    "VolumeZone",
]
