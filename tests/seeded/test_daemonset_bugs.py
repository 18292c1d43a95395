"""Wrong rules of the DaemonSet controller."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from reconverge.model.loops.daemonset import DaemonSetController
from reconverge.model.loops.daemonset.manage import Backoffs, Manager
from reconverge.model.loops.daemonset.nodes import updated
from reconverge.model.loops.daemonset.rolling import RollingUpdate
from reconverge.model.loops.daemonset.work import Change, Work
from reconverge.model.value import Seconds

Case = Mapping[str, Any]


class UnavailableForgotten(RollingUpdate):
    """An update takes the old pods of all nodes at once."""

    def allowed(self, work: Work) -> int:
        return len(work.nodes)


class OneNodeOnly(RollingUpdate):
    """An update ends with the first node."""

    def changes(self, work: Work) -> Sequence[Change]:
        begun = any(updated(pod, work.hash) for pods in work.pods.values() for pod in pods)
        return [Change()] if begun else super().changes(work)


class NeverReplaces(Manager):
    """A pod that has gone is not replaced: pods are created at first only."""

    def change(self, work: Work, backoffs: Backoffs) -> tuple[Change, Backoffs, Seconds | None]:
        change, backoffs, again = super().change(work, backoffs)
        begun = work.ds.status.desired > 0
        return Change((), change.delete) if begun else change, backoffs, again


def daemon_set() -> dict[str, Any]:
    container = {"name": "c", "image": "shop/agent:1"}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"}, "spec": spec}


CASES: list[Case] = [
    {
        "wrong": UnavailableForgotten,
        "loop": lambda wrong: DaemonSetController(rolling=wrong()),
        "caught": "service-available",
        "objects": [daemon_set()],
        "service": True,
        "nodes": "2x4cpu,16Gi",
        "may": {"rollout": 1},
        "trace": ["rollout daemonset/agent"],
    },
    {
        "wrong": OneNodeOnly,
        "loop": lambda wrong: DaemonSetController(rolling=wrong()),
        "caught": "rollout-completes",
        "objects": [daemon_set()],
        "nodes": "2x4cpu,16Gi",
        "may": {"rollout": 1},
        "trace": ["rollout daemonset/agent"],
    },
    {
        "wrong": NeverReplaces,
        "loop": lambda wrong: DaemonSetController(manager=wrong()),
        "caught": "replicas-restored",
        "objects": [daemon_set()],
        "nodes": "1x4cpu,16Gi",
        "may": {"delete-pod": 1},
        "trace": ["delete-pod daemonset/agent#0"],
    },
]


@pytest.mark.parametrize("case", CASES)
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
