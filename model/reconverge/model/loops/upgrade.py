"""Upgrading the nodes of a pool one by one: a new node joins, an old one is drained and deleted, until all are new.

An operator's process, as `kubeadm`, `eksctl` and the node upgrades of managed clusters do it; a loop here because it
keeps at it. The drain is the drain loop's.
Source: documentation of upgrading kubeadm clusters (nodes), of managed node group updates (surge of one node).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

from attrs import frozen

from reconverge.model.action import Action, Delete, Written
from reconverge.model.cluster import Cluster
from reconverge.model.errors import NotFound
from reconverge.model.likeness import node_likeness
from reconverge.model.loop import MACHINES, ControlLoop, Plan, Reading
from reconverge.model.loops.drain import DrainLoop, DrainOptions, begin_drain
from reconverge.model.loops.node_group.actions import DropInstance, machine_of, with_group
from reconverge.model.machines import Machine, Machines
from reconverge.model.node_groups import next_member, pools
from reconverge.model.persistent import EMPTY, Map
from reconverge.model.power import crashed, with_machine
from reconverge.model.store import Change
from reconverge.model.value import Value


@frozen
class Upgrade(Value):
    """One pool's upgrade: the nodes that it had at the beginning, how many new ones were asked for, the one drained."""

    old: tuple[str, ...]
    joined: int = 0
    draining: str = ""


UpgradeMemory = Map[str, Upgrade]
"""Upgrades in progress, by pool."""


def begin_upgrade(memory: UpgradeMemory, machines: Machines, pool: str) -> UpgradeMemory:
    """The memory with the upgrade of a pool begun; whoever begins it wakes the key `pool`."""
    return memory.set(pool, Upgrade(tuple(each.name for each in pools(machines)[pool])))


@frozen
class JoinNode(Action):
    """One node more in a pool. A group grows by one above its size, and its maximum with it. Raises NotFound."""

    pool: str
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """A machine of a pool without a group runs at once; a group launches it."""
        group = cluster.machines.group(self.pool)
        if group is not None:
            return with_group(cluster, group.with_(maximum=group.maximum + 1, desired=group.desired + 1))
        machine = next_member(cluster.machines, self.pool)
        if machine is None:
            raise NotFound(f"no machine can join {self.pool}")
        return with_machine(cluster, machine)

    def describe(self) -> str:
        """Names the pool."""
        return f"adds a node to {self.pool}"


@frozen
class RetireInstance(Action):
    """Take a machine away; its group is smaller by one again, and so is its maximum. Raises NotFound."""

    machine: str
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """As a crash, and the instance is gone."""
        machine = machine_of(cluster, self.machine)
        group = cluster.machines.group(machine.group)
        changes: tuple[Change, ...] = ()
        if group is not None:
            smaller = group.with_(maximum=group.maximum - 1, desired=group.desired - 1)
            cluster, changes = with_group(cluster, smaller)
        after, gone = crashed(cluster, machine, exists=False, boots_at=None)
        return after, (*gone, *changes)

    def describe(self) -> str:
        """Names the machine."""
        return f"takes machine {self.machine} away"


@frozen
class BeginDrain(Action):
    """Start a drain of a node that goes on until the node is empty."""

    node: str
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """The drain loop does the rest."""
        state = cluster.loops["drain"]
        memory = begin_drain(state.memory, self.node, DrainOptions(until_empty=True))
        state = state.with_(memory=memory, queue={**state.queue, self.node: None})
        return cluster.with_(loops={**cluster.loops, "drain": state}), ()

    def describe(self) -> str:
        """Names the node."""
        return f"begins to drain {self.node}"


