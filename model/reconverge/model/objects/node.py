"""Node: the API's record of a machine, and its heartbeat lease.

Source: `pkg/apis/core/types.go`, `pkg/controller/nodelifecycle/node_lifecycle_controller.go` (taint map).
"""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen

from reconverge.model.labels import label
from reconverge.model.objects.meta import ApiObject
from reconverge.model.resources import Capacity, Resources
from reconverge.model.value import Seconds

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
HOSTNAME = "kubernetes.io/hostname"

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
MEMORY_PRESSURE = "node.kubernetes.io/memory-pressure"
DISK_PRESSURE = "node.kubernetes.io/disk-pressure"
PID_PRESSURE = "node.kubernetes.io/pid-pressure"
NETWORK_UNAVAILABLE = "node.kubernetes.io/network-unavailable"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized"
SHUTDOWN = "node.cloudprovider.kubernetes.io/shutdown"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"

NO_SCHEDULE = "NoSchedule"
NO_EXECUTE = "NoExecute"
PREFER_NO_SCHEDULE = "PreferNoSchedule"


@frozen
class Taint:
    """A taint; `effect` is NoSchedule, PreferNoSchedule or NoExecute."""

    key: str
    effect: str
    value: str = ""

    def __str__(self) -> str:
        return f"{self.key}{'=' + self.value if self.value else ''}:{self.effect}"


@frozen(kw_only=True)
class Node(ApiObject):
    """A node as the API knows it. `ready` is the Ready condition's status: True, False or Unknown."""

    kind: ClassVar[str] = "Node"
    namespaced: ClassVar[bool] = False

    allocatable: Capacity = Capacity(Resources(cpu=4000, memory=16 * 2**30))
    ready: str = "True"
    ready_reason: str = "KubeletReady"
    pressure: frozenset[str] = frozenset()
    """The pressure and network conditions that are True, by condition name (MemoryPressure, DiskPressure ...)."""
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()

    @property
    def zone(self) -> str:
        """The zone label's value, or the empty string."""
        return label(self.labels, ZONE) or ""


@frozen(kw_only=True)
class Lease(ApiObject):
    """A node's heartbeat lease. `renewed_at` is the last renewal, or None while the kubelet keeps renewing it.

    A living kubelet renews every 10 seconds; the model does not step through these writes, it keeps the fact.
    """

    kind: ClassVar[str] = "Lease"
    namespaced: ClassVar[bool] = False

    renewed_at: Seconds | None = None
