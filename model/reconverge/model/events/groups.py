"""Events of whole pools of nodes: a node joins by hand, a pool is upgraded.

Source: documentation of node groups (desired size), of node upgrades.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from reconverge.model.action import Written
from reconverge.model.cluster import Cluster
from reconverge.model.events.base import Event, Options, choices
from reconverge.model.loops.upgrade import begin_upgrade
from reconverge.model.node_groups import NODE_GROUPS, next_member, pools
from reconverge.model.power import with_machine
from reconverge.model.store import Change


@frozen
class PoolEvent(Event):
    """An event of one node pool, named as its nodes are before their numbers."""

    pool: str

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """One per pool where it can happen."""
        for pool in choices(options, "pool", sorted(pools(cluster.machines))):
            event = cls(pool)
            if event.enabled(cluster):
                yield event


@frozen
class NodeJoins(PoolEvent):
    """One node more: a group's desired size goes up by one; to a pool without a group a machine is added."""

    name = "node-join"
    summary = "a new node joins a pool (a node group grows by one, within its maximum)"
    voluntary = True

    def enabled(self, cluster: Cluster) -> bool:
        """The group is below its maximum, or there is a machine to be like."""
        group = cluster.machines.group(self.pool)
        if group is not None:
            return group.desired < group.maximum
        return next_member(cluster.machines, self.pool) is not None

    def apply(self, cluster: Cluster) -> Written:
        """A group launches the instance, which boots first; a machine without a group runs at once."""
        machines = cluster.machines
        group = machines.group(self.pool)
        if group is not None:
            after = group.resized(group.desired + 1)
            change = Change(NODE_GROUPS, group.name, group, after)
            return cluster.with_(machines=machines.put_group(after)), (change,)
        machine = next_member(machines, self.pool)
        return with_machine(cluster, machine) if machine is not None else (cluster, ())

    def describe(self) -> str:
        """A node joins workers."""
        return f"a node joins {self.pool}"


@frozen
class NodesUpgraded(PoolEvent):
    """The nodes of a pool are replaced one by one; the steps are those of the upgrade loop."""

    name = "node-upgrade"
    summary = "a pool's nodes are replaced one by one: a new one joins, an old one is drained and deleted"
    voluntary = True

    def enabled(self, cluster: Cluster) -> bool:
        """The pool has nodes, and no upgrade of it runs."""
        state = cluster.loops.get("upgrade")
        return state is not None and self.pool not in state.memory and bool(pools(cluster.machines).get(self.pool))

    def apply(self, cluster: Cluster) -> Written:
        """The upgrade begins."""
        state = cluster.loops["upgrade"]
        memory = begin_upgrade(state.memory, cluster.machines, self.pool)
        state = state.with_(memory=memory, queue={**state.queue, self.pool: None})
        return cluster.with_(loops={**cluster.loops, "upgrade": state}), ()

    def describe(self) -> str:
        """The nodes of workers are upgraded."""
        return f"the nodes of {self.pool} are upgraded"
