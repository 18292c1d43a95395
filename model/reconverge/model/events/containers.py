"""Events inside pods: programs that crash, hang or use too much memory, and an image registry that does not answer.

Source: `pkg/kubelet/prober`, `pkg/kubelet/oom`, `pkg/kubelet/qos/policy.go` (GetContainerOOMScoreAdjust),
`pkg/kubelet/images/image_manager.go`.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from reconverge.model.action import Written
from reconverge.model.cluster import Cluster
from reconverge.model.events.base import Event, Options, choices
from reconverge.model.events.machines import NodeEvent
from reconverge.model.events.pods import PodEvent
from reconverge.model.likeness import pod_text
from reconverge.model.local_pods import KILLED, LocalContainer, LocalPod
from reconverge.model.loop import REGISTRY
from reconverge.model.loops.kubelet import containers
from reconverge.model.machines import ImageRegistry
from reconverge.model.parts import Part
from reconverge.model.power import with_machine
from reconverge.model.quality import oom_score, usage
from reconverge.model.store import Change


@frozen
class ContainerEvent(PodEvent):
    """An event of one running container: the one that is named, or else the first that is no init container."""

    container: str = ""

    def place(self, cluster: Cluster) -> int | None:
        """Its place among the containers of the pod; None if it does not run."""
        found = self.local(cluster)
        for place, (part, each) in enumerate(found[1].parts() if found is not None else ()):
            if (part.name == self.container if self.container else part.role == "main") and self.can_strike(part, each):
                return place
        return None

    def can_strike(self, part: Part, container: LocalContainer) -> bool:
        """Whether it can happen to this container now."""
        return container.state == "running"

    def enabled(self, cluster: Cluster) -> bool:
        """There is such a container, and it runs."""
        return self.place(cluster) is not None

    def struck(self, container: LocalContainer, cluster: Cluster) -> LocalContainer:
        """The container after it."""
        raise NotImplementedError

    def apply(self, cluster: Cluster) -> Written:
        """Only the machine knows so far."""
        found, place = self.local(cluster), self.place(cluster)
        assert found is not None
        assert place is not None
        machine, local = found
        after = self.struck(local.containers[place], cluster)
        return with_machine(cluster, machine.with_pod(_replaced(local, place, after)))

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """One per pod where it can happen; containers only as a scenario names them."""
        for pod in PodEvent.symbols(cluster, options):
            for container in choices(options, "container", ("",)):
                event = cls(pod, container)
                if event.enabled(cluster):
                    yield event

    @property
    def words(self) -> str:
        """Which container, for people."""
        return f"container {self.container}" if self.container else "a container"


def _replaced(local: LocalPod, place: int, container: LocalContainer) -> LocalPod:
    """The pod with one container changed; one that has ended is not ready."""
    changed = (*local.containers[:place], container, *local.containers[place + 1 :])
    after = local.with_containers(changed)
    return after if container.state == "running" else after.with_(ready=False)


@frozen
class ContainerCrashes(ContainerEvent):
    """A container exits with an error; the kubelet restarts it in place."""

    name = "container-crash"
    summary = "a pod's container exits with an error"
    failure = True

    def struck(self, container: LocalContainer, cluster: Cluster) -> LocalContainer:
        """Exit code 1."""
        return containers.exited(container, 1, cluster.rules.kubelet, cluster.now)

    def describe(self) -> str:
        """A container of pod deployment/web#0 crashes."""
        return f"{self.words} of pod {self.pod} crashes"


@frozen
class ContainerHangs(ContainerEvent):
    """A program runs on and answers nothing: only a probe finds out."""

    name = "container-hang"
    summary = "a pod's container runs on but answers nothing, its probes neither, until it is restarted"
    failure = True

    def can_strike(self, part: Part, container: LocalContainer) -> bool:
        """It runs, and does not hang yet."""
        return container.state == "running" and container.hung_at is None and part.behaviour.kind != "hangs"

    def struck(self, container: LocalContainer, cluster: Cluster) -> LocalContainer:
        """It hangs from now on."""
        return container.with_(hung_at=cluster.now)

    def describe(self) -> str:
        """A container of pod deployment/web#0 hangs."""
        return f"{self.words} of pod {self.pod} hangs"


