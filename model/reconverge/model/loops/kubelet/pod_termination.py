"""How a kubelet stops a pod: a deleted one inside its grace period, and one that the API does not have any more.

Source: `pkg/kubelet/pod_workers.go` (SyncTerminatingPod), `pkg/kubelet/kuberuntime/kuberuntime_container.go`
(killContainer), `pkg/kubelet/status/status_manager.go`.
"""

from __future__ import annotations

from reconverge.model.action import Action, DeletePod
from reconverge.model.local_pods import LocalPod
from reconverge.model.loop import Plan, Reading
from reconverge.model.loops.kubelet import pods
from reconverge.model.loops.kubelet.actions import Forget, Locally, from_node
from reconverge.model.loops.kubelet.pod_status import PodStatus
from reconverge.model.machines import Machine
from reconverge.model.objects import Pod
from reconverge.model.value import Seconds


class PodTermination(PodStatus):
    """The part of a kubelet that stops pods."""

    def kill_unknown(self, reading: Reading, machine: Machine, local: LocalPod) -> Plan[None]:
        """Stops a pod whose object is gone from the API."""
        return Plan(None, self._let_go(machine, local, "its object is gone"))

    def _let_go(self, machine: Machine, local: LocalPod, reason: str) -> tuple[Action, ...]:
        actions: tuple[Action, ...] = (Forget(machine.name, local.uid, local.key, reason),)
        if local.alive:
            actions = (Locally(machine.name, local.stopped(), "stops", reason), *actions)
        return actions

    def terminate(self, reading: Reading, machine: Machine, pod: Pod, local: LocalPod) -> Plan[None]:
        """Stops a deleted pod inside its grace period, reports it terminal, and removes the object."""
        now = reading.now
        if not machine.runtime:
            return Plan(None)
        if local.state == "running" and local.stop_by is None:
            due = now + self.stop_time(reading, pod, local)
            told = local.with_(stop_by=due, ready=self.probe(reading, local))
            if due > now:
                # Not stopped before its time: readiness goes on being reported until then.
                status = self._status(reading, machine, pod, told)
                return Plan(None, (Locally(machine.name, told, "signals", "deleted", local), *status), requeue_at=due)
            local = told
        if local.state == "admitted" and local.stop_by is None:
            due = now + reading.rules.kubelet.stop_not_started
            if due > now:
                return Plan(
                    None, (Locally(machine.name, local.with_(stop_by=due), "gives up", "", local),), requeue_at=due
                )
        if local.stop_by is not None and now < local.stop_by and local.state != "exited":
            return self._stopping(reading, machine, pod, local)
        actions: list[Action] = []
        if local.alive:
            actions.append(Locally(machine.name, local.stopped(), "stops", "deleted"))
        if not pod.terminal:
            ended = pods.signalled(local, reading.rules.kubelet, now)
            failed = any(each.exit_code for part, each in ended.parts() if part.role == "main")
            actions += from_node(machine, (self._finish(pod, ended, "Failed" if failed else "Succeeded"),))
        actions += from_node(machine, (DeletePod(pod.key, pod.uid, 0, "everything in it has stopped"),))
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
            actions = (Locally(machine.name, after, told if after.ready != local.ready else "hurries", "", local),)
        return Plan(None, (*actions, *self._status(reading, machine, pod, after)), requeue_at=due)

    def stop_time(self, reading: Reading, pod: Pod, local: LocalPod) -> Seconds:
        """How long the containers take to end after the deletion, in seconds; never more than the grace period."""
        grace = pod.grace if pod.grace is not None else local.spec.termination_grace
        return pods.stop_time(local, grace, reading.rules.kubelet)
