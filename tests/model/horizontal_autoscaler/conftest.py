"""A small cluster with one workload and its autoscaler, put together by hand."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.action import Action
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane, Read, Wait
from reconverge.model.events import LoadChanges
from reconverge.model.labels import Selector, labels_of
from reconverge.model.local_pods import running_pod
from reconverge.model.loops.horizontal_autoscaler import HorizontalAutoscaler, Rescale
from reconverge.model.machines import Machine, Machines
from reconverge.model.objects import (
    Container,
    Deployment,
    HorizontalPodAutoscaler,
    Node,
    Pod,
    PodSpec,
    PodTemplate,
    ReplicaSet,
)
from reconverge.model.objects.autoscaling import Metric
from reconverge.model.persistent import Map
from reconverge.model.resources import Resources
from reconverge.model.rules import Rules
from reconverge.model.store import Store

WEB = labels_of({"app": "web"})
CPU = Metric("Resource", "cpu", "Utilization", 50)


class Lab:
    """deployment/web with pods on one node that have been ready for an hour, under an autoscaler of 50 % of 100m."""

    def __init__(self, rules: Rules | None = None, loop: HorizontalAutoscaler | None = None) -> None:
        self.plane = ControlPlane([loop if loop is not None else HorizontalAutoscaler()])
        self.cluster = Cluster(Store({}), Machines(), {}, 4000, rules if rules is not None else Rules())
        self.put(Node(name="n1"))

    def put(self, new: Any) -> Any:
        store, change = self.cluster.store.put(new)
        self.cluster = self.cluster.with_(store=store)
        if self.cluster.loops:
            self.cluster = self.plane.notify(self.cluster, (change,))
        return change.after

    def web(self, replicas: int = 4, request: int = 100, limit: int = 0, **fields: Any) -> Deployment:
        main = Container("main", Resources(cpu=request), Resources(cpu=limit))
        template = PodTemplate(WEB, spec=PodSpec(containers=(main,)))
        given = {"name": "web", "replicas": replicas, "selector": Selector(WEB), "template": template}
        deployment: Deployment = self.put(Deployment(**{**given, **fields}))
        owner = deployment.owner_reference()
        self.put(ReplicaSet(name=f"{deployment.name}-1", owner=owner, selector=deployment.selector, template=template))
        return deployment

    def pods(self, count: int, of: str = "web", **fields: Any) -> list[Pod]:
        """Pods of a Deployment that run and are ready, unless told otherwise."""
        rs: ReplicaSet = self.cluster.store.get("ReplicaSet", f"default/{of}-1")
        given = {
            "labels": rs.template.labels, "owner": rs.owner_reference(), "spec": rs.template.spec, "node": "n1",
            "phase": "Running", "ready": True, "ready_since": 402, "started_at": 400, "created_at": 400,
        }  # fmt: skip
        first = self.cluster.store.count("Pod")
        return [self.put(Pod(name=f"{of}-{first + place}", **{**given, **fields})) for place in range(count)]

    def autoscaler(self, minimum: int = 1, maximum: int = 10, **fields: Any) -> HorizontalPodAutoscaler:
        given: dict[str, Any] = {"name": "web", "target_name": "web", "metrics": (CPU,)}
        found: HorizontalPodAutoscaler = self.put(
            HorizontalPodAutoscaler(**{**given, "minimum": minimum, "maximum": maximum, **fields})
        )
        return found

    def run(self, without: tuple[str, ...] = (), **load: int) -> None:
        """The pods run on their machine but those named, the workloads have a load, and the loop starts."""
        held = {
            pod.uid: running_pod(pod.key, pod.uid, pod.spec, ready=pod.ready)
            for pod in self.cluster.store.all("Pod")
            if pod.node and pod.name not in without
        }
        loads = Map({f"deployment/{name}": millicores for name, millicores in load.items()})
        machines = Machines(Map({"n1": Machine("n1", pods=Map(held))}), load=loads)
        self.cluster = self.plane.start(self.cluster.with_(machines=machines))

    def set_load(self, millicores: int, of: str = "web") -> None:
        self.cluster, _ = self.plane.strike(self.cluster, LoadChanges(f"deployment/{of}", millicores))

    def settle(self, until: float | None = None) -> list[tuple[float, Action]]:
        """Everything that is written until it rests, or until a moment, with the time of each."""
        written: list[tuple[float, Action]] = []
        while (move := self.plane.next(self.cluster)) is not None:
            if isinstance(move, Wait):
                if until is not None and move.until > until:
                    self.cluster = self.plane.wait(self.cluster, until)
                    break
                self.cluster = self.plane.wait(self.cluster, move.until)
            elif isinstance(move, Read):
                self.cluster = self.plane.begin(self.cluster, move, self.plane.plans(self.cluster, move)[0])
            else:
                step = self.plane.write(self.cluster, move)
                self.cluster = step.cluster
                written.append((self.cluster.now, step.action))
        return written

    def scalings(self, until: float | None = None) -> list[tuple[float, int]]:
        """(seconds since the hour, replicas) of every change of the scale until it rests."""
        written = self.settle(until)
        made = [(time - 4000, action.after) for time, action in written if isinstance(action, Rescale)]
        return [(time, after.replicas) for time, after in made if isinstance(after, Deployment)]

    @property
    def replicas(self) -> int:
        found = self.cluster.store.deployment("default/web")
        assert found is not None
        return found.replicas


@pytest.fixture
def make() -> type[Lab]:
    return Lab


@pytest.fixture
def lab() -> Lab:
    return Lab()
