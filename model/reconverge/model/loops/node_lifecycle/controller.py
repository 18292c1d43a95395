"""The node lifecycle controller's passes.

Source: `pkg/controller/nodelifecycle/node_lifecycle_controller.go` (monitorNodeHealth, tryUpdateNodeHealth,
processTaintBaseEviction, doNoScheduleTaintingPass, processPod).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from reconverge.model.action import Action
from reconverge.model.errors import ApiError, NotFound
from reconverge.model.likeness import At
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.loops.node_lifecycle.disruption import ZoneRules
from reconverge.model.loops.node_lifecycle.memory import NodeLifecycleMemory
from reconverge.model.loops.node_lifecycle.taints import (
    implied_no_schedule,
    managed_no_schedule,
    no_execute_of,
    wanted_no_execute,
    why,
)
from reconverge.model.loops.node_lifecycle.ticks import next_tick
from reconverge.model.loops.node_lifecycle.writes import ChangeTaints, MarkNodeUnknown, MarkPodNotReady
from reconverge.model.objects import Node, Pod
from reconverge.model.store import Change
from reconverge.model.value import Seconds

Memory = NodeLifecycleMemory
ALL_ZONES = "*"
"""The key under which zones are classified and nodes get their rate-limited taints."""


class NodeLifecycleController(ZoneRules, ControlLoop[Memory]):
    """Marks silent nodes Unknown and their pods not ready, and taints nodes by their conditions.

    Keys: a node's name for its health and its taints, a pod's key for a pod newly bound to a node that is not ready,
    and ALL_ZONES. Source: `pkg/controller/nodelifecycle/node_lifecycle_controller.go`.
    """

    name: ClassVar[str] = "node-lifecycle"
    watches: ClassVar[frozenset[str]] = frozenset({"Node", "Lease", "Pod"})
    source: ClassVar[str] = "pkg/controller/nodelifecycle/node_lifecycle_controller.go"

    # Rules ---------------------------------------------------------------------------------------------------

    def last_heard(self, reading: Reading, memory: Memory, node: Node) -> Seconds | None:
        """When the kubelet was last heard of; None while it keeps renewing its lease."""
        lease = reading.store.lease(node.name)
        if lease is None or lease.renewed_at is None:
            return None
        return max(lease.renewed_at, memory.since, node.created_at, memory.heard.get(node.name, 0))

    def unknown_at(self, reading: Reading, memory: Memory, node: Node) -> Seconds | None:
        """When the node's conditions become Unknown, at a health pass; None if they are, or the kubelet is heard."""
        heard = self.last_heard(reading, memory, node)
        if heard is None or node.ready == "Unknown":
            return None
        return next_tick(heard + reading.rules.node_monitor_grace, reading.rules.node_monitor_period)

    def pods_to_mark(self, reading: Reading, node: Node) -> list[Pod]:
        """The pods whose Ready becomes False with the node's Unknown: all, if this controller itself found out.

        A kubelet that reports Ready=False keeps reporting its pods; their readiness is left to it.
        """
        return reading.store.pods_on(node.name) if node.ready == "True" else []

    def marks_new_pod(self, node: Node) -> bool:
        """Whether a pod newly bound to the node is marked not ready (processPod)."""
        return node.ready != "True"

    def no_schedule_changes(self, node: Node) -> tuple[Action, ...]:
        """Writes that make the NoSchedule taints those that the conditions imply; additions come first."""
        wanted, present = implied_no_schedule(node), managed_no_schedule(node)
        keys = {taint.key for taint in wanted}
        present_keys = {taint.key for taint in present}
        add = tuple(taint for taint in wanted if taint.key not in present_keys)
        remove = tuple(taint for taint in present if taint.key not in keys)
        return self._changes(node, add, remove)

    def no_execute_changes(self, node: Node) -> tuple[Action, ...]:
        """Writes that need no token: untaint a ready node, swap not-ready and unreachable."""
        present = no_execute_of(node)
        wanted = wanted_no_execute(node.ready)
        if wanted is None:
            return self._changes(node, (), present)
        taint, opposite = wanted
        if opposite not in present:
            return ()
        return self._changes(node, () if taint in present else (taint,), (opposite,))

    # The loop ------------------------------------------------------------------------------------------------

    def start(self) -> Memory:
        """Nothing is known: the first pass counts the nodes, and every probe starts anew."""
        return NodeLifecycleMemory()

    def relist(self, reading: Reading) -> Iterable[str]:
        """Every node that there is something to do for, and the zones."""
        memory = self.start()
        concerned = (node.name for node in reading.store.nodes() if self._concerns(reading, memory, node))
        return (*concerned, ALL_ZONES)

    def observe(self, memory: Memory, change: Change, reading: Reading) -> tuple[Memory, Iterable[str]]:
        """Node changes move the counts; leases set deadlines; a pod bound to a node that is not ready is looked at."""
        match change.kind:
            case "Node":
                return self._node_changed(memory, change, reading)
            case "Lease":
                return self._lease_changed(memory, change)
            case _:
                return memory, self._pod_wakes(change, reading)

    def order(self, reading: Reading, memory: Memory, keys: Iterable[str]) -> list[str]:
        """The health of all nodes before the zones, as in one pass of monitorNodeHealth; then pods."""
        plain = list(keys)
        nodes = [key for key in plain if key != ALL_ZONES and "/" not in key]
        zones = [key for key in plain if key == ALL_ZONES]
        return [*self.alike_order(reading, nodes), *zones, *sorted(key for key in plain if "/" in key)]

    def sync(self, reading: Reading, memory: Memory, key: str) -> Sequence[Plan[Memory]]:
        """One pass for a node, a new pod, or all zones."""
        memory = memory.counted(reading.store, reading.now, reading.rules.eviction_rate)
        if key == ALL_ZONES:
            return self.zones_pass(reading, memory)
        if "/" in key:
            return (Plan(memory, self._new_pod_marks(reading, key)),)
        node = reading.store.node(key)
        return (Plan(memory.without(key)) if node is None else self._node_pass(reading, memory, node),)

    def failed(self, memory: Memory, action: Action, error: ApiError) -> Memory:
        """A report that came between is a heartbeat; marks and taints that did not get through are made again."""
        if isinstance(action, MarkNodeUnknown) and not isinstance(error, NotFound):
            return memory.hearing(action.key, action.at) if error.code == 409 else memory
        if isinstance(action, MarkPodNotReady):
            return memory.with_(retry=memory.retry.set(action.node, None))
        if isinstance(action, ChangeTaints) and action.zone and not isinstance(error, NotFound):
            return memory.with_(zones=self.given_back(memory, action.zone, action.key))
        return memory

    def marks(self, memory: Memory, reading: Reading) -> Iterable[tuple[str, str, Any]]:
        """Zone states and tokens; probes that the leases do not tell; pods still to be marked."""
        for lease in reading.store.all("Lease"):
            node = reading.store.node(lease.name)
            heard = self.last_heard(reading, memory, node) if node is not None and node.ready != "Unknown" else None
            if heard is not None and heard != lease.renewed_at:
                yield ("Node", lease.name, ("probe", At(heard)))
        for name in sorted(memory.retry):
            yield ("Node", name, "retry")
        if memory.recount:
            yield ("", "", "recount")
        for key, zone in sorted((memory.zones or {}).items()):
            token = At(zone.token_at) if zone.rate > 0 and zone.token_at > reading.now else "full"
            yield ("", "", (key, zone.state, zone.rate, token))

    # Inside --------------------------------------------------------------------------------------------------

    def _node_pass(self, reading: Reading, memory: Memory, node: Node) -> Plan[Memory]:
        now = reading.now
        due = self.unknown_at(reading, memory, node)
        if due is not None and due <= now:
            return Plan(memory.without(node.name), self._unknown(reading, memory, node))
        if node.name in memory.retry:
            pods = reading.store.pods_on(node.name) if node.ready != "True" else []
            return Plan(memory.without(node.name), self._pod_marks(reading, node, pods), now)
        no_schedule = self.no_schedule_changes(node)
        if no_schedule:
            return Plan(memory, no_schedule, due)
        no_execute = self.no_execute_changes(node)
        tick = next_tick(now, reading.rules.node_monitor_period)
        if no_execute and tick > now:
            return Plan(memory, requeue_at=tick if due is None else min(due, tick))
        return Plan(memory, no_execute, due)

    def _unknown(self, reading: Reading, memory: Memory, node: Node) -> tuple[Action, ...]:
        heard = self.last_heard(reading, memory, node)
        silent = reading.now - (heard if heard is not None else reading.now)
        mark = MarkNodeUnknown(node.name, node.uid, node.ready, reading.now, f"no heartbeat for {silent:g} s")
        return (mark, *self._pod_marks(reading, node, self.pods_to_mark(reading, node)))

    def _pod_marks(self, reading: Reading, node: Node, pods: list[Pod]) -> tuple[Action, ...]:
        return tuple(
            MarkPodNotReady(pod.key, pod.uid, node.name, reading.now, "node is not ready") for pod in pods if pod.ready
        )

    def _new_pod_marks(self, reading: Reading, key: str) -> tuple[Action, ...]:
        pod = reading.store.pod(key)
        node = reading.store.node(pod.node) if pod is not None and pod.node is not None else None
        if pod is None or node is None or not self.marks_new_pod(node):
            return ()
        return self._pod_marks(reading, node, [pod])

    def _changes(self, node: Node, add: Any, remove: Any) -> tuple[Action, ...]:
        """Additions and removals are two calls upstream, in this order (SwapNodeControllerTaint)."""
        adding = (ChangeTaints(node.name, node.uid, add=add, reason=why(node, add)),) if add else ()
        removing = (ChangeTaints(node.name, node.uid, remove=remove, reason=why(node, remove)),) if remove else ()
        return (*adding, *removing)

    def _node_changed(self, memory: Memory, change: Change, reading: Reading) -> tuple[Memory, Iterable[str]]:
        before, after = change.before, change.after
        if memory.zones is None:
            return memory, (change.key, ALL_ZONES)
        now = memory.after_change(change.key, before, after, reading.rules.eviction_rate)
        zones = () if now is memory else (ALL_ZONES,)
        if after is None:
            return now.without(change.key), (change.key, *zones)
        reported = before is not None and before.ready != after.ready and after.ready != "Unknown"
        if reported and self.last_heard(reading, now, after) is not None:
            now = now.hearing(change.key, reading.now)
        return now, (change.key, *zones) if self._concerns(reading, now, after) else zones

    def _concerns(self, reading: Reading, memory: Memory, node: Node) -> bool:
        """Whether a pass for the node has something to do, now or later."""
        return bool(
            self.unknown_at(reading, memory, node) is not None
            or self.no_schedule_changes(node)
            or self.no_execute_changes(node)
        )

    def _lease_changed(self, memory: Memory, change: Change) -> tuple[Memory, Iterable[str]]:
        before, after = change.before, change.after
        if before is not None and after is not None and before.renewed_at == after.renewed_at:
            return memory, ()
        if change.key in memory.heard:
            memory = memory.with_(heard=memory.heard.delete(change.key))
        return memory, (change.key,)

    def _pod_wakes(self, change: Change, reading: Reading) -> tuple[str, ...]:
        before, after = change.before, change.after
        if after is None or after.node is None or (before is not None and before.node == after.node):
            return ()
        node = reading.store.node(after.node)
        return (change.key,) if node is not None and self.marks_new_pod(node) else ()
