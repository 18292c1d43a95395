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


class UnreadyNotCounted(RollingUpdate):
    """New pods that are not ready yet use up nothing of what may be unavailable."""

    def counts_as_unavailable(self, work: Work, kind: str) -> bool:
        return False


class OldFirstInSurge(RollingUpdate):
    """With surge, old pods go together with the creation of the new ones."""

    def surging(self, work: Work) -> Sequence[Change]:
        old = [(found.old, "old") for _, found in self.pairs(work) if found is not None and found.old is not None]
        return [Change(change.create, (*change.delete, *old)) for change in super().surging(work)]


class TerminatingForgotten(Manager):
    """A pod that is being deleted is replaced before it is gone."""

    def change(self, work: Work, backoffs: Backoffs) -> tuple[Change, Backoffs, Seconds | None]:
        staying = {node: [pod for pod in pods if pod.deletion_at is None] for node, pods in work.pods.items()}
        work.pods = {node: pods for node, pods in staying.items() if pods}
        return super().change(work, backoffs)


class FailedStay(Manager):
    """A pod that has failed counts as the pod of its node."""

    def failed(self, *given: Any) -> Any:
        return [], given[3]


class Evacuates(Manager):
    """Pods leave nodes on which no new one would be started."""

    def change(self, work: Work, backoffs: Backoffs) -> tuple[Change, Backoffs, Seconds | None]:
        work.fits = {node: (run, run) for node, (run, _) in work.fits.items()}
        return super().change(work, backoffs)


class TaintsIgnored(Manager):
    """Every node gets a pod, whatever its taints."""

    def change(self, work: Work, backoffs: Backoffs) -> tuple[Change, Backoffs, Seconds | None]:
        work.fits = dict.fromkeys(work.fits, (True, True))
        return super().change(work, backoffs)


def daemon_set(**given: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "shop/agent:1"}
    metadata = {"labels": {"app": "web"}, "annotations": given.pop("annotations", {})}
    template = {"metadata": metadata, "spec": {"containers": [container]}}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template, **given}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"}, "spec": spec}


CASES: list[Case] = [
    {
        "wrong": TerminatingForgotten,
        "loop": lambda wrong: DaemonSetController(manager=wrong()),
        "caught": "pod-on-one-node",
        "objects": [daemon_set(annotations={"reconverge/stops-after": "20"})],
        "nodes": "1x4cpu,16Gi",
        "may": {"delete-pod": 1, "node-crash": 1, "node-reboot": 1},
        "events": 2,
        "trace": ["delete-pod daemonset/agent#0"],
    },
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
    {
        "wrong": UnreadyNotCounted,
        "loop": lambda wrong: DaemonSetController(rolling=wrong()),
        "caught": "service-available",
        "objects": [daemon_set()],
        "service": True,
        "nodes": "2x4cpu,16Gi",
        "may": {"rollout": {"times": 1, "behaviour": ["ready", "never-ready"]}},
        "trace": ["rollout daemonset/agent never-ready"],
    },
    {
        "wrong": OldFirstInSurge,
        "loop": lambda wrong: DaemonSetController(rolling=wrong()),
        "caught": "service-available",
        "objects": [daemon_set(updateStrategy={"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}})],
        "service": True,
        "nodes": "1x4cpu,16Gi",
        "may": {"rollout": {"times": 1, "behaviour": ["never-ready"]}},
        "trace": ["rollout daemonset/agent never-ready"],
    },
    {
        "wrong": FailedStay,
        "loop": lambda wrong: DaemonSetController(manager=wrong()),
        "caught": "replicas-restored",
        "objects": [daemon_set()],
        "nodes": "1x4cpu,16Gi",
        "steps": [
            {"pressure": {"node": "node-1", "resource": "memory"}},
            {"time": {"seconds": 15}},
            {"pressure": {"node": "node-1", "resource": "memory", "on": False}},
        ],
        "events": 0,
        "trace": ["pressure node-1 memory", "time 15", "pressure node-1 memory False"],
    },
    {
        "wrong": Evacuates,
        "loop": lambda wrong: DaemonSetController(manager=wrong()),
        "caught": "no-unprovoked-kill",
        "objects": [daemon_set()],
        "nodes": "1x4cpu,16Gi",
        "may": {
            "taint": {"times": 1, "key": "spare", "value": "", "effect": "NoSchedule"},
            "container-crash": 1,
        },
        "trace": ["taint node-1 spare"],
    },
    {
        "wrong": TaintsIgnored,
        "loop": lambda wrong: DaemonSetController(manager=wrong()),
        "caught": "replicas-restored",
        "objects": [daemon_set()],
        "nodes": "2x4cpu,16Gi",
        "may": {"taint": {"times": 1, "node": "node-1", "key": "spare", "value": "", "effect": "NoExecute"}},
        "trace": ["taint node-1 spare NoExecute"],
    },
]


@pytest.mark.parametrize("case", CASES)
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
