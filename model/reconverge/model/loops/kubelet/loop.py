"""All kubelets: what wakes them, and which part of one makes which pass.

Source: `pkg/kubelet/kubelet.go` (syncLoopIteration), `pkg/kubelet/config/`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from reconverge.model.action import Action
from reconverge.model.errors import ApiError
from reconverge.model.local_pods import LocalPod
from reconverge.model.loop import MACHINES, REGISTRY, ControlLoop, Plan, Reading
from reconverge.model.loops.kubelet import shutdown
from reconverge.model.loops.kubelet.node_status import report_node
from reconverge.model.loops.kubelet.pod_worker import PodWorker
from reconverge.model.loops.kubelet.pressure import EvictionManager
from reconverge.model.loops.kubelet.volumes import VOLUME_KINDS, woken_by
from reconverge.model.machines import Machine
from reconverge.model.objects import Pod
from reconverge.model.store import Change
from reconverge.model.value import Seconds

Plans = Sequence[Plan[None]]


def pod_key(node: str, pod: str) -> str:
    """The kubelet's key for a pod on a node."""
    return f"{node}|{pod}"


class Kubelet(PodWorker, ControlLoop[None]):
    """All kubelets as one loop: keys are `node|` for a node's own status and `node|namespace/pod` for its pods."""

    name = "kubelet"
    watches = frozenset({"Pod", "Node", "Lease", MACHINES, REGISTRY, *VOLUME_KINDS})
    physical = True
    source = "pkg/kubelet/kubelet.go"
    eviction: ClassVar[EvictionManager] = EvictionManager()
    """The part that acts under pressure."""

    # Waking --------------------------------------------------------------------------------------------------

    def relist(self, reading: Reading) -> Iterable[str]:
        """Everything on every machine."""
        assert reading.machines is not None
        for name in sorted(reading.machines.by_name):
            yield from self._all_of(reading, reading.machines.by_name[name])

    def observe(self, memory: None, change: Change, reading: Reading) -> tuple[None, Iterable[str]]:
        """Wakes for pods bound to the node, for the node's own objects, and when the machine itself changes."""
        assert reading.machines is not None
        if change.kind == "Pod":
            return None, self._pod_changed(change, reading)
        if change.kind == MACHINES:
            return None, self._machine_changed(change, reading)
        if change.kind == REGISTRY:
            return None, self.relist(reading)
        if change.kind in VOLUME_KINDS:
            return None, [pod_key(*each) for each in woken_by(change, reading)]
        machine = reading.machines.get(change.key)
        if machine is None or not machine.connected:
            return None, ()
        return None, (pod_key(change.key, ""),)

    def _pod_changed(self, change: Change, reading: Reading) -> tuple[str, ...]:
        pod: Pod = change.object
        if pod.node is None or reading.machines is None:
            return ()
        before: Pod | None = change.before
        if before is not None and change.after is not None and _same_for_kubelet(before, pod):
            return ()
        machine = reading.machines.get(pod.node)
        return () if machine is None or not machine.connected else (pod_key(pod.node, pod.key),)

    def _machine_changed(self, change: Change, reading: Reading) -> list[str]:
        before: Machine | None = change.before
        after: Machine | None = change.after
        if after is None:
            return []
        if before is not None and before.with_(pods=after.pods) == after:
            # Only pods changed. The kubelet's own doing needs no wake; an exit or a lost check does, and under
            # pressure somebody else may be to be evicted.
            node = [pod_key(after.name, "")] if after.pressure else []
            return node + [
                pod_key(after.name, pod.key)
                for uid, pod in sorted(after.pods.items())
                if (old := before.pods.get(uid)) is not None and old is not pod and _happened_to(old, pod)
            ]
        return self._all_of(reading, after)

    def _all_of(self, reading: Reading, machine: Machine) -> list[str]:
        keys = {pod_key(machine.name, "")}
        keys |= {pod_key(machine.name, pod.key) for pod in machine.pods.values()}
        if machine.connected:
            keys |= {pod_key(machine.name, pod.key) for pod in reading.store.pods_on(machine.name)}
        return sorted(keys)

    def order(self, reading: Reading, memory: None, keys: Iterable[str]) -> list[str]:
        """Node status first, then pods in the order in which they were created, as a kubelet admits them."""

        def created(key: str) -> tuple[str, Seconds, str]:
            node, _, name = key.partition("|")
            pod = reading.store.pod(name) if name else None
            return node, -1 if not name else pod.created_at if pod is not None else 0, name

        return sorted(keys, key=created)

    # Passes --------------------------------------------------------------------------------------------------

    def sync(self, reading: Reading, memory: None, key: str) -> Plans:
        """One pass for the node's status or for one pod."""
        assert reading.machines is not None
        name, _, pod_name = key.partition("|")
        machine = reading.machines.get(name)
        if machine is None or not machine.powered or not machine.kubelet:
            return (Plan(None),)
        if not pod_name:
            if machine.stops_at is not None:
                return (shutdown.report(reading, machine),)
            report = self.report_node(reading, machine)
            return (report,) if machine.strain is None else self.eviction.passes(reading, machine, report)
        return (self.sync_pod(reading, machine, pod_name),)

    def report_node(self, reading: Reading, machine: Machine) -> Plan[None]:
        """What the kubelet says of its own node."""
        return report_node(reading, machine)

    def failed(self, memory: None, action: Action, error: ApiError) -> None:
        """A kubelet that is cut off is woken again when it is back."""
        return

    def marks(self, memory: None, reading: Reading) -> Iterable[tuple[str, str, object]]:
        """What machines hold is part of the state by itself."""
        return ()


def _happened_to(before: LocalPod, after: LocalPod) -> bool:
    """Whether an event, not the kubelet, changed a local pod: a crash, a program that hangs, a forced readiness."""
    return (
        before.forced_ready != after.forced_ready
        or (before.checked and not after.checked)
        or any(
            (old.state == "running" and new.state == "exited") or old.hung_at != new.hung_at
            for old, new in zip(before.containers, after.containers, strict=False)
        )
    )


def _same_for_kubelet(before: Pod, after: Pod) -> bool:
    """Whether a change of a pod is none that a kubelet acts on: a binding, a deletion, a status not its own."""
    return (
        before.node == after.node
        and before.deletion_at == after.deletion_at
        and before.ready == after.ready
        and before.phase == after.phase
    )
