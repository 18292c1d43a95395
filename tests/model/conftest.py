"""A small cluster that runs under some control loops, and people who do things in it.

Fixtures hand out a class and functions, since test modules do not import each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from reconverge.model.action import Action
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane, Read, Wait
from reconverge.model.errors import ApiError
from reconverge.model.events import Event
from reconverge.model.labels import Selector, labels_of
from reconverge.model.local_pods import LocalPod
from reconverge.model.loop import ControlLoop, Plan
from reconverge.model.machines import Machine
from reconverge.model.objects import (
    ApiObject,
    Behaviour,
    Container,
    Deployment,
    Node,
    Pod,
    PodSpec,
    PodTemplate,
    ReplicaSet,
)
from reconverge.model.objects.node import HOSTNAME, ZONE
from reconverge.model.quiet import steps
from reconverge.model.requests import effective
from reconverge.model.resources import Capacity, Resources
from reconverge.model.rules import Rules
from reconverge.model.standard import cluster_of, standard_control_plane

GI = 2**30


class Lab:
    """A cluster with its control plane, and what has been written in it: (time, write)."""

    def __init__(self, plane: ControlPlane, cluster: Cluster) -> None:
        self.plane = plane
        self.cluster = plane.start(cluster)
        self.written: list[tuple[float, str]] = []
        self.actions: list[Action] = []
        self.refused: list[ApiError] = []

    @classmethod
    def of(
        cls, *objects: ApiObject, loops: Iterable[ControlLoop[Any]] | None = None, rules: Rules | None = None
    ) -> Lab:
        """Objects under the standard control plane, or under some loops alone."""
        plane = standard_control_plane() if loops is None else ControlPlane(list(loops))
        return cls(plane, cluster_of(objects, rules))

    # Objects -------------------------------------------------------------------------------------------------

    @staticmethod
    def node(name: str, cpu: int = 4000, memory: int = 16 * GI, pods: int = 110, zone: str = "", **fields: Any) -> Node:
        """A node that is ready; CPU in millicores, memory in bytes."""
        labels = {HOSTNAME: name, **({ZONE: zone} if zone else {}), **fields.pop("labels", {})}
        return Node(name=name, labels=labels_of(labels), allocatable=Capacity(Resources(cpu, memory), pods), **fields)

    @staticmethod
    def spec(cpu: int = 100, memory: int = 0, **fields: Any) -> PodSpec:
        """The spec of a pod with one container unless told; `behaviour` may be its kind, `ports` are host ports."""
        behaviour = fields.pop("behaviour", Behaviour())
        if isinstance(behaviour, str):
            behaviour = Behaviour(behaviour)
        container = Container("c", Resources(cpu, memory), host_ports=fields.pop("ports", ()))
        containers = fields.pop("containers", (container,))
        spec = PodSpec(containers=containers, behaviour=behaviour, **fields)
        return spec.with_(requests=effective(spec))

    @classmethod
    def template(cls, digest: str = "one", app: str = "web", **fields: Any) -> PodTemplate:
        """A pod template labelled app=<app>."""
        return PodTemplate(labels=labels_of({"app": app}), spec=cls.spec(**fields), digest=digest)

    @classmethod
    def pod(cls, name: str, node: str | None = None, **fields: Any) -> Pod:
        """A pod of its own, with fields of the pod; `spec` has those of its spec."""
        spec = cls.spec(**fields.pop("spec", {}))
        return Pod(**{"name": name, "node": node, "labels": labels_of({"app": "web"}), "spec": spec, **fields})

    @classmethod
    def deployment(cls, replicas: int = 1, **fields: Any) -> Deployment:
        """Deployment web over pods app=web, at one replica and with the default surge unless told."""
        name = fields.pop("name", "web")
        template = fields.pop("template", cls.template(app=name))
        selector = Selector(labels_of({"app": name}))
        return Deployment(name=name, replicas=replicas, selector=selector, template=template, **fields)

    @classmethod
    def replica_set(cls, replicas: int = 1, **fields: Any) -> ReplicaSet:
        """ReplicaSet web over pods app=web, without an owner."""
        name = fields.pop("name", "web")
        template = fields.pop("template", cls.template(app=name))
        selector = Selector(labels_of({"app": name}))
        return ReplicaSet(**{"name": name, "replicas": replicas, "selector": selector, "template": template, **fields})

    # What people and the environment do ----------------------------------------------------------------------

    def put(self, new: ApiObject) -> None:
        """Somebody writes an object, or creates it."""
        store, change = self.cluster.store.put(new)
        self.cluster = self.plane.notify(self.cluster.with_(store=store), (change,))

    def edit(self, kind: str, name: str, **fields: Any) -> None:
        """Somebody changes the spec of an object of the default namespace, or of a node."""
        old = self.get(kind, name)
        self.put(old.with_(generation=old.generation + 1, **fields))

    def report(self, kind: str, name: str, **fields: Any) -> None:
        """Somebody changes the status of an object."""
        self.put(self.get(kind, name).with_(**fields))

    def remove(self, kind: str, name: str) -> None:
        """Somebody removes an object."""
        store, change = self.cluster.store.remove(kind, self.get(kind, name).key)
        self.cluster = self.plane.notify(self.cluster.with_(store=store), (change,))

    def happens(self, *events: Event) -> None:
        """Events strike, each when all has come to rest after the one before."""
        for event in events:
            self.strikes(event)
            self.settle()

    def strikes(self, *events: Event) -> None:
        """Events strike at once, without a step between them."""
        for event in events:
            assert event.enabled(self.cluster), event
            self.cluster, _ = self.plane.strike(self.cluster, event)

    # Steps ---------------------------------------------------------------------------------------------------

    def step(self) -> Any:
        """The next step of the default schedule; returns it."""
        moved = next(steps(self.plane, self.cluster))
        self.cluster = moved.cluster
        if moved.written is not None:
            if moved.written.error is not None:
                self.refused.append(moved.written.error)
            else:
                self.actions.append(moved.written.action)
            if moved.written.changes:
                self.written.append((self.cluster.now, moved.written.action.describe()))
        return moved

    def settle(self, most_steps: int = 5_000) -> list[tuple[float, str]]:
        """Run to rest; returns what was written on the way."""
        begun = len(self.written)
        for _ in range(most_steps):
            if self.plane.next(self.cluster) is None:
                return self.written[begun:]
            self.step()
        raise AssertionError(f"not at rest after {most_steps} steps")

    def until(self, time: float) -> list[tuple[float, str]]:
        """Everything that can be done by `time` is done, and it is that time; returns what was written."""
        begun = len(self.written)
        while (move := self.plane.next(self.cluster)) is not None and not (
            isinstance(move, Wait) and move.until > time
        ):
            self.step()
        self.cluster = self.cluster.with_(now=time)
        return self.written[begun:]

    def quiet_now(self) -> list[tuple[float, str]]:
        """Everything that can be done without the passing of time is done."""
        return self.until(self.cluster.now)

    def pass_of(self, loop: str, key: str = "default/web") -> Plan[Any]:
        """The default plan of a pass that a loop would make for a key now."""
        return self.passes_of(loop, key)[0]

    def passes_of(self, loop: str, key: str = "default/web") -> list[Plan[Any]]:
        """All alternatives of a pass that a loop would make for a key now."""
        return list(self.plane.plans(self.cluster, Read(loop, key)))

    # What is seen --------------------------------------------------------------------------------------------

    def get(self, kind: str, name: str) -> Any:
        """The object of that name in the default namespace, or the node."""
        store = self.cluster.store
        found = store.get(kind, name)
        return found if found is not None else store.get(kind, f"default/{name}")

    def pods(self) -> list[Pod]:
        """All pods, by key."""
        return self.cluster.store.all("Pod")

    def machine(self, name: str = "n1") -> Machine:
        """The machine of a node."""
        return self.cluster.machines.by_name[name]

    def local(self, pod: str) -> LocalPod:
        """What the machines hold of a pod, by its name."""
        machines = self.cluster.machines.by_name.values()
        found = [each for one in machines for each in one.pods.values() if each.key == f"default/{pod}"]
        assert len(found) == 1, found
        return found[0]

    def times(self, text: str) -> list[float]:
        """When writes were made whose description contains `text`."""
        return [time for time, what in self.written if text in what]

    def memory(self, loop: str) -> Any:
        """What a loop remembers."""
        return self.cluster.loops[loop].memory


@pytest.fixture(scope="session")
def lab() -> type[Lab]:
    """The class of small clusters."""
    return Lab
