"""Events of the control loops themselves, and of time.

Source: client-go `tools/leaderelection/leaderelection.go`, `tools/cache/reflector.go`.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from reconverge.model.action import Written
from reconverge.model.cluster import Cluster
from reconverge.model.events.base import Event, Options, choices
from reconverge.model.value import Seconds


@frozen
class LoopEvent(Event):
    """An event of one control loop, named as its file."""

    loop: str

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """One per loop where it can happen; people's own tools and kubelets are no controllers."""
        ordinary = [name for name in sorted(cluster.loops) if name not in ("kubelet", "drain")]
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
        """the replicaset loop stops making progress."""
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
        """the replicaset loop goes on."""
        return f"the {self.loop} loop goes on"


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