@frozen
class OutOfMemory(ContainerEvent):
    """A container exceeds its memory limit and is killed for it; the kubelet restarts it in place."""

    name = "out-of-memory"
    summary = "a pod's container with a memory limit exceeds it and is killed (OOMKilled)"
    failure = True

    def can_strike(self, part: Part, container: LocalContainer) -> bool:
        """It runs, and has a limit."""
        return container.state == "running" and part.container.limits.memory > 0

    def struck(self, container: LocalContainer, cluster: Cluster) -> LocalContainer:
        """Exit code 137."""
        return containers.exited(container, KILLED, cluster.rules.kubelet, cluster.now)

    def describe(self) -> str:
        """A container of pod deployment/web#0 exceeds its memory limit."""
        return f"{self.words} of pod {self.pod} exceeds its memory limit"


@frozen
class NodeOutOfMemory(NodeEvent):
    """A machine is out of memory before its kubelet has evicted anybody: its kernel kills a container.

    Those whose pods ask for nothing rank before those that ask for something, and guaranteed ones last.
    """

    name = "node-out-of-memory"
    summary = "a node is out of memory at once: the kernel kills the container that it can best do without"
    failure = True

    def victim(self, cluster: Cluster) -> tuple[LocalPod, int] | None:
        """The pod and the place of the container that is killed; None if nothing runs."""
        machine = self.machine(cluster)
        node = cluster.store.node(self.node)
        if machine is None or not machine.powered:
            return None
        memory = node.allocatable.resources.memory if node is not None else 0
        ranked = []
        for local in machine.pods.values():
            pod = cluster.store.pod(local.key)
            text = pod_text(pod, cluster.now) if pod is not None else ""
            for place, (part, each) in enumerate(local.parts()):
                if each.state == "running":
                    score = oom_score(local.spec, part.container, memory)
                    # What asks for nothing uses something, too.
                    share = max(1000 * usage(part, "memory") // memory, 1) if memory else 0
                    ranked.append(((-score - share, -score, text, local.key, place), local))
        first = min(ranked, key=lambda each: each[0], default=None)
        return None if first is None else (first[1], int(first[0][-1]))

    def enabled(self, cluster: Cluster) -> bool:
        """Something runs there."""
        return self.victim(cluster) is not None

    def apply(self, cluster: Cluster) -> Written:
        """Exit code 137."""
        found, machine = self.victim(cluster), self.machine(cluster)
        assert found is not None
        assert machine is not None
        local, place = found
        killed = containers.exited(local.containers[place], KILLED, cluster.rules.kubelet, cluster.now)
        return with_machine(cluster, machine.with_pod(_replaced(local, place, killed)))

    def describe(self) -> str:
        """Node n1 is out of memory and its kernel kills a container."""
        return f"node {self.node} is out of memory and its kernel kills a container"


@frozen
class RegistryDown(Event):
    """The image registry answers nobody: no image is pulled."""

    name = "registry-down"
    summary = "the image registry does not answer: containers start only from images that their node has"
    failure = True
    up = False

    def enabled(self, cluster: Cluster) -> bool:
        """It is not so yet."""
        return cluster.machines.registry.answers is not self.up

    def apply(self, cluster: Cluster) -> Written:
        """Every kubelet tries again."""
        before, after = cluster.machines.registry, ImageRegistry(self.up)
        return cluster.with_(machines=cluster.machines.with_(registry=after)), (Change(REGISTRY, "", before, after),)

    def describe(self) -> str:
        """The image registry stops answering."""
        return "the image registry stops answering"

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """One."""
        event = cls()
        if event.enabled(cluster):
            yield event


@frozen
class RegistryBack(RegistryDown):
    """The image registry answers again; what waits for an image is tried again at once."""

    name = "registry-back"
    summary = "the image registry answers again"
    failure = False
    up = True

    def describe(self) -> str:
        """The image registry answers again."""
        return "the image registry answers again"
