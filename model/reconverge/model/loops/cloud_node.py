"""The cloud node lifecycle controller: the Node object of an instance that is gone goes, too.

Source: cloud-provider `controllers/nodelifecycle/node_lifecycle_controller.go` (MonitorNodes).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from reconverge.model.action import Action, Delete
from reconverge.model.loop import MACHINES, ControlLoop, Plan, Reading
from reconverge.model.loops.node_lifecycle.ticks import next_tick
from reconverge.model.machines import Machine
from reconverge.model.objects import Node
from reconverge.model.store import Change


class CloudNodeController(ControlLoop[None]):
    """Deletes nodes that are not ready and whose instance the cloud provider does not have any more.

    Keys are node names. It looks every five seconds, and only at nodes that are not ready. The `shutdown` taint of
    stopped instances is left out: the model does not tell a stopped machine from a crashed one.
    Source: cloud-provider `controllers/nodelifecycle/node_lifecycle_controller.go`.
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

    # The loop ------------------------------------------------------------------------------------------------

    def relist(self, reading: Reading) -> Iterable[str]:
        """The nodes that are to be deleted."""
        return [node.name for node in reading.store.nodes() if self._deletes(reading, node)]

    def observe(self, memory: None, change: Change, reading: Reading) -> tuple[None, Iterable[str]]:
        """A node or its machine changed, and the node is to be deleted now."""
        node = reading.store.node(change.key)
        return None, (change.key,) if node is not None and self._deletes(reading, node) else ()

    def sync(self, reading: Reading, memory: None, key: str) -> Sequence[Plan[None]]:
        """Delete the node and the lease that it owns, at the next look."""
        node = reading.store.node(key)
        if node is None or not self._deletes(reading, node):
            return (Plan(None),)
        tick = next_tick(reading.now, reading.rules.node_monitor_period)
        if tick > reading.now:
            return (Plan(None, requeue_at=tick),)
        return (Plan(None, self._writes(reading, node)),)

    # Inside --------------------------------------------------------------------------------------------------

    def _deletes(self, reading: Reading, node: Node) -> bool:
        machine = reading.machines.get(node.name) if reading.machines is not None else None
        return self.asks(node) and self.gone(machine)

    def _writes(self, reading: Reading, node: Node) -> tuple[Action, ...]:
        delete = Delete("Node", node.name, node.uid, f"Ready is {node.ready} and the instance does not exist")
        lease = reading.store.lease(node.name)
        if lease is None:
            return (delete,)
        return (delete, Delete("Lease", lease.name, lease.uid, f"its owner node/{node.name} is gone"))
