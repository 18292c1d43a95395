"""The kubelet's pass for one pod, and for its own node object.

Source: `pkg/kubelet/{kubelet,pod_workers,kubelet_node_status}.go`, `pkg/kubelet/status/status_manager.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reconverge.model.action import Action, DeletePod, Patch
from reconverge.model.errors import ApiError
from reconverge.model.loop import MACHINES, ControlLoop, Plan, Reading
from reconverge.model.loops.kubelet import containers, pressure, shutdown
from reconverge.model.loops.kubelet.actions import Forget, FromNode, Locally, Register
from reconverge.model.loops.kubelet.admission import rejection
from reconverge.model.loops.kubelet.volumes import VOLUME_KINDS, waiting, waits_for, woken_by
from reconverge.model.machines import LocalPod, Machine
from reconverge.model.objects import Node, Pod
from reconverge.model.store import Change
from reconverge.model.value import Seconds

Plans = Sequence[Plan[None]]

TERMINATED = 143
"""The exit code of a program that the stop signal has ended."""


def pod_key(node: str, pod: str) -> str:
    """The kubelet's key for a pod on a node."""
    return f"{node}|{pod}"


class Kubelet(ControlLoop[None]):
    """All kubelets as one loop: keys are `node|` for a node's own status and `node|namespace/pod` for its pods."""

    name = "kubelet"
    watches = frozenset({"Pod", "Node", "Lease", MACHINES, *VOLUME_KINDS})
    physical = True
    source = "pkg/kubelet/kubelet.go"

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
            return (report,) if machine.strain is None else pressure.passes(reading, machine, report)
        return (self._sync_pod(reading, machine, pod_name),)

    def report_node(self, reading: Reading, machine: Machine) -> Plan[None]:
        """Registers, renews the lease, and reports Ready. A hung container runtime is not noticed here."""
        if not machine.connected:
            return Plan(None)
        node = reading.store.node(machine.name)
        if node is None:
            register = machine.registers
            return Plan(None, (FromNode(machine.name, Register(register)),) if register is not None else ())
        actions: list[Action] = []
        lease = reading.store.lease(machine.name)
        if lease is not None and lease.renewed_at is not None:
            actions.append(
                Patch(
                    "Lease",
                    lease.key,
                    lease.uid,
                    (("renewed_at", None),),
                    "heartbeats again",
                    f"renews the lease of node/{machine.name}",
                )
            )
        if node.ready != "True":
            due = node.created_at + reading.rules.kubelet.node_ready
            if node.ready_reason == "KubeletNotReady" and reading.now < due:
                return Plan(None, self._from(machine, actions), requeue_at=due)
            fields = (("ready", "True"), ("ready_reason", "KubeletReady"))
            actions.append(Patch("Node", node.key, node.uid, fields, "", f"reports node/{node.name} Ready"))
        return Plan(None, self._from(machine, actions))

    def _from(self, machine: Machine, actions: Iterable[Action]) -> tuple[Action, ...]:
        return tuple(FromNode(machine.name, action, getattr(action, "reason", "")) for action in actions)

    def _sync_pod(self, reading: Reading, machine: Machine, name: str) -> Plan[None]:
        pod = reading.store.pod(name) if machine.connected else None
        if pod is not None and pod.node != machine.name:
            pod = None
        locals_ = machine.local(name)
        if machine.connected:
            unknown = [each for each in locals_ if pod is None or each.uid != pod.uid]
            if unknown:
                killed = self.kill_unknown(reading, machine, unknown[0]) if machine.runtime else Plan(None)
                # Another pod of that name, or an older one, is looked at next.
                more = killed.actions and (pod is not None or len(unknown) > 1)
                return killed.with_(requeue_at=reading.now) if more else killed
        local = next((each for each in locals_ if pod is None or each.uid == pod.uid), None)
        if local is None:
            return self._new_pod(reading, machine, pod) if pod is not None else Plan(None)
        if pod is not None and pod.terminal and local.state != "stopped":
            return Plan(None, self._let_go(machine, local, "the pod is finished") if machine.runtime else ())
        if pod is not None and pod.deletion_at is not None:
            return self.terminate(reading, machine, pod, local)
        return self._run(reading, machine, pod, local)

    def kill_unknown(self, reading: Reading, machine: Machine, local: LocalPod) -> Plan[None]:
        """Stops a pod whose object is gone from the API."""
        return Plan(None, self._let_go(machine, local, "its object is gone"))

    def _let_go(self, machine: Machine, local: LocalPod, reason: str) -> tuple[Action, ...]:
        actions: tuple[Action, ...] = (Forget(machine.name, local.uid, local.key, reason),)
        if local.alive:
            stopped = local.with_(state="stopped", ready=False)
            actions = (Locally(machine.name, stopped, "stops", reason), *actions)
        return actions

    def _new_pod(self, reading: Reading, machine: Machine, pod: Pod) -> Plan[None]:
        """Admits a pod that has just been bound, or finishes one that was deleted before it was taken in."""
        now = reading.now
        timings = reading.rules.kubelet
        if pod.terminal or not machine.runtime:
            return Plan(None)
        if pod.deletion_at is not None:
            removal = DeletePod(pod.key, pod.uid, 0, "nothing of it runs here")
            return Plan(None, self._from(machine, (removal,)))
        node = reading.store.node(machine.name)
        if node is None:
            return Plan(None)
        refused = self.rejected(machine, node, pod)
        if refused is not None:
            due = pod.created_at + timings.pressure_rejection
            if refused[0] in (pressure.EVICTED, shutdown.NOT_ADMITTED) and now < due:
                return Plan(None, requeue_at=due)
            return Plan(None, self._from(machine, (self._reject(pod, refused),)))
        local = LocalPod(pod.key, pod.uid, pod.spec, "admitted", now, restarts=pod.restarts)
        admit = Locally(machine.name, local, "admits")
        if timings.start > 0:
            return Plan(None, (admit,), requeue_at=now + timings.start)
        if pod.spec.claims and (why := waits_for(reading, machine.name, local)):
            return self._without_volumes(reading, machine, pod, why, admit)
        return Plan(None, (admit, *self._start(reading, machine, pod, local)), self._next(reading, local))

    def _without_volumes(
        self, reading: Reading, machine: Machine, pod: Pod | None, why: str, *before: Action
    ) -> Plan[None]:
        """An admitted pod whose volumes are not there: its containers are not created yet."""
        report = waiting(reading, pod, why)
        return Plan(None, (*before, *self._from(machine, (report,) if report is not None else ())), note=why)

    def rejected(self, machine: Machine, node: Node, pod: Pod) -> tuple[str, str] | None:
        """Why the pod is not admitted, or None."""
        return rejection(machine, node, pod)

    def _reject(self, pod: Pod, refused: tuple[str, str]) -> Patch:
        reason, message = refused
        fields = (("phase", "Failed"), ("reason", reason), ("message", message), ("ready", False))
        return Patch("Pod", pod.key, pod.uid, fields, message, f"rejects {pod.reference} ({reason})")

    def _start(self, reading: Reading, machine: Machine, pod: Pod | None, local: LocalPod) -> tuple[Action, ...]:
        started = local.with_(state="running", since=reading.now)
        started = started.with_(ready=self.probe(reading, started))
        return (Locally(machine.name, started, "starts"), *self._status(reading, machine, pod, started))

    def probe(self, reading: Reading, local: LocalPod) -> bool:
        """Whether the pod is ready by its probe now."""
        return containers.desired_readiness(local, reading.rules.kubelet, reading.now)

    def _next(self, reading: Reading, local: LocalPod) -> Seconds | None:
        running = local if local.state == "running" else local.with_(state="running", since=reading.now)
        return containers.next_change(running, reading.rules.kubelet, reading.now)

    def _run(self, reading: Reading, machine: Machine, pod: Pod | None, local: LocalPod) -> Plan[None]:
        """Keeps an admitted pod going: checks it after a restart of the kubelet, starts, probes, restarts."""
        timings = reading.rules.kubelet
        now = reading.now
        if not machine.runtime:
            return Plan(None)
        if not local.checked and pod is not None:
            return self._check_again(reading, machine, pod, local)
        if local.state == "admitted":
            due = local.since + timings.start
            if now < due:
                return Plan(None, requeue_at=due)
            if local.spec.claims and (why := waits_for(reading, machine.name, local, pod is None)):
                return self._without_volumes(reading, machine, pod, why)
            return Plan(None, self._start(reading, machine, pod, local), self._next(reading, local))
        code = containers.exit_of(local, now)
        if code is not None:
            return self._exit(reading, machine, pod, containers.exited(local, code, timings, now))
        if local.state == "exited":
            return self._exit(reading, machine, pod, local)
        ready = self.probe(reading, local)
        actions: tuple[Action, ...] = ()
        if ready != local.ready:
            local = local.with_(ready=ready)
            actions = (Locally(machine.name, local, "finds ready" if ready else "finds not ready"),)
        return Plan(None, (*actions, *self._status(reading, machine, pod, local)), self._next(reading, local))

    def _check_again(self, reading: Reading, machine: Machine, pod: Pod, local: LocalPod) -> Plan[None]:
        node = reading.store.node(machine.name)
        refused = self.rejected(machine, node, pod) if node is not None else None
        if refused is not None:
            return Plan(
                None, (*self._let_go(machine, local, refused[1]), *self._from(machine, (self._reject(pod, refused),)))
            )
        return self._run_checked(reading, machine, pod, local.with_(checked=True))

    def _run_checked(self, reading: Reading, machine: Machine, pod: Pod, local: LocalPod) -> Plan[None]:
        after = self._run(reading, machine, pod, local)
        return after.with_(actions=(Locally(machine.name, local, "admits again"), *after.actions))

    def _exit(self, reading: Reading, machine: Machine, pod: Pod | None, local: LocalPod) -> Plan[None]:
        """Containers have ended: restart in place after the back-off, or report the final phase."""
        known = machine.pods[local.uid]
        noted: tuple[Action, ...] = ()
        if known.state != local.state:
            noted = (Locally(machine.name, local, "sees the exit of", f"exit code {local.exit_code}"),)
        if not containers.restarts(local):
            phase = "Succeeded" if local.exit_code == 0 else "Failed"
            done = self._from(machine, (self._finish(pod, phase, local.exit_code),)) if pod is not None else ()
            return Plan(None, (*noted, *done))
        due = self.restart_at(local)
        if reading.now >= due:
            again = containers.restarted(local, reading.rules.kubelet, reading.now)
            again = again.with_(ready=self.probe(reading, again))
            restart = Locally(machine.name, again, "restarts in place", f"restart {again.restarts}")
            return Plan(
                None, (*noted, restart, *self._status(reading, machine, pod, again)), self._next(reading, again)
            )
        return Plan(None, (*noted, *self._status(reading, machine, pod, local)), requeue_at=due)

    def restart_at(self, local: LocalPod) -> Seconds:
        """When exited containers may start again."""
        return containers.restart_at(local)

    def _finish(self, pod: Pod, phase: str, code: int) -> Patch:
        exits = tuple((container.name, code) for container in pod.spec.containers[:1])
        fields = (("phase", phase), ("ready", False), ("exit_codes", exits))
        return Patch("Pod", pod.key, pod.uid, fields, "", f"reports {pod.reference} {phase}")

    def terminate(self, reading: Reading, machine: Machine, pod: Pod, local: LocalPod) -> Plan[None]:
        """Stops a deleted pod inside its grace period, reports it terminal, and removes the object."""
        now = reading.now
        if not machine.runtime:
            return Plan(None)
        if local.state == "running" and local.stop_by is None:
            due = now + self.stop_time(reading, pod, local)
            told = local.with_(stop_by=due)
            if due > now:
                # Not stopped before its time: readiness goes on being reported until then.
                status = self._status(reading, machine, pod, told)
                return Plan(None, (Locally(machine.name, told, "signals", "deleted"), *status), requeue_at=due)
            local = told
        if local.state == "admitted" and local.stop_by is None:
            due = now + reading.rules.kubelet.stop_not_started
            if due > now:
                return Plan(None, (Locally(machine.name, local.with_(stop_by=due), "gives up"),), requeue_at=due)
        if local.stop_by is not None and now < local.stop_by and local.state != "exited":
            return self._stopping(reading, machine, pod, local)
        actions: list[Action] = []
        if local.alive:
            actions.append(Locally(machine.name, local.with_(state="stopped", ready=False), "stops", "deleted"))
        if not pod.terminal:
            phase = "Succeeded" if local.spec.restart_policy == "Always" else "Failed"
            code = local.exit_code if local.state == "exited" or phase == "Succeeded" else TERMINATED
            actions += self._from(machine, (self._finish(pod, phase, code),))
        actions += self._from(machine, (DeletePod(pod.key, pod.uid, 0, "everything in it has stopped"),))
        actions.append(Forget(machine.name, local.uid, local.key))
        return Plan(None, tuple(actions))

    def _stopping(self, reading: Reading, machine: Machine, pod: Pod, local: LocalPod) -> Plan[None]:
        """Waits for containers that were told to stop: a shorter grace period counts, and readiness is reported."""
        due = local.stop_by
        if local.alive and due is not None:
            due = min(due, reading.now + self.stop_time(reading, pod, local))
        after = local.with_(stop_by=due, ready=self.probe(reading, local))
        if due is not None and due <= reading.now:
            return self.terminate(reading, machine, pod, after)
        actions: tuple[Action, ...] = ()
        if after != local:
            told = "finds ready" if after.ready else "finds not ready"
            actions = (Locally(machine.name, after, told if after.ready != local.ready else "hurries"),)
        return Plan(None, (*actions, *self._status(reading, machine, pod, after)), requeue_at=due)

    def stop_time(self, reading: Reading, pod: Pod, local: LocalPod) -> Seconds:
        """How long the containers take to end after the stop signal, in seconds; never more than the grace period."""
        wanted = max(local.spec.behaviour.stops_after, reading.rules.kubelet.stop)
        return min(wanted, pod.grace if pod.grace is not None else wanted)

    def _status(self, reading: Reading, machine: Machine, pod: Pod | None, local: LocalPod) -> tuple[Action, ...]:
        """The write that brings the API's status to what the machine knows; none while it is cut off or equal."""
        if pod is None or pod.terminal:
            return ()
        waiting = "CrashLoopBackOff" if local.state == "exited" and reading.now < self.restart_at(local) else ""
        wanted: dict[str, object] = {"restarts": local.restarts, "waiting": waiting, "ready": local.ready}
        if local.state in ("running", "exited"):
            wanted["phase"] = "Running"
        if pod.started_at is None:
            wanted["started_at"] = reading.now
        if local.ready != pod.ready or (local.ready and local.restarts != pod.restarts):
            # Containers that were started again were not ready in between.
            wanted["ready_since"] = reading.now
        fields = tuple((name, value) for name, value in wanted.items() if getattr(pod, name) != value)
        if not fields:
            return ()
        readiness = "Ready" if local.ready else "not ready"
        verb = f"reports {pod.reference} {waiting or 'Running'}, {readiness}"
        return self._from(machine, (Patch("Pod", pod.key, pod.uid, fields, "", verb),))

    def failed(self, memory: None, action: Action, error: ApiError) -> None:
        """A kubelet that is cut off is woken again when it is back."""
        return

    def marks(self, memory: None, reading: Reading) -> Iterable[tuple[str, str, object]]:
        """What machines hold is part of the state by itself."""
        return ()


def _happened_to(before: LocalPod, after: LocalPod) -> bool:
    """Whether an event, not the kubelet, changed a local pod: a crash, a forced readiness, a lost check."""
    return (
        (before.state == "running" and after.state == "exited")
        or before.forced_ready != after.forced_ready
        or (before.checked and not after.checked)
    )


def _same_for_kubelet(before: Pod, after: Pod) -> bool:
    """Whether a change of a pod is none that a kubelet acts on: a binding, a deletion, a status not its own."""
    return (
        before.node == after.node
        and before.deletion_at == after.deletion_at
        and before.ready == after.ready
        and before.phase == after.phase
    )
