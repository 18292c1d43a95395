"""What the environment and operators can do to a cluster, by name."""

from __future__ import annotations

from reconverge.model.events.base import Event, Options
from reconverge.model.events.containers import (
    ContainerCrashes,
    ContainerHangs,
    NodeOutOfMemory,
    OutOfMemory,
    RegistryBack,
    RegistryDown,
)
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
from reconverge.model.events.networks import NetworkPluginFails, NetworkUnavailable
from reconverge.model.events.nodes import (
    Cordon,
    Drain,
    LabelChanges,
    NodeDeleted,
    TaintAdded,
    TaintRemoved,
    Uncordon,
)
from reconverge.model.events.objects import ManifestApplied, ObjectDeleted
from reconverge.model.events.pods import (
    PodDeleted,
    PodEvicted,
    PodForceDeleted,
    PodReady,
    PodUnready,
)
from reconverge.model.events.pressure import PressureChanges
from reconverge.model.events.proxies import ProxyResumes, ProxyStalls
from reconverge.model.events.shutdown import InstanceStopped, NodeShutsDown
from reconverge.model.events.workloads import (
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
        ContainerHangs, OutOfMemory, NodeOutOfMemory, RegistryDown, RegistryBack,
        NetworkPluginFails, NetworkUnavailable,
        InstanceStopped,
        ProxyStalls, ProxyResumes,
    )
}  # fmt: skip
"""Every kind of event by its name."""

__all__ = [
    "EVENTS",
    "ContainerCrashes",
    "ContainerHangs",
    "ControlPlaneCut",
    "Cordon",
    "Drain",
    "EtcdMemberBack",
    "EtcdMemberLost",
    "Event",
    "InstanceStopped",
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
    "NetworkPluginFails",
    "NetworkUnavailable",
    "NodeCrashes",
    "NodeDeleted",
    "NodeJoins",
    "NodeOutOfMemory",
    "NodePartitioned",
    "NodeReboots",
    "NodeRecovers",
    "NodeShutsDown",
    "NodesUpgraded",
    "ObjectDeleted",
    "Options",
    "OutOfMemory",
    "PodDeleted",
    "PodEvicted",
    "PodForceDeleted",
    "PodReady",
    "PodUnready",
    "PressureChanges",
    "ProxyResumes",
    "ProxyStalls",
    "RegistryBack",
    "RegistryDown",
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
