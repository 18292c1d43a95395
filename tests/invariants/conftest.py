"""Small situations, steps and ends of runs for the tests of the stock invariants, put together by hand.

The fixture hands out an object with plain methods, since test modules do not import each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from reconverge.invariants import Quiet, Situation, Step, Violation
from reconverge.invariants.relations import touched
from reconverge.invariants.stock import stock
from reconverge.model.action import Action
from reconverge.model.cluster import Cluster
from reconverge.model.events import Event
from reconverge.model.labels import Selector, labels_of
from reconverge.model.local_pods import LocalPod, admitted_pod, running_pod
from reconverge.model.loop import LoopState
from reconverge.model.machines import Machine, Machines
from reconverge.model.objects import (
    ApiObject,
    Behaviour,
    Container,
    DaemonSet,
    Deployment,
    Endpoint,
    EndpointSlice,
    Job,
    Node,
    Pod,
    PodDisruptionBudget,
    PodSpec,
    PodTemplate,
    ReplicaSet,
    Service,
    StatefulSet,
)
from reconverge.model.objects.node import HOSTNAME, ZONE
from reconverge.model.persistent import Map
from reconverge.model.resources import Capacity, Resources
from reconverge.model.rules import Rules
from reconverge.model.store import Store

DEFAULT_RULES = Rules()
WEB = labels_of({"app": "web"})


class Lab:
    """Makes objects with uids of their own, clusters of them, and asks an invariant what is broken."""

    def __init__(self) -> None:
        self.registry = stock()
        self.uid = 100

    # Objects -------------------------------------------------------------------------------------------------

    def fresh(self) -> int:
        """A uid that no object has yet."""
        self.uid += 1
        return self.uid

    def node(self, name: str = "n1", zone: str = "a", cpu: int = 4000, pods: int = 110, **fields: Any) -> Node:
        """A node with its name and zone as labels, and more labels from `labels`, a dictionary."""
        labels = labels_of({HOSTNAME: name, ZONE: zone, **fields.pop("labels", {})})
        capacity = Capacity(Resources(cpu=cpu, memory=2**33), pods)
        return Node(name=name, uid=self.fresh(), labels=labels, allocatable=capacity, **fields)

    def spec(self, cpu: int = 500, behaviour: str = "ready", serves_after: float = 0, **fields: Any) -> PodSpec:
        """A pod spec with one container."""
        container = Container("c", Resources(cpu=cpu), host_ports=fields.pop("host_ports", ()))
        told = Behaviour(behaviour, serves_after=serves_after)
        return PodSpec(containers=(container,), requests=Resources(cpu=cpu), behaviour=told, **fields)

    def pod(self, name: str = "web-a", node: str | None = "n1", **fields: Any) -> Pod:
        """A pod labelled app=web: running and ready on a node unless told otherwise, pending without one."""
        bound = node is not None
        given = {"spec": self.spec(), "labels": WEB, "ready": bound, "phase": "Running" if bound else "Pending"}
        return Pod(**{"name": name, "uid": self.fresh(), "node": node, **given, **fields})

    def deployment(self, replicas: int = 2, digest: str = "new", **fields: Any) -> Deployment:
        """deployment/web."""
        template = PodTemplate(labels=WEB, spec=fields.pop("spec", self.spec()), digest=digest)
        given = {"name": "web", "uid": self.fresh(), "selector": Selector(WEB)}
        return Deployment(**{**given, "replicas": replicas, "template": template, **fields})

    def set_of(self, deployment: Deployment | None = None, digest: str = "new", **fields: Any) -> ReplicaSet:
        """replicaset/web-<digest>, of a Deployment or of nobody."""
        template = PodTemplate(labels=WEB, spec=fields.pop("spec", self.spec()), digest=digest)
        given = {
            "name": f"web-{digest}",
            "uid": self.fresh(),
            "selector": Selector(WEB),
            "owner": deployment.owner_reference() if deployment is not None else None,
        }
        return ReplicaSet(**{**given, "template": template, **fields})

    def pods_of(self, rs: ReplicaSet, *nodes: str | None, **fields: Any) -> list[Pod]:
        """A pod of the ReplicaSet on each of the nodes."""
        owner = rs.owner_reference()
        return [
            self.pod(f"{rs.name}-{'abcdefgh'[place]}", node, owner=owner, template_digest=rs.template.digest, **fields)
            for place, node in enumerate(nodes)
        ]

    def template(self, digest: str = "new", **spec: Any) -> PodTemplate:
        """A template of pods labelled app=web."""
        return PodTemplate(labels=WEB, spec=self.spec(**spec), digest=digest)

    def stateful_set(self, replicas: int = 2, **fields: Any) -> StatefulSet:
        """statefulset/db over app=web."""
        template = PodTemplate(labels=WEB, spec=fields.pop("spec", self.spec()), digest="new")
        given = {"name": "db", "uid": self.fresh(), "selector": Selector(WEB), "template": template}
        return StatefulSet(**{**given, "replicas": replicas, **fields})

    def daemon_set(self, **fields: Any) -> DaemonSet:
        """daemonset/agent over app=web."""
        given = {"name": "agent", "uid": self.fresh(), "selector": Selector(WEB), "template": self.template()}
        return DaemonSet(**{**given, **fields})

    def job(self, behaviour: str = "exit-0", **fields: Any) -> Job:
        """job/task."""
        template = self.template(behaviour=behaviour)
        return Job(**{"name": "task", "uid": self.fresh(), "template": template, **fields})

    def pods_in(self, workload: Any, *nodes: Node, count: int | None = None, **fields: Any) -> list[Pod]:
        """A pod of a workload on each of the nodes, or so many (its replicas) on n1, numbered from 0."""
        on = [node.name for node in nodes] or ["n1"] * (workload.replicas if count is None else count)
        owner, digest = workload.owner_reference(), workload.template.digest
        given = {"owner": owner, "template_digest": digest, "spec": workload.template.spec}
        return [self.pod(f"{workload.name}-{number}", name, **{**given, **fields}) for number, name in enumerate(on)]

    def budget(self, **fields: Any) -> PodDisruptionBudget:
        """poddisruptionbudget/web over app=web."""
        return PodDisruptionBudget(name="web", uid=self.fresh(), selector=Selector(WEB), **fields)

    def service(self, *pods: Pod) -> tuple[Service, EndpointSlice]:
        """service/web over app=web, and its slice with the pods as they are."""
        endpoints = tuple(Endpoint(pod.key, pod.node or "", pod.ready, pod.ready, pod.terminating) for pod in pods)
        service = Service(name="web", uid=self.fresh(), selector=Selector(WEB))
        return service, EndpointSlice(name="web", uid=self.fresh(), service="web", endpoints=endpoints)

    # Clusters ------------------------------------------------------------------------------------------------

    def cluster(
        self,
        *objects: ApiObject,
        now: float = 1000,
        down: Iterable[str] = (),
        loops: dict[str, LoopState] | None = None,
        rules: Rules = DEFAULT_RULES,
    ) -> Cluster:
        """The objects, and a machine for each node that runs its pods; those named in `down` have no power."""
        store = Store({})
        for each in objects:
            store, _ = store.put(each)
        machines = Machines()
        for node in store.nodes():
            held = {pod.uid: local(pod) for pod in store.pods_on(node.name) if not pod.terminal}
            powered = node.name not in down
            machines = machines.put(Machine(node.name, node.zone, powered=powered, pods=Map(held)))
        return Cluster(store, machines, loops or {}, now, rules)

    def situation(self, *objects: ApiObject, **options: Any) -> Situation:
        """The objects as a situation; `events` and `start` as well as what `cluster` takes."""
        events, start = options.pop("events", ()), options.pop("start", None)
        return Situation(self.cluster(*objects, **options), events, start)

    def step(self, before: Situation, actor: str, action: Action) -> Step:
        """A control loop's write."""
        cluster, changes = action.apply(before.cluster)
        return Step(before, Situation(cluster, before.events, before.start), actor, changes, None, action)

    def event(self, before: Situation, event: Event) -> Step:
        """Something that happens."""
        cluster, changes = event.apply(before.cluster)
        after = Situation(cluster, (*before.events, event), before.start)
        return Step(before, after, "environment", changes, event)

    def quiet(self, after: Situation, outcome: Any = "rest", repeating: Any = (), before: Any = None) -> Quiet:
        """The end of a run."""
        return Quiet(before or after, after, outcome, repeating)

    # Judgement -----------------------------------------------------------------------------------------------

    def broken(self, id_: str, on: Situation | Step | Quiet) -> list[Violation]:
        """What an invariant says of it, judged for every object that it is for."""
        invariant = self.registry[id_]
        situation = on if isinstance(on, Situation) else on.after
        if isinstance(on, Step):
            keys = list(dict.fromkeys(key for each in on.changes for key in touched(invariant, situation, each)))
        else:
            keys = sorted(situation.store.table(invariant.for_each).objects) if invariant.for_each else [""]
        subjects = [situation.store.get(invariant.for_each, key) if invariant.for_each else None for key in keys]
        given = [each for each in subjects if invariant.applicable(situation, each)]
        return [violation for each in given for violation in invariant.judge(on, each)]


def local(pod: Pod) -> LocalPod:
    """The pod as its kubelet holds it: running if the API says so."""
    if pod.phase == "Running":
        return running_pod(pod.key, pod.uid, pod.spec, ready=pod.ready)
    return admitted_pod(pod.key, pod.uid, pod.spec)


@pytest.fixture
def lab() -> Lab:
    return Lab()
