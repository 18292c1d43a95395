"""Pods and their containers as the kubelet of a machine holds them: what really runs."""

from __future__ import annotations

from attrs import frozen

from reconverge.model.objects import PodSpec
from reconverge.model.parts import Part, parts
from reconverge.model.value import Seconds, Value

KILLED = 137
"""The exit code of a program that was killed, or whose machine has gone off under it (128 + SIGKILL)."""
TERMINATED = 143
"""The exit code of a program that the stop signal has ended (128 + SIGTERM)."""


@frozen
class LocalContainer(Value):
    """One container on a machine.

    `state` is waiting (it is not its turn yet, or its image is not there), running or exited.
    """

    state: str = "waiting"
    since: Seconds = 0
    """When the state was entered."""
    restarts: int = 0
    backoff: Seconds = 0
    """Length of the back-off that the next restart waits from the exit; 0 for none."""
    exit_code: int = 0
    hung_at: Seconds | None = None
    """Since when the program does not answer its probes though it runs; None while it does."""


@frozen
class LocalPod(Value):
    """One pod as a kubelet holds it.

    `state` is admitted (resources held, nothing runs yet), running (a container runs), exited (all have ended; they
    may be restarted) or stopped (ended for good, the object is about to be removed).
    """

    key: str
    uid: int
    spec: PodSpec
    state: str = "admitted"
    since: Seconds = 0
    """When the pod was admitted."""
    containers: tuple[LocalContainer, ...] = ()
    """One for each of `reconverge.model.parts.parts`, in their order; empty where nothing is known of them."""
    checked: bool = True
    """Whether the present kubelet process has admitted the pod; a restarted one checks all its pods again."""
    ready: bool = False
    forced_ready: bool | None = None
    """What the readiness probes are made to answer by an event, or None for what the behaviour says."""
    stop_by: Seconds | None = None
    """When the containers will have exited after the stop signal; None if they were not told to stop."""

    @property
    def alive(self) -> bool:
        """Whether a process of the pod runs."""
        return self.state == "running"

    @property
    def restarts(self) -> int:
        """The most restarts of a container that is not an init container."""
        mains = self.containers[len(self.spec.init_containers) :]
        return max((each.restarts for each in mains), default=0)

    def parts(self) -> list[tuple[Part, LocalContainer]]:
        """Each container with what its template says of it."""
        return list(zip(parts(self.spec), self.containers, strict=False))

    def with_containers(self, containers: tuple[LocalContainer, ...]) -> LocalPod:
        """The pod with other containers; its state follows from theirs."""
        states = {each.state for each in containers}
        state = "running" if "running" in states else "exited" if "exited" in states else self.state
        return self.with_(containers=containers, state=state)

    def stopped(self) -> LocalPod:
        """The pod with everything in it ended for good."""
        return self.with_(state="stopped", ready=False)


def admitted_pod(key: str, uid: int, spec: PodSpec, now: Seconds = 0, restarts: int = 0) -> LocalPod:
    """A pod that a kubelet has just taken in; `restarts` are those that the API knows of already."""
    containers = tuple(LocalContainer(restarts=restarts if part.role == "main" else 0) for part in parts(spec))
    return LocalPod(key, uid, spec, "admitted", now, containers)


def running_pod(
    key: str, uid: int, spec: PodSpec, since: Seconds = 0, *, ready: bool = False, restarts: int = 0
) -> LocalPod:
    """A pod whose initialisation is over and whose other containers run since a moment."""
    admitted = admitted_pod(key, uid, spec, since, restarts)
    containers = tuple(
        each.with_(state="exited" if part.role == "init" else "running", since=since) for part, each in admitted.parts()
    )
    return admitted.with_(state="running", containers=containers, ready=ready)
