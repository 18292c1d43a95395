"""Events of the control loops themselves, and of time.

Source: client-go `tools/leaderelection/leaderelection.go`, `tools/cache/reflector.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from attrs import frozen

from reconverge.model.action import Written
from reconverge.model.cluster import Cluster
from reconverge.model.events.base import Event, Options, choices
from reconverge.model.value import Seconds

if TYPE_CHECKING:
    from reconverge.model.control_plane import ControlPlane


@frozen
class LoopEvent(Event):
    """An event of one control loop, named as its file."""

    loop: str

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """One per loop where it can happen; people's own tools, kubelets and proxies are no controllers."""
        ordinary = [name for name in sorted(cluster.loops) if name not in ("kubelet", "kube-proxy", "drain")]
        for name in choices(options, "loop", ordinary):
            event = cls(name)
            if event.enabled(cluster):
                yield event


@frozen
class LoopPauses(LoopEvent):
    """A controller makes no progress: it hangs, or nobody leads."""

    name = "loop-pause"
    summary = "a control loop stops making progress"
    failure = True

    def enabled(self, cluster: Cluster) -> bool:
        """It runs."""
        return self.loop in cluster.loops and not cluster.loops[self.loop].paused

    def apply(self, cluster: Cluster) -> Written:
        """Keys go on waking; none is served."""
        state = cluster.loops[self.loop]
        return cluster.with_(loops={**cluster.loops, self.loop: state.with_(paused=True)}), ()

    def describe(self) -> str:
        """The replicaset loop stops making progress."""
        return f"the {self.loop} loop stops making progress"


@frozen
class LoopResumes(LoopEvent):
    """A paused controller goes on where it was."""

    name = "loop-resume"
    summary = "a paused control loop goes on"

    def enabled(self, cluster: Cluster) -> bool:
        """It is paused."""
        return self.loop in cluster.loops and cluster.loops[self.loop].paused

    def apply(self, cluster: Cluster) -> Written:
        """It serves its keys again."""
        state = cluster.loops[self.loop]
        return cluster.with_(loops={**cluster.loops, self.loop: state.with_(paused=False)}), ()

    def describe(self) -> str:
        """The replicaset loop goes on."""
        return f"the {self.loop} loop goes on"


@frozen
class LoopRestarts(LoopEvent):
    """A controller's process restarts, or another replica takes the lead: what it remembered is lost."""

    name = "loop-restart"
    summary = "a control loop restarts: its memory and timers are lost, it lists everything anew"
    failure = True

    def enabled(self, cluster: Cluster) -> bool:
        """It is there."""
        return self.loop in cluster.loops

    def apply(self, cluster: Cluster) -> Written:
        """Nothing by itself; the control plane starts it anew."""
        return cluster, ()

    def strike(self, plane: ControlPlane, cluster: Cluster) -> Written:
        """Memory, timers, the pass in flight and old views are gone."""
        return plane.restart(cluster, self.loop), ()

    def describe(self) -> str:
        """The replicaset loop restarts."""
        return f"the {self.loop} loop restarts"


@frozen
class WatchEvent(Event):
    """An event of a loop's watch of one kind."""

    loop: str
    kind: str

    def stalled(self, cluster: Cluster) -> bool:
        """Whether the watch delivers nothing now."""
        return self.loop in cluster.loops and self.kind in cluster.loops[self.loop].stalled


@frozen
class WatchStalls(WatchEvent):
    """A loop's watch of one kind stops delivering: it goes on with what it last saw.

    After `seconds` it catches up by itself; 0 stands for a stall that lasts until something ends it.
    """

    name = "watch-stall"
    summary = "a control loop's watch of one kind stalls: it acts on an old view, for so many seconds or until the end"
    failure = True

    seconds: Seconds = 0

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """Pods for the loops that create or place them, unless the options say otherwise."""
        ordinary = [name for name in ("replicaset", "scheduler") if name in cluster.loops]
        for loop in choices(options, "loop", ordinary):
            for kind in choices(options, "kind", ["Pod"]):
                for seconds in choices(options, "seconds", (0,)):
                    event = cls(loop, kind, seconds)
                    if event.enabled(cluster):
                        yield event

    def enabled(self, cluster: Cluster) -> bool:
        """The watch delivers."""
        return self.loop in cluster.loops and not self.stalled(cluster)

    def apply(self, cluster: Cluster) -> Written:
        """The loop keeps the table as it is now."""
        state = cluster.loops[self.loop]
        stalled = {**state.stalled, self.kind: cluster.store.table(self.kind)}
        back_at = {**state.back_at, self.kind: cluster.now + self.seconds} if self.seconds else state.back_at
        after = state.with_(stalled=stalled, back_at=back_at)
        return cluster.with_(loops={**cluster.loops, self.loop: after}), ()

    def describe(self) -> str:
        """The replicaset loop's watch of Pods stalls for 30 seconds."""
        until = f" for {self.seconds:g} seconds" if self.seconds else ""
        return f"the {self.loop} loop's watch of {self.kind}s stalls{until}"


@frozen
class WatchCatchesUp(WatchEvent):
    """A stalled watch delivers what it missed."""

    name = "watch-catch-up"
    summary = "a stalled watch catches up"

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """Every stalled watch."""
        for loop in choices(options, "loop", sorted(cluster.loops)):
            for kind in choices(options, "kind", sorted(cluster.loops[loop].stalled)):
                event = cls(loop, kind)
                if event.enabled(cluster):
                    yield event

    def enabled(self, cluster: Cluster) -> bool:
        """The watch is stalled."""
        return self.stalled(cluster)

    def apply(self, cluster: Cluster) -> Written:
        """Nothing by itself; the control plane delivers."""
        return cluster, ()

    def strike(self, plane: ControlPlane, cluster: Cluster) -> Written:
        """Everything missed is delivered, newest state only."""
        return plane.catch_up(cluster, self.loop, self.kind), ()

    def describe(self) -> str:
        """The replicaset loop's watch of Pods catches up."""
        return f"the {self.loop} loop's watch of {self.kind}s catches up"


@frozen
class TimePasses(Event):
    """Time passes, with the loops at work: the next event strikes that much later instead of after the rest."""

    seconds: Seconds

    name = "time"
    summary = "only so many seconds pass before the next event, instead of all until the cluster rests"

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """Only with seconds given."""
        for seconds in choices(options, "seconds", ()):
            yield cls(seconds)

    def enabled(self, cluster: Cluster) -> bool:
        """Always."""
        return True

    def apply(self, cluster: Cluster) -> Written:
        """Nothing by itself; the schedule runs for that long."""
        return cluster, ()

    def describe(self) -> str:
        """60 seconds pass."""
        return f"{self.seconds:g} seconds pass"
