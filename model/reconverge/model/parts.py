"""The containers of a pod in the order in which they start, each with its role and how its program behaves.

Source: `pkg/kubelet/kuberuntime/kuberuntime_manager.go` (computePodActions), `pkg/kubelet/types/constants.go`.
"""

from __future__ import annotations

from functools import lru_cache

from attrs import frozen

from reconverge.model.objects import Behaviour, Container, PodSpec
from reconverge.model.value import Value

INITIALISES = Behaviour("exit-0", exits_after=0)
"""An init container of which nothing is said does its work at once."""
RUNS = Behaviour()
"""A sidecar of which nothing is said runs and is ready."""


@frozen(cache_hash=True)
class Part(Value):
    """One container of a pod. `role` is init (runs to its end before the others), sidecar or main."""

    container: Container
    role: str
    behaviour: Behaviour

    @property
    def name(self) -> str:
        """The container's name."""
        return self.container.name


@lru_cache(maxsize=4096)
def parts(spec: PodSpec) -> tuple[Part, ...]:
    """All containers of a pod in the order in which they start; a spec that names none has one."""
    first = [
        Part(each, "sidecar", each.behaviour or RUNS)
        if each.restart_policy == "Always"
        else Part(each, "init", each.behaviour or INITIALISES)
        for each in spec.init_containers
    ]
    mains = [Part(each, "main", each.behaviour or spec.behaviour) for each in spec.containers or (Container(""),)]
    return (*first, *mains)
