"""Where a pod may run by the documented rules: an oracle that shares no code with the scheduler.

It is slow and obvious on purpose, so that it can tell on a scheduler that is wrong. Of volumes it knows the bound ones.
Source: the documentation of node affinity, taints, topology spread, inter-pod affinity and volumes; kube-scheduler
`pkg/scheduler/framework/plugins/` for the fine print.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from reconverge.invariants.stock.disks import volume_refusals
from reconverge.invariants.stock.neighbours import Neighbours
from reconverge.invariants.stock.selection import Refusal, node_refusals
from reconverge.invariants.stock.spread import SpreadCounts
from reconverge.model.objects import Node, Pod
from reconverge.model.resources import Resources
from reconverge.model.store import Store

ANY_ADDRESS = frozenset({"", "0.0.0.0"})
FIXED = frozenset({"selector", "affinity", "taint", "unschedulable", "too-small", "no-label", "no-company", "volume"})
"""Refusals that taking pods off the node does not lift."""


class Oracle:
    """Refusals of nodes for one pod, by a store.

    The pod itself, and pods whose uids are in `without`, are taken to be on no node. `nominated` are pods without a
    node that are counted on the node they are nominated to.
    """

    def __init__(self, store: Store, pod: Pod, without: Iterable[int] = (), nominated: tuple[Pod, ...] = ()) -> None:
        self.store = store
        self.pod = pod
        self.without = frozenset((*without, pod.uid))
        self.nominated = nominated

    def refusals(self, node: Node) -> Iterator[Refusal]:
        """Every reason why the node may not take the pod; none if it may."""
        yield from node_refusals(self.pod, node)
        if self.pod.spec.claims:
            yield from volume_refusals(self.store, self.pod, node)
        yield from self.room(node)
        yield from self._spread.refusals(node)
        yield from self._neighbours.refusals(node)

    def fits(self, node: Node) -> bool:
        """Whether the node may take the pod."""
        return next(self.refusals(node), None) is None

    def room(self, node: Node) -> Iterator[Refusal]:
        """Whether what the node's pods request, Terminating ones too, leaves room for this one."""
        pods = [pod for pod in self.store.pods_on(node.name) if not pod.terminal and pod.uid not in self.without]
        pods += [pod for pod in self.nominated if pod.nominated_node == node.name]
        most = node.allocatable.pods
        if len(pods) + 1 > most:
            yield Refusal("capacity", f"holds {len(pods)} pods, and may hold {most}")
        wanted = self.pod.spec.requests
        for name, amount in wanted.amounts():
            if amount > 0:
                held = sum(pod.spec.requests.amount(name) for pod in pods)
                yield from _short(node.allocatable.resources, name, amount, held)
        taken = [port for pod in pods for port in host_ports(pod)]
        for port in host_ports(self.pod):
            if any(ports_clash(port, other) for other in taken):
                yield Refusal("ports", f"has host port {port[2]}/{port[1]} taken")

    @cached_property
    def _spread(self) -> SpreadCounts:
        return SpreadCounts(self.store, self.pod, self.without)

    @cached_property
    def _neighbours(self) -> Neighbours:
        return Neighbours(self.store, self.pod, self.without)


def _short(has: Resources, name: str, amount: int, held: int) -> Iterator[Refusal]:
    most = has.amount(name)
    if amount > most:
        yield Refusal("too-small", f"has {most} {name} in all, and {amount} are requested")
    elif held + amount > most:
        yield Refusal("capacity", f"has {most} {name}, {held} requested by its pods, and {amount} more are requested")


def host_ports(pod: Pod) -> list[tuple[str, str, int]]:
    """(address, protocol, port) of the host ports that a pod wants."""
    return [port for container in pod.spec.containers for port in container.host_ports]


def ports_clash(one: tuple[str, str, int], other: tuple[str, str, int]) -> bool:
    """Whether two host ports cannot be given on one machine."""
    same_address = one[0] == other[0] or one[0] in ANY_ADDRESS or other[0] in ANY_ADDRESS
    return one[1:] == other[1:] and same_address
