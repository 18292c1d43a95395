"""Wrong rules of the StatefulSet controller."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from reconverge.model.action import DeletePod
from reconverge.model.labels import label
from reconverge.model.loops.statefulset import StatefulSetController
from reconverge.model.loops.statefulset.ordinals import running_and_ready, unavailable
from reconverge.model.loops.statefulset.pass_ import Pass
from reconverge.model.objects import Pod, StatefulSet
from reconverge.model.objects.revision import REVISION_HASH

Case = Mapping[str, Any]


class ForceDeletes(StatefulSetController):
    """A Terminating pod is removed by force, so that its successor can be created."""

    def blocks(self, work: Pass, pod: Pod) -> bool:
        if pod.deletion_at is not None:
            work.actions.append(DeletePod(pod.key, pod.uid, grace=0))
            return True
        return super().blocks(work, pod)


class RollsAll(StatefulSetController):
    """An update deletes all pods of the old revision at once."""

    def roll(self, work: Pass) -> None:
        for pod in work.all:
            if pod.deletion_at is None and work.update.name not in dict(pod.labels).values():
                work.delete(pod, "it is of an old revision")


class CountsNoneAsUnavailable(StatefulSetController):
    """Where an update may take several pods, those that are unavailable already do not count."""

    def roll_several(self, work: Pass, most: int) -> None:
        for pod in reversed(work.all[-most:]):
            if pod.deletion_at is None and work.update.name not in dict(pod.labels).values():
                work.delete(pod, "it is of an old revision")
        super().roll_several(work, most)


class NoThird(StatefulSetController):
    """A third pod is never created."""

    def process_replica(self, work: Pass, number: int) -> bool:
        if number == 2 and number not in work.pods:
            return True
        return super().process_replica(work, number)


class CondemnedStay(StatefulSetController):
    """Pods beyond the replicas are not deleted."""

    def process_condemned(self, work: Pass, pod: Pod) -> bool:
        return True


class LowestFirst(StatefulSetController):
    """A scale-down begins with the lowest of the pods that are too many."""

    def reconcile(self, work: Pass) -> None:
        work.condemned.reverse()
        super().reconcile(work)


class NeverWaits(StatefulSetController):
    """The next pod is created whether the one before is ready or not."""

    def blocks(self, work: Pass, pod: Pod) -> bool:
        return False


class AvailableAtOnce(StatefulSetController):
    """A pod that is ready is not waited for, however long it has been ready."""

    def blocks(self, work: Pass, pod: Pod) -> bool:
        return not running_and_ready(pod) and super().blocks(work, pod)


class LowestKept(StatefulSetController):
    """An update ends before the lowest pod."""

    def lowest_updated(self, sts: StatefulSet) -> int:
        return super().lowest_updated(sts) + 1


class PartitionIgnored(StatefulSetController):
    """An update goes down to the lowest pod whatever the partition."""

    def lowest_updated(self, sts: StatefulSet) -> int:
        return 0


class CreatedOld(StatefulSetController):
    """New pods are of the revision before, also in the middle of an update."""

    def wants_current(self, sts: StatefulSet, number: int) -> bool:
        return True


class FailedStay(StatefulSetController):
    """A pod that has failed is left where it is."""

    def process_replica(self, work: Pass, number: int) -> bool:
        pod = work.pods.get(number)
        return (pod is not None and pod.terminal) or super().process_replica(work, number)


class OnDeleteIgnored(StatefulSetController):
    """The strategy OnDelete is taken for RollingUpdate."""

    def reconcile(self, work: Pass) -> None:
        super().reconcile(work)
        if work.sts.strategy == "OnDelete" and not work.actions:
            self.roll(work)


class AnyOrder(StatefulSetController):
    """An update begins with the lowest pod."""

    def roll(self, work: Pass) -> None:
        for number in sorted(work.pods):
            pod = work.pods[number]
            if unavailable(pod, work.sts, work.now):
                return
            if label(pod.labels, REVISION_HASH) != work.update.name:
                work.delete(pod, "it is of an old revision")
                return


def stateful_set(replicas: int, behaviour: str = "ready", **given: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "shop/db:1"}
    metadata = {"labels": {"app": "web"}, "annotations": {"reconverge/behaviour": behaviour}}
    template = {"metadata": metadata, "spec": {"containers": [container]}}
    selector = {"matchLabels": {"app": "web"}}
    spec = {"replicas": replicas, "serviceName": "db", "selector": selector, "template": template, **given}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": spec}


TWO_AT_A_TIME = {"rollingUpdate": {"maxUnavailable": 2}}
ONE_NODE: Case = {"nodes": "1x4cpu,16Gi"}
DOWN: Case = {**ONE_NODE, "may": {"scale": {"replicas": 1}}, "trace": ["scale statefulset/db 1"]}
ROLLOUT: Case = {**ONE_NODE, "may": {"rollout": 1}, "trace": ["rollout statefulset/db"]}
AT_ONCE: Case = {**ONE_NODE, "start": "empty", "trace": []}

CASES: list[Case] = [
    {
        "wrong": ForceDeletes,
        "caught": "pod-on-one-node",
        "objects": [stateful_set(1)],
        "nodes": "2x4cpu,16Gi",
        "may": {"node-partition": 1},
        "trace": ["node-partition node-1"],
    },
    {
        "wrong": RollsAll,
        "caught": "service-available",
        "objects": [stateful_set(2)],
        "service": True,
        "nodes": "1x4cpu,16Gi",
        "may": {"rollout": 1},
        "trace": ["rollout statefulset/db"],
    },
    {
        "wrong": NoThird,
        "caught": "replicas-restored",
        "objects": [stateful_set(2)],
        "nodes": "1x4cpu,16Gi",
        "may": {"scale": 1},
        "trace": ["scale statefulset/db 3"],
    },
    {"wrong": CondemnedStay, "caught": "no-surplus", "objects": [stateful_set(2)], **DOWN},
    {"wrong": LowestFirst, "caught": "ordered-pods", "objects": [stateful_set(3)], **DOWN},
    {"wrong": NeverWaits, "caught": "ordered-pods", "objects": [stateful_set(2, "not-ready-first")], **AT_ONCE},
    {"wrong": AvailableAtOnce, "caught": "ordered-pods", "objects": [stateful_set(2, minReadySeconds=9)], **AT_ONCE},
    {"wrong": RollsAll, "caught": "ordered-pods", "objects": [stateful_set(2)], **ROLLOUT},
    {
        "wrong": CountsNoneAsUnavailable,
        "caught": "ordered-pods",
        "objects": [stateful_set(4, podManagementPolicy="Parallel", updateStrategy=TWO_AT_A_TIME)],
        "rules": {"statefulset-max-unavailable": True},
        **ROLLOUT,
    },
    {"wrong": LowestKept, "caught": "rollout-completes", "objects": [stateful_set(2)], **ROLLOUT},
    {"wrong": CreatedOld, "caught": "no-livelock", "objects": [stateful_set(2)], **ROLLOUT},
    {"wrong": AnyOrder, "caught": "ordered-pods", "objects": [stateful_set(2)], **ROLLOUT},
    {
        "wrong": FailedStay,
        "caught": "replicas-restored",
        "objects": [stateful_set(1)],
        "nodes": "2x4cpu,16Gi",
        "may": {"pressure": {"times": 1, "node": "node-1", "resource": "memory"}},
        "trace": ["pressure node-1 memory"],
    },
    {
        "wrong": OnDeleteIgnored,
        "caught": "ordered-pods",
        "objects": [stateful_set(2, updateStrategy={"type": "OnDelete"})],
        **ROLLOUT,
        "may": {"rollout": 1, "scale": {"times": 1, "replicas": 1}},
    },
    {
        "wrong": PartitionIgnored,
        "caught": "ordered-pods",
        "objects": [stateful_set(2, updateStrategy={"rollingUpdate": {"partition": 1}})],
        **ROLLOUT,
    },
]


@pytest.mark.parametrize("case", CASES)
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