class UpgradeLoop(ControlLoop[UpgradeMemory]):
    """All upgrades in progress. Keys are pools."""

    name: ClassVar[str] = "upgrade"
    watches: ClassVar[frozenset[str]] = frozenset({"Node", "Pod", MACHINES})
    physical: ClassVar[bool] = True
    source: ClassVar[str] = "documentation of node upgrades"

    def start(self) -> UpgradeMemory:
        """No upgrade runs."""
        return EMPTY

    def observe(self, memory: UpgradeMemory, change: Change, reading: Reading) -> tuple[UpgradeMemory, Iterable[str]]:
        """Any node or pod may be what an upgrade waits for."""
        return memory, sorted(memory)

    def sync(self, reading: Reading, memory: UpgradeMemory, key: str) -> Sequence[Plan[UpgradeMemory]]:
        """The next step of a pool's upgrade."""
        upgrade = memory.get(key)
        if upgrade is None:
            return (Plan(memory),)
        assert reading.machines is not None
        left = [name for name in upgrade.old if self.is_there(reading, name)]
        if not left:
            return (Plan(memory.delete(key), note="every node is new"),)
        wanted = len(upgrade.old) - len(left) + 1
        if upgrade.joined < wanted:
            return (
                self._plan(memory, key, upgrade.with_(joined=wanted), JoinNode(key, "an old node is to be replaced")),
            )
        if len(self.new_nodes(reading, key, upgrade)) < wanted:
            return (Plan(memory, note="waits for a new node to be ready"),)
        if upgrade.draining not in left:
            return [
                self._plan(
                    memory, key, upgrade.with_(draining=name), BeginDrain(name, "it is to be replaced"), choice=name
                )
                for name in self.next_old(reading, left)
            ]
        if not self.is_empty(reading, upgrade.draining):
            return (Plan(memory, note=f"waits until {upgrade.draining} is drained"),)
        return (self._plan(memory, key, upgrade, *self.removal(reading, upgrade.draining)),)

    # Rules ---------------------------------------------------------------------------------------------------

    def is_there(self, reading: Reading, name: str) -> bool:
        """Whether an old node or its machine is there still."""
        machine = reading.machines.get(name) if reading.machines is not None else None
        return reading.store.node(name) is not None or (machine is not None and machine.exists)

    def new_nodes(self, reading: Reading, pool: str, upgrade: Upgrade) -> list[str]:
        """The nodes that have joined since and are ready."""
        assert reading.machines is not None
        members: list[Machine] = pools(reading.machines)[pool]
        nodes = [reading.store.node(each.name) for each in members if each.name not in upgrade.old]
        return [node.name for node in nodes if node is not None and node.ready == "True"]

    def next_old(self, reading: Reading, left: Sequence[str]) -> list[str]:
        """Which old node may be next: one of each kind, by what they are."""
        kinds: dict[str, str] = {}
        for name in sorted(left):
            node = reading.store.node(name)
            kinds.setdefault(node_likeness(reading.store, node, reading.now) if node is not None else "", name)
        return [kinds[text] for text in sorted(kinds)]

    def is_empty(self, reading: Reading, node: str) -> bool:
        """Whether nothing is left on a node that a drain would evict."""
        drain, store = DrainLoop(), reading.store
        return not any(drain.to_evict(store, pod) and not pod.terminal for pod in store.pods_on(node))

    def removal(self, reading: Reading, name: str) -> Iterator[Action]:
        """The writes that take a drained node away."""
        assert reading.machines is not None
        machine = reading.machines.get(name)
        if machine is not None and machine.exists:
            yield RetireInstance(name, "it is drained")
        node, lease = reading.store.node(name), reading.store.lease(name)
        if node is not None:
            yield Delete("Node", name, node.uid, "its machine is gone")
        if lease is not None:
            yield Delete("Lease", name, lease.uid, f"its owner node/{name} is gone")
        if machine is not None and not machine.group:
            yield DropInstance(name)

    # Inside --------------------------------------------------------------------------------------------------

    def _plan(
        self, memory: UpgradeMemory, key: str, upgrade: Upgrade, *actions: Action, choice: str = ""
    ) -> Plan[UpgradeMemory]:
        return Plan(memory.set(key, upgrade), actions, choice=choice)

    def marks(self, memory: UpgradeMemory, reading: Reading) -> Iterator[tuple[str, str, Any]]:
        """Which nodes are old, and how far each upgrade is."""
        for pool in sorted(memory):
            upgrade = memory[pool]
            yield "", "", (pool, upgrade.joined)
            for name in upgrade.old:
                yield "Node", name, ("old", name == upgrade.draining)
