"""The autoscaler's pass for one object.

Source: `pkg/controller/podautoscaler/horizontal.go` (reconcileAutoscaler, computeReplicasForMetrics, setStatus).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor
from typing import Any

from reconverge.model.action import Action
from reconverge.model.errors import ApiError
from reconverge.model.likeness import At
from reconverge.model.load import LOADS, SCALABLE
from reconverge.model.loop import MACHINES, ControlLoop, Plan, Reading
from reconverge.model.loops.horizontal_autoscaler.memory import History
from reconverge.model.loops.horizontal_autoscaler.metrics import regroupings
from reconverge.model.loops.horizontal_autoscaler.scale_rules import KIND, Rescale, ScaleRules
from reconverge.model.loops.horizontal_autoscaler.status import Decision, condition, reported
from reconverge.model.loops.horizontal_autoscaler.waking import woken
from reconverge.model.objects import HorizontalPodAutoscaler
from reconverge.model.persistent import EMPTY, Map
from reconverge.model.store import Change
from reconverge.model.value import Seconds

Memory = Map[str, History]
MOST_POSTPONED = 3
"""After a rest a sync may fall at the change that wakes it, or at one of so many that follow."""


class HorizontalAutoscaler(ScaleRules, ControlLoop[Memory]):
    """Syncs each autoscaler every 15 seconds as long as that can make a difference. Keys are autoscalers.

    The real syncs go on all the time, at moments of their own. Here one falls at the change that makes it worthwhile,
    or at a later one, but never within 15 seconds of the one before. `base` overrides what the rules take for the
    present count.
    """

    name = "horizontal-autoscaler"
    watches = frozenset({KIND, *SCALABLE, "Pod", MACHINES, LOADS})
    physical = True
    idle_without = KIND
    source = "pkg/controller/podautoscaler/horizontal.go"

    # The loop ------------------------------------------------------------------------------------------------

    def start(self) -> Memory:
        """No recommendations: a restarted controller takes the present count for the first one."""
        return EMPTY

    def relist(self, reading: Reading) -> Iterable[str]:
        """All autoscalers."""
        return sorted(reading.store.table(KIND).objects)

    def observe(self, memory: Memory, change: Change, reading: Reading) -> tuple[Memory, Iterable[str]]:
        """Wakes the autoscalers for which a sync may now come to something else."""
        return memory, woken(reading, change, self.present_base(reading))

    def sync(self, reading: Reading, memory: Memory, key: str) -> Sequence[Plan[Memory]]:
        """One sync, if its moment has come: at this change, at one of the next, or 15 seconds after the one before."""
        autoscaler: HorizontalPodAutoscaler | None = reading.store.get(KIND, key)
        if autoscaler is None:
            return (Plan(memory.discard(key)),)
        history = memory.get(key)
        if history is None:
            return (self.evaluated(reading, memory, autoscaler, None),)
        due = history.evaluated_at + reading.rules.autoscaler.period
        if reading.now < due:
            return (Plan(memory, requeue_at=due),)
        if history.latest_at is not None:
            return (self.awaited(reading, memory, autoscaler, history, history.latest_at),)
        now = self.evaluated(reading, memory, autoscaler, history)
        if reading.now in (due, history.planned_at):
            return (now,)
        return (now, *self.postponed(reading, memory, autoscaler, history))

    def postponed(
        self, reading: Reading, memory: Memory, autoscaler: HorizontalPodAutoscaler, history: History
    ) -> Iterable[Plan[Memory]]:
        """After a rest nobody knows when in its 15 seconds the next sync falls: it may be at a later change."""
        latest = reading.now + reading.rules.autoscaler.period
        for changes in range(1, MOST_POSTPONED + 1):
            waiting = memory.set(autoscaler.key, history.with_(passing=changes, latest_at=latest))
            yield Plan(waiting, requeue_at=latest, choice=f"its sync at a change {changes} later")

    def awaited(
        self, reading: Reading, memory: Memory, autoscaler: HorizontalPodAutoscaler, history: History, latest: Seconds
    ) -> Plan[Memory]:
        """A postponed sync: at the last change that it lets pass, or when its time is up."""
        if history.passing <= 1 or reading.now >= latest:
            return self.evaluated(reading, memory, autoscaler, history)
        return Plan(memory.set(autoscaler.key, history.with_(passing=history.passing - 1)), requeue_at=latest)

    def failed(self, memory: Memory, action: Action, error: ApiError) -> Memory:
        """A change that was refused is no scale event."""
        history = memory.get(action.autoscaler) if isinstance(action, Rescale) else None
        if history is None or not isinstance(action, Rescale):
            return memory
        return memory.set(action.autoscaler, history.unscaled())

    def marks(self, memory: Memory, reading: Reading) -> Iterable[tuple[str, str, Any]]:
        """Recommendations and changes that can still matter, and when the next sync may be."""
        period = reading.rules.autoscaler.period
        for key, history in memory.items():
            autoscaler: HorizontalPodAutoscaler | None = reading.store.get(KIND, key)
            if autoscaler is None:
                continue
            present = self.remembered(reading, autoscaler, history.caught_up(reading.now, period))
            soon = history.evaluated_at + period > reading.now
            known = sorted(present.recommendations, key=lambda each: each.replicas)
            yield (
                KIND,
                key,
                (
                    At(history.evaluated_at) if soon else "",
                    (history.standing, history.passing),
                    tuple((each.replicas, At(each.at)) for each in known),
                    tuple((each.change, At(each.at)) for each in present.ups),
                    tuple((each.change, At(each.at)) for each in present.downs),
                ),
            )

    # A sync --------------------------------------------------------------------------------------------------

    def evaluated(
        self, reading: Reading, memory: Memory, autoscaler: HorizontalPodAutoscaler, history: History | None
    ) -> Plan[Memory]:
        """The plan of one sync (reconcileAutoscaler)."""
        now = reading.now
        target = self.scale_target(reading, autoscaler)
        if target is None:
            return self._without_target(memory, autoscaler, history, now)
        current = self.current(reading, target)
        before = History(now).recommended(current, now) if history is None else history
        before = before.caught_up(now, reading.rules.autoscaler.period)
        decision = self.decided(reading, autoscaler, target, current, before)
        after = before.with_(evaluated_at=now, standing=decision.proposed, passing=0, latest_at=None)
        if decision.proposed is not None:
            after = after.recommended(decision.proposed, now)
        actions: tuple[Action, ...] = ()
        if decision.replicas != current:
            actions = (self.rescale(autoscaler, target, decision),)
            after = after.scaled(current, decision.replicas, now) if autoscaler.behavior is not None else after
        after = self.remembered(reading, autoscaler, after)
        actions = (*actions, *reported(autoscaler, current, decision))
        note = "" if actions else decision.reason
        due = self.next_sync(reading, autoscaler, target, decision, changed=decision.replicas != current)
        return Plan(memory.set(autoscaler.key, after.with_(planned_at=due)), actions, due, note=note)

    def _without_target(
        self, memory: Memory, autoscaler: HorizontalPodAutoscaler, history: History | None, now: Seconds
    ) -> Plan[Memory]:
        named = f"{autoscaler.target_kind.lower()}/{autoscaler.target_name}"
        decision = Decision(0, f"{named} not found", (condition("AbleToScale", False, "FailedGetScale"),))
        if history is not None:
            history = history.with_(evaluated_at=now, standing=None, passing=0, latest_at=None)
            memory = memory.set(autoscaler.key, history)
        return Plan(memory, reported(autoscaler, 0, decision), note=decision.reason)

    def remembered(self, reading: Reading, autoscaler: HorizontalPodAutoscaler, history: History) -> History:
        """The history without what can no longer matter."""
        window = self.normaliser.longest_window(autoscaler, reading.rules)
        return history.forgetting(reading.now, window, self.normaliser.longest_period(autoscaler))

    def next_sync(
        self, reading: Reading, autoscaler: HorizontalPodAutoscaler, target: Any, decision: Decision, *, changed: bool
    ) -> Seconds | None:
        """The next sync that may come to something else with time alone; None if there is none.

        Syncs are 15 seconds apart: it is the first of them at which a recommendation has left its window, a change
        its period, or a pod its first minutes.
        """
        now, period = reading.now, reading.rules.autoscaler.period
        if changed:
            return now + period
        steps = []
        if decision.until is not None:
            passed = (decision.until - now) / period
            steps.append(floor(passed) + 1 if decision.through else ceil(passed))
        if decision.measured:
            pods = reading.store.pods_matching(autoscaler.namespace, target.selector)
            moments = regroupings(reading, pods, autoscaler.metrics)
            steps.extend(ceil((moment - now) / period) for moment in moments)
        return now + max(1, min(steps)) * period if steps else None
