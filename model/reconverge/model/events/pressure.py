"""Machines that run short of memory, disk or process ids, and no longer do.

Source: `pkg/kubelet/eviction/eviction_manager.go`; who is evicted for it is the kubelet's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from attrs import frozen

from reconverge.model.action import Written
from reconverge.model.cluster import Cluster
from reconverge.model.events.base import Event, Options, choices
from reconverge.model.events.machines import NodeEvent
from reconverge.model.power import with_machine
from reconverge.model.pressure import CONDITIONS, Strain

USUAL = ("memory", "disk")
"""The resources that are tried unless a scenario names others: process ids have no threshold by default."""


@frozen
class PressureChanges(NodeEvent):
    """A machine runs short of a resource (memory, disk or pid), or no longer does; its kubelet knows at once."""

    name = "pressure"
    summary = "a node runs short of memory, disk or pid, or (on: false) no longer does"
    failure = True
    allowed: ClassVar[Mapping[str, tuple[str, ...]]] = {"resource": tuple(CONDITIONS)}

    resource: str
    on: bool = True

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """Memory and disk of each node, where they are enough, and where they are short."""
        for name in choices(options, "node", sorted(cluster.machines.by_name)):
            for resource in choices(options, "resource", USUAL):
                for on in choices(options, "on", (True, False)):
                    event = cls(name, resource, on)
                    if event.enabled(cluster):
                        yield event

    def enabled(self, cluster: Cluster) -> bool:
        """The machine runs, and it is not so yet."""
        machine = self.machine(cluster)
        return (
            machine is not None
            and machine.powered
            and self.resource in CONDITIONS
            and (self.resource in machine.pressure) is not self.on
        )

    def apply(self, cluster: Cluster) -> Written:
        """Only the machine and its kubelet know so far."""
        machine = cluster.machines.by_name[self.node]
        strain = machine.strain
        if strain is None:
            node = cluster.store.node(self.node)
            published = node.pressure.intersection(CONDITIONS.values()) if node is not None else frozenset()
            strain = Strain(published, cluster.now, evicts_at=cluster.now)
        if self.on:
            after = machine.with_(
                pressure=machine.pressure | {self.resource}, strain=strain.begun(self.resource, cluster.now)
            )
        else:
            after = machine.with_(
                pressure=machine.pressure - {self.resource}, strain=strain.over(self.resource, cluster.now)
            )
        return with_machine(cluster, after)

    def describe(self) -> str:
        """Node n1 runs short of memory."""
        return f"node {self.node} {'runs' if self.on else 'is no longer'} short of {self.resource}"
