"""Wrong rules of the ReplicaSet controller."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from reconverge.model.action import Action, DeletePod, Patch
from reconverge.model.loop import Reading
from reconverge.model.loops.expectations import Expectations
from reconverge.model.loops.replicaset import ReplicaSetController
from reconverge.model.objects import Pod, ReplicaSet, ReplicaSetStatus

Case = Mapping[str, Any]
Batches = list[tuple[str, tuple[Action, ...]]]


class CountsTerminating(ReplicaSetController):
    """Terminating pods count as active, so that nothing replaces them until they are gone."""

    def manage(self, reading: Reading, rs: ReplicaSet, active: list[Pod]) -> Batches:
        return super().manage(reading, rs, [pod for pod in reading.store.pods_of(rs.uid) if not pod.terminal])


class Unguarded(ReplicaSetController):
    """Passes on an old view are made although the version guards against them."""

    guarded = False


class OneTooMany(ReplicaSetController):
    """One pod more than is missing is created."""

    def creations(self, reading: Reading, rs: ReplicaSet, count: int) -> tuple[Action, ...]:
        return super().creations(reading, rs, count + 1)


class OneTooFew(ReplicaSetController):
    """A set is content with one pod less than it wants."""

    def creations(self, reading: Reading, rs: ReplicaSet, count: int) -> tuple[Action, ...]:
        return super().creations(reading, rs, count - 1) if rs.replicas > 1 else super().creations(reading, rs, count)


class AvailableAtOnce(ReplicaSetController):
    """Ready pods are reported available without having been ready for minReadySeconds."""

    def status(self, reading: Reading, rs: ReplicaSet, active: list[Pod], owned: list[Pod]) -> ReplicaSetStatus:
        status = super().status(reading, rs, active, owned)
        return status.with_(available=status.ready)


class NeverContent(ReplicaSetController):
    """A set that has what it wants creates one more, which it then deletes."""

    def manage(self, reading: Reading, rs: ReplicaSet, active: list[Pod]) -> Batches:
        if len(active) == rs.replicas:
            return [("", self.creations(reading, rs, 1))]
        return super().manage(reading, rs, active)


class ExpectsNothing(ReplicaSetController):
    """What was created is not remembered until the watch has shown it."""

    def expecting(self, reading: Reading, memory: Expectations, key: str, actions: tuple[Action, ...]) -> Expectations:
        return memory


class TakesFromOthers(ReplicaSetController):
    """Matching pods are adopted although another controller owns them."""

    def claimed(self, reading: Reading, rs: ReplicaSet) -> tuple[list[Pod], tuple[Action, ...]]:
        owned, claims = super().claimed(reading, rs)
        others = [pod for pod in reading.store.pods_matching(rs.namespace, rs.selector) if pod not in owned]
        owner = (("owner", rs.owner_reference()),)
        taken = tuple(Patch("Pod", pod.key, pod.uid, owner) for pod in others)
        return [*owned, *others], (*claims, *taken)


class DeletesOthers(ReplicaSetController):
    """Surplus is counted, and deleted, among all pods that match the selector, whoever owns them."""

    def manage(self, reading: Reading, rs: ReplicaSet, active: list[Pod]) -> Batches:
        pods = [pod for pod in reading.store.pods_matching(rs.namespace, rs.selector) if pod.active]
        surplus = sorted(pods, key=lambda pod: pod.key)[: max(0, len(pods) - rs.replicas)]
        if surplus:
            return [("", tuple(DeletePod(pod.key, pod.uid) for pod in surplus))]
        return super().manage(reading, rs, active)


class ReadyFirst(ReplicaSetController):
    """Ready pods are given up before those that are not."""

    def deletions(self, reading: Reading, rs: ReplicaSet, active: list[Pod], count: int) -> Batches:
        victims = sorted(active, key=lambda pod: (not pod.ready, pod.key))[:count]
        return [("", tuple(DeletePod(pod.key, pod.uid) for pod in victims))]


class DeletesOneMore(ReplicaSetController):
    """A scale-down deletes one pod more than is too many."""

    def deletions(self, reading: Reading, rs: ReplicaSet, active: list[Pod], count: int) -> Batches:
        return super().deletions(reading, rs, active, min(count + 1, len(active)))


class NeverDeletes(ReplicaSetController):
    """What is too many stays."""

    def deletions(self, reading: Reading, rs: ReplicaSet, active: list[Pod], count: int) -> Batches:
        return [("", ())]


def replica_set(name: str, replicas: int) -> dict[str, Any]:
    container = {"name": "c", "image": "shop/app:1"}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name}, "spec": spec}


CASES: list[Case] = [
    {
        "wrong": CountsTerminating,
        "caught": "replicas-restored",
        "deployment": {"replicas": 1},
        "nodes": "2x4cpu,16Gi",
        "may": {"node-crash": 1},
        "trace": ["node-crash node-1"],
    },
    {
        "wrong": OneTooMany,
        "caught": "rollout-ceiling",
        "deployment": {"replicas": 1, "strategy": {"type": "Recreate"}},
        "nodes": "1x4cpu,16Gi",
        "may": {"scale": 1},
        "trace": ["scale deployment/web 2"],
    },
    {
        "wrong": OneTooFew,
        "caught": "replicas-restored",
        "deployment": {"replicas": 1},
        "nodes": "1x4cpu,16Gi",
        "may": {"scale": 1},
        "trace": ["scale deployment/web 2"],
    },
    {
        "wrong": AvailableAtOnce,
        "caught": "rollout-floor",
        "deployment": {"replicas": 1, "minReadySeconds": 30},
        "nodes": "1x4cpu,16Gi",
        "may": {"rollout": 1},
        "trace": ["rollout deployment/web"],
    },
    {
        "wrong": NeverContent,
        "caught": "no-livelock",
        "deployment": {"replicas": 1},
        "nodes": "1x4cpu,16Gi",
        "trace": [],
    },
    {
        "wrong": ExpectsNothing,
        "caught": "rollout-ceiling",
        "deployment": {"replicas": 1, "strategy": {"type": "Recreate"}},
        "nodes": "1x4cpu,16Gi",
        "may": {"watch-stall": {"loop": "replicaset", "kind": "Pod"}, "scale": 1},
        "events": 2,
        "trace": ["watch-stall replicaset Pod", "scale deployment/web 2"],
    },
    {
        "wrong": Unguarded,
        "caught": "rollout-ceiling",
        "deployment": {"replicas": 1},
        "nodes": "2x4cpu,16Gi",
        "kubernetes": "1.36",
        "steps": [
            {"watch-stall": {"loop": "replicaset", "kind": "Pod"}},
            {"scale": {"workload": "deployment/web", "replicas": 3}},
            {"time": {"seconds": 400}},
            {"scale": {"workload": "deployment/web", "replicas": 4}},
        ],
        "events": 0,
        "trace": ["watch-stall replicaset Pod", "scale deployment/web 3", "time 400", "scale deployment/web 4"],
    },
    {
        "wrong": TakesFromOthers,
        "caught": "one-controller",
        "objects": [replica_set("blue", 1), replica_set("green", 1)],
        "nodes": "1x4cpu,16Gi",
        "start": "empty",
        "trace": [],
    },
    {
        "wrong": TakesFromOthers,
        "caught": "no-livelock",
        "objects": [replica_set("blue", 1), replica_set("green", 1)],
        "nodes": "1x4cpu,16Gi",
        "start": "empty",
        "trace": [],
    },
    {
        "wrong": DeletesOthers,
        "caught": "one-controller",
        "objects": [replica_set("blue", 1), replica_set("green", 1)],
        "nodes": "1x4cpu,16Gi",
        "start": "empty",
        "trace": [],
    },
    {
        "wrong": ReadyFirst,
        "caught": "rollout-floor",
        "deployment": {"replicas": 2, "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}},
        "nodes": "1x4cpu,16Gi",
        "may": {"pod-unready": 1, "rollout": 1},
        "events": 2,
        "trace": ["pod-unready deployment/web#0", "rollout deployment/web"],
    },
    {
        "wrong": DeletesOneMore,
        "caught": "no-unprovoked-kill",
        "deployment": {"replicas": 3},
        "nodes": "1x4cpu,16Gi",
        "may": {"scale": 1},
        "trace": ["scale deployment/web 2"],
    },
    {
        "wrong": NeverDeletes,
        "caught": "no-surplus",
        "deployment": {"replicas": 2},
        "nodes": "1x4cpu,16Gi",
        "may": {"scale": 1},
        "trace": ["scale deployment/web 1"],
    },
]


@pytest.mark.parametrize("case", CASES)
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
