"""The cloud's side of node groups: as many instances as desired, evenly over zones.

It looks at machines and zones, never at pods: an instance that it terminates is not drained.
Source: documentation of Amazon EC2 Auto Scaling (health checks, instance distribution, Availability Zone rebalancing).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import ClassVar

from reconverge.model.likeness import age, node_likeness
from reconverge.model.loop import MACHINES, ControlLoop, Plan, Reading
from reconverge.model.loops.node_group.actions import DropInstance, LaunchInstance, RunInstance, TerminateInstance
from reconverge.model.machines import Machine, Machines
from reconverge.model.node_groups import NODE_GROUPS, ONLY, NodeGroup, Subnet, has_room, instances
from reconverge.model.store import Change
from reconverge.model.value import Seconds

Plans = Sequence[Plan[None]]


class NodeGroupLoop(ControlLoop[None]):
    """All scaling groups as one loop. Keys are groups; a pass does one thing, and its change wakes the group again."""

    name: ClassVar[str] = "node-group"
    watches: ClassVar[frozenset[str]] = frozenset({MACHINES, NODE_GROUPS, "Node"})
    physical: ClassVar[bool] = True
    source: ClassVar[str] = "documentation of Amazon EC2 Auto Scaling"

    # Rules ---------------------------------------------------------------------------------------------------

    def unhealthy(self, machines: Machines, group: NodeGroup, machine: Machine) -> str:
        """Why an instance is to be replaced; empty if it is healthy.

        The health check is the machine's: a kubelet that does not work, or a node that is not ready, is none of its
        business.
        """
        if machine.boots_at is not None:
            return f"it cannot start: zone {machine.zone} is down" if machine.zone in machines.zones_down else ""
        if machine.stopped and not machine.powered:
            return "its instance is stopped"
        return "its machine is dead" if group.replaces_dead and not machine.powered else ""

    def is_open(self, machines: Machines, group: NodeGroup, subnet: Subnet) -> bool:
        """Whether an instance can be launched in a subnet."""
        return has_room(machines, subnet)

    def launch_in(self, machines: Machines, group: NodeGroup) -> list[Subnet]:
        """The subnets in which the next instance may come: the first open one of each zone with the fewest instances.

        A group that is balanced at best effort passes over zones that take none; one that insists waits for them.
        """
        counts = zone_counts(machines, group)
        open_ = [subnet for subnet in group.subnets if self.is_open(machines, group, subnet)]
        counted = group.zones if group.balance == ONLY else [subnet.zone for subnet in open_]
        fewest = min((counts[zone] for zone in counted), default=0)
        first: dict[str, Subnet] = {}
        for subnet in open_:
            if counts[subnet.zone] == fewest:
                first.setdefault(subnet.zone, subnet)
        return list(first.values())

    def surplus(self, reading: Reading, group: NodeGroup) -> list[Machine]:
        """The instances that may go next: one of each kind in the zones that have the most, by what they are."""
        machines = _machines(reading)
        counts = zone_counts(machines, group)
        most = max(counts.values())
        kinds: dict[str, Machine] = {}
        for machine in instances(machines, group.name):
            if counts[machine.zone] == most:
                kinds.setdefault(_likeness(reading, machine), machine)
        return [kinds[text] for text in sorted(kinds)]

    def unbalanced(self, machines: Machines, group: NodeGroup) -> str:
        """What is uneven about its zones, if two that are open differ by more than one instance; else empty."""
        counts = zone_counts(machines, group)
        open_ = dict.fromkeys(each.zone for each in group.subnets if self.is_open(machines, group, each))
        if not group.rebalance or not open_:
            return ""
        least = min(open_, key=lambda zone: counts[zone])
        fullest = max(group.zones, key=lambda zone: counts[zone])
        if counts[fullest] - counts[least] <= 1:
            return ""
        return f"zone {fullest} has {counts[fullest]} instances and zone {least} has {counts[least]}"

    def replaced_later(self, group: NodeGroup, members: Sequence[Machine]) -> bool:
        """Whether what is too many is kept until others run: rebalancing launches first, and terminates then."""
        running = sum(each.boots_at is None for each in members)
        return group.rebalance and running <= group.desired

    # The loop ------------------------------------------------------------------------------------------------

    def relist(self, reading: Reading) -> Iterable[str]:
        """Every group."""
        return sorted(_machines(reading).groups)

    def observe(self, memory: None, change: Change, reading: Reading) -> tuple[None, Iterable[str]]:
        """A group changed, one of its instances did, or the Node object of one that is no more has gone."""
        if change.kind == NODE_GROUPS:
            return None, (change.key,)
        if change.kind == MACHINES:
            machine: Machine = change.object
            if not machine.group or _only_pods(change):
                return None, ()
            return None, (machine.group, *_waiting_for_addresses(_machines(reading), machine))
        if change.after is not None:
            return None, ()
        found = _machines(reading).get(change.key)
        return None, (found.group,) if found is not None and found.group and not found.exists else ()

    def sync(self, reading: Reading, memory: None, key: str) -> Plans:
        """The first of its duties that has something to do."""
        group = _machines(reading).group(key)
        if group is None:
            return (Plan(None),)
        for duty in (self.forgetting, self.booting, self.replacing, self.launching, self.shrinking, self.rebalancing):
            plans = duty(reading, group)
            if plans:
                return plans
        return (Plan(None, requeue_at=self.next_boot(reading, group)),)

    # Duties --------------------------------------------------------------------------------------------------

    def forgetting(self, reading: Reading, group: NodeGroup) -> Plans:
        """Instances that do not exist and have no Node object any more are dropped."""
        by_name = _machines(reading).by_name
        gone = [
            name
            for name in sorted(by_name)
            if by_name[name].group == group.name and not by_name[name].exists and reading.store.node(name) is None
        ]
        return self._plan(reading, group, *(DropInstance(name) for name in gone)) if gone else ()

    def booting(self, reading: Reading, group: NodeGroup) -> Plans:
        """Instances whose time has come run, unless their zone is down."""
        machines = _machines(reading)
        due = [
            each
            for each in instances(machines, group.name)
            if each.boots_at is not None and each.boots_at <= reading.now and not self.unhealthy(machines, group, each)
        ]
        return self._plan(reading, group, *(RunInstance(each.name) for each in due)) if due else ()

    def replacing(self, reading: Reading, group: NodeGroup) -> Plans:
        """Unhealthy instances are terminated; the desired size stays, so that others are launched for them."""
        machines = _machines(reading)
        reasons = [(each, self.unhealthy(machines, group, each)) for each in instances(machines, group.name)]
        actions = [TerminateInstance(each.name, reason) for each, reason in reasons if reason]
        return self._plan(reading, group, *actions) if actions else ()

    def launching(self, reading: Reading, group: NodeGroup) -> Plans:
        """One instance more if there are fewer than desired."""
        machines = _machines(reading)
        count = len(instances(machines, group.name))
        if count >= group.desired:
            return ()
        reason = f"{count} of {group.desired} instances exist"
        subnets = self.launch_in(machines, group)
        if not subnets:
            note = f"{reason}, and no zone whose turn it is takes one"
            return (Plan(None, requeue_at=self.next_boot(reading, group), note=note),)
        return [self._launch(reading, group, subnet, reason) for subnet in subnets]

    def shrinking(self, reading: Reading, group: NodeGroup) -> Plans:
        """One instance fewer if there are more than desired."""
        members = instances(_machines(reading), group.name)
        count = len(members)
        if count <= group.desired:
            return ()
        if self.replaced_later(group, members):
            note = f"{count} instances exist, of which some still boot"
            return (Plan(None, requeue_at=self.next_boot(reading, group), note=note),)
        reason = f"{count} instances exist and {group.desired} are desired"
        return [
            self._plan(reading, group, TerminateInstance(each.name, reason), choice=each.name)[0]
            for each in self.surplus(reading, group)
        ]

    def rebalancing(self, reading: Reading, group: NodeGroup) -> Plans:
        """One instance more where there are fewest, for the sake of balance; the surplus then goes where most are."""
        machines = _machines(reading)
        reason = self.unbalanced(machines, group)
        if not reason or len(instances(machines, group.name)) != group.desired:
            return ()
        return [self._launch(reading, group, subnet, reason) for subnet in self.launch_in(machines, group)]

    # Inside --------------------------------------------------------------------------------------------------

    def next_boot(self, reading: Reading, group: NodeGroup) -> Seconds | None:
        """When the next of its instances will have booted; None if none is booting."""
        members = instances(_machines(reading), group.name)
        return min((each.boots_at for each in members if each.boots_at is not None), default=None)

    def _launch(self, reading: Reading, group: NodeGroup, subnet: Subnet, reason: str) -> Plan[None]:
        return self._plan(reading, group, LaunchInstance(group.name, subnet, reason), choice=subnet.zone)[0]

    def _plan(
        self,
        reading: Reading,
        group: NodeGroup,
        *actions: DropInstance | LaunchInstance | RunInstance | TerminateInstance,
        choice: str = "",
    ) -> Plans:
        return (Plan(None, actions, self.next_boot(reading, group), choice),)


def zone_counts(machines: Machines, group: NodeGroup) -> Counter[str]:
    """How many instances, booting ones too, the group has in each zone."""
    return Counter(each.zone for each in instances(machines, group.name))


def _waiting_for_addresses(machines: Machines, machine: Machine) -> list[str]:
    """The other groups that may have waited for the address of an instance that is gone."""
    if machine.exists:
        return []
    return [
        name
        for name in sorted(machines.groups)
        if name != machine.group
        and any(each.name == machine.subnet and each.addresses is not None for each in machines.groups[name].subnets)
    ]


def _machines(reading: Reading) -> Machines:
    assert reading.machines is not None
    return reading.machines


def _only_pods(change: Change) -> bool:
    before: Machine | None = change.before
    after: Machine | None = change.after
    if before is None or after is None:
        return False
    return (before.exists, before.powered, before.boots_at) == (after.exists, after.powered, after.boots_at)


def _likeness(reading: Reading, machine: Machine) -> str:
    """What an instance is without its name; those that still boot come first."""
    node = reading.store.node(machine.name)
    boots = "" if machine.boots_at is None else age(machine.boots_at, reading.now)
    text = node_likeness(reading.store, node, reading.now) if node is not None else ""
    return repr((machine.boots_at is None, machine.zone, boots, machine.powered, text))
