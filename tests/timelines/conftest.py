"""Clusters of a few manifests that are played event by event, with everything that is written and the second it is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import pytest

from reconverge.checker import Scenario
from reconverge.checker.build_trace import waiting, worded
from reconverge.checker.scenario_file import step_event
from reconverge.checker.schedule import Course, stretch
from reconverge.loading import Loaded, parse_document_text, parse_pools
from reconverge.model.control_plane import Write
from reconverge.model.objects import Node, Pod

MOST_STEPS = 20_000
TEMPLATE_HASH = re.compile(r"(?<=[a-z])-[0-9a-f]{6}(?=-|\b)")


class Line(NamedTuple):
    """One write: the second since the start, who makes it, and what it is."""

    time: float
    actor: str
    words: str

    def __str__(self) -> str:
        return f"{self.time:8.6g}  {self.actor:18} {self.words}"


class Story:
    """A cluster that is played, and its timeline.

    Sets of one Deployment are told by the order in which they appear: replicaset/web-1, replicaset/web-2 and their pods
    web-1-a, web-2-a.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.world = scenario.world()
        self.plane = self.world.plane
        self.cluster = self.world.start
        self.zero = self.cluster.now
        self.lines: list[Line] = []
        self._sets: dict[str, str] = {}
        for pod in self.pods():
            self._named(pod.key)

    # What happens --------------------------------------------------------------------------------------------

    def strike(self, event: str, **arguments: Any) -> Story:
        """An event in a scenario's words, at this moment; words are those of Python: `drain`, `node_crash`."""
        name = event.replace("_", "-")
        given = {key.replace("_", "-"): value for key, value in arguments.items()}
        fields = parse_document_text(json.dumps({name: given}), "story")
        struck = step_event(fields, self.scenario.loaded or Loaded())
        assert struck.enabled(self.cluster), f"{name} cannot happen here:\n{self.told}"
        self._note("event", struck.describe())
        self.cluster, _ = self.plane.strike(self.cluster, struck)
        return self

    def until(self, second: float) -> Story:
        """Everything that can be done by this second is done."""
        return self._run(self.zero + second)

    def rest(self) -> Story:
        """Runs until nothing is left to do."""
        return self._run(None)

    def _run(self, horizon: float | None) -> Story:
        for count, taken in enumerate(stretch(self.plane, self.cluster, Course(horizon=horizon))):
            self.cluster = taken.after
            if isinstance(taken.move, Write) and taken.action is not None and (taken.changes or taken.error):
                words = worded(taken.action, taken.changes)
                refused = f" (refused: {taken.error})" if taken.error else ""
                reason = getattr(taken.action, "reason", "")
                self._note(taken.move.loop, words + refused + (f" ({reason})" if reason else ""))
            assert count < MOST_STEPS, f"no rest:\n{self.told}"
        if horizon is not None:
            self.cluster = self.plane.wait(self.cluster, horizon)
        return self

    def _note(self, actor: str, words: str) -> None:
        self.lines.append(Line(self.now, actor, self._named(words)))

    def _named(self, words: str) -> str:
        def place(found: re.Match[str]) -> str:
            hash_ = found.group()
            return self._sets.setdefault(hash_, f"-{len(self._sets) + 1}")

        return TEMPLATE_HASH.sub(place, words)

    # What is there -------------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """Seconds since the start."""
        return self.cluster.now - self.zero

    def pods(self, node: str | None = None) -> list[Pod]:
        """The pods, of a node if one is named."""
        return [pod for pod in self.cluster.store.all("Pod") if node is None or pod.node == node]

    def names(self, which: Callable[[Pod], Any] = lambda pod: True) -> list[str]:
        """The names of the pods of which something is true."""
        return [self._named(pod.name) for pod in self.pods() if which(pod)]

    def pod(self, name: str) -> Pod:
        """A pod by its name in the timeline."""
        return next(pod for pod in self.pods() if self._named(pod.name) == name)

    def node(self, name: str) -> Node:
        """A node."""
        found = self.cluster.store.node(name)
        assert found is not None, f"no node {name}:\n{self.told}"
        return found

    def get(self, kind: str, name: str) -> Any:
        """An object of the default namespace, or of none."""
        return next(each for each in self.cluster.store.all(kind) if self._named(each.name) == name)

    def waiting(self) -> list[str]:
        """What still waits, and for what."""
        return [f"{each.pod}: {each.reason}" for each in waiting(self.cluster)]

    # What is asserted ----------------------------------------------------------------------------------------

    def shows(self, lines: str) -> None:
        """These lines are in the timeline in this order: a second, who, and words with which the write begins."""
        left = iter(self.lines)
        for wanted in filter(None, map(str.strip, lines.splitlines())):
            second, actor, words = wanted.split(maxsplit=2)
            if not any(f"{at:g}" == second and who == actor and said.startswith(words) for at, who, said in left):
                raise AssertionError(f"not in this order in the timeline: {wanted}\n{self.told}")

    def times(self, actor: str, words: str) -> list[float]:
        """The seconds at which somebody makes writes that contain these words; an empty list where nobody does."""
        return [line.time for line in self.lines if actor in ("", line.actor) and words in line.words]

    def never(self, actor: str, words: str, *, before: float = float("inf")) -> None:
        """Nobody of this name makes such a write before that second."""
        found = [line for line in self.lines if line.actor == actor and words in line.words and line.time < before]
        assert not found, f"it did: {found[0]}\n{self.told}"

    @property
    def told(self) -> str:
        """The timeline, for people who want to know why an assertion does not hold."""
        return "\n".join(["timeline:", *map(str, self.lines), f"{self.now:8.6g}  the end", *self._end()])

    def _end(self) -> list[str]:
        return [
            f"          {self._named(pod.name)} on {pod.node}: {pod.phase}, {'ready' if pod.ready else 'not ready'}"
            f"{', terminating' if pod.deletion_at is not None else ''}"
            for pod in self.pods()
        ]


