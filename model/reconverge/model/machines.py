"""The physical side: machines, what their kubelets really run. Control loops other than the kubelet never see it.

A node's API object, its machine's power and the kubelet's connection are three separate facts: most real failures
live in the gap between them.
"""

from __future__ import annotations

from attrs import field, frozen

from reconverge.model.control_plane_health import HEALTHY, ControlPlaneHealth
from reconverge.model.local_pods import LocalPod
from reconverge.model.node_groups import NodeGroup
from reconverge.model.objects import Node
from reconverge.model.persistent import EMPTY, Map
from reconverge.model.pressure import Strain
from reconverge.model.proxy import Proxy
from reconverge.model.value import Seconds, Value


@frozen
class Machine(Value):
    """One machine. `powered`: it runs. `reachable`: its kubelet reaches the API server. `kubelet`: it lives."""

    name: str
    zone: str = ""
    powered: bool = True
    reachable: bool = True
    kubelet: bool = True
    runtime: bool = True
    """Whether the container runtime answers; if not the kubelet starts and stops nothing."""
    network: bool = True
    """Whether the container network is ready; if not the kubelet reports the node not ready and starts no pod in it."""
    exists: bool = True
    """Whether the instance exists at the cloud provider; a terminated one makes its Node object go."""
    stopped: bool = False
    """Whether the cloud provider was told to stop the instance; it says so once the machine is off."""
    pods: Map[int, LocalPod] = EMPTY
    """Pods by uid."""
    registers: Node | None = None
    """The Node object that the kubelet registers when it starts and finds none."""
    group: str = ""
    """The node group that it is an instance of; empty for none."""
    subnet: str = ""
    boots_at: Seconds | None = None
    """When an instance that has been launched will run; None once it has."""
    pressure: frozenset[str] = frozenset()
    """What it runs short of: memory, disk, pid."""
    strain: Strain | None = None
    """What its kubelet remembers of pressure; None while there is none."""
    stops_at: Seconds | None = None
    """By when a machine that is being shut down with grace goes off; None if it is not."""
    # Not compared: what a kube-proxy does is nothing that happens to the machine for its kubelet.
    proxy: Proxy | None = field(default=None, eq=False)
    """Its kube-proxy with the rules; None where none is modelled."""

    @property
    def connected(self) -> bool:
        """Whether the kubelet can read and write the API."""
        return self.powered and self.reachable and self.kubelet

    def local(self, key: str) -> list[LocalPod]:
        """The local pods under an API key (two while an old incarnation has not gone yet), ordered by uid."""
        return [self.pods[uid] for uid in sorted(self.pods) if self.pods[uid].key == key]

    @property
    def works(self) -> bool:
        """Whether the kubelet can start and stop containers."""
        return self.powered and self.kubelet and self.runtime

    def with_pod(self, pod: LocalPod) -> Machine:
        """The machine with a local pod added or replaced."""
        return self.with_(pods=self.pods.set(pod.uid, pod))

    def without_pod(self, uid: int) -> Machine:
        """The machine without a local pod."""
        return self.with_(pods=self.pods.discard(uid))


@frozen
class ImageRegistry(Value):
    """Where machines pull their images from, and whether it answers."""

    answers: bool = True

    @property
    def reference(self) -> str:
        """What people call it."""
        return "image-registry"


@frozen
class Machines(Value):
    """All machines by name, the zones that are down, the load of the workloads, the node groups, and etcd's members."""

    by_name: Map[str, Machine] = EMPTY
    zones_down: frozenset[str] = frozenset()
    load: Map[str, int] = EMPTY
    """Total demand in millicores by workload reference (see `reconverge.model.load`)."""
    groups: Map[str, NodeGroup] = EMPTY
    control_plane: ControlPlaneHealth = HEALTHY
    registry: ImageRegistry = ImageRegistry()

    def get(self, name: str) -> Machine | None:
        """The machine of a node, or None."""
        return self.by_name.get(name)

    def put(self, machine: Machine) -> Machines:
        """The machines with one added or replaced."""
        return self.with_(by_name=self.by_name.set(machine.name, machine))

    def remove(self, name: str) -> Machines:
        """The machines without one."""
        return self.with_(by_name=self.by_name.discard(name))

    def group(self, name: str) -> NodeGroup | None:
        """The node group of that name, or None."""
        return self.groups.get(name)

    def put_group(self, group: NodeGroup) -> Machines:
        """The machines with a group added or replaced."""
        return self.with_(groups=self.groups.set(group.name, group))
