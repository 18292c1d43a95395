"""What the control plane runs on: etcd with its quorum, and which processes have a leader.

Without quorum nothing can be written or listed. Controllers and schedulers give up their leases and exit; kubelets keep
their containers going and cannot report. While a process has no leader its loops do nothing; a new leader starts with
an empty memory.
Source: documentation of etcd (FAQ, fault tolerance); client-go `tools/leaderelection/leaderelection.go`,
component-base `config/v1alpha1/defaults.go` (leases).
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import field, frozen

from reconverge.model.store import Store
from reconverge.model.value import Seconds, Value

LEASE_DURATION: Seconds = 15
"""How long a candidate must have seen the lease of a leader unchanged before it takes over."""
RENEW_DEADLINE: Seconds = 10
"""A leader that could not renew its lease for so long gives up."""

CONTROLLER_MANAGER = "kube-controller-manager"
SCHEDULER = "kube-scheduler"
PROCESSES: dict[str, str] = {
    **dict.fromkeys(
        (
            "node-lifecycle", "taint-eviction", "deployment", "replicaset", "horizontal-autoscaler", "daemonset", "job",
            "endpoints", "disruption", "statefulset", "pod-gc", "garbage-collector",
        ),
        CONTROLLER_MANAGER,
    ),
    "scheduler": SCHEDULER,
    "cloud-node": "cloud-controller-manager",
}  # fmt: skip
"""The process that a control loop runs in; loops that are not listed are processes of their own."""
WITHOUT_API = frozenset({"kubelet", "kube-proxy", "node-group"})
"""Loops that live on machines or in the cloud: they go on without the API, as far as they can."""
TOOLS = frozenset({"drain", "upgrade"})
"""Commands that people run: they elect no leader."""


def process_of(loop: str) -> str:
    """The process that a loop runs in, as people name it."""
    return PROCESSES.get(loop, loop)


def loops_of(name: str, loops: Iterable[str]) -> list[str]:
    """The loops among some that a name means: those of a process, or one loop by its own name."""
    return [loop for loop in loops if name in (loop, process_of(loop))]


@frozen
class ControlPlaneHealth(Value):
    """The members of etcd, how many of them are up, and the elections that go on.

    `elections` has, by process without a leader, when its next leader starts. `lost_at` is when quorum was lost.
    `past` are earlier states of the store, the newest first, `remembers` of them; kept only for scenarios in which
    somebody may see an old one.
    """

    members: int = 3
    up: int = 3
    elections: tuple[tuple[str, Seconds], ...] = ()
    lost_at: Seconds | None = None
    remembers: int = 0
    past: tuple[Store, ...] = field(default=(), eq=False, repr=False)

    @property
    def quorum(self) -> int:
        """How many members must be up."""
        return self.members // 2 + 1

    @property
    def writable(self) -> bool:
        """Whether the store can be written and listed."""
        return self.up >= self.quorum

    def halts(self, loop: str) -> bool:
        """Whether a loop makes no progress now."""
        if not self.writable:
            return loop not in WITHOUT_API
        process = process_of(loop)
        return any(process == each for each, _ in self.elections)

    def halted(self, loops: Iterable[str]) -> frozenset[str]:
        """The loops among some that make no progress now."""
        if self.writable and not self.elections:
            return frozenset()
        return frozenset(loop for loop in loops if self.halts(loop))

    def next_election(self) -> Seconds | None:
        """When the next leader starts; None while there is no quorum, or nobody is without a leader."""
        if not self.writable:
            return None
        return min((at for _, at in self.elections), default=None)

    def elected(self, now: Seconds) -> tuple[str, ...]:
        """The processes whose next leader starts by now."""
        return tuple(process for process, at in self.elections if self.writable and at <= now)

    def electing(self, processes: Iterable[str], at: Seconds) -> ControlPlaneHealth:
        """The same, with some processes without a leader until a time."""
        elections = {**dict(self.elections), **dict.fromkeys(processes, at)}
        return self.with_(elections=tuple(sorted(elections.items())))

    def without_elections(self, processes: Iterable[str]) -> ControlPlaneHealth:
        """The same, with the elections of some processes over."""
        gone = set(processes)
        return self.with_(elections=tuple(each for each in self.elections if each[0] not in gone))

    def remembering(self, store: Store) -> ControlPlaneHealth:
        """The same, with one more state of the store remembered, and no more of them than asked for."""
        return self.with_(past=(store, *self.past)[: self.remembers])


HEALTHY = ControlPlaneHealth()
