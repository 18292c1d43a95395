"""Clusters with node groups and an autoscaler, and what is written in them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane, Wait
from reconverge.model.events import Event
from reconverge.model.labels import Selector, labels_of
from reconverge.model.loop import Plan, Reading
from reconverge.model.loops.cluster_autoscaler import SCAN, AutoscalerMemory, AutoscalerOptions, ClusterAutoscaler
from reconverge.model.loops.cluster_autoscaler.view import View
from reconverge.model.loops.node_group import NodeGroupLoop
from reconverge.model.node_groups import NodeGroup, Subnet
from reconverge.model.objects import (
    ApiObject,
    Container,
    DaemonSet,
    Deployment,
    Node,
    Pod,
    PodDisruptionBudget,
    PodSpec,
    PodTemplate,
)
from reconverge.model.quiet import steps
from reconverge.model.resources import Capacity, Resources
from reconverge.model.rules import KubeletTimings, Rules
from reconverge.model.standard import cluster_of, standard_control_plane

GI = 2**30
WATCHED = ("cluster-autoscaler", "node-group")


class World:
    """A running cluster, and what its autoscaler and its groups have written: (time, words)."""

    def __init__(
        self,
        groups: Iterable[NodeGroup],
        objects: Iterable[ApiObject] = (),
        autoscaler: ClusterAutoscaler | None = None,
        rules: Rules | None = None,
    ) -> None:
        groups = list(groups)
        nodes = [
            group.node(number, group.zones[(number - 1) % len(group.zones)])
            for group in groups
            for number in range(1, group.desired + 1)
        ]
        self.autoscaler = autoscaler if autoscaler is not None else ClusterAutoscaler()
        self.plane = ControlPlane([*standard_control_plane().loops, NodeGroupLoop(), self.autoscaler])
        self.cluster: Cluster = self.plane.start(cluster_of([*nodes, *objects], rules, groups))
        self.written: list[tuple[float, str]] = []
        self.reasons: dict[str, str] = {}

    # What happens --------------------------------------------------------------------------------------------

    def strike(self, event: Event) -> None:
        """Something happens."""
        self.cluster, _ = self.plane.strike(self.cluster, event)

    def put(self, new: ApiObject) -> None:
        """Somebody creates or replaces an object."""
        store, change = self.cluster.store.put(new)
        self.cluster = self.plane.notify(self.cluster.with_(store=store), (change,))

    def until(self, time: float) -> list[tuple[float, str]]:
        """Everything is done that can be done by this time; returns what was written on the way."""
        begun = len(self.written)
        while (move := self.plane.next(self.cluster)) is not None:
            if isinstance(move, Wait) and move.until > time:
                break
            self._step()
        self.cluster = self.plane.wait(self.cluster, time)
        return self.written[begun:]

    def settle(self, most: int = 20_000) -> list[tuple[float, str]]:
        """Runs to rest; returns what was written on the way."""
        begun = len(self.written)
        for _ in range(most):
            if self.plane.next(self.cluster) is None:
                return self.written[begun:]
            self._step()
        raise AssertionError("not at rest")

    def _step(self) -> None:
        moved = next(steps(self.plane, self.cluster))
        self.cluster = moved.cluster
        written = moved.written
        if written is not None and getattr(moved.move, "loop", "") in WATCHED:
            words = written.action.describe() + (f" (refused: {written.error.code})" if written.error else "")
            self.written.append((self.cluster.now, words))
            self.reasons[words] = str(getattr(written.action, "reason", ""))

    # What is seen --------------------------------------------------------------------------------------------

    def size(self, group: str = "w") -> int:
        """The desired size of a group."""
        return self.cluster.machines.groups[group].desired

    @property
    def nodes(self) -> list[str]:
        """The names of all nodes."""
        return [node.name for node in self.cluster.store.nodes()]

    @property
    def pending(self) -> int:
        """How many pods have no node."""
        return len(self.cluster.store.unbound_pods())

    def times(self, text: str) -> list[float]:
        """When writes were made whose words contain `text`."""
        return [time for time, words in self.written if text in words]

    def reading(self) -> Reading:
        """What the autoscaler has before it."""
        return self.plane.reading(self.autoscaler, self.cluster)

    def memory(self) -> AutoscalerMemory:
        """What the autoscaler remembers."""
        memory: AutoscalerMemory = self.cluster.loops["cluster-autoscaler"].memory
        return memory

    def view(self) -> View:
        """The cluster as the autoscaler sees it."""
        return View(self.reading(), self.memory(), self.autoscaler.options)

    def scan(self) -> list[Plan[AutoscalerMemory]]:
        """The plans of a scan now."""
        memory = self.memory().with_(next_scan=self.cluster.now, cleaned=True)
        return list(self.autoscaler.sync(self.reading(), memory, SCAN))


class Lab:
    """Makes groups, objects and worlds."""

    options = AutoscalerOptions
    autoscaler = ClusterAutoscaler

    def group(self, low: int, count: int, high: int, name: str = "w", zones: str = "a", **fields: Any) -> NodeGroup:
        """A group of nodes of 4 CPU and 8Gi, with `cpu`, `memory`, `pods` and `labels` of the node to choose."""
        capacity = Capacity(
            Resources(fields.pop("cpu", 4000), fields.pop("memory", 8 * GI)), pods=fields.pop("pods", 110)
        )
        template = Node(name="", allocatable=capacity, labels=labels_of(fields.pop("labels", {})))
        subnets = tuple(Subnet(f"subnet-{zone}", zone) for zone in zones)
        return NodeGroup(name, low, high, count, **{"subnets": subnets, "template": template, **fields})

    def spec(self, cpu: int = 500, memory: int = 0, **fields: Any) -> PodSpec:
        """A pod spec with one container."""
        requests = Resources(cpu, memory)
        return PodSpec(containers=(Container("c", requests),), requests=requests, **fields)

    def deployment(self, replicas: int, cpu: int = 500, name: str = "web", **fields: Any) -> Deployment:
        """deployment/web."""
        template = PodTemplate(
            labels=labels_of({"app": name}),
            annotations=labels_of(fields.pop("annotations", {})),
            spec=self.spec(cpu, fields.pop("memory", 0), **fields.pop("spec", {})),
            digest="d",
        )
        return Deployment(
            name=name, replicas=replicas, selector=Selector(labels_of({"app": name})), template=template, **fields
        )

    def daemon_set(self, cpu: int = 500, name: str = "agent") -> DaemonSet:
        """daemonset/agent."""
        labels = labels_of({"app": name})
        template = PodTemplate(labels=labels, spec=self.spec(cpu), digest="d")
        return DaemonSet(name=name, selector=Selector(labels), template=template)

    def pod(self, name: str = "bare", cpu: int = 100, node: str | None = None, **fields: Any) -> Pod:
        """A pod without an owner; on a node it runs."""
        placed: dict[str, Any] = {"node": node, "phase": "Running", "ready": True} if node is not None else {}
        return Pod(name=name, spec=self.spec(cpu, **fields.pop("spec", {})), **placed, **fields)

    def budget(self, name: str = "web", **fields: Any) -> PodDisruptionBudget:
        """A budget over the pods of deployment/web."""
        return PodDisruptionBudget(name=name, selector=Selector(labels_of({"app": name})), **fields)

    def slow(self, seconds: float) -> Rules:
        """Rules under which containers take this long to start."""
        return Rules(kubelet=KubeletTimings(start=seconds))

    def world(self, *objects: ApiObject, groups: Iterable[NodeGroup], **options: Any) -> World:
        """A running cluster."""
        return World(groups, objects, **options)


@pytest.fixture(scope="session")
def lab() -> Lab:
    return Lab()
