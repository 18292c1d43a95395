"""Wrong rules of the StatefulSet controller."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from reconverge.model.action import DeletePod
from reconverge.model.loops.statefulset import StatefulSetController
from reconverge.model.loops.statefulset.pass_ import Pass
from reconverge.model.objects import Pod

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


class NoThird(StatefulSetController):
    """A third pod is never created."""

    def process_replica(self, work: Pass, number: int) -> bool:
        if number == 2 and number not in work.pods:
            return True
        return super().process_replica(work, number)


def stateful_set(replicas: int) -> dict[str, Any]:
    container = {"name": "c", "image": "shop/db:1"}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    selector = {"matchLabels": {"app": "web"}}
    spec = {"replicas": replicas, "serviceName": "db", "selector": selector, "template": template}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": spec}


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
]


@pytest.mark.parametrize("case", CASES)
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
