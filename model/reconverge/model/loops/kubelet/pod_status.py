"""What a kubelet reports of a pod, and how one ends by itself.

Source: `pkg/kubelet/status/status_manager.go`, `pkg/kubelet/kubelet_pods.go` (getPhase, generateAPIPodStatus).
"""

from __future__ import annotations

from reconverge.model.action import Action, Patch
from reconverge.model.local_pods import LocalPod
from reconverge.model.loop import Reading
from reconverge.model.loops.kubelet import containers, pods
from reconverge.model.loops.kubelet.actions import from_node
from reconverge.model.machines import Machine
from reconverge.model.objects import Pod


class PodStatus:
    """The part of a kubelet that reports."""

    def probe(self, reading: Reading, local: LocalPod) -> bool:
        """Whether the pod is ready by its probes now."""
        return containers.desired_readiness(local, reading.rules.kubelet, reading.now)

    def turn(self, reading: Reading, machine: Machine, local: LocalPod) -> pods.Turn:
        """Which containers of a pod start now, and why others wait."""
        assert reading.machines is not None
        if not machine.network and not local.spec.host_network:
            return pods.without_network(local)
        finder = pods.image_finder(machine, reading.machines.registry.answers)
        return pods.turn(local, finder, reading.rules.kubelet, reading.now)

    def ended(self, reading: Reading, local: LocalPod) -> tuple[LocalPod, str] | None:
        """The pod with the containers ended whose end has come, and why; None if there is none."""
        return pods.ended(local, reading.rules.kubelet, reading.now)

    def phase_of_end(self, local: LocalPod) -> str:
        """Succeeded or Failed if nothing that matters runs or will run again; empty otherwise."""
        return pods.phase_of_end(local)

    def _status(self, reading: Reading, machine: Machine, pod: Pod | None, local: LocalPod) -> tuple[Action, ...]:
        """The write that brings the API's status to what the machine knows; none while it is cut off or equal."""
        if pod is None or pod.terminal:
            return ()
        waiting = self.turn(reading, machine, local).waiting
        wanted: dict[str, object] = {"restarts": local.restarts, "waiting": waiting, "ready": local.ready}
        wanted.update(_other_restarts(local))
        if all(each.state != "waiting" for part, each in local.parts() if part.role == "main"):
            wanted["phase"] = "Running"
        if pod.started_at is None:
            wanted["started_at"] = reading.now
        if local.ready != pod.ready or (local.ready and local.restarts != pod.restarts):
            # Containers that were started again were not ready in between.
            wanted["ready_since"] = reading.now
        fields = tuple((name, value) for name, value in wanted.items() if getattr(pod, name) != value)
        if not fields:
            return ()
        phase = wanted.get("phase", pod.phase)
        verb = f"reports {pod.reference} {waiting or phase}, {'Ready' if local.ready else 'not ready'}"
        return from_node(machine, (Patch("Pod", pod.key, pod.uid, fields, "", verb),))

    def _finish(self, pod: Pod, local: LocalPod, phase: str) -> Patch:
        """The report that a pod has ended, with the exit codes of its containers."""
        codes = tuple((part.name, each.exit_code) for part, each in local.parts() if each.state == "exited")
        fields = (("phase", phase), ("ready", False), ("exit_codes", codes))
        return Patch("Pod", pod.key, pod.uid, fields, "", f"reports {pod.reference} {phase}")


def _other_restarts(local: LocalPod) -> dict[str, object]:
    """Restarts beside the ones that `restarts` counts: of sidecars, of init containers, of less restarted ones."""
    if len(local.containers) < 2:
        return {}
    sidecars = [each.restarts for part, each in local.parts() if part.role == "sidecar"]
    in_all = sum(each.restarts for each in local.containers)
    return {"sidecar_restarts": max(sidecars, default=0), "restarts_beside": in_all - local.restarts}
