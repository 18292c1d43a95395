"""Quality of service: what a pod has been promised of its node, and who goes first when memory runs out.

Source: `pkg/apis/core/v1/helper/qos/qos.go`, `pkg/kubelet/qos/policy.go`.
"""

from __future__ import annotations

from reconverge.model.objects import Container, PodSpec
from reconverge.model.parts import Part, parts

CRITICAL = 2_000_000_000
"""The priority from which on a pod is critical (`pkg/apis/scheduling/types.go`, SystemCriticalPriority)."""
NODE_CRITICAL = 2_000_001_000
"""The priority of system-node-critical."""
PROTECTED = -997
LEAST_PROTECTED = 1000


def best_effort(spec: PodSpec) -> bool:
    """Whether no container asks for CPU or memory, or limits them."""
    containers = (*spec.containers, *spec.init_containers)
    amounts = [each for one in containers for each in (one.requests, one.limits)]
    return not any(each.cpu > 0 or each.memory > 0 for each in amounts) and not any(
        amount for name, amount in spec.pod_requests if name in ("cpu", "memory")
    )


def guaranteed(spec: PodSpec) -> bool:
    """Whether every container limits CPU and memory, and asks for just as much."""
    containers = (*spec.containers, *spec.init_containers)
    return bool(containers) and all(
        limit > 0 and asked in (0, limit)
        for each in containers
        for limit, asked in (
            (each.limits.cpu, each.requests.cpu),
            (each.limits.memory, each.requests.memory),
        )
    )


def usage(part: Part, resource: str) -> int:
    """What a container uses of memory or disk in bytes: what is said of it, or else what it asks for."""
    asked = part.container.requests
    if resource == "memory":
        return asked.memory if part.behaviour.memory is None else part.behaviour.memory
    return asked.ephemeral_storage if part.behaviour.disk is None else part.behaviour.disk


def excess(spec: PodSpec, resource: str) -> tuple[bool, int]:
    """Whether a pod uses more of memory or disk than it asks for, and its use in bytes.

    One that asks for nothing uses more than that.
    """
    used = sum(usage(part, resource) for part in parts(spec) if part.role != "init")
    asked = spec.requests.memory if resource == "memory" else spec.requests.ephemeral_storage
    return asked == 0 or used > asked, used


def oom_score(spec: PodSpec, container: Container, memory: int) -> int:
    """The oom_score_adj of a container on a node with so many bytes: the higher, the sooner it is killed."""
    if spec.priority >= NODE_CRITICAL or guaranteed(spec):
        return PROTECTED
    if best_effort(spec):
        return LEAST_PROTECTED
    share = 1000 * container.requests.memory // memory if memory else 0
    return min(max(LEAST_PROTECTED - share, 3), LEAST_PROTECTED - 1)
