"""What a node holds and what a pod asks for, as the scheduler's cache counts it.

Source: `pkg/scheduler/backend/cache/cache.go`, `pkg/scheduler/framework/types.go` (NodeInfo).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reconverge.model.objects import Pod
from reconverge.model.requests import nonzero_requests
from reconverge.model.resources import NO_USAGE, Resources, Usage
from reconverge.model.store import Store

Ports = tuple[tuple[str, str, int], ...]
Assumed = Mapping[str, tuple[Pod, ...]]
"""Pods by the node that a binding in flight, or one not yet seen, gives them."""


class Accounting:
    """Counts bound pods that are not terminal, Terminating ones too, and the assumed ones."""

    def request(self, pod: Pod) -> Resources:
        """What the pod asks for."""
        return pod.spec.requests

    def nonzero(self, pod: Pod) -> tuple[int, int]:
        """(millicores, bytes) for scoring, with defaults for containers that ask for nothing."""
        return nonzero_requests(pod.spec)

    def usage(self, store: Store, assumed: Assumed) -> Callable[[str], Usage]:
        """A function that gives the usage of a node by its name."""
        held = store.table("Pod").usage.get
        if not assumed:
            return lambda name: held(name, NO_USAGE)

        def with_assumed(name: str) -> Usage:
            usage = held(name, NO_USAGE)
            for pod in assumed.get(name, ()):
                usage = self.changed(usage, pod, 1)
            return usage

        return with_assumed

    def pods_on(self, store: Store, assumed: Assumed, node: str) -> list[Pod]:
        """The pods that count on a node, ordered by key."""
        pods = [pod for pod in store.pods_on(node) if not pod.terminal]
        return [*pods, *assumed.get(node, ())]

    def changed(self, usage: Usage, pod: Pod, sign: int) -> Usage:
        """The usage with a pod more (`sign` 1) or less (-1)."""
        request = self.request(pod)
        cpu, memory = self.nonzero(pod)
        return Usage(
            usage.requests + request if sign > 0 else usage.requests - request,
            usage.nonzero_cpu + sign * cpu,
            usage.nonzero_memory + sign * memory,
            usage.pods + sign,
            _ports_changed(usage.ports, host_ports(pod), sign),
        )


def host_ports(pod: Pod) -> Ports:
    """The host ports that a pod wants, as (address, protocol, port)."""
    return tuple(port for container in pod.spec.containers for port in container.host_ports)


def _ports_changed(ports: Ports, some: Ports, sign: int) -> Ports:
    if not some:
        return ports
    if sign > 0:
        return tuple(sorted((*ports, *some)))
    left = list(ports)
    for port in some:
        left.remove(port)
    return tuple(left)
