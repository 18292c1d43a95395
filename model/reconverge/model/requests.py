"""What one pod asks for, as the scheduler and the kubelet count it.

Source: component-helpers `resource/helpers.go`, `pkg/scheduler/util/pod_resources.go` (non-zero requests).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from reconverge.model.objects.pod import Container, PodSpec
from reconverge.model.resources import NOTHING, Resources, total

DEFAULT_MILLI_CPU = 100
"""Counted for a container without a CPU request when nodes are scored, in millicores."""
DEFAULT_MEMORY = 200 * 2**20
"""Counted for a container without a memory request when nodes are scored, in bytes."""


def effective(spec: PodSpec) -> Resources:
    """The effective request: the larger of what runs at last and of each moment of initialisation, plus overhead.

    Sidecars (init containers with restartPolicy Always) keep what they hold from their start on.
    """
    return _with_pod_level(_most(spec, lambda each: each.requests), spec) + spec.overhead


def effective_limits(spec: PodSpec) -> Resources:
    """The effective limits of its containers, counted as their requests are (AggregateContainerLimits)."""
    return _most(spec, lambda each: each.limits)


def _most(spec: PodSpec, amounts: Callable[[Container], Resources]) -> Resources:
    sidecars = NOTHING
    largest_init = NOTHING
    for container in spec.init_containers:
        if container.restart_policy == "Always":
            sidecars = sidecars + amounts(container)
            largest_init = largest_init.largest(sidecars)
        else:
            largest_init = largest_init.largest(sidecars + amounts(container))
    running = total(amounts(each) for each in spec.containers) + sidecars
    return running.largest(largest_init)


def _with_pod_level(amounts: Resources, spec: PodSpec) -> Resources:
    given = dict(spec.pod_requests)
    if not given:
        return amounts
    extended = dict(amounts.extended)
    extended.update({name: amount for name, amount in given.items() if name not in ("cpu", "memory")})
    return Resources(
        given.get("cpu", amounts.cpu),
        given.get("memory", amounts.memory),
        amounts.ephemeral_storage,
        tuple(sorted(extended.items())),
    )


@lru_cache(maxsize=4096)
def nonzero_requests(spec: PodSpec) -> tuple[int, int]:
    """(millicores, bytes) with defaults for containers that ask for nothing; used for scoring only."""
    cpu = memory = 0
    for container in spec.containers:
        cpu += container.requests.cpu or DEFAULT_MILLI_CPU
        memory += container.requests.memory or DEFAULT_MEMORY
    return max(cpu, spec.requests.cpu), max(memory, spec.requests.memory)
