"""More or fewer users: the load of a workload changes.

Source: none; what an autoscaler makes of it is its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from reconverge.model.action import Written
from reconverge.model.cluster import Cluster
from reconverge.model.events.base import Event, Options, choices
from reconverge.model.load import LOADS, SCALABLE, Demand, load_of
from reconverge.model.naming import resolve, workloads
from reconverge.model.store import Change


@frozen
class LoadChanges(Event):
    """The total demand of a workload, in millicores, is another one. The workload is named `kind/name`."""

    workload: str
    millicores: int

    name = "load"
    summary = "the load of a workload changes (by default to double and to half of the present one)"

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """Double and half of the present load for each workload that has one, or the loads given."""
        every = [each.reference for each in workloads(cluster.store) if each.kind in SCALABLE]
        for name in choices(options, "workload", every):
            workload = resolve(cluster.store, name)
            present = load_of(cluster.machines, workload) if workload is not None else 0
            ordinary = (present * 2, present // 2) if present else ()
            for millicores in choices(options, "millicores", ordinary):
                event = cls(name, millicores)
                if event.enabled(cluster):
                    yield event

    def enabled(self, cluster: Cluster) -> bool:
        """The workload is there and has another load."""
        workload = resolve(cluster.store, self.workload)
        known = workload is not None and workload.kind in SCALABLE
        return known and load_of(cluster.machines, workload) != self.millicores

    def apply(self, cluster: Cluster) -> Written:
        """Nothing in the API changes: only what the pods use."""
        workload = resolve(cluster.store, self.workload)
        key = workload.reference
        before = Demand(key, load_of(cluster.machines, workload))
        after = Demand(key, self.millicores)
        machines = cluster.machines.with_(load=cluster.machines.load.set(key, self.millicores))
        return cluster.with_(machines=machines), (Change(LOADS, key, before, after),)

    def describe(self) -> str:
        """The load of deployment/web changes to 1600m."""
        return f"the load of {self.workload} changes to {self.millicores}m"
