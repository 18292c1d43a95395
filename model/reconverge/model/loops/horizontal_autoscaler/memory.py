"""What the autoscaler remembers of one object: recommendations and scale events. It is lost at a restart.

Upstream a recommendation is kept for every sync. Here the syncs at which nothing can be different are left out, and
the last recommendation stands for them.
Source: `pkg/controller/podautoscaler/horizontal.go` (recommendations, scaleUpEvents, scaleDownEvents).
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.value import Seconds, Value


@frozen
class Recommendation:
    """A number of replicas before stabilisation, and when it was last recommended."""

    replicas: int
    at: Seconds


@frozen
class ScaleEvent:
    """A change that was made: how many replicas were added or removed, always positive."""

    change: int
    at: Seconds


@frozen
class History(Value):
    """What is remembered of one autoscaler."""

    evaluated_at: Seconds
    """When it was last synced."""
    recommendations: tuple[Recommendation, ...] = ()
    """One per number, each at its last moment, oldest first."""
    standing: int | None = None
    """What the last sync recommended, and all those since that were left out; None if it could not."""
    ups: tuple[ScaleEvent, ...] = ()
    downs: tuple[ScaleEvent, ...] = ()
    """Kept for autoscalers with behavior only."""
    planned_at: Seconds | None = None
    """The next sync that time alone calls for."""
    passing: int = 0
    latest_at: Seconds | None = None
    """Of a sync that is postponed: at which of the next changes it falls, and when at the latest."""

    def recommended(self, replicas: int, at: Seconds) -> History:
        """The history with one more recommendation. Only the last moment of a number matters: windows look back."""
        others = tuple(each for each in self.recommendations if each.replicas != replicas)
        return self.with_(recommendations=(*others, Recommendation(replicas, at)))

    def caught_up(self, now: Seconds, period: Seconds) -> History:
        """The history with the syncs made that were left out, up to the one just before now."""
        if self.standing is None or now - self.evaluated_at <= period:
            return self
        return self.recommended(self.standing, now - period)

    def scaled(self, before: int, after: int, now: Seconds) -> History:
        """The history with a change of the number of replicas."""
        event = ScaleEvent(abs(after - before), now)
        return self.with_(ups=(*self.ups, event)) if after > before else self.with_(downs=(*self.downs, event))

    def unscaled(self) -> History:
        """The history without a change that was refused: the one made at the last sync."""
        at = self.evaluated_at
        return self.with_(
            ups=tuple(each for each in self.ups if each.at != at),
            downs=tuple(each for each in self.downs if each.at != at),
        )

    def forgetting(self, now: Seconds, window: Seconds, period: Seconds) -> History:
        """The history without recommendations older than `window` and changes older than `period`."""
        return self.with_(
            recommendations=tuple(each for each in self.recommendations if each.at >= now - window),
            ups=tuple(each for each in self.ups if each.at > now - period),
            downs=tuple(each for each in self.downs if each.at > now - period),
        )
