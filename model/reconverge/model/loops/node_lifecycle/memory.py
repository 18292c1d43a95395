"""What the node lifecycle controller remembers, all of it lost at a restart."""

from __future__ import annotations

from attrs import frozen

from reconverge.model.loops.node_lifecycle.zones import Zones, recounted, standing_of
from reconverge.model.objects import Node
from reconverge.model.persistent import EMPTY, Map
from reconverge.model.store import Store
from reconverge.model.value import Seconds, Value


@frozen
class NodeLifecycleMemory(Value):
    """Zones, and when heartbeats were seen as far as the leases do not say it.

    `zones` is None until the first pass has counted the nodes. `since` is the moment before which no silence counts:
    the controller's start, or the end of a disruption of all zones. `heard` has, by node, a status report that came
    while the lease was silent. `recount` says that zone states are to be computed at the next health pass. `retry`
    has the nodes whose pods could not all be marked not ready.
    """

    zones: Zones | None = None
    since: Seconds = 0
    heard: Map[str, Seconds] = EMPTY
    recount: bool = False
    retry: Map[str, None] = EMPTY

    def counted(self, store: Store, now: Seconds, rate: float) -> NodeLifecycleMemory:
        """The memory after the first look at all nodes."""
        if self.zones is not None:
            return self
        zones: Zones = EMPTY
        for node in store.nodes():
            zones = recounted(zones, node.name, None, standing_of(node), rate)
        return self.with_(zones=zones, since=now, recount=True)

    def after_change(self, name: str, before: Node | None, after: Node | None, rate: float) -> NodeLifecycleMemory:
        """The memory after a node changed; the same object if nothing in it depends on the change."""
        assert self.zones is not None
        was = standing_of(before) if before is not None else None
        now = standing_of(after) if after is not None else None
        if was == now:
            return self
        counts = was is None or now is None or (was.zone, was.counted, was.ready) != (now.zone, now.counted, now.ready)
        return self.with_(zones=recounted(self.zones, name, was, now, rate), recount=self.recount or counts)

    def hearing(self, name: str, now: Seconds) -> NodeLifecycleMemory:
        """The memory after a kubelet's status report."""
        return self.with_(heard=self.heard.set(name, now))

    def without(self, name: str) -> NodeLifecycleMemory:
        """The memory with nothing about the heartbeat of a node and its pods."""
        if name not in self.heard and name not in self.retry:
            return self
        return self.with_(heard=self.heard.discard(name), retry=self.retry.discard(name))
