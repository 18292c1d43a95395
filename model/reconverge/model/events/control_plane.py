"""Events of the control plane itself: members of etcd, leaders, and starts from an old state of the store.

Source: documentation of etcd (FAQ); client-go `tools/leaderelection/leaderelection.go`, `tools/cache/reflector.go`
(a first list may be served from an API server's watch cache).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from attrs import frozen

from reconverge.model.action import Written
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane_health import TOOLS, WITHOUT_API, loops_of, process_of
from reconverge.model.elections import member_back, member_lost, overlapping, without_leader
from reconverge.model.events.base import Event, Options, choices
from reconverge.model.events.loops import LoopEvent
from reconverge.model.old_store import revived, with_old_kubelet, with_old_view

if TYPE_CHECKING:
    from reconverge.model.control_plane import ControlPlane


@frozen
class EtcdMemberLost(Event):
    """One member of etcd goes; below a majority of `members` nothing can be written any more."""

    members: int = 3

    name = "etcd-member-lost"
    summary = "a member of etcd goes (of 3 unless said otherwise); without a majority the API answers nobody"
    failure = True

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """One more, while some are up."""
        present = cluster.machines.control_plane
        for members in choices(options, "members", (present.members,)):
            event = cls(members)
            if event.enabled(cluster):
                yield event

    def enabled(self, cluster: Cluster) -> bool:
        """Some are up; how many there are in all does not change once one is lost."""
        health = cluster.machines.control_plane
        return self.members > 0 and (health.up == health.members or (health.members == self.members and health.up > 0))

    def apply(self, cluster: Cluster) -> Written:
        """What that means follows from how many are left."""
        return member_lost(cluster, self.members), ()

    def describe(self) -> str:
        """A member of etcd is lost."""
        return "a member of etcd is lost"


@frozen
class EtcdMemberBack(Event):
    """A lost member of etcd is back."""

    name = "etcd-member-back"
    summary = "a lost member of etcd is back; with quorum again new leaders start after 15 seconds"

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """If one is lost."""
        if cls().enabled(cluster):
            yield cls()

    def enabled(self, cluster: Cluster) -> bool:
        """One is lost."""
        health = cluster.machines.control_plane
        return health.up < health.members

    def apply(self, cluster: Cluster) -> Written:
        """With quorum again kubelets report at once, and controllers when they have a leader."""
        return member_back(cluster), ()

    def describe(self) -> str:
        """A member of etcd is back."""
        return "a member of etcd is back"


@frozen
class LeaderLost(LoopEvent):
    """The leader of a process is gone: its loops make no progress for 15 seconds and then start anew.

    `loop` is the process, such as kube-controller-manager, or one of its loops.
    """

    name = "leader-lost"
    summary = "a process has no leader for 15 seconds; the next one starts with an empty memory"
    failure = True

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """One per process that elects leaders."""
        ordinary = sorted({process_of(loop) for loop in cluster.loops if loop not in WITHOUT_API | TOOLS})
        for name in choices(options, "loop", ordinary):
            event = cls(name)
            if event.enabled(cluster):
                yield event

    def enabled(self, cluster: Cluster) -> bool:
        """It has a leader."""
        health = cluster.machines.control_plane
        loops = [loop for loop in loops_of(self.loop, cluster.loops) if loop not in WITHOUT_API | TOOLS]
        return bool(loops) and health.writable and not any(health.halts(loop) for loop in loops)

    def apply(self, cluster: Cluster) -> Written:
        """All loops of the process stop where they are."""
        processes = {process_of(loop) for loop in loops_of(self.loop, cluster.loops)}
        return without_leader(cluster, sorted(processes)), ()

    def describe(self) -> str:
        """kube-controller-manager loses its leader."""
        return f"{self.loop} loses its leader"


@frozen
class LeaderOverlaps(LoopEvent):
    """A new leader starts while the old one is in the middle of a pass, whose writes it still makes.

    With `cache` stale the new leader does not see those writes at first: its watches were running before it led, and
    are behind. With caught-up it waits until they have caught up, as one does that lists only when it leads.
    """

    cache: str = "stale"

    name = "leader-overlap"
    summary = "a new leader starts and does not see what the old one has in flight (cache: caught-up sees it)"
    failure = True

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """One per controller that is in the middle of a pass."""
        ordinary = [loop for loop in sorted(cluster.loops) if loop not in WITHOUT_API | TOOLS]
        for name in choices(options, "loop", ordinary):
            for cache in choices(options, "cache", ("stale",)):
                event = cls(name, cache)
                if event.enabled(cluster):
                    yield event

    def enabled(self, cluster: Cluster) -> bool:
        """It has writes in flight."""
        state = cluster.loops.get(self.loop)
        halted = cluster.machines.control_plane.halts(self.loop)
        return state is not None and state.in_flight is not None and not halted and not state.stalled

    def apply(self, cluster: Cluster) -> Written:
        """Nothing by itself; the control plane starts it anew."""
        return cluster, ()

    def strike(self, plane: ControlPlane, cluster: Cluster) -> Written:
        """The old leader's writes are made, then the new one starts."""
        return overlapping(plane, cluster, self.loop, caught_up=self.cache == "caught-up")

    def describe(self) -> str:
        """A second scheduler takes the lead while the first still writes."""
        seeing = "" if self.cache == "caught-up" else " and does not see it yet"
        return f"another {self.loop} takes the lead while the old one finishes its pass{seeing}"


