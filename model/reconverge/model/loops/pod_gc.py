"""The pod garbage collector: pods that no kubelet will ever remove.

Source: `pkg/controller/podgc/gc_controller.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from attrs import frozen

from reconverge.model.action import Action, DeletePod, Patch, Written
from reconverge.model.cluster import Cluster
from reconverge.model.errors import ApiError, Conflict
from reconverge.model.likeness import At, pod_likeness
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.loops.node_lifecycle.ticks import next_tick
from reconverge.model.objects import Node, Pod
from reconverge.model.objects.node import OUT_OF_SERVICE
from reconverge.model.persistent import EMPTY, Map
from reconverge.model.store import Change, Store
from reconverge.model.value import Seconds, Value

TERMINATED = "*"
"""The key under which finished pods are counted."""


@frozen
class FailOrphan(Patch):
    """The phase of a pod whose node is gone becomes Failed. Raises Conflict if the Node object is there after all."""

    node: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """Upstream asks the API server for the node before it collects, not its own cache (checkIfNodeExists)."""
        if cluster.store.node(self.node) is not None:
            raise Conflict(f"node/{self.node} exists")
        return Patch.apply(self, cluster)


@frozen
class PodGCMemory(Value):
    """When each missing node was first noticed, by name, and how many pods are finished (None: not yet counted)."""

    missing: Map[str, Seconds] = EMPTY
    finished: int | None = None


class PodGarbageCollector(ControlLoop[PodGCMemory]):
    """Force-deletes pods of vanished and out-of-service nodes, unbound Terminating pods, finished pods beyond a number.

    Keys: a node's name while its Node object is missing, a pod's key, and TERMINATED. It looks every 20 seconds.
    Source: `pkg/controller/podgc/gc_controller.go`.
    """

    name: ClassVar[str] = "pod-gc"
    watches: ClassVar[frozenset[str]] = frozenset({"Node", "Pod"})
    source: ClassVar[str] = "pkg/controller/podgc/gc_controller.go"

    # Rules ---------------------------------------------------------------------------------------------------

    def excess(self, finished: int, kept: int) -> int:
        """How many finished pods are too many; a number kept of 0 or less means that none are (gcTerminated)."""
        return max(finished - kept, 0) if kept > 0 else 0

    def first_to_go(self, pod: Pod) -> tuple[Any, ...]:
        """The order among finished pods: evicted ones first, then the oldest, then by name."""
        return (not (pod.phase == "Failed" and pod.reason == "Evicted"), pod.created_at, pod.key)

    def out_of_service(self, pod: Pod, node: Node) -> bool:
        """Whether a Terminating pod goes because somebody has said that its node is out of service (gcTerminating)."""
        tainted = any(taint.key == OUT_OF_SERVICE for taint in node.taints)
        return pod.deletion_at is not None and node.ready != "True" and tainted

    def never_scheduled(self, pod: Pod) -> bool:
        """Whether a pod is Terminating and has no node (gcUnscheduledTerminating)."""
        return pod.deletion_at is not None and pod.node is None

    def collected_at(self, noticed: Seconds, reading: Reading) -> Seconds:
        """When the pods of a node that was noticed missing at that time are collected (gcOrphaned)."""
        return next_tick(noticed + reading.rules.gc_quarantine, reading.rules.gc_period)

    # The loop ------------------------------------------------------------------------------------------------

    def start(self) -> PodGCMemory:
        """Nothing noticed, nothing counted."""
        return PodGCMemory()

    def relist(self, reading: Reading) -> Iterable[str]:
        """Missing nodes, Terminating pods that nobody else removes, and the count of finished pods."""
        store = reading.store
        bound = store.table("Pod").indexes.get("node", EMPTY)
        yield from (name for name in sorted(bound) if store.node(name) is None)
        yield from (pod.key for pod in store.all("Pod") if self._why(pod, store))
        yield TERMINATED

    def observe(self, memory: PodGCMemory, change: Change, reading: Reading) -> tuple[PodGCMemory, Iterable[str]]:
        """Node changes wake their Terminating pods; a vanished node wakes its own key."""
        if change.kind == "Node":
            return memory, self._on_node(change, reading.store)
        return self._on_pod(memory, change, reading)

    def order(self, reading: Reading, memory: PodGCMemory, keys: Iterable[str]) -> list[str]:
        """Finished pods, then Terminating ones, then those of vanished nodes: about the order of one pass upstream."""
        return sorted(keys, key=lambda key: (key != TERMINATED, "/" not in key, *self._likeness(reading, key), key))

    def sync(self, reading: Reading, memory: PodGCMemory, key: str) -> Sequence[Plan[PodGCMemory]]:
        """One part of a pass, at the next multiple of the period."""
        if key == TERMINATED:
            return (self._finished(reading, memory),)
        if "/" in key:
            return (self._terminating(reading, memory, key),)
        return (self._orphans(reading, memory, key),)

    def failed(self, memory: PodGCMemory, action: Action, error: ApiError) -> PodGCMemory:
        """A node that turned out to exist is no longer missing; it is noticed anew if the cache still says so."""
        if isinstance(action, FailOrphan) and isinstance(error, Conflict):
            return memory.with_(missing=memory.missing.discard(action.node))
        return memory

    def marks(self, memory: PodGCMemory, reading: Reading) -> Iterable[tuple[str, str, Any]]:
        """When the quarantine of each missing node began. Pods tell it, since the Node object is gone."""
        for name in sorted(memory.missing):
            for pod in reading.store.pods_on(name):
                yield ("Pod", pod.key, ("node missing", At(memory.missing[name])))

    # Parts of a pass -----------------------------------------------------------------------------------------

    def _finished(self, reading: Reading, memory: PodGCMemory) -> Plan[PodGCMemory]:
        if memory.finished is None:
            memory = memory.with_(finished=sum(pod.terminal for pod in reading.store.all("Pod")))
        too_many = self.excess(memory.finished or 0, reading.rules.terminated_pods_kept)
        tick = next_tick(reading.now, reading.rules.gc_period)
        if not too_many or tick > reading.now:
            return Plan(memory, requeue_at=tick if too_many else None)
        pods = sorted((pod for pod in reading.store.all("Pod") if pod.terminal), key=self.first_to_go)[:too_many]
        why = f"{memory.finished} finished pods, {reading.rules.terminated_pods_kept} are kept"
        return Plan(memory, tuple(DeletePod(pod.key, pod.uid, 0, why) for pod in pods))

    def _terminating(self, reading: Reading, memory: PodGCMemory, key: str) -> Plan[PodGCMemory]:
        pod = reading.store.pod(key)
        why = "" if pod is None else self._why(pod, reading.store)
        tick = next_tick(reading.now, reading.rules.gc_period)
        if pod is None or not why or tick > reading.now:
            return Plan(memory, requeue_at=tick if why else None)
        fields = (("phase", "Failed"),)
        patch = Patch("Pod", key, pod.uid, fields, why, f"sets phase Failed of {pod.reference}")
        return Plan(memory, (*(() if pod.terminal else (patch,)), DeletePod(key, pod.uid, 0, why)))

    def _orphans(self, reading: Reading, memory: PodGCMemory, name: str) -> Plan[PodGCMemory]:
        pods = reading.store.pods_on(name)
        if reading.store.node(name) is not None or not pods:
            return Plan(memory.with_(missing=memory.missing.discard(name)))
        noticed = memory.missing.get(name)
        if noticed is None:
            noticed = next_tick(reading.now, reading.rules.gc_period)
            memory = memory.with_(missing=memory.missing.set(name, noticed))
        due = self.collected_at(noticed, reading)
        if due > reading.now:
            return Plan(memory, requeue_at=due)
        pods.sort(key=lambda pod: (repr(pod_likeness(pod, reading.now)), pod.key))
        return Plan(memory, tuple(write for pod in pods for write in self._collect(pod, name)))

    def _collect(self, pod: Pod, node: str) -> tuple[Action, ...]:
        why = "PodGC: node no longer exists"
        delete = DeletePod(pod.key, pod.uid, 0, why)
        if pod.terminal:
            return (delete,)
        fields = (("phase", "Failed"), ("disruption_target", "DeletionByPodGC"))
        verb = f"sets phase Failed (DeletionByPodGC) of {pod.reference}"
        return (FailOrphan("Pod", pod.key, pod.uid, fields, why, verb, node), delete)

    # Inside --------------------------------------------------------------------------------------------------

    def _why(self, pod: Pod, store: Store) -> str:
        """Why a Terminating pod is collected; empty if it is not."""
        if self.never_scheduled(pod):
            return "it is Terminating and was never scheduled"
        node = store.node(pod.node) if pod.node is not None else None
        if node is not None and self.out_of_service(pod, node):
            return f"it is Terminating and its node has the taint {OUT_OF_SERVICE}"
        return ""

    def _on_node(self, change: Change, store: Store) -> list[str]:
        before, after = change.before, change.after
        if before is None or after is None:
            return [change.key]
        if (before.ready, before.taints) == (after.ready, after.taints):
            return []
        if not any(taint.key == OUT_OF_SERVICE for taint in (*before.taints, *after.taints)):
            return []
        return [pod.key for pod in store.pods_on(change.key) if pod.deletion_at is not None]

    def _on_pod(self, memory: PodGCMemory, change: Change, reading: Reading) -> tuple[PodGCMemory, Iterable[str]]:
        before, after = change.before, change.after
        keys = []
        more = int(after is not None and after.terminal) - int(before is not None and before.terminal)
        if more and memory.finished is not None:
            memory = memory.with_(finished=memory.finished + more)
            if self.excess(memory.finished or 0, reading.rules.terminated_pods_kept):
                keys.append(TERMINATED)
        node = (before if after is None else after).node
        moved = before is None or after is None or before.node != after.node
        if moved and node is not None and reading.store.node(node) is None:
            keys.append(node)
        if after is not None and after.deletion_at is not None and self._why(after, reading.store):
            keys.append(change.key)
        return memory, keys

    def _likeness(self, reading: Reading, key: str) -> tuple[str, ...]:
        pod = reading.store.pod(key) if "/" in key else None
        return ("",) if pod is None else (repr(pod_likeness(pod, reading.now)),)
