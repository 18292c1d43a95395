"""What is promised of quotas and limits, on creations put together by hand."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import frozen

from reconverge.model.action import Create
from reconverge.model.cluster import Cluster
from reconverge.model.objects import Container, Pod, PodSpec
from reconverge.model.objects.quota import LimitRange, LimitRangeItem, ResourceQuota
from reconverge.model.resources import Resources


@frozen
class LetIn(Create):
    """A creation that nothing stops or changes."""

    def admitted(self, cluster: Cluster, pod: Pod) -> Pod:
        return pod


@frozen
class Stored(Create):
    """A creation after which the pod has another spec."""

    spec: PodSpec = PodSpec()

    def admitted(self, cluster: Cluster, pod: Pod) -> Pod:
        return pod.with_(spec=self.spec)


def quota(lab: Any, scopes: tuple[str, ...] = (), **hard: int) -> ResourceQuota:
    amounts = tuple((name.replace("_", "."), amount) for name, amount in hard.items())
    return ResourceQuota(name="team", uid=lab.fresh(), hard=amounts, scopes=scopes)


def spec(requests: int = 0, limits: int = 0, **fields: Any) -> PodSpec:
    """A spec with one container, by its millicores."""
    container = Container("c", Resources(cpu=requests), limits=Resources(cpu=limits))
    return PodSpec(containers=(container,), requests=Resources(cpu=requests), **fields)


def over(lab: Any, given: ResourceQuota, *there: Pod, new: PodSpec | None = None) -> list[str]:
    """What is said when one more pod of 500m is created beside some."""
    before = lab.situation(lab.node("n1"), given, *there)
    pod = lab.pod("new", None, spec=new if new is not None else spec(500))
    return [each.message for each in lab.broken("quota-honoured", lab.step(before, "replicaset", LetIn(pod)))]


def test_a_namespace_stays_within_its_quota(lab: Any) -> None:
    one, two = lab.pod("a"), lab.pod("b")
    assert not over(lab, quota(lab, requests_cpu=1500), one, two)
    assert over(lab, quota(lab, requests_cpu=1499), one, two) == [
        "pod/new is created, and its namespace uses 1500 of 1499 requests.cpu"
    ]
    assert not over(lab, quota(lab, pods=3), one, two)
    assert over(lab, quota(lab, pods=2), one, two)
    assert not over(lab, quota(lab, pods=2), one, lab.pod("b", namespace="other"))


@pytest.mark.parametrize(
    ("fields", "counts"),
    [
        ({}, True),
        ({"phase": "Failed", "ready": False}, False),
        ({"deletion_at": 1000, "grace": 30}, True),
        ({"deletion_at": 960, "grace": 30}, False),
    ],
)
def test_pods_that_have_ended_use_nothing(lab: Any, fields: dict[str, Any], counts: bool) -> None:
    assert bool(over(lab, quota(lab, pods=1), lab.pod("a", **fields))) == counts


@pytest.mark.parametrize(
    ("scope", "new", "broken"),
    [
        ("BestEffort", spec(), True),
        ("BestEffort", spec(500), False),
        ("NotBestEffort", spec(500), True),
        ("Terminating", spec(active_deadline=60), True),
        ("NotTerminating", spec(active_deadline=60), False),
    ],
)
def test_a_scope_narrows_a_quota(lab: Any, scope: str, new: PodSpec, broken: bool) -> None:
    assert bool(over(lab, quota(lab, (scope,), pods=0), new=new)) == broken


def test_what_is_counted_must_be_stated(lab: Any) -> None:
    (message,) = over(lab, quota(lab, limits_cpu=9000), new=spec(500))
    assert message == "pod/new is created, and its container c has no limits.cpu, which is counted"
    assert not over(lab, quota(lab, limits_cpu=9000), new=spec(500, 500))
    assert over(lab, quota(lab, limits_cpu=9000), new=spec(500, 9001))


def wrong(lab: Any, said: PodSpec, stored: PodSpec, **item: Any) -> list[str]:
    """What is said of a pod that says something and is stored as another."""
    limits = LimitRange(name="each", uid=lab.fresh(), items=(LimitRangeItem(**item),))
    before = lab.situation(lab.node("n1"), limits)
    create = Stored(lab.pod("new", None, spec=said), spec=stored)
    return [each.message for each in lab.broken("limits-honoured", lab.step(before, "replicaset", create))]


CPU_200 = (("cpu", 200),)


@pytest.mark.parametrize(
    ("said", "stored", "item", "message"),
    [
        (spec(), spec(200), {"default_request": CPU_200}, ""),
        (spec(), spec(), {"default_request": CPU_200}, "its container c has no requests.cpu though there is a default"),
        (spec(), spec(200), {"default": CPU_200}, "its container c has no limits.cpu though there is a default"),
        (spec(100), spec(100), {"default_request": CPU_200}, ""),
        (spec(9), spec(200), {"default_request": CPU_200}, "its container c has 200 of requests.cpu where it says 9"),
        (spec(200), spec(200), {"minimum": CPU_200}, ""),
        (spec(100), spec(100), {"minimum": CPU_200}, "its container c is below the minimum of 200 cpu"),
        (spec(0, 200), spec(0, 200), {"maximum": CPU_200}, ""),
        (spec(0, 300), spec(0, 300), {"maximum": CPU_200}, "its container c is above the maximum of 200 cpu"),
        (spec(), spec(), {"maximum": CPU_200}, "its container c is above the maximum of 200 cpu"),
        (spec(0, 300), spec(0, 300), {"maximum": CPU_200, "type": "Pod"}, "it is above the maximum of 200 cpu"),
    ],
)  # fmt: skip
def test_defaults_and_bounds(lab: Any, said: PodSpec, stored: PodSpec, item: dict[str, Any], message: str) -> None:
    found = wrong(lab, said, stored, **item)
    assert found == ([f"pod/new is created, and {message}"] if message else [])
