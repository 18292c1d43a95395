"""Node groups: sets of equal machines that the cloud keeps at a wanted number (an AWS auto scaling group and its like).

Source: documentation of Amazon EC2 Auto Scaling (groups, subnets, instance distribution, health checks).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from attrs import frozen

from reconverge.model.labels import labels_of
from reconverge.model.objects.node import HOSTNAME, NO_SCHEDULE, OLD_ZONE, UNINITIALIZED, ZONE, Node, Taint
from reconverge.model.value import Seconds, Value

if TYPE_CHECKING:
    from reconverge.model.machines import Machine, Machines

NODE_GROUPS = "NodeGroup"
"""The pseudo-kind under which changes of groups are delivered to the loops that live at the cloud provider."""
BOOT: Seconds = 120
"""From the launch of an instance until its kubelet runs, unless a group says otherwise."""
BEST_EFFORT, ONLY = "best-effort", "only"
"""What a group does that cannot launch in the zone whose turn it is: tries another one, or waits for it."""


@frozen
class Subnet(Value):
    """Where instances get their addresses; it lies in one zone. `addresses` bounds its instances, None is no bound."""

    name: str
    zone: str = ""
    addresses: int | None = None


@frozen
class NodeGroup(Value):
    """A group of machines of one shape: `minimum <= desired <= maximum` always holds.

    `template` is the Node that an instance registers, without its name and zone. `boot` is the time in seconds from
    the launch of an instance until its kubelet runs.
    """

    name: str
    minimum: int
    maximum: int
    desired: int
    subnets: tuple[Subnet, ...] = (Subnet("subnet"),)
    template: Node = Node(name="")
    boot: Seconds = BOOT
    rebalance: bool = False
    """Whether the cloud evens out zones by itself: it launches in one and terminates, without a drain, in another."""
    balance: str = BEST_EFFORT
    replaces_dead: bool = False
    """Whether a machine that has crashed counts as unhealthy and is replaced; terminated ones always are."""
    launched: int = 0
    """The highest number that an instance has had: names are not used twice."""

    @property
    def reference(self) -> str:
        """How people name it."""
        return f"nodegroup/{self.name}"

    @property
    def scales(self) -> bool:
        """Whether there is something to decide for an autoscaler."""
        return self.minimum != self.maximum

    @property
    def zones(self) -> tuple[str, ...]:
        """The zones of its subnets, each once, in their order."""
        return tuple(dict.fromkeys(subnet.zone for subnet in self.subnets))

    def instance_name(self, number: int) -> str:
        """`<group>-<number>`: the name of the machine and of its Node."""
        return f"{self.name}-{number}"

    def node(self, number: int, zone: str) -> Node:
        """The Node that its instance of that number becomes in a zone, once the cloud has initialised it."""
        name = self.instance_name(number)
        labels = {**dict(self.template.labels), HOSTNAME: name}
        if zone:
            labels |= {ZONE: zone, OLD_ZONE: zone}
        return self.template.with_(name=name, labels=labels_of(labels))

    def subnet_in(self, zone: str) -> str:
        """The name of its first subnet in a zone; empty if it has none there."""
        return next((subnet.name for subnet in self.subnets if subnet.zone == zone), "")

    def resized(self, desired: int) -> NodeGroup:
        """The group with another desired size. Raises ValueError outside its bounds."""
        if not self.minimum <= desired <= self.maximum:
            raise ValueError(f"{self.name} may have {self.minimum} to {self.maximum} instances, not {desired}")
        return self.with_(desired=desired)


def number_of(group: str, machine: str) -> int | None:
    """The number of a machine in a group or pool by its name `<group>-<number>`; None if it is not named so."""
    match = re.fullmatch(re.escape(group) + r"-([0-9]+)", machine)
    return int(match[1]) if match is not None else None


def instances(machines: Machines, group: str) -> list[Machine]:
    """The instances of a group that exist, booting ones too, by name."""
    by_name = machines.by_name
    return [by_name[name] for name in sorted(by_name) if by_name[name].group == group and by_name[name].exists]


def uninitialised(node: Node) -> Node:
    """A node as the kubelet of an instance registers it: its zone is not known yet, and pods are to stay away.

    Source: cloud-provider `api/well_known_taints.go`, `controllers/node/node_controller.go`.
    """
    labels = {key: value for key, value in node.labels if key not in (ZONE, OLD_ZONE)}
    others = tuple(taint for taint in node.taints if taint.key != UNINITIALIZED)
    return node.with_(labels=labels_of(labels), taints=(*others, Taint(UNINITIALIZED, NO_SCHEDULE, "true")))


def has_room(machines: Machines, subnet: Subnet) -> bool:
    """Whether an instance can be launched in a subnet now: its zone is up, and it has an address left.

    A subnet is one for all groups that name it: the instances of each use up its addresses.
    """
    if subnet.zone in machines.zones_down:
        return False
    if subnet.addresses is None:
        return True
    used = sum(each.subnet == subnet.name and each.exists for each in machines.by_name.values())
    return used < subnet.addresses


def joined_groups(machines: Machines, groups: Iterable[NodeGroup]) -> Machines:
    """The machines with groups, to which those belong that are named `<group>-<number>`."""
    for group in groups:
        numbers = {name: number_of(group.name, name) for name in machines.by_name}
        members = {name: number for name, number in numbers.items() if number is not None}
        for name in sorted(members):
            machine = machines.by_name[name]
            again = uninitialised(machine.registers) if machine.registers is not None else None
            joined = machine.with_(group=group.name, subnet=group.subnet_in(machine.zone), registers=again)
            machines = machines.put(joined)
        launched = max(members.values(), default=0)
        machines = machines.put_group(group.with_(launched=max(group.launched, launched)))
    return machines


def pools(machines: Machines) -> dict[str, list[Machine]]:
    """The machines that exist by what comes before the number in their names; groups without a machine, too."""
    found: dict[str, list[Machine]] = {name: [] for name in sorted(machines.groups)}
    for name in sorted(machines.by_name):
        pool, dash, number = name.rpartition("-")
        machine = machines.by_name[name]
        if dash and number.isdigit() and machine.exists and machine.group in ("", pool):
            found.setdefault(pool, []).append(machine)
    return found


def next_member(machines: Machines, pool: str) -> Machine | None:
    """The machine that joins a pool without a group next: like its others, in the zone with the fewest of them.

    None if there is none to be like, or all zones are down.
    """
    members = pools(machines).get(pool, [])
    counts = Counter(each.zone for each in members if each.zone not in machines.zones_down)
    model = next((each.registers for each in members if each.registers is not None), None)
    if not counts or model is None:
        return None
    zone = min(sorted(counts), key=lambda each: counts[each])
    number = 1 + max(number_of(pool, name) or 0 for name in machines.by_name)
    group = NodeGroup(pool, 0, 0, 0, template=model)
    node = group.node(number, zone)
    return type(members[0])(node.name, zone, registers=node)