def _workload(kind: str, name: str, replicas: int | None, fields: dict[str, Any]) -> dict[str, Any]:
    cpu, notes, pod = fields.pop("cpu", "500m"), fields.pop("annotations", {}), fields.pop("pod", {})
    load = {"annotations": {"reconverge/load": fields.pop("load")}} if "load" in fields else {}
    container = {"name": "c", "image": "shop/app:1", "resources": {"requests": {"cpu": cpu}}}
    template = {"metadata": {"labels": {"app": name}, "annotations": notes}, "spec": {"containers": [container], **pod}}
    spec: dict[str, Any] = {"template": template, "selector": {"matchLabels": {"app": name}}, **fields}
    if replicas is not None:
        spec["replicas"] = replicas
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, **load}, "spec": spec}


class Make:
    """Manifests in a few words."""

    @staticmethod
    def deployment(replicas: int, name: str = "web", **fields: Any) -> dict[str, Any]:
        """A Deployment; `surge` and `unavailable` for short, `cpu`, `pod` and `annotations` of its pods."""
        rolling = {"surge": "maxSurge", "unavailable": "maxUnavailable"}
        given = {word: fields.pop(short) for short, word in rolling.items() if short in fields}
        if given:
            fields["strategy"] = {"type": "RollingUpdate", "rollingUpdate": given}
        return _workload("Deployment", name, replicas, fields)

    @staticmethod
    def stateful(replicas: int, name: str = "db", **fields: Any) -> dict[str, Any]:
        """A StatefulSet."""
        return _workload("StatefulSet", name, replicas, {"serviceName": name, **fields})

    @staticmethod
    def daemon(name: str = "agent", **fields: Any) -> dict[str, Any]:
        """A DaemonSet."""
        return _workload("DaemonSet", name, None, fields)

    @staticmethod
    def other(kind: str, version: str, name: str, **fields: Any) -> dict[str, Any]:
        """Any other object."""
        return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **fields}

    @classmethod
    def budget(cls, **spec: Any) -> dict[str, Any]:
        """A PodDisruptionBudget over web."""
        selected = {"selector": {"matchLabels": {"app": "web"}}, **spec}
        return cls.other("PodDisruptionBudget", "policy/v1", "web", spec=selected)

    @classmethod
    def service(cls) -> dict[str, Any]:
        """A Service before web."""
        return cls.other("Service", "v1", "web", spec={"selector": {"app": "web"}, "ports": [{"port": 80}]})

    @classmethod
    def priority(cls, name: str, value: int) -> dict[str, Any]:
        """A PriorityClass."""
        return cls.other("PriorityClass", "scheduling.k8s.io/v1", name, value=value)

    @classmethod
    def autoscaler(cls, least: int, most: int, **fields: Any) -> dict[str, Any]:
        """A HorizontalPodAutoscaler of deployment/web for half of the CPU that it requests."""
        target = {"type": "Utilization", "averageUtilization": 50}
        spec = {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "minReplicas": least,
            "maxReplicas": most,
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
            **fields,
        }
        return cls.other("HorizontalPodAutoscaler", "autoscaling/v2", "web", spec=spec)


def node_pool(words: str, name: str = "n", **fields: Any) -> dict[str, Any]:
    """A node pool such as 2x2cpu,8Gi@a,b with more of its fields."""
    (parsed,) = parse_pools(words)
    room = parsed.allocatable.resources
    allocatable = {"cpu": f"{room.cpu}m", "memory": str(room.memory), "pods": 110}
    return {"name": name, "count": parsed.count, "zones": list(parsed.zones), "allocatable": allocatable, **fields}


@pytest.fixture(scope="session")
def make() -> type[Make]:
    """Manifests."""
    return Make


@pytest.fixture(scope="session")
def pool() -> Callable[..., dict[str, Any]]:
    """Node pools, for `nodePools=`."""
    return node_pool


@pytest.fixture(scope="session")
def story() -> Callable[..., Story]:
    """From `(*objects, nodes=, **spec of a scenario)`: the story that begins there, at rest."""

    def begin(*objects: dict[str, Any], nodes: str = "2x2cpu,8Gi", **spec: Any) -> Story:
        pools = spec.pop("nodePools", [node_pool(nodes)])
        document = {
            "apiVersion": "reconverge/v1alpha1",
            "kind": "Scenario",
            "metadata": {"name": "story"},
            "spec": {"objects": list(objects), "nodePools": pools, "may": {}, "events": 0, **spec},
        }
        return Story(Scenario.from_document(document))

    return begin


class Zonal:
    """Disks of one zone, made where the first pod that uses them is placed."""

    disk = Make.other(
        "StorageClass",
        "storage.k8s.io/v1",
        "zonal",
        provisioner="ebs.csi.aws.com",
        volumeBindingMode="WaitForFirstConsumer",
    )
    claim: ClassVar[Any] = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "zonal",
        "resources": {"requests": {"storage": "1Gi"}},
    }
    claims: ClassVar[Any] = {"volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}]}


@pytest.fixture(scope="session")
def zonal() -> type[Zonal]:
    """Disks."""
    return Zonal
