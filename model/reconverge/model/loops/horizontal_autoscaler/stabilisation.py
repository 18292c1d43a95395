"""From what the metrics ask for to what is written: stabilisation windows, rate limits, bounds.

Source: `pkg/controller/podautoscaler/horizontal.go` (normalizeDesiredReplicas, stabilizeRecommendation,
convertDesiredReplicasWithRules; with behavior: stabilizeRecommendationWithBehaviors,
convertDesiredReplicasWithBehaviorRate, calculateScaleUpLimitWithScalingRules).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import ceil

from attrs import frozen

from reconverge.model.loops.horizontal_autoscaler.memory import History, ScaleEvent
from reconverge.model.objects import HorizontalPodAutoscaler
from reconverge.model.objects.autoscaling import ScalingPolicy, ScalingRules
from reconverge.model.rules import Rules
from reconverge.model.value import Seconds

SCALE_UP_FACTOR = 2
SCALE_UP_LEAST = 4
"""Without behavior one sync at most doubles the replicas, but may always reach four."""


@frozen
class Normalised:
    """The replicas that may be written now, why they differ from what was proposed, and until when that stays so."""

    replicas: int
    reason: str
    """Reason of the condition ScalingLimited, or `ScaleDownStabilized` and the like; empty if nothing limits."""
    until: Seconds | None = None
    """The moment from which the same proposal may come to something else, or None."""
    through: bool = False
    """Whether it is still so at that very moment."""


@frozen
class Proposed:
    """What is to be normalised: the proposal and everything that limits it."""

    autoscaler: HorizontalPodAutoscaler
    current: int
    replicas: int
    history: History
    now: Seconds
    rules: Rules


class Normaliser:
    """The rules one by one. `normalised` is the whole."""

    def normalised(self, proposed: Proposed) -> Normalised:
        """What may be written."""
        plain = proposed.autoscaler.behavior is None
        return self.without_behavior(proposed) if plain else self.with_behavior(proposed)

    def longest_window(self, autoscaler: HorizontalPodAutoscaler, rules: Rules) -> Seconds:
        """How far back recommendations matter."""
        if autoscaler.behavior is None:
            return rules.autoscaler.downscale_window
        return max(self.window(each, rules) for each in (autoscaler.behavior.up, autoscaler.behavior.down))

    def longest_period(self, autoscaler: HorizontalPodAutoscaler) -> Seconds:
        """How far back changes matter."""
        if autoscaler.behavior is None:
            return 0
        policies = (*autoscaler.behavior.up.policies, *autoscaler.behavior.down.policies)
        return max((each.period for each in policies), default=0)

    def window(self, rules: ScalingRules, settings: Rules) -> Seconds:
        """The stabilisation window of a direction."""
        return settings.autoscaler.downscale_window if rules.window is None else rules.window

    # Without behavior ----------------------------------------------------------------------------------------

    def without_behavior(self, proposed: Proposed) -> Normalised:
        """The largest recommendation of the window, then the limits."""
        stabilised, until = self.largest_recent(proposed)
        replicas, reason = self.within_rules(proposed, stabilised)
        held = stabilised > proposed.replicas
        return Normalised(replicas, reason or ("ScaleDownStabilized" if held else ""), until, through=True)

    def largest_recent(self, proposed: Proposed) -> tuple[int, Seconds | None]:
        """(largest recommendation of the window, when it leaves it). One exactly as old as the window counts."""
        window = proposed.rules.autoscaler.downscale_window
        recent = [each for each in proposed.history.recommendations if each.at >= proposed.now - window]
        largest = max(recent, key=lambda each: each.replicas, default=None)
        if largest is None or largest.replicas <= proposed.replicas:
            return proposed.replicas, None
        return largest.replicas, largest.at + window

    def within_rules(self, proposed: Proposed, wanted: int) -> tuple[int, str]:
        """The count within minimum, maximum and the limit of one sync, and the reason if it is another."""
        autoscaler = proposed.autoscaler
        limit = self.scale_up_limit(proposed.current)
        if wanted < autoscaler.minimum:
            return autoscaler.minimum, "TooFewReplicas"
        if wanted > min(limit, autoscaler.maximum):
            return (limit, "ScaleUpLimit") if autoscaler.maximum > limit else (autoscaler.maximum, "TooManyReplicas")
        return wanted, ""

    def scale_up_limit(self, current: int) -> int:
        """How far one sync may go (calculateScaleUpLimit)."""
        return max(SCALE_UP_FACTOR * current, SCALE_UP_LEAST)

    # With behavior -------------------------------------------------------------------------------------------

    def with_behavior(self, proposed: Proposed) -> Normalised:
        """Between the bounds of both windows, then no faster than the policies."""
        stabilised, until = self.between_windows(proposed)
        held = stabilised != proposed.replicas
        if stabilised > proposed.current:
            limited = self.limited_up(proposed, stabilised)
        elif stabilised < proposed.current:
            limited = self.limited_down(proposed, stabilised)
        else:
            direction = "Up" if proposed.replicas > proposed.current else "Down"
            limited = Normalised(stabilised, f"Scale{direction}Stabilized" if held else "")
        return Normalised(limited.replicas, limited.reason, _earliest(until, limited.until))

    def between_windows(self, proposed: Proposed) -> tuple[int, Seconds | None]:
        """The present count raised to the least of the up window or lowered to the most of the down window."""
        behavior = proposed.autoscaler.behavior
        assert behavior is not None
        up = self.bound(proposed, self.window(behavior.up, proposed.rules), min)
        down = self.bound(proposed, self.window(behavior.down, proposed.rules), max)
        stabilised = min(max(proposed.current, up[0]), down[0])
        if proposed.replicas > proposed.current:
            return stabilised, up[1]
        return stabilised, down[1] if proposed.replicas < proposed.current else None

    def bound(
        self, proposed: Proposed, window: Seconds, choose: Callable[[Iterable[int]], int]
    ) -> tuple[int, Seconds | None]:
        """(least or most of the recommendations of a window with this one, when that changes).

        One exactly as old as the window does not count.
        """
        recent = [each for each in proposed.history.recommendations if each.at > proposed.now - window]
        chosen = choose([proposed.replicas, *(each.replicas for each in recent)])
        if chosen == proposed.replicas:
            return chosen, None
        return chosen, max(each.at for each in recent if each.replicas == chosen) + window

    def limited_up(self, proposed: Proposed, wanted: int) -> Normalised:
        """At most what the policies allow, and the maximum."""
        behavior = proposed.autoscaler.behavior
        assert behavior is not None
        limit = max(self.up_limit(proposed, behavior.up), proposed.current)
        if wanted > min(limit, proposed.autoscaler.maximum):
            if proposed.autoscaler.maximum <= limit:
                return Normalised(proposed.autoscaler.maximum, "TooManyReplicas")
            return Normalised(limit, "ScaleUpLimit", self.period_ends(proposed, behavior.up))
        return Normalised(wanted, "")

    def limited_down(self, proposed: Proposed, wanted: int) -> Normalised:
        """At least what the policies leave, and the minimum."""
        behavior = proposed.autoscaler.behavior
        assert behavior is not None
        limit = min(self.down_limit(proposed, behavior.down), proposed.current)
        if wanted < max(limit, proposed.autoscaler.minimum):
            if proposed.autoscaler.minimum >= limit:
                return Normalised(proposed.autoscaler.minimum, "TooFewReplicas")
            return Normalised(limit, "ScaleDownLimit", self.period_ends(proposed, behavior.down))
        return Normalised(wanted, "")

    def up_limit(self, proposed: Proposed, rules: ScalingRules) -> int:
        """The furthest that policies let the replicas rise; percentages are rounded up."""

        def reach(policy: ScalingPolicy) -> int:
            start = self.period_start(proposed, policy.period)
            return start + policy.value if policy.type == "Pods" else ceil(start * (1 + policy.value / 100))

        if rules.select == "Disabled":
            return proposed.current
        reaches = [reach(each) for each in rules.policies]
        return min(reaches) if rules.select == "Min" else max(reaches)

    def down_limit(self, proposed: Proposed, rules: ScalingRules) -> int:
        """The furthest that policies let the replicas fall; percentages are truncated."""

        def reach(policy: ScalingPolicy) -> int:
            start = self.period_start(proposed, policy.period)
            return start - policy.value if policy.type == "Pods" else int(start * (1 - policy.value / 100))

        if rules.select == "Disabled":
            return proposed.current
        reaches = [reach(each) for each in rules.policies]
        return max(reaches) if rules.select == "Min" else min(reaches)

    def period_start(self, proposed: Proposed, period: Seconds) -> int:
        """The replicas at the start of a period: the present ones without the changes made in it."""
        since = proposed.now - period
        added = sum(each.change for each in proposed.history.ups if each.at > since)
        removed = sum(each.change for each in proposed.history.downs if each.at > since)
        return proposed.current - added + removed

    def period_ends(self, proposed: Proposed, rules: ScalingRules) -> Seconds | None:
        """When the next change leaves the period of a policy."""
        events: tuple[ScaleEvent, ...] = (*proposed.history.ups, *proposed.history.downs)
        moments = (event.at + policy.period for event in events for policy in rules.policies)
        return min((moment for moment in moments if moment > proposed.now), default=None)


def _earliest(*moments: Seconds | None) -> Seconds | None:
    return min((each for each in moments if each is not None), default=None)
