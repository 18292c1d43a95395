"""What a kubelet does for one pod: takes it in, starts its containers in their order, watches and restarts them.

Source: `pkg/kubelet/{kubelet,pod_workers}.go`, `pkg/kubelet/kuberuntime/kuberuntime_manager.go` (SyncPod).
"""

from __future__ import annotations

from attrs import evolve

from reconverge.model.action import Action, DeletePod, Patch
from reconverge.model.local_pods import LocalPod, admitted_pod
from reconverge.model.loop import Plan, Reading
from reconverge.model.loops.kubelet import pods, pressure, shutdown
from reconverge.model.loops.kubelet.actions import Locally, from_node
from reconverge.model.loops.kubelet.admission import rejection
from reconverge.model.loops.kubelet.pod_termination import PodTermination
from reconverge.model.loops.kubelet.volumes import waiting, waits_for
from reconverge.model.machines import Machine
from reconverge.model.objects import Node, Pod
from reconverge.model.value import Seconds

DEADLINE_EXCEEDED = "DeadlineExceeded"


class PodWorker(PodTermination):
    """The part of a kubelet that keeps pods going."""

    def sync_pod(self, reading: Reading, machine: Machine, name: str) -> Plan[None]:
        """One pass for what has an API key, on a machine whose kubelet lives."""
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
            due = max((each.since for each in local.containers), default=0) + reading.rules.kubelet.release
            if reading.now < due:
                return Plan(None, requeue_at=due)
            return Plan(None, self._let_go(machine, local, "the pod is finished") if machine.runtime else ())
        if pod is not None and pod.deletion_at is not None:
            return self.terminate(reading, machine, pod, local)
        return self._run(reading, machine, pod, local)

    # Admission -----------------------------------------------------------------------------------------------

    def _new_pod(self, reading: Reading, machine: Machine, pod: Pod) -> Plan[None]:
        """Admits a pod that has just been bound, or finishes one that was deleted before it was taken in."""
        if pod.terminal or not machine.runtime:
            return Plan(None)
        if pod.deletion_at is not None:
            removal = DeletePod(pod.key, pod.uid, 0, "nothing of it runs here")
            return Plan(None, from_node(machine, (removal,)))
        node = reading.store.node(machine.name)
        if node is None:
            return Plan(None)
        refused = self.rejected(machine, node, pod)
        if refused is not None:
            due = pod.created_at + reading.rules.kubelet.pressure_rejection
            if refused[0] in (pressure.EVICTED, shutdown.NOT_ADMITTED) and reading.now < due:
                return Plan(None, requeue_at=due)
            return Plan(None, from_node(machine, (self._reject(pod, refused),)))
        local = admitted_pod(pod.key, pod.uid, pod.spec, reading.now, pod.restarts)
        return self._begin(reading, machine, pod, local, Locally(machine.name, local, "admits"))

    def rejected(self, machine: Machine, node: Node, pod: Pod) -> tuple[str, str] | None:
        """Why the pod is not admitted, or None."""
        return rejection(machine, node, pod)

    def _reject(self, pod: Pod, refused: tuple[str, str]) -> Patch:
        reason, message = refused
        fields = (("phase", "Failed"), ("reason", reason), ("message", message), ("ready", False))
        return Patch("Pod", pod.key, pod.uid, fields, message, f"rejects {pod.reference} ({reason})")

    def _check_again(self, reading: Reading, machine: Machine, pod: Pod, local: LocalPod) -> Plan[None]:
        """After a restart of the kubelet every pod is admitted again, those that run too."""
        node = reading.store.node(machine.name)
        refused = self.rejected(machine, node, pod) if node is not None else None
        if refused is not None:
            rejects = from_node(machine, (self._reject(pod, refused),))
            return Plan(None, (*self._let_go(machine, local, refused[1]), *rejects))
        checked = local.with_(checked=True, ready=self.probe(reading, local))
        after = self._run(reading, machine, pod, checked)
        return after.with_(actions=(Locally(machine.name, checked, "admits again", "", local), *after.actions))

    # Running -------------------------------------------------------------------------------------------------

    def _run(self, reading: Reading, machine: Machine, pod: Pod | None, local: LocalPod) -> Plan[None]:
        """Keeps an admitted pod going: checks it after a restart of the kubelet, starts, probes, restarts."""
        if not machine.runtime:
            return Plan(None)
        if not local.checked and pod is not None:
            return self._check_again(reading, machine, pod, local)
        if local.state == "admitted":
            return self._begin(reading, machine, pod, local)
        return self._advance(reading, machine, pod, local)

    def _begin(
        self, reading: Reading, machine: Machine, pod: Pod | None, local: LocalPod, *before: Action
    ) -> Plan[None]:
        """The first containers of an admitted pod, once it is time and its volumes are there."""
        due = local.since + reading.rules.kubelet.start
        if reading.now < due:
            return Plan(None, before, requeue_at=due)
        if local.spec.claims and (why := self.lacks_volumes(reading, machine, pod, local)):
            report = waiting(reading, pod, why)
            return Plan(None, (*before, *from_node(machine, (report,) if report is not None else ())), note=why)
        return self._advance(reading, machine, pod, local, *before)

    def lacks_volumes(self, reading: Reading, machine: Machine, pod: Pod | None, local: LocalPod) -> str:
        """Why a pod's volumes are not there yet; empty if they are."""
        return waits_for(reading, machine.name, local, pod is None)

    def _advance(
        self, reading: Reading, machine: Machine, pod: Pod | None, local: LocalPod, *before: Action
    ) -> Plan[None]:
        """Everything that happens to a pod's containers now, and the report of what it comes to."""
        actions = [*before]
        late = self._past_deadline(reading, pod)
        if late is not None and late <= reading.now and pod is not None:
            return Plan(None, (*before, *self._give_up(machine, pod, local)))
        step = self._step(reading, machine, local)
        while step is not None:
            actions.append(evolve(step, seen=local))
            local = step.pod
            step = self._step(reading, machine, local)
        phase = self.phase_of_end(local)
        if phase:
            done = from_node(machine, (self._finish(pod, local, phase),)) if pod is not None else ()
            return Plan(None, (*actions, *done))
        actions += self._status(reading, machine, pod, local)
        changes = pods.next_change(local, reading.rules.kubelet, reading.now)
        dues = [each for each in (self.turn(reading, machine, local).due, changes, late) if each is not None]
        return Plan(None, tuple(actions), requeue_at=min(dues, default=None))

    def _step(self, reading: Reading, machine: Machine, local: LocalPod) -> Locally | None:
        """The next thing that happens to a pod's containers now, or None."""
        timings, now = reading.rules.kubelet, reading.now
        ended = self.ended(reading, local)
        if ended is not None:
            after, why = ended
            return Locally(machine.name, after.with_(ready=self.probe(reading, after)), "sees the exit of", why)
        if self.phase_of_end(local):
            alone = pods.all_ended(local, 0, timings, now)
            return Locally(machine.name, alone.with_(ready=False), "stops the sidecars of") if alone != local else None
        starts = self.turn(reading, machine, local).starts
        if starts:
            after = pods.started(local, starts, timings, now)
            return self._started(machine, local, after.with_(ready=self.probe(reading, after)), starts)
        ready = self.probe(reading, local)
        if ready == local.ready:
            return None
        return Locally(machine.name, local.with_(ready=ready), "finds ready" if ready else "finds not ready")

    def _started(self, machine: Machine, before: LocalPod, after: LocalPod, places: tuple[int, ...]) -> Locally:
        """The step that has started some containers, in words."""
        again = [place for place in places if before.containers[place].state == "exited"]
        if again:
            restarts = max(after.containers[place].restarts for place in again)
            return Locally(machine.name, after, "restarts in place", f"restart {restarts}")
        first = after.parts()[places[0]][0]
        if first.role == "main":
            return Locally(machine.name, after, "starts")
        kind = "sidecar" if first.role == "sidecar" else "init container"
        return Locally(machine.name, after, f"starts {kind} {first.name} of")

    # A deadline of the pod's own -----------------------------------------------------------------------------

    def _past_deadline(self, reading: Reading, pod: Pod | None) -> Seconds | None:
        """When a pod has been active for as long as it may be (spec.activeDeadlineSeconds); None without a limit."""
        if pod is None or pod.spec.active_deadline is None:
            return None
        return (pod.started_at if pod.started_at is not None else reading.now) + pod.spec.active_deadline

    def _give_up(self, machine: Machine, pod: Pod, local: LocalPod) -> tuple[Action, ...]:
        message = "Pod was active on the node longer than the specified deadline"
        fields = (("phase", "Failed"), ("reason", DEADLINE_EXCEEDED), ("message", message), ("ready", False))
        verb = f"reports {pod.reference} Failed ({DEADLINE_EXCEEDED})"
        failed = Patch("Pod", pod.key, pod.uid, fields, message, verb)
        *stops, forget = self._let_go(machine, local, message)
        return (*stops, *from_node(machine, (failed,)), forget)
