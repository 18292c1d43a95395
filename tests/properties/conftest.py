"""Small worlds, each searched to its end: a property holds in every sequence, or the smallest one that breaks it.

Beside the stock invariants there are those of the literal properties that Kubernetes does not promise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from attrs import evolve

from reconverge.checker import Expected, Scenario, check
from reconverge.checker.result import Result
from reconverge.checker.trace import Stroke
from reconverge.invariants import Quiet, Situation, Violation, invariant
from reconverge.loading import parse_pools
from reconverge.model.objects import Deployment, Job, Pod, PodDisruptionBudget, StatefulSet
from reconverge.model.rounding import max_surge, max_unavailable

WEB = {"app": "web"}


@invariant("specs-within-surge", "always", for_each="Deployment")
def specs_within_surge(situation: Situation, deployment: Deployment) -> Iterable[Violation]:
    """The ReplicaSets of a Deployment together want at most replicas + maxSurge pods."""
    wanted = sum(rs.replicas for rs in situation.store.replica_sets_of(deployment.uid))
    if wanted > deployment.replicas + max_surge(deployment):
        yield Violation(deployment.reference, f"{wanted} wanted")


@invariant("available-floor", "always", for_each="Deployment")
def available_floor(situation: Situation, deployment: Deployment) -> Iterable[Violation]:
    """A Deployment has replicas - maxUnavailable ready pods, whatever happens."""
    sets = situation.store.replica_sets_of(deployment.uid)
    ready = sum(pod.ready for rs in sets for pod in situation.store.pods_of(rs.uid) if pod.active)
    if ready < deployment.replicas - max_unavailable(deployment):
        yield Violation(deployment.reference, f"{ready} ready")


@invariant("one-pod-per-ordinal", "always", for_each="StatefulSet")
def one_pod_per_ordinal(situation: Situation, stateful: StatefulSet) -> Iterable[Violation]:
    """No two processes of one identity run at a time."""
    machines = situation.cluster.machines.by_name.values()
    alive = [pod.key for machine in machines if machine.powered for pod in machine.pods.values() if pod.alive]
    for key in sorted(set(alive)):
        if alive.count(key) > 1:
            yield Violation(stateful.reference, f"{key} runs twice")


@invariant("executed-once", "eventually", for_each="Job")
def executed_once(quiet: Quiet, job: Job) -> Iterable[Violation]:
    """The one completion of a Job is executed once: no pod is made after the first."""
    first = quiet.after.start
    begun = set() if first is None else {pod.uid for pod in first.store.pods_of(job.uid)}
    if any(pod.uid not in begun for pod in quiet.store.pods_of(job.uid)):
        yield Violation(job.reference, "executed again")


@invariant("healthy-floor", "always", for_each="PodDisruptionBudget")
def healthy_floor(situation: Situation, budget: PodDisruptionBudget) -> Iterable[Violation]:
    """There are as many healthy pods as a budget asks for, whatever happens."""
    pods = situation.store.pods_matching(budget.namespace, budget.selector)
    least = budget.min_available
    if isinstance(least, int) and sum(pod.ready and pod.active for pod in pods) < least:
        yield Violation(budget.reference, f"fewer than {least}")


@invariant("never-rejected", "always", for_each="Pod")
def never_rejected(_: Situation, pod: Pod) -> Iterable[Violation]:
    """No kubelet rejects a pod for want of resources."""
    if pod.reason.startswith("OutOf"):
        yield Violation(pod.reference, pod.reason)


OWN = (specs_within_surge, available_floor, one_pod_per_ordinal, executed_once, healthy_floor, never_rejected)


def _workload(kind: str, name: str, replicas: int | None, fields: dict[str, Any]) -> dict[str, Any]:
    cpu, notes, pod = fields.pop("cpu", "500m"), fields.pop("annotations", {}), fields.pop("pod", {})
    container = {"name": "c", "image": "shop/app:1", "resources": {"requests": {"cpu": cpu}}}
    template = {"metadata": {"labels": {"app": name}, "annotations": notes}, "spec": {"containers": [container], **pod}}
    spec: dict[str, Any] = {"template": template, **fields}
    if replicas is not None:
        spec |= {"replicas": replicas, "selector": {"matchLabels": {"app": name}}}
    version = "batch/v1" if kind == "Job" else "apps/v1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}


class Make:
    """Manifests in a few words."""

    @staticmethod
    def deployment(replicas: int = 1, **fields: Any) -> dict[str, Any]:
        """Deployment web; `surge` and `unavailable` for short, `cpu`, `pod` and `annotations` of its template."""
        rolling = {"surge": "maxSurge", "unavailable": "maxUnavailable"}
        given = {word: fields.pop(short) for short, word in rolling.items() if short in fields}
        if given:
            fields["strategy"] = {"type": "RollingUpdate", "rollingUpdate": given}
        return _workload("Deployment", "web", replicas, fields)

    @staticmethod
    def other(name: str, replicas: int = 1, **fields: Any) -> dict[str, Any]:
        """Another Deployment."""
        return _workload("Deployment", name, replicas, fields)

    @staticmethod
    def stateful(replicas: int = 1, **fields: Any) -> dict[str, Any]:
        """StatefulSet web."""
        return _workload("StatefulSet", "web", replicas, {"serviceName": "web", **fields})

    @staticmethod
    def job(**fields: Any) -> dict[str, Any]:
        """Job web with one completion."""
        return _workload("Job", "web", None, fields)

    @staticmethod
    def budget(**spec: Any) -> dict[str, Any]:
        """A PodDisruptionBudget over web."""
        spec = {"selector": {"matchLabels": WEB}, **spec}
        return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"}, "spec": spec}

    @staticmethod
    def service() -> dict[str, Any]:
        """A Service before web."""
        spec = {"selector": WEB, "ports": [{"port": 80}]}
        return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": spec}

    @staticmethod
    def priority(name: str, value: int) -> dict[str, Any]:
        """A PriorityClass."""
        kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
        return {**kind, "metadata": {"name": name}, "value": value}

    @staticmethod
    def disks() -> dict[str, Any]:
        """The class of disks that are made in the zone of the first pod that uses them."""
        kind = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "provisioner": "ebs.csi.aws.com"}
        return {**kind, "metadata": {"name": "zonal"}, "volumeBindingMode": "WaitForFirstConsumer"}

    @staticmethod
    def claim() -> dict[str, Any]:
        """The claim of a disk, data; `spec` of it also serves a template."""
        room = {"requests": {"storage": "1Gi"}}
        spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "zonal", "resources": room}
        return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": spec}

    @staticmethod
    def pool(words: str) -> dict[str, Any]:
        """A node pool such as 2x2cpu,8Gi@a,b."""
        (pool,) = parse_pools(words)
        room = pool.allocatable.resources
        allocatable = {"cpu": f"{room.cpu}m", "memory": str(room.memory), "pods": 110}
        return {"name": "n", "count": pool.count, "zones": list(pool.zones), "allocatable": allocatable}


def _searched(invariant: str, *objects: dict[str, Any], nodes: str = "2x2cpu,8Gi", **spec: Any) -> Result:
    document = {
        "apiVersion": "reconverge/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": invariant},
        "spec": {
            "objects": list(objects), "nodePools": [Make.pool(nodes)], "events": 1, "deviations": 1, **spec,
        },
    }  # fmt: skip
    plain = Scenario.from_document(document)
    return check(evolve(plain, extra=OWN, only=(Expected(invariant),)), mode="exhaustive")


def _story(stroke: Stroke) -> str:
    return " ".join([stroke.event, *(str(value) for value in stroke.arguments.values())])


@pytest.fixture(scope="session")
def make() -> type[Make]:
    """Manifests."""
    return Make


@pytest.fixture(scope="session")
def holds() -> Callable[..., None]:
    """From `(invariant, *objects, nodes=, **scenario)`: it holds in every sequence, and the search is complete."""

    def judge(invariant: str, *objects: dict[str, Any], **spec: Any) -> None:
        found = _searched(invariant, *objects, **spec)
        assert found.exploration.complete
        assert {each.status for each in found.verdicts} == {"held"}, [
            [_story(stroke) for stroke in trace.strokes] for trace in found.traces
        ]

    return judge


@pytest.fixture(scope="session")
def breaks() -> Callable[..., list[str]]:
    """As `holds`, the other way round: the events of the smallest counterexample."""

    def judge(invariant: str, *objects: dict[str, Any], **spec: Any) -> list[str]:
        found = _searched(invariant, *objects, **spec)
        assert {each.status for each in found.verdicts} >= {"violated"}, "it holds"
        return [_story(stroke) for stroke in found.traces[0].strokes]

    return judge
