"""Wrong rules of admission: an API server that lets in, or makes of pods, what quotas and limits do not allow.

Admission is a part of the API call that creates a pod, so each case has the ReplicaSet controller call another API.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from attrs import frozen

from reconverge.model.action import Action, Create
from reconverge.model.admission import admit_pod, check_admission
from reconverge.model.cluster import Cluster
from reconverge.model.limits import LIMIT_RANGE, check_limits
from reconverge.model.loop import Plan, Reading
from reconverge.model.loops.replicaset import ReplicaSetController
from reconverge.model.objects import Pod
from reconverge.model.quota import QUOTA, check_quotas
from reconverge.model.store import Store

Case = Mapping[str, Any]


@frozen
class QuotaUnchecked(Create):
    """Quotas are for show."""

    def admitted(self, cluster: Cluster, pod: Pod) -> Pod:
        pod = admit_pod(cluster.store, pod, cluster.rules)
        check_limits(cluster.store, pod)
        return pod


@frozen
class DyingUncounted(Create):
    """A pod that is being deleted uses no quota, though it still runs."""

    def admitted(self, cluster: Cluster, pod: Pod) -> Pod:
        pod = admit_pod(cluster.store, pod, cluster.rules)
        store = cluster.store
        for each in cluster.store.all("Pod"):
            if each.deletion_at is not None:
                store, _ = store.remove("Pod", each.key)
        check_quotas(store, pod, cluster.now)
        return pod


@frozen
class OpenRequestsPass(Create):
    """A pod that asks for nothing passes a quota of requests."""

    def admitted(self, cluster: Cluster, pod: Pod) -> Pod:
        pod = admit_pod(cluster.store, pod, cluster.rules)
        if pod.spec.requests.cpu:
            check_admission(cluster.store, pod, cluster.now)
        return pod


@frozen
class NoDefaults(Create):
    """Containers that say nothing get nothing."""

    def admitted(self, cluster: Cluster, pod: Pod) -> Pod:
        pod = admit_pod(without(cluster.store, LIMIT_RANGE), pod, cluster.rules)
        check_admission(cluster.store, pod, cluster.now)
        return pod


@frozen
class BoundsUnchecked(Create):
    """The bounds of a LimitRange are for show."""

    def admitted(self, cluster: Cluster, pod: Pod) -> Pod:
        pod = admit_pod(cluster.store, pod, cluster.rules)
        check_quotas(cluster.store, pod, cluster.now)
        return pod


def without(store: Store, kind: str) -> Store:
    """The store without the objects of a kind."""
    for each in list(store.all(kind)):
        store, _ = store.remove(kind, each.key)
    return store


class OtherAPI(ReplicaSetController):
    """Pods are created by another API call."""

    def __init__(self, call: type[Create]) -> None:
        super().__init__()
        self.call = call

    def sync(self, reading: Reading, memory: Any, key: str) -> Sequence[Plan[Any]]:
        return [
            plan.with_(actions=tuple(map(self.called, plan.actions))) for plan in super().sync(reading, memory, key)
        ]

    def called(self, action: Action) -> Action:
        return self.call(action.object, action.reason) if isinstance(action, Create) else action


def quota(**hard: str) -> dict[str, Any]:
    given = {name.replace("_", "."): amount for name, amount in hard.items()}
    return {"apiVersion": "v1", "kind": QUOTA, "metadata": {"name": "team"}, "spec": {"hard": given}}


def limits(**item: Any) -> dict[str, Any]:
    given = {"limits": [{"type": "Container", **item}]}
    return {"apiVersion": "v1", "kind": LIMIT_RANGE, "metadata": {"name": "each"}, "spec": given}


UP: dict[str, Any] = {
    "loop": OtherAPI,
    "caught": "quota-honoured",
    "nodes": "2x4cpu,16Gi",
    "may": {"scale": {"replicas": [2, 4]}},
    "start": "empty",
    "trace": ["scale deployment/web 4"],
}
EMPTY: dict[str, Any] = {"loop": OtherAPI, "nodes": "2x4cpu,16Gi", "start": "empty", "trace": []}

CASES: list[Case] = [
    {**UP, "wrong": QuotaUnchecked, "objects": [quota(requests_cpu="1500m")]},
    {
        **UP,
        "wrong": DyingUncounted,
        "objects": [quota(pods="2")],
        "deployment": {"strategy": {"type": "Recreate"}, "annotations": {"reconverge/stops-after": "20"}},
        "may": {"scale": {"replicas": [2]}, "delete-pod": 1},
        "events": 2,
        "trace": ["scale deployment/web 2", "delete-pod deployment/web#0"],
    },
    {
        **EMPTY,
        "wrong": OpenRequestsPass,
        "caught": "quota-honoured",
        "deployment": {"cpu": "0"},
        "deployments": {"small": {"cpu": "200m"}},
        "objects": [quota(requests_cpu="2")],
    },
    {
        **EMPTY,
        "wrong": NoDefaults,
        "caught": "limits-honoured",
        "deployment": {"cpu": "0"},
        "objects": [limits(defaultRequest={"cpu": "200m"})],
    },
    {
        **EMPTY,
        "wrong": BoundsUnchecked,
        "caught": "limits-honoured",
        "deployment": {"cpu": "500m"},
        "deployments": {"small": {"cpu": "200m"}},
        "objects": [limits(min={"cpu": "100m"}, max={"cpu": "400m"}, default={"cpu": "400m"})],
    },
]


@pytest.mark.parametrize("case", [{"deployment": {}, **each} for each in CASES])
def test_wrong_rule_is_found(case: Case, tells_on: Callable[[Case], None]) -> None:
    tells_on(case)