@frozen
class RestartsOnOldStore(Event):
    """A control loop, or the kubelet of one node, restarts, and its first list shows an older state of the store.

    `events` says how old: the state in which the cluster was when that many events ago struck. Exactly one of `loop`
    and `kubelet` (a node's name) is given. A loop goes on with that view until its watches catch up. A kubelet starts
    what was bound to its node then, catches up, and stops what should not be there. The control is a plain restart:
    its first list is a consistent read.
    """

    loop: str = ""
    kubelet: str = ""
    events: int = 1

    name = "restart-on-old-store"
    summary = "a loop, or a node's kubelet, restarts and first sees the store as it was some events ago"
    failure = True

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """Kubelets that would start something again, unless the options name loops."""
        for events in choices(options, "events", (1,)):
            if "loop" in options:
                found: list[RestartsOnOldStore] = [cls(loop, "", events) for loop in choices(options, "loop", ())]
            else:
                nodes = choices(options, "kubelet", sorted(cluster.machines.by_name))
                found = [cls("", node, events) for node in nodes if revived(cluster, node, events - 1)]
            yield from (event for event in found if event.enabled(cluster))

    def enabled(self, cluster: Cluster) -> bool:
        """The past is remembered so far back, and who restarts is there."""
        health = cluster.machines.control_plane
        if not 0 < self.events <= len(health.past) or not health.writable or bool(self.loop) == bool(self.kubelet):
            return False
        if self.loop:
            return self.loop in cluster.loops and self.loop not in WITHOUT_API | TOOLS and not health.halts(self.loop)
        machine = cluster.machines.get(self.kubelet)
        return machine is not None and machine.connected and machine.runtime

    def apply(self, cluster: Cluster) -> Written:
        """Nothing by itself; the control plane starts it anew."""
        return cluster, ()

    def strike(self, plane: ControlPlane, cluster: Cluster) -> Written:
        """The store of this moment has been remembered, too, so the one asked for lies one further back."""
        if self.kubelet:
            return with_old_kubelet(plane, cluster, self.kubelet, self.events), ()
        return with_old_view(plane, cluster, self.loop, self.events), ()

    def describe(self) -> str:
        """The kubelet of n1 restarts and first sees the store as it was 1 event ago."""
        who = f"the kubelet of {self.kubelet}" if self.kubelet else f"the {self.loop} loop"
        ago = "1 event" if self.events == 1 else f"{self.events} events"
        return f"{who} restarts and first sees the store as it was {ago} ago"
