"""The cloud's node controllers: they initialise new nodes, and delete or taint those whose instance is gone or stopped.

Source: cloud-provider `controllers/node/node_controller.go` (syncNode),
`controllers/nodelifecycle/node_lifecycle_controller.go` (MonitorNodes).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from attrs import frozen

from reconverge.model.action import Action, Delete, Written
from reconverge.model.cluster import Cluster
from reconverge.model.errors import NotFound
from reconverge.model.labels import labels_of
from reconverge.model.loop import MACHINES, ControlLoop, Plan, Reading
from reconverge.model.loops.node_lifecycle.taints import has_taint
from reconverge.model.loops.node_lifecycle.ticks import next_tick
from reconverge.model.loops.node_lifecycle.writes import ChangeTaints
from reconverge.model.machines import Machine
from reconverge.model.objects import Node, Taint
from reconverge.model.objects.node import NO_SCHEDULE, OLD_ZONE, SHUTDOWN, UNINITIALIZED, ZONE
from reconverge.model.store import Change

STOPPED = Taint(SHUTDOWN, NO_SCHEDULE)


@frozen
class InitialiseNode(Action):
    """Fill in the zone of a new node and let pods come, in one update. Raises NotFound.

    Upstream reads the node again and retries where somebody else has written it meanwhile.
    """

    key: str
    uid: int
    zone: str
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """A node that has been initialised meanwhile makes no write."""
        node = cluster.store.node(self.key)
        if node is None or node.uid != self.uid:
            raise NotFound(f"node/{self.key} not found")
        zone = {ZONE: self.zone, OLD_ZONE: self.zone} if self.zone else {}
        taints = tuple(taint for taint in node.taints if taint.key != UNINITIALIZED)
        after = node.with_(labels=labels_of({**dict(node.labels), **zone}), taints=taints)
        if after == node:
            return cluster, ()
        store, change = cluster.store.put(after)
        return cluster.with_(store=store), (change,)

    def describe(self) -> str:
        """Names the node and its zone."""
        return f"initialises node/{self.key}{f' in zone {self.zone}' if self.zone else ''}"


class CloudNodeController(ControlLoop[None]):
    """Initialises the nodes of new instances; every five seconds deletes or taints nodes that are not ready.

    Keys are node names. A node whose instance does not exist any more is deleted; one whose instance is stopped is
    tainted until it is ready again. Source: cloud-provider `controllers/nodelifecycle/node_lifecycle_controller.go`.
    """

    name: ClassVar[str] = "cloud-node"
    watches: ClassVar[frozenset[str]] = frozenset({"Node", MACHINES})
    physical: ClassVar[bool] = True
    source: ClassVar[str] = "cloud-provider/controllers/nodelifecycle/node_lifecycle_controller.go"

    # Rules ---------------------------------------------------------------------------------------------------

    def asks(self, node: Node) -> bool:
        """Whether the cloud provider is asked about a node: not about ready ones."""
        return node.ready != "True"

    def gone(self, machine: Machine | None) -> bool:
        """Whether the provider says that the instance does not exist; a machine that is not known is left alone."""
        return machine is not None and not machine.exists

    def shut_down(self, machine: Machine | None) -> bool:
        """Whether the provider says that the instance is stopped: not while it still runs."""
        return machine is not None and machine.exists and machine.stopped and not machine.powered

    def initialises(self, node: Node, machine: Machine | None) -> bool:
        """Whether a node is new to the cloud provider and its instance there to be looked up."""
        return machine is not None and machine.exists and any(each.key == UNINITIALIZED for each in node.taints)

    def changed_taint(self, node: Node, machine: Machine | None) -> ChangeTaints | None:
        """The shutdown taint that comes or goes: it comes with a stopped instance, and goes when the node is ready."""
        tainted = has_taint(node.taints, STOPPED)
        if self.asks(node):
            if tainted or not self.shut_down(machine):
                return None
            return ChangeTaints(node.name, node.uid, add=(STOPPED,), reason="the instance is stopped")
        return ChangeTaints(node.name, node.uid, remove=(STOPPED,), reason="Ready is True") if tainted else None

    # The loop ------------------------------------------------------------------------------------------------

    def relist(self, reading: Reading) -> Iterable[str]:
        """The nodes of which something is to be written."""
        return [node.name for node in reading.store.nodes() if self._concerned(reading, node)]

    def observe(self, memory: None, change: Change, reading: Reading) -> tuple[None, Iterable[str]]:
        """A node or its machine changed, and something of the node is to be written now."""
        node = reading.store.node(change.key)
        return None, (change.key,) if node is not None and self._concerned(reading, node) else ()

    def sync(self, reading: Reading, memory: None, key: str) -> Sequence[Plan[None]]:
        """A new node is initialised at once; everything else waits for the next look at all nodes."""
        node = reading.store.node(key)
        if node is None or not self._concerned(reading, node):
            return (Plan(None),)
        machine = self._machine(reading, node)
        tick = next_tick(reading.now, reading.rules.node_monitor_period)
        waits = self._deletes(node, machine) or self.changed_taint(node, machine) is not None
        if machine is not None and self.initialises(node, machine):
            new = InitialiseNode(node.name, node.uid, machine.zone, "its instance runs")
            return (Plan(None, (new,), requeue_at=tick if waits else None),)
        if tick > reading.now:
            return (Plan(None, requeue_at=tick),)
        return (Plan(None, self._writes(reading, node, machine)),)

    # Inside --------------------------------------------------------------------------------------------------

    def _machine(self, reading: Reading, node: Node) -> Machine | None:
        return reading.machines.get(node.name) if reading.machines is not None else None

    def _concerned(self, reading: Reading, node: Node) -> bool:
        machine = self._machine(reading, node)
        return (
            self._deletes(node, machine)
            or self.changed_taint(node, machine) is not None
            or self.initialises(node, machine)
        )

    def _deletes(self, node: Node, machine: Machine | None) -> bool:
        return self.asks(node) and self.gone(machine)

    def _writes(self, reading: Reading, node: Node, machine: Machine | None) -> tuple[Action, ...]:
        if not self._deletes(node, machine):
            taint = self.changed_taint(node, machine)
            return () if taint is None else (taint,)
        delete = Delete("Node", node.name, node.uid, f"Ready is {node.ready} and the instance does not exist")
        lease = reading.store.lease(node.name)
        if lease is None:
            return (delete,)
        return (delete, Delete("Lease", lease.name, lease.uid, f"its owner node/{node.name} is gone"))
