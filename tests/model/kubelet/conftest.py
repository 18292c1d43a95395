"""Machines with pods on them, under their kubelets alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.action import DeletePod
from reconverge.model.events import Event
from reconverge.model.loops.kubelet import Kubelet
from reconverge.model.objects import Behaviour, Node
from reconverge.model.rules import Rules


class Host:
    """Node n1, and what its kubelet does."""

    def __init__(self, lab: Any, *nodes: Node, rules: Rules | None = None) -> None:
        self.make = lab
        self.lab = lab.of(*(nodes or (lab.node("n1"),)), loops=[Kubelet()], rules=rules)
        self.lab.settle()
        self.lab.written.clear()

    def bind(self, name: str = "p", node: str = "n1", **fields: Any) -> None:
        """A pod is bound to the node: `behaviour`, `restart` and `grace` for short, other fields of its spec."""
        behaviour = fields.pop("behaviour", "ready")
        own = {key: fields.pop(key) for key in ("labels", "created_at", "finalizers") if key in fields}
        spec = {
            "behaviour": behaviour if isinstance(behaviour, Behaviour) else Behaviour(behaviour),
            "restart_policy": fields.pop("restart", "Always"),
            "termination_grace": fields.pop("grace", 30),
            **fields,
        }
        created = {"created_at": self.lab.cluster.now, **own}
        self.lab.put(self.make.pod(name, node, spec=spec, **created))

    def delete(self, name: str = "p", grace: float | None = None) -> None:
        """Somebody deletes a pod."""
        pod = self.lab.get("Pod", name)
        after, changes = DeletePod(pod.key, pod.uid, grace).apply(self.lab.cluster)
        self.lab.cluster = self.lab.plane.notify(after, changes)

    def strikes(self, event: Event) -> None:
        self.lab.strikes(event)

    def status(self, name: str = "p") -> tuple[str, bool, int, str]:
        """(phase, ready, restarts, waiting) as the API has it."""
        pod = self.lab.get("Pod", name)
        return pod.phase, pod.ready, pod.restarts, pod.waiting

    def rejection(self, name: str = "p") -> tuple[str, str, str]:
        """(phase, reason, message)."""
        pod = self.lab.get("Pod", name)
        return pod.phase, pod.reason, pod.message


@pytest.fixture
def host(lab: Any) -> Callable[..., Host]:
    """From `(*nodes, rules=)`; one node n1 of 4 CPU and 16Gi unless told."""
    return lambda *nodes, **options: Host(lab, *nodes, **options)
