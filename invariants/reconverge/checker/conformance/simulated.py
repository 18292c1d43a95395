"""The control plane of recordings: the model's, but its kubelets are the simulated ones."""

from __future__ import annotations

from reconverge.model.action import Action
from reconverge.model.control_plane import ControlPlane
from reconverge.model.local_pods import LocalPod
from reconverge.model.loop import Reading
from reconverge.model.loops.kubelet import Kubelet
from reconverge.model.machines import Machine
from reconverge.model.objects import Pod
from reconverge.model.standard import standard_control_plane


class SimulatedKubelet(Kubelet):
    """A kubelet that, other than a real one, says no more about a Terminating pod until it has ended."""

    def _status(self, reading: Reading, machine: Machine, pod: Pod | None, local: LocalPod) -> tuple[Action, ...]:
        if pod is not None and pod.deletion_at is not None:
            return ()
        return super()._status(reading, machine, pod, local)


def recorded_control_plane() -> ControlPlane:
    """All control loops, with simulated kubelets."""
    return standard_control_plane().replacing(SimulatedKubelet())
