"""What the cloud does with the instances of a group, and what is asked of it about a group.

Source: documentation of Amazon EC2 Auto Scaling (instance lifecycle, SetDesiredCapacity,
TerminateInstanceInAutoScalingGroup).
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.action import Action, Written
from reconverge.model.cluster import Cluster
from reconverge.model.errors import ApiError, NotFound
from reconverge.model.loop import MACHINES
from reconverge.model.machines import Machine
from reconverge.model.node_groups import NODE_GROUPS, NodeGroup, Subnet, has_room, uninitialised
from reconverge.model.power import crashed, with_machine
from reconverge.model.store import Change


class CloudError(ApiError):
    """The cloud provider does not do what it is asked for."""

    code = 400


@frozen
class LaunchInstance(Action):
    """Launch an instance in a subnet; it runs after the group's boot time. Raises CloudError if it has no room."""

    group: str
    subnet: Subnet
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """The machine gets the group's next number, and is off until it has booted."""
        group = group_of(cluster, self.group)
        machines = cluster.machines
        if not has_room(machines, self.subnet):
            raise CloudError(f"insufficient capacity for {group.reference} in zone {self.subnet.zone}")
        number = group.launched + 1
        node = group.node(number, self.subnet.zone)
        machine = Machine(
            node.name,
            self.subnet.zone,
            powered=False,
            registers=uninitialised(node),
            group=group.name,
            subnet=self.subnet.name,
            boots_at=cluster.now + group.boot,
        )
        after = group.with_(launched=number)
        cluster = cluster.with_(machines=machines.put(machine).put_group(after))
        changes = (Change(MACHINES, machine.name, None, machine), Change(NODE_GROUPS, group.name, group, after))
        return cluster, changes

    def describe(self) -> str:
        """Names the group and the zone."""
        where = f" in zone {self.subnet.zone}" if self.subnet.zone else ""
        return f"launches an instance of {self.group}{where}"


@frozen
class RunInstance(Action):
    """An instance that was launched has booted: its kubelet runs. Raises NotFound if it has gone meanwhile."""

    machine: str
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """Power comes on."""
        machine = machine_of(cluster, self.machine)
        return with_machine(cluster, machine.with_(powered=True, boots_at=None))

    def describe(self) -> str:
        """Names the machine."""
        return f"has booted instance {self.machine}"


@frozen
class TerminateInstance(Action):
    """Terminate an instance at once; nobody drains it. Raises NotFound if it has gone.

    With `shrinks` the group's desired size goes down with it, so that it is not replaced; raises CloudError at the
    group's minimum.
    """

    machine: str
    reason: str = ""
    shrinks: bool = False

    def apply(self, cluster: Cluster) -> Written:
        """As a crash, and the instance is gone."""
        machine = machine_of(cluster, self.machine)
        resized: tuple[Change, ...] = ()
        if self.shrinks:
            group = group_of(cluster, machine.group)
            cluster, resized = ResizeGroup(group.name, group.desired - 1).apply(cluster)
        after, changes = crashed(cluster, machine, exists=False, boots_at=None)
        return after, (*changes, *resized)

    def describe(self) -> str:
        """Names the machine."""
        return f"terminates instance {self.machine}"


@frozen
class DropInstance(Action):
    """Forget a machine that does not exist any more, once its Node object is gone, too."""

    machine: str
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """Raises NotFound if it has been forgotten already."""
        machine = cluster.machines.get(self.machine)
        if machine is None:
            raise NotFound(f"there is no machine {self.machine}")
        return cluster.with_(machines=cluster.machines.remove(self.machine)), (
            Change(MACHINES, self.machine, machine, None),
        )

    def describe(self) -> str:
        """Names the machine."""
        return f"forgets instance {self.machine}"


@frozen
class ResizeGroup(Action):
    """Set the desired size of a group. Raises CloudError outside its bounds."""

    group: str
    desired: int
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """The group launches or terminates instances later."""
        group = group_of(cluster, self.group)
        try:
            after = group.resized(self.desired)
        except ValueError as error:
            raise CloudError(str(error)) from None
        return with_group(cluster, after)

    def describe(self) -> str:
        """Names the group and the size."""
        return f"sets the desired size of {self.group} to {self.desired}"


def with_group(cluster: Cluster, after: NodeGroup) -> Written:
    """The cluster with a group replaced."""
    before = cluster.machines.group(after.name)
    machines = cluster.machines.put_group(after)
    return cluster.with_(machines=machines), (Change(NODE_GROUPS, after.name, before, after),)


def group_of(cluster: Cluster, name: str) -> NodeGroup:
    """The group. Raises NotFound."""
    group = cluster.machines.group(name)
    if group is None:
        raise NotFound(f"there is no node group {name}")
    return group


def machine_of(cluster: Cluster, name: str) -> Machine:
    """The instance. Raises NotFound if it does not exist."""
    machine = cluster.machines.get(name)
    if machine is None or not machine.exists:
        raise NotFound(f"there is no instance {name}")
    return machine
