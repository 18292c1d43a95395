"""The attach/detach controller: which node a disk is attached to.

Source: `pkg/controller/volume/attachdetach/reconciler/reconciler.go`,
`pkg/controller/volume/attachdetach/util/util.go` (DetermineVolumeAction).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

from attrs import frozen

from reconverge.model.action import Create, Delete
from reconverge.model.likeness import At, pod_likeness
from reconverge.model.loop import MACHINES, ControlLoop, Plan, Reading
from reconverge.model.objects import Node, Pod
from reconverge.model.objects.node import OUT_OF_SERVICE
from reconverge.model.objects.storage import ATTACHMENT, CLAIM, VOLUME, PersistentVolume, VolumeAttachment
from reconverge.model.persistent import EMPTY, Map
from reconverge.model.store import Change, Store
from reconverge.model.value import Seconds, Value

MOST_WAIT = 360
"""Seconds after which a volume is detached from an unhealthy node that has not unmounted it.

Source: `cmd/kube-controller-manager/app/core.go` (ReconcilerMaxWaitForUnmountDuration).
"""


@frozen
class AttachDetachMemory(Value):
    """Since when each volume, by name, has been wanted on its node no more while it is mounted there."""

    requested: Map[str, Seconds] = EMPTY


class AttachDetachController(ControlLoop[AttachDetachMemory]):
    """Attaches a disk to the node whose pods want it, one node at a time; runs where volumes are described.

    Keys are names of volumes. It sees the machines for one fact only: what a kubelet has reported as still mounted
    (`node.status.volumesInUse`).
    """

    name: ClassVar[str] = "attach-detach"
    watches: ClassVar[frozenset[str]] = frozenset({VOLUME, CLAIM, ATTACHMENT, "Pod", "Node", MACHINES})
    physical: ClassVar[bool] = True
    idle_without: ClassVar[str] = VOLUME
    source: ClassVar[str] = "pkg/controller/volume/attachdetach/reconciler/reconciler.go"

    # Rules ---------------------------------------------------------------------------------------------------

    def wants(self, pod: Pod) -> bool:
        """Whether a bound pod needs its volumes: not once it has ended, nor deleted before it has started."""
        return (
            pod.node is not None and not pod.terminal and not (pod.deletion_at is not None and pod.phase == "Pending")
        )

    def may_detach(self, node: Node | None, mounted: bool, waited: Seconds) -> str:
        """Why a volume that is wanted no more may leave its node now; empty if it has to wait."""
        if node is None:
            return "the node is gone"
        if any(taint.key == OUT_OF_SERVICE for taint in node.taints):
            return "the node is out of service"
        if not mounted:
            return "nothing on the node uses it"
        if node.ready != "True" and waited >= MOST_WAIT:
            return "the node has been unhealthy for too long: detached by force"
        return ""

    # The loop ------------------------------------------------------------------------------------------------

    def start(self) -> AttachDetachMemory:
        """Nothing waits to be detached."""
        return AttachDetachMemory()

    def relist(self, reading: Reading) -> Iterable[str]:
        """All volumes, and what is attached without one."""
        store = reading.store
        return sorted({each.name for each in (*store.all(VOLUME), *store.all(ATTACHMENT))})

    def observe(
        self, memory: AttachDetachMemory, change: Change, reading: Reading
    ) -> tuple[AttachDetachMemory, Iterable[str]]:
        """Pods and claims wake their volumes; nodes and machines those that are attached to them."""
        store = reading.store
        if change.kind in (VOLUME, ATTACHMENT):
            return memory, (change.key,)
        if change.kind == CLAIM:
            return memory, (change.object.volume,) if change.object.volume else ()
        if change.kind == "Pod":
            return memory, self._of_pod(store, change)
        before, after = change.before, change.after
        if change.kind == MACHINES and before is not None and after is not None and before.pods is after.pods:
            return memory, ()
        return memory, self._at(store, change.key)

    def sync(self, reading: Reading, memory: AttachDetachMemory, key: str) -> Sequence[Plan[AttachDetachMemory]]:
        """One pass for a volume: it is detached from where nobody wants it, then attached; of several nodes any."""
        store = reading.store
        volume: PersistentVolume | None = store.get(VOLUME, key)
        attached: VolumeAttachment | None = store.get(ATTACHMENT, key)
        wanted = self.wanted(reading, volume) if volume is not None and volume.exclusive else []
        done = memory.with_(requested=memory.requested.discard(key))
        if attached is None:
            return [
                Plan(done, (Create(VolumeAttachment(name=key, node=node), f"attaches it to {node}"),), choice=node)
                for node in wanted
            ] or (Plan(done),)
        if attached.node in wanted:
            waiting = [node for node in wanted if node != attached.node]
            note = (
                f"Multi-Attach error: {waiting[0]} wants it, and it is attached to {attached.node}" if waiting else ""
            )
            return (Plan(done, note=note),)
        return (self._detach(reading, memory, attached, volume),)

    def wanted(self, reading: Reading, volume: PersistentVolume) -> list[str]:
        """The nodes whose pods need a volume, in the order of what these pods are."""
        pods = [pod for pod in _users(reading.store, volume) if self.wants(pod)]
        pods.sort(key=lambda pod: (pod.created_at, repr(pod_likeness(pod, reading.now)), pod.key))
        nodes = dict.fromkeys(pod.node for pod in pods if pod.node is not None)
        return [node for node in nodes if reading.store.node(node) is not None]

    def _detach(
        self,
        reading: Reading,
        memory: AttachDetachMemory,
        attached: VolumeAttachment,
        volume: PersistentVolume | None,
    ) -> Plan[AttachDetachMemory]:
        since = memory.requested.get(attached.name, reading.now)
        mounted = volume is not None and self.mounted(reading, attached.node, volume)
        why = self.may_detach(reading.store.node(attached.node), mounted, reading.now - since)
        noted = memory.with_(requested=memory.requested.set(attached.name, since))
        if why:
            # Forgotten once the attachment is gone: until then the wait is not over (MarkVolumeAsDetached).
            why = f"detaches it from {attached.node}: {why}"
            return Plan(noted, (Delete(ATTACHMENT, attached.key, attached.uid, why),))
        due = since + MOST_WAIT
        note = f"waits for {attached.node} to unmount it"
        return Plan(noted, requeue_at=due if due > reading.now else None, note=note)

    def mounted(self, reading: Reading, node: str, volume: PersistentVolume) -> bool:
        """Whether the kubelet last said that a pod on the node has the volume mounted."""
        assert reading.machines is not None
        machine = reading.machines.get(node)
        if machine is None:
            return False
        space, _, name = volume.claim.partition("/")
        return any(name in pod.spec.claims and pod.key.startswith(f"{space}/") for pod in machine.pods.values())

    def marks(self, memory: AttachDetachMemory, reading: Reading) -> Iterator[tuple[str, str, Any]]:
        """Since when volumes wait to be detached."""
        for name in sorted(memory.requested):
            yield "", "", (name, At(memory.requested[name]))

    # Waking --------------------------------------------------------------------------------------------------

    def _of_pod(self, store: Store, change: Change) -> list[str]:
        before, after = change.before, change.after
        pod: Pod = change.object
        if not pod.spec.claims:
            return []
        same = before is not None and after is not None and before.node == after.node
        if same and self.wants(before) == self.wants(after):
            return []
        claims = (store.get(CLAIM, f"{pod.namespace}/{name}") for name in pod.spec.claims)
        return [claim.volume for claim in claims if claim is not None and claim.volume]

    def _at(self, store: Store, node: str) -> list[str]:
        keys = {each.name for each in store.all(ATTACHMENT) if each.node == node}
        for pod in store.pods_on(node):
            claims = (store.get(CLAIM, f"{pod.namespace}/{name}") for name in pod.spec.claims)
            keys.update(claim.volume for claim in claims if claim is not None and claim.volume)
        return sorted(keys)


def _users(store: Store, volume: PersistentVolume) -> list[Pod]:
    """The pods that mount a volume, by its claim."""
    claim = store.get(CLAIM, volume.claim) if volume.claim else None
    if claim is None or claim.volume != volume.name or not claim.bound:
        return []
    return [pod for pod in store.all("Pod") if claim.name in pod.spec.claims and pod.namespace == claim.namespace]
