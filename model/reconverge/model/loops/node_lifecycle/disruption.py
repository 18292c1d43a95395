"""How zones are classified, and who gets the next rate-limited NoExecute taint.

Source: `pkg/controller/nodelifecycle/node_lifecycle_controller.go` (handleDisruption, ComputeZoneState,
setLimiterInZone, ReducedQPSFunc, HealthyQPSFunc, doNoExecuteTaintingPass).
"""

from __future__ import annotations

from collections.abc import Iterable

from reconverge.model.action import Action
from reconverge.model.likeness import node_likeness
from reconverge.model.loop import Plan, Reading
from reconverge.model.loops.node_lifecycle.memory import NodeLifecycleMemory
from reconverge.model.loops.node_lifecycle.taints import no_execute_of, wanted_no_execute
from reconverge.model.loops.node_lifecycle.ticks import next_tick
from reconverge.model.loops.node_lifecycle.writes import ChangeTaints
from reconverge.model.loops.node_lifecycle.zones import FULL, INITIAL, NORMAL, PARTIAL, Zones
from reconverge.model.rules import Rules
from reconverge.model.value import Seconds

Memory = NodeLifecycleMemory

LIKENESS_UP_TO = 64
"""More nodes than this are taken by name alone: the order by likeness serves exhaustive searches, which are small."""


