"""Small clusters for the tests of the scheduler."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane, Read
from reconverge.model.labels import Requirement, Selector, labels_of
from reconverge.model.loop import Plan, Reading
from reconverge.model.loops.scheduler import Cycle, Scheduler, SchedulerMemory
from reconverge.model.loops.scheduler.nodes import Nodes
from reconverge.model.objects import (
    Affinity,
    ApiObject,
    Container,
    Node,
    NodeSelectorTerm,
    Pod,
    PodAffinityTerm,
    PodSpec,
    Taint,
    Toleration,
    TopologySpreadConstraint,
)
from reconverge.model.objects.node import HOSTNAME, ZONE
from reconverge.model.quiet import at_rest
from reconverge.model.requests import effective
from reconverge.model.resources import Capacity, Resources
from reconverge.model.rules import Rules
from reconverge.model.store import EMPTY_STORE, Change, Store

GI = 2**30
NEWEST = Rules.for_version("1.36")


class Build:
    """Makes objects, clusters and runs of the scheduler."""

    plane = ControlPlane([Scheduler()])
    rules = NEWEST

    # Objects -------------------------------------------------------------------------------------------------

    @staticmethod
    def node(name: str, cpu: int = 4000, memory: int = 16 * GI, pods: int = 110, zone: str = "", **fields: Any) -> Node:
        """A node that is ready; CPU in millicores, memory in bytes. Keyword `labels` adds to hostname and zone."""
        labels = {HOSTNAME: name, **({ZONE: zone} if zone else {}), **fields.pop("labels", {})}
        extended = fields.pop("extended", ())
        storage = fields.pop("storage", 0)
        capacity = Capacity(Resources(cpu, memory, storage, extended), pods)
        return Node(name=name, labels=labels_of(labels), allocatable=capacity, **fields)

    @classmethod
    def nodes(cls, count: int, **fields: Any) -> list[Node]:
        """Nodes n1, n2 ... in zones a, b, c in turn."""
        return [cls.node(f"n{i + 1}", zone="abc"[i % 3], **fields) for i in range(count)]

    @staticmethod
    def spec(cpu: int = 100, memory: int = 0, **fields: Any) -> PodSpec:
        """The spec of a pod with one container."""
        requests = Resources(cpu, memory, fields.pop("storage", 0), fields.pop("extended", ()))
        ports = fields.pop("ports", ())
        containers = (Container("c", requests, host_ports=ports),) if "containers" not in fields else ()
        spec = PodSpec(**{"containers": containers, **fields})
        return spec.with_(requests=effective(spec))

    @classmethod
    def pod(cls, name: str, cpu: int = 100, node: str | None = None, **fields: Any) -> Pod:
        """A pod; fields of the spec and of the pod mixed. Labels default to app: its name. On a node it runs."""
        names = {"labels", "namespace", "phase", "deletion_at", "disruption_target", "owner", "created_at"}
        names |= {"nominated_node", "started_at", "uid", "unscheduled", "ready", "grace"}
        own = {key: fields.pop(key) for key in sorted(names) if key in fields}
        labels = labels_of(own.pop("labels", {"app": name}))
        phase = own.pop("phase", "Pending" if node is None else "Running")
        return Pod(name=name, labels=labels, node=node, phase=phase, spec=cls.spec(cpu, **fields), **own)

    @staticmethod
    def selector(**labels: str) -> Selector:
        """A selector of exactly these labels."""
        return Selector(labels_of(labels))

    @classmethod
    def term(cls, key: str = HOSTNAME, **labels: str) -> PodAffinityTerm:
        """A term of pod affinity about pods with these labels."""
        return PodAffinityTerm(key, cls.selector(**labels))

    @classmethod
    def anti(cls, key: str = HOSTNAME, **labels: str) -> Affinity:
        """Required anti-affinity against pods with these labels."""
        return Affinity(anti_required=(cls.term(key, **labels),))

    @classmethod
    def together(cls, key: str = HOSTNAME, **labels: str) -> Affinity:
        """Required affinity to pods with these labels."""
        return Affinity(pod_required=(cls.term(key, **labels),))

    @staticmethod
    def only(*nodes: str) -> Affinity:
        """Required node affinity to nodes by name, as DaemonSet pods have it."""
        field = Requirement("metadata.name", "In", nodes)
        return Affinity(node_required=(NodeSelectorTerm(fields=(field,)),))

    @classmethod
    def spread(cls, app: str, key: str = ZONE, **fields: Any) -> TopologySpreadConstraint:
        """A spread constraint over pods of an app, hard with maxSkew 1 unless said otherwise."""
        return TopologySpreadConstraint(key, selector=cls.selector(app=app), **fields)

    @staticmethod
    def taint(key: str = "dedicated", effect: str = "NoSchedule", value: str = "db") -> Taint:
        """A taint."""
        return Taint(key, effect, value)

    @staticmethod
    def tolerates(key: str = "dedicated") -> Toleration:
        """A toleration of a key whatever its value and effect."""
        return Toleration(key=key, operator="Exists")

    # Clusters ------------------------------------------------------------------------------------------------

    @staticmethod
    def store(*objects: ApiObject | Iterable[ApiObject]) -> Store:
        """A store with these objects."""
        store = EMPTY_STORE
        for each in objects:
            for one in (each,) if isinstance(each, ApiObject) else each:
                store, _ = store.put(one)
        return store

    @classmethod
    def started(cls, *objects: ApiObject | Iterable[ApiObject], rules: Rules = NEWEST, **fields: Any) -> Cluster:
        """A cluster whose scheduler has just started."""
        return cls.plane.start(Cluster(store=cls.store(*objects), rules=rules, **fields))

    @classmethod
    def settled(cls, *objects: ApiObject | Iterable[ApiObject], rules: Rules = NEWEST) -> Cluster:
        """The cluster at rest."""
        return at_rest(cls.plane, cls.started(*objects, rules=rules))

    @classmethod
    def rest(cls, cluster: Cluster) -> Cluster:
        """The cluster when it has come to rest."""
        return at_rest(cls.plane, cluster)

    @classmethod
    def told(cls, cluster: Cluster, *objects: ApiObject) -> Cluster:
        """The cluster after somebody has written objects, and the watches have said so."""
        changes: list[Change] = []
        for each in objects:
            store, change = cluster.store.put(each)
            cluster = cluster.with_(store=store)
            changes.append(change)
        return cls.plane.notify(cluster, changes)

    @classmethod
    def without(cls, cluster: Cluster, kind: str, key: str) -> Cluster:
        """The cluster after an object has gone, and the watches have said so."""
        store, change = cluster.store.remove(kind, key)
        return cls.plane.notify(cluster.with_(store=store), [change])

    # Answers -------------------------------------------------------------------------------------------------

    @staticmethod
    def read(pod: str) -> Read:
        """The move that begins a cycle for a pod."""
        return Read("scheduler", f"default/{pod}")

    @staticmethod
    def plans(cluster: Cluster, pod: str, scheduler: Scheduler | None = None) -> list[Plan[SchedulerMemory]]:
        """All alternatives of one cycle for a pod."""
        plane = Build.plane if scheduler is None else ControlPlane([scheduler])
        return list(plane.plans(cluster, Build.read(pod)))

    @classmethod
    def choices(
        cls, pod: Pod, *objects: ApiObject | Iterable[ApiObject], scheduler: Scheduler | None = None
    ) -> list[str]:
        """The nodes that a pod may get, in order; empty if none."""
        plans = cls.plans(cls.started(*objects, pod), pod.name, scheduler)
        return [plan.choice for plan in plans if plan.choice]

    @staticmethod
    def message(cluster: Cluster, pod: str) -> str:
        """What the pod has been told; empty if nothing."""
        found = cluster.store.pod(f"default/{pod}")
        return found.unscheduled[1] if found is not None and found.unscheduled is not None else ""

    @staticmethod
    def place(cluster: Cluster, pod: str) -> str | None:
        """The node of a pod."""
        found = cluster.store.pod(f"default/{pod}")
        assert found is not None
        return found.node

    @classmethod
    def cycle(cls, pod: Pod, *objects: ApiObject | Iterable[ApiObject], rules: Rules = NEWEST) -> Cycle:
        """A cycle for a pod that is in no store."""
        store = cls.store(*objects)
        reading = Reading(store, 0, rules)
        scheduler = Scheduler()
        return Cycle(reading, SchedulerMemory(), pod, Nodes(store.table("Node").objects), scheduler.accounting)


@pytest.fixture(scope="session")
def build() -> type[Build]:
    """The builder."""
    return Build
