"""Events of whole zones, and of the way from kubelets to the control plane."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from reconverge.model.action import Written
from reconverge.model.cluster import Cluster
from reconverge.model.events.base import Event, Options, choices, combined
from reconverge.model.events.machines import NodePartitioned
from reconverge.model.machines import Machine
from reconverge.model.node_groups import NODE_GROUPS
from reconverge.model.power import crashed, with_machine
from reconverge.model.store import Change


@frozen
class ZoneEvent(Event):
    """An event of one zone."""

    zone: str

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """One per zone where it can happen, be there machines left or not."""
        up = {machine.zone for machine in cluster.machines.by_name.values() if machine.zone}
        zones = sorted(up | cluster.machines.zones_down)
        for zone in choices(options, "zone", zones):
            event = cls(zone)
            if event.enabled(cluster):
                yield event

    def members(self, cluster: Cluster) -> list[Machine]:
        """The zone's machines, by name."""
        machines = cluster.machines.by_name
        return [machines[name] for name in sorted(machines) if machines[name].zone == self.zone]

    def told(self, cluster: Cluster) -> tuple[Change, ...]:
        """What makes the node groups of the zone look at it again."""
        groups = cluster.machines.groups
        concerned = [groups[name] for name in sorted(groups) if self.zone in groups[name].zones]
        return tuple(Change(NODE_GROUPS, group.name, group, group) for group in concerned)


@frozen
class ZoneFails(ZoneEvent):
    """All machines of a zone die, and none is started there."""

    name = "zone-outage"
    summary = "a whole zone goes down"
    failure = True

    def enabled(self, cluster: Cluster) -> bool:
        """The zone is up, and has a machine that runs."""
        up = self.zone not in cluster.machines.zones_down
        return up and any(machine.powered for machine in self.members(cluster))

    def apply(self, cluster: Cluster) -> Written:
        """Each machine crashes."""
        written: Written = (cluster, ())
        for machine in self.members(cluster):
            if machine.powered:
                written = combined(written, crashed(written[0], machine))
        down = written[0].machines.zones_down | {self.zone}
        machines = written[0].machines.with_(zones_down=down)
        return written[0].with_(machines=machines), (*written[1], *self.told(cluster))

    def describe(self) -> str:
        """Zone a goes down."""
        return f"zone {self.zone} goes down"


@frozen
class ZoneRecovers(ZoneEvent):
    """A zone that was down comes back with its machines."""

    name = "zone-recover"
    summary = "a zone that was down comes back"

    def enabled(self, cluster: Cluster) -> bool:
        """The zone is down."""
        return self.zone in cluster.machines.zones_down

    def apply(self, cluster: Cluster) -> Written:
        """Every machine that still exists runs again, but for instances that somebody has stopped."""
        up = cluster.machines.with_(zones_down=cluster.machines.zones_down - {self.zone})
        written: Written = (cluster.with_(machines=up), self.told(cluster))
        for machine in self.members(cluster):
            if machine.exists and not machine.stopped and not machine.connected and machine.boots_at is None:
                back = machine.with_(powered=True, reachable=True, kubelet=True, runtime=True)
                written = combined(written, with_machine(written[0], back))
        return written

    def describe(self) -> str:
        """Zone a comes back."""
        return f"zone {self.zone} comes back"


@frozen
class ControlPlaneCut(Event):
    """The way from kubelets to the API server is lost, for one zone or for all."""

    zone: str = "all"

    name = "control-plane-cut"
    summary = "the kubelets of a zone (or all) cannot reach the API server"
    failure = True

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """All at once, and each zone."""
        zones = sorted({machine.zone for machine in cluster.machines.by_name.values() if machine.zone})
        for zone in choices(options, "zone", ["all", *zones]):
            event = cls(zone)
            if event.enabled(cluster):
                yield event

    def _cut(self, cluster: Cluster) -> list[str]:
        machines = cluster.machines.by_name
        return [
            name for name in sorted(machines) if machines[name].connected and self.zone in ("all", machines[name].zone)
        ]

    def enabled(self, cluster: Cluster) -> bool:
        """Some kubelet of it is connected."""
        return bool(self._cut(cluster))

    def apply(self, cluster: Cluster) -> Written:
        """Each connected kubelet is cut off."""
        written: Written = (cluster, ())
        for name in self._cut(cluster):
            written = combined(written, NodePartitioned(name).apply(written[0]))
        return written

    def describe(self) -> str:
        """All kubelets are cut off from the API server."""
        whose = "all kubelets" if self.zone == "all" else f"the kubelets of zone {self.zone}"
        return f"{whose} are cut off from the API server"
