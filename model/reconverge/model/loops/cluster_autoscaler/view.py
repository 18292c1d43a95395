"""What one scan has before it: the nodes by their groups, and how far each is.

Source: autoscaler `cluster-autoscaler/clusterstate/clusterstate.go` (updateReadinessStats, GetUpcomingNodes,
IsClusterHealthy, IsNodeGroupHealthy), `cluster-autoscaler/utils/kubernetes/ready.go`.
"""

from __future__ import annotations

from functools import cached_property

from attrs import field, frozen

from reconverge.model.loop import Reading
from reconverge.model.loops.cluster_autoscaler.memory import AutoscalerMemory
from reconverge.model.loops.cluster_autoscaler.options import AutoscalerOptions
from reconverge.model.loops.cluster_autoscaler.writes import to_be_deleted
from reconverge.model.machines import Machines
from reconverge.model.node_groups import NodeGroup, instances
from reconverge.model.objects import Node
from reconverge.model.objects.node import DISK_PRESSURE, NETWORK_UNAVAILABLE, NOT_READY
from reconverge.model.value import Seconds

NOT_READY_TAINTS = frozenset({NOT_READY, DISK_PRESSURE, NETWORK_UNAVAILABLE})


def is_ready(node: Node) -> bool:
    """Whether a node counts as ready: by its condition, and by the taints that deny it (GetReadinessState)."""
    return node.ready == "True" and not any(taint.key in NOT_READY_TAINTS for taint in node.taints)


@frozen
class Readiness:
    """The members of a group by name: nodes by their state, instances without a node, nodes without an instance."""

    ready: list[str] = field(factory=list)
    unready: list[str] = field(factory=list)
    starting: list[str] = field(factory=list)
    unregistered: list[str] = field(factory=list)
    overdue: list[str] = field(factory=list)
    """Unregistered for longer than a node may take to come."""
    deleted: list[str] = field(factory=list)


class View:
    """One reading, seen as the autoscaler sees it. Only groups whose size may change are its own."""

    def __init__(self, reading: Reading, memory: AutoscalerMemory, options: AutoscalerOptions) -> None:
        assert reading.machines is not None
        self.reading = reading
        self.store = reading.store
        self.now: Seconds = reading.now
        self.options = options
        self.machines: Machines = reading.machines
        self.memory = memory
        self.groups: dict[str, NodeGroup] = {
            name: group for name, group in sorted(self.machines.groups.items()) if group.scales
        }

    def group_of(self, node: str) -> NodeGroup | None:
        """The group of a node, if it has one that scales."""
        machine = self.machines.get(node)
        return self.groups.get(machine.group) if machine is not None else None

    @cached_property
    def readiness(self) -> dict[str, Readiness]:
        """The state of each group's members."""
        found = {name: Readiness() for name in self.groups}
        for node in self.store.nodes():
            machine = self.machines.get(node.name)
            if machine is not None and machine.group in found:
                of_group = found[machine.group]
                (of_group.deleted if not machine.exists else self._list_for(of_group, node)).append(node.name)
        for name in self.groups:
            for machine in instances(self.machines, name):
                if self.store.node(machine.name) is None:
                    since = self.memory.unregistered.get(machine.name, self.now)
                    late = since + self.options.provision < self.now
                    (found[name].overdue if late else found[name].unregistered).append(machine.name)
        return found

    def _list_for(self, of_group: Readiness, node: Node) -> list[str]:
        if is_ready(node):
            return of_group.ready
        return of_group.starting if self.is_starting(node) else of_group.unready

    def is_starting(self, node: Node) -> bool:
        """Whether a node that is not ready was created so recently that it is only not ready yet."""
        return node.created_at + self.options.startup > self.now

    # Rules ---------------------------------------------------------------------------------------------------

    @cached_property
    def healthy(self) -> bool:
        """Whether few enough of all nodes are not ready for the autoscaler to act at all (IsClusterHealthy)."""
        nodes = self.store.nodes()
        gone = {name for each in self.readiness.values() for name in each.deleted}
        unready = sum(not is_ready(node) and not self.is_starting(node) and node.name not in gone for node in nodes)
        return not self._too_many(unready, len(nodes))

    def group_healthy(self, group: NodeGroup) -> bool:
        """Whether few enough of a group's nodes are missing without a reason (IsNodeGroupHealthy)."""
        each = self.readiness[group.name]
        expected = group.desired - len(each.overdue)
        if group.name in self.memory.scale_ups:
            expected -= self.upcoming(group)
        missing = max(0, expected - len(each.ready))
        total = len(each.ready) + len(each.unready) + len(each.starting) + len(each.overdue)
        return not self._too_many(missing, total)

    def _too_many(self, some: int, of_all: int) -> bool:
        return some > self.options.unready_count and some > self.options.unready_percent / 100 * of_all

    def upcoming(self, group: NodeGroup) -> int:
        """How many nodes of a group are still to come: what it should have without those that are ready or not."""
        each = self.readiness[group.name]
        return max(0, group.desired - len(each.ready) - len(each.unready) - len(each.overdue))

    @cached_property
    def nodes(self) -> list[Node]:
        """The nodes that count, by name: those that are starting are thought to be upcoming instead."""
        starting = {name for each in self.readiness.values() for name in each.starting}
        return [node for node in self.store.nodes() if node.name not in starting]

    def going(self, node: Node) -> bool:
        """Whether a node is on its way out: it is being removed, or its instance is gone."""
        machine = self.machines.get(node.name)
        marked = node.name in self.memory.deletions or to_be_deleted(node)
        return marked or (machine is not None and not machine.exists)