class ZoneRules:
    """The half of the node lifecycle controller that is about zones. A token is the right to taint one node."""

    # Rules ---------------------------------------------------------------------------------------------------

    def zone_state(self, counted: int, not_ready: int, rules: Rules) -> str:
        """The state of a zone with so many counted nodes, so many of them not ready."""
        if not_ready > 0 and not_ready == counted:
            return FULL
        if not_ready > 2 and not_ready / counted >= rules.unhealthy_zone_threshold:
            return PARTIAL
        return NORMAL

    def zone_rate(self, state: str, counted: int, rules: Rules) -> float:
        """Nodes per second that may be tainted in a zone, while some zone of the cluster is not fully disrupted."""
        if state == PARTIAL:
            return rules.secondary_eviction_rate if counted > rules.large_zone else 0.0
        return rules.eviction_rate

    def stops_everywhere(self, states: list[str]) -> bool:
        """Whether these states of all zones mean that the fault is the controller's own: nobody is tainted."""
        return all(state == FULL for state in states)

    def since_after_disruption(self, since: Seconds, now: Seconds) -> Seconds:
        """Before when silence does not count once some zone is back after all were lost: everybody's probe is now."""
        return now

    # Passes --------------------------------------------------------------------------------------------------

    def zones_pass(self, reading: Reading, memory: Memory) -> list[Plan[Memory]]:
        """Classify the zones if readiness has changed, at a health pass only; then taint the next node."""
        if not memory.recount:
            return self._taint_next(reading, memory)
        tick = next_tick(reading.now, reading.rules.node_monitor_period)
        if tick > reading.now:
            return [Plan(memory, requeue_at=tick)]
        after, untainted = self._classified(reading, memory)
        writes = self._untaint(reading, untainted)
        plans = [Plan(after, writes)] if writes else self._taint_next(reading, after)
        return [*plans, *self._overtaken(reading, memory, after, untainted)]

    def given_back(self, memory: Memory, key: str, node: str) -> Zones:
        """The zones with a token given back, and the node waiting again."""
        zones = memory.zones
        assert zones is not None
        zone = zones.get(key)
        return zones if zone is None else zones.set(key, zone.with_(token_at=0, waiting=zone.waiting.set(node, None)))

    def alike_order(self, reading: Reading, names: Iterable[str]) -> list[str]:
        """Nodes in the order of what they are, and by name only between interchangeable ones."""
        ordered = sorted(names)
        if 1 < len(ordered) <= LIKENESS_UP_TO:
            store, now = reading.store, reading.now
            nodes = {name: store.node(name) for name in ordered}
            alike = {name: "" if node is None else node_likeness(store, node, now) for name, node in nodes.items()}
            ordered.sort(key=lambda name: (alike[name], name))
        return ordered

    # Inside --------------------------------------------------------------------------------------------------

    def _classified(self, reading: Reading, memory: Memory) -> tuple[Memory, list[str]]:
        """The memory with new zone states and rates, and the nodes to untaint because every zone is lost."""
        zones: Zones = memory.zones if memory.zones is not None else Zones()
        memory = memory.with_(recount=False)
        counted = {key: zones[key] for key in sorted(zones) if zones[key].counted}
        for key in sorted(zones):
            if key not in counted:
                zones = zones.set(key, zones[key].with_(state=INITIAL))
        states = {key: self.zone_state(each.counted, each.not_ready, reading.rules) for key, each in counted.items()}
        stopped = self.stops_everywhere([each.state for each in counted.values()])
        if self.stops_everywhere(list(states.values())):
            if stopped:
                return memory.with_(zones=zones), []
            for key, zone in counted.items():
                zones = zones.set(key, zone.at_rate(0, reading.now).with_(state=FULL))
            return memory.with_(zones=zones), [node.name for node in reading.store.nodes() if no_execute_of(node)]
        for key, zone in counted.items():
            if stopped or zone.state != states[key]:
                rate = self.zone_rate(states[key], zone.counted, reading.rules)
                zones = zones.set(key, zone.at_rate(rate, reading.now).with_(state=states[key]))
        if stopped:
            memory = memory.with_(since=self.since_after_disruption(memory.since, reading.now))
        return memory.with_(zones=zones), []

    def _taint_next(self, reading: Reading, memory: Memory) -> list[Plan[Memory]]:
        """One alternative per node that waits in the first zone with a token: upstream's queue has no fixed order."""
        zones: Zones = memory.zones if memory.zones is not None else Zones()
        for key in sorted(zones):
            zone = zones[key]
            if not zone.may_taint(reading.now):
                continue
            names = self.alike_order(reading, zone.waiting)
            plans = []
            for name in names:
                taken = zone.without_token(reading.now).with_(waiting=zone.waiting.delete(name))
                after = zones.set(key, taken)
                choice = f"{name} first" if len(names) > 1 else ""
                writes = self._taint(reading, key, name)
                plans.append(Plan(memory.with_(zones=after), writes, self._next_token(after), choice))
            return plans
        return [Plan(memory, requeue_at=self._next_token(zones))]

    def _overtaken(
        self, reading: Reading, before: Memory, after: Memory, untainted: list[str]
    ) -> Iterable[Plan[Memory]]:
        """The taint of one node overtakes the end of the health pass that stops tainting in its zone.

        The tainting worker polls every 100 ms while the health pass is still marking pods. The node is not untainted
        with the others when all zones are lost, since the pass works on the nodes as it listed them.
        """
        zones: Zones = before.zones if before.zones is not None else Zones()
        now_zones: Zones = after.zones if after.zones is not None else Zones()
        for key in sorted(zones):
            if not zones[key].may_taint(reading.now) or now_zones[key].rate > 0:
                continue
            for name in self.alike_order(reading, zones[key].waiting):
                waiting = now_zones[key].waiting.discard(name)
                memory = after.with_(zones=now_zones.set(key, now_zones[key].with_(waiting=waiting)))
                writes = (*self._taint(reading, key, name), *self._untaint(reading, untainted))
                due = self._next_token(now_zones)
                yield Plan(memory, writes, due, f"{name} is tainted before its zone is re-classified")

    def _taint(self, reading: Reading, zone: str, name: str) -> tuple[Action, ...]:
        node = reading.store.node(name)
        wanted = wanted_no_execute(node.ready) if node is not None else None
        if node is None or wanted is None:
            return ()
        return (ChangeTaints(name, node.uid, add=wanted[:1], reason=f"Ready is {node.ready}", zone=zone),)

    def _untaint(self, reading: Reading, names: Iterable[str]) -> tuple[Action, ...]:
        nodes = [reading.store.node(name) for name in self.alike_order(reading, names)]
        why = "all zones are fully disrupted: no node is heard, so evictions stop"
        return tuple(
            ChangeTaints(node.name, node.uid, remove=no_execute_of(node), reason=why)
            for node in nodes
            if node is not None
        )

    def _next_token(self, zones: Zones) -> Seconds | None:
        tokens = [each.next_token() for each in zones.values()]
        return min((token for token in tokens if token is not None), default=None)
