"""What the environment and operators can do to a cluster, by name."""

from __future__ import annotations

from reconverge.model.events.base import Event, Options
from reconverge.model.events.control_plane import (
    EtcdMemberBack,
    EtcdMemberLost,
    LeaderLost,
    LeaderOverlaps,
    RestartsOnOldStore,
)
from reconverge.model.events.groups import NodeJoins, NodesUpgraded
from reconverge.model.events.load import LoadChanges
from reconverge.model.events.loops import LoopPauses, LoopRestarts, LoopResumes, TimePasses, WatchCatchesUp, WatchStalls
from reconverge.model.events.machines import (
    InstanceTerminated,
    KubeletRestarts,
    NodeCrashes,
    NodePartitioned,
    NodeReboots,
    NodeRecovers,
    RuntimeHangs,
)
from reconverge.model.events.nodes import (
    Cordon,
    Drain,
    LabelChanges,
    NodeDeleted,
    TaintAdded,
    TaintRemoved,
    Uncordon,
)
from reconverge.model.events.pods import (
    ContainerCrashes,
    PodDeleted,
    PodEvicted,
    PodForceDeleted,
    PodReady,
    PodUnready,
)
from reconverge.model.events.pressure import PressureChanges
from reconverge.model.events.proxies import ProxyResumes, ProxyStalls
from reconverge.model.events.shutdown import NodeShutsDown
from reconverge.model.events.workloads import (
    ManifestApplied,
    ObjectDeleted,
    RollBack,
    RollOut,
    RolloutPauses,
    RolloutResumes,
    Scale,
)
from reconverge.model.events.zones import ControlPlaneCut, ZoneFails, ZoneRecovers

EVENTS: dict[str, type[Event]] = {
    event.name: event
    for event in (
        NodeCrashes, NodeRecovers, NodeReboots, NodePartitioned, NodeDeleted, InstanceTerminated, KubeletRestarts,
        RuntimeHangs, NodeJoins, NodesUpgraded, Cordon, Uncordon, Drain, LabelChanges, TaintAdded, TaintRemoved,
        ZoneFails, ZoneRecovers, ControlPlaneCut, Scale, RollOut, RollBack, RolloutPauses, RolloutResumes,
        ManifestApplied, ObjectDeleted, LoadChanges, PodDeleted, PodEvicted, PodForceDeleted, ContainerCrashes,
        PodUnready, PodReady, LoopPauses, LoopResumes, LoopRestarts, WatchStalls, WatchCatchesUp, TimePasses,
        LeaderLost, LeaderOverlaps, EtcdMemberLost, EtcdMemberBack, RestartsOnOldStore, PressureChanges, NodeShutsDown,
        ProxyStalls, ProxyResumes,
    )
}  # fmt: skip
"""Every kind of event by its name."""

__all__ = [
    "EVENTS",
    "ContainerCrashes",
    "ControlPlaneCut",
    "Cordon",
    "Drain",
    "EtcdMemberBack",
    "EtcdMemberLost",
    "Event",
    "InstanceTerminated",
    "KubeletRestarts",
    "LabelChanges",
    "LeaderLost",
    "LeaderOverlaps",
    "LoadChanges",
    "LoopPauses",
    "LoopRestarts",
    "LoopResumes",
    "ManifestApplied",
    "NodeCrashes",
    "NodeDeleted",
    "NodeJoins",
    "NodePartitioned",
    "NodeReboots",
    "NodeRecovers",
    "NodeShutsDown",
    "NodesUpgraded",
    "ObjectDeleted",
    "Options",
    "PodDeleted",
    "PodEvicted",
    "PodForceDeleted",
    "PodReady",
    "PodUnready",
    "PressureChanges",
    "ProxyResumes",
    "ProxyStalls",
    "RestartsOnOldStore",
    "RollBack",
    "RollOut",
    "RolloutPauses",
    "RolloutResumes",
    "RuntimeHangs",
    "Scale",
    "TaintAdded",
    "TaintRemoved",
    "TimePasses",
    "Uncordon",
    "WatchCatchesUp",
    "WatchStalls",
    "ZoneFails",
    "ZoneRecovers",
]
