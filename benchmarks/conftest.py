"""What the benchmarks share: large clusters that already run, runs of the bare model, a summary of the results.

Timings are processor time, since machines are shared; what matters is given as a ratio of two timings of one run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import pytest
from attrs import frozen
from pytest_benchmark.fixture import BenchmarkFixture

from reconverge.checker.schedule import stretch
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane, Read
from reconverge.model.events import Event
from reconverge.model.labels import Labels, Selector, labels_of
from reconverge.model.objects import (
    ApiObject,
    Container,
    Deployment,
    Node,
    Pod,
    PodDisruptionBudget,
    PodSpec,
    PodTemplate,
    ReplicaSet,
    Service,
)
from reconverge.model.objects.node import HOSTNAME, ZONE
from reconverge.model.quiet import steps
from reconverge.model.resources import Capacity, Resources
from reconverge.model.standard import cluster_of, standard_control_plane

PODS_PER_NODE = 30
PER_NAMESPACE = 10
"""Workloads in one namespace, each with a Service and a budget."""

_LINES: list[str] = []


@pytest.fixture(scope="session")
def said() -> Callable[[str], None]:
    """Notes one line of what was measured, for the summary at the end."""
    return _LINES.append


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the lines that the benchmarks noted."""
    if _LINES:
        terminalreporter.section("measured")
        for line in _LINES:
            terminalreporter.write_line(line)


@pytest.fixture
def measured(benchmark: BenchmarkFixture) -> Callable[..., float]:
    """Runs something several times and gives the median of its seconds; keywords are those of `pedantic`."""

    def measure(run: Callable[[], object], **how: int) -> float:
        benchmark.pedantic(run, **how)  # type: ignore[no-untyped-call]
        assert benchmark.stats is not None
        return float(benchmark.stats.stats.median)

    return measure


@frozen
class Ran:
    """How much a run did, and the processor time of its steps but for those that were left out."""

    steps: int
    writes: int
    seconds: float

    @property
    def per_write(self) -> float:
        """Microseconds for one write, with the reads that led to it."""
        return 1e6 * self.seconds / self.writes


class Bench:
    """Builds clusters and runs the bare model, without judging."""

    def objects(self, nodes: int, replicas: int = PODS_PER_NODE, small: int = 3) -> list[ApiObject]:
        """Nodes, as many Deployments of 30 running pods each, and one small Deployment, `default/small`."""
        names = [f"node-{number}" for number in range(nodes)]
        made: list[ApiObject] = [self.node(name, "abc"[place % 3]) for place, name in enumerate(names)]
        for number in range(nodes):
            namespace = f"team-{number // PER_NAMESPACE}"
            on = [names[(number + place) % nodes] for place in range(replicas)]
            made += self.workload(f"app-{number}", namespace, on)
        made += self.workload("small", "default", [names[place % nodes] for place in range(small)])
        return self._numbered(made)

    def _numbered(self, made: Iterable[ApiObject]) -> list[ApiObject]:
        """The objects with uids, and their owners' uids in their references."""
        uids: dict[tuple[str, str], int] = {}
        numbered: list[ApiObject] = []
        for uid, each in enumerate(made, start=1):
            uids[each.kind, each.key] = uid
            owner = each.owner
            if owner is not None:
                owner = type(owner)(owner.kind, owner.name, uids[owner.kind, f"{each.namespace}/{owner.name}"])
            numbered.append(each.with_(uid=uid, owner=owner))
        return numbered

    def node(self, name: str, zone: str) -> Node:
        """A node of 16 cores and 64 GiB."""
        labels = labels_of({HOSTNAME: name, ZONE: zone})
        return Node(name=name, labels=labels, allocatable=Capacity(Resources(cpu=16_000, memory=2**36), 110))

    def workload(self, name: str, namespace: str, on: list[str]) -> list[ApiObject]:
        """A Deployment whose pods run on the nodes named, its Service and its budget."""
        labels = labels_of({"app": name})
        spec = PodSpec(containers=(Container("c", Resources(cpu=100)),), requests=Resources(cpu=100))
        template = PodTemplate(labels=labels, spec=spec, digest="template")
        deployment = Deployment(
            name=name, namespace=namespace, replicas=len(on), selector=Selector(labels), template=template
        )
        mine = labels_of({"app": name, "pod-template-hash": "templa"})
        owned = self.replica_set(deployment, mine)
        pods = [self.pod(owned, place, node, mine, spec) for place, node in enumerate(on)]
        return [
            deployment,
            owned,
            Service(name=name, namespace=namespace, selector=Selector(labels)),
            PodDisruptionBudget(name=name, namespace=namespace, selector=Selector(labels), min_available=1),
            *pods,
        ]

    def replica_set(self, deployment: Deployment, labels: Labels) -> ReplicaSet:
        """The ReplicaSet of a Deployment's template."""
        return ReplicaSet(
            name=f"{deployment.name}-templa",
            namespace=deployment.namespace,
            labels=labels,
            replicas=deployment.replicas,
            selector=Selector(labels),
            template=deployment.template.with_(labels=labels),
            owner=deployment.owner_reference(),
            deployment_revision=1,
        )

    def pod(self, owner: ReplicaSet, place: int, node: str, labels: Labels, spec: PodSpec) -> Pod:
        """A running and ready pod."""
        return Pod(
            name=f"{owner.name}-{place}", namespace=owner.namespace, labels=labels, owner=owner.owner_reference(),
            spec=spec, node=node, phase="Running", ready=True, started_at=0, template_digest="template",
        )  # fmt: skip

    def settled(self, plane: ControlPlane, objects: Iterable[ApiObject]) -> Cluster:
        """The cluster after all loops have looked at everything."""
        cluster = plane.start(cluster_of(objects))
        for moved in steps(plane, cluster):
            cluster = moved.cluster
        return plane.wait(cluster, cluster.now + 4400)

    def play(self, plane: ControlPlane, cluster: Cluster, *events: Event) -> Ran:
        """Each event and what follows it, to its rest. The scheduler's looks at the nodes are not timed."""
        before = time.process_time()
        left_out = 0.0
        count = writes = 0
        for event in events:
            cluster, _ = plane.strike(cluster, event)
            count += 1
            mark = time.process_time()
            for taken in stretch(plane, cluster):
                now = time.process_time()
                if isinstance(taken.move, Read) and taken.move.loop == "scheduler":
                    left_out += now - mark
                mark = now
                count += 1
                writes += bool(taken.changes)
                cluster = taken.after
        return Ran(count, writes, time.process_time() - before - left_out)

    def run(self, plane: ControlPlane, cluster: Cluster, *events: Event) -> None:
        """Each event and what follows it, to its rest, with nothing else being timed or counted."""
        for event in events:
            cluster, _ = plane.strike(cluster, event)
            for taken in stretch(plane, cluster):
                cluster = taken.after

    def growth(self, values: list[float]) -> str:
        """Each value as a multiple of the first."""
        return ", ".join(f"{value / values[0]:.2f}" for value in values)


@pytest.fixture(scope="session")
def bench() -> Bench:
    return Bench()


@pytest.fixture(scope="session")
def plane() -> ControlPlane:
    return standard_control_plane()
