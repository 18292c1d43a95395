"""Images that cannot be pulled, and memory that runs out."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.events import ContainerCrashes, NodeOutOfMemory, OutOfMemory, RegistryBack, RegistryDown
from reconverge.model.objects import Behaviour, Container
from reconverge.model.quality import oom_score
from reconverge.model.resources import Resources

GIB = 2**30


def shop(**fields: Any) -> tuple[Container, ...]:
    return (Container("main", image="shop/app:1", **fields),)


def test_an_image_that_does_not_exist_leaves_the_pod_pending(host: Any) -> None:
    node = host()
    node.bind(behaviour="no-image")
    node.lab.settle()
    assert node.status() == ("Pending", False, 0, "ImagePullBackOff")


def test_a_pod_without_its_image_can_be_deleted(host: Any) -> None:
    node = host()
    node.bind(behaviour="no-image")
    node.lab.settle()
    node.delete()
    node.lab.settle()
    assert node.lab.pods() == []


def test_without_the_registry_only_nodes_that_have_the_image_start_it(host: Any) -> None:
    node = host()
    node.bind("old", containers=shop())
    node.lab.settle()
    node.strikes(RegistryDown())
    node.bind("same", containers=shop())
    node.bind("other", containers=(Container("main", image="shop/app:2"),))
    node.lab.settle()
    assert node.status("same")[:2] == ("Running", True)
    assert node.status("other") == ("Pending", False, 0, "ImagePullBackOff")
    node.lab.happens(RegistryBack())
    assert node.status("other") == ("Running", True, 0, "")


def test_an_image_is_gone_with_the_last_container_that_used_it(host: Any) -> None:
    node = host()
    node.bind("old", containers=shop())
    node.lab.settle()
    node.strikes(RegistryDown())
    node.delete("old")
    node.lab.settle()
    node.bind("new", containers=shop())
    node.lab.settle()
    assert node.status("new")[3] == "ImagePullBackOff"


@pytest.mark.parametrize(("always", "waiting"), [(False, ""), (True, "ImagePullBackOff")])
def test_a_restart_needs_the_registry_only_where_the_image_is_always_pulled(
    host: Any, always: bool, waiting: str
) -> None:
    node = host()
    node.bind(containers=shop(pulls_always=always))
    node.lab.settle()
    node.strikes(RegistryDown())
    node.lab.happens(ContainerCrashes("pod/p"))
    assert node.status() == ("Running", not waiting, 0 if waiting else 1, waiting)


def test_a_container_over_its_limit_is_killed_and_restarted(host: Any) -> None:
    node = host()
    node.bind(containers=(Container("main", limits=Resources(memory=GIB)),), restart="Never")
    node.lab.settle()
    node.lab.happens(OutOfMemory("pod/p"))
    pod = node.lab.get("Pod", "p")
    assert (pod.phase, pod.exit_codes) == ("Failed", (("main", 137),))


def test_without_a_limit_there_is_none_to_exceed(host: Any) -> None:
    node = host()
    node.bind()
    node.lab.settle()
    assert not OutOfMemory("pod/p").enabled(node.lab.cluster)


def test_a_program_that_always_needs_too_much_is_in_a_crash_loop(host: Any) -> None:
    node = host()
    greedy = Behaviour("out-of-memory", exits_after=4)
    node.bind(behaviour=greedy, containers=(Container("main", limits=Resources(memory=GIB)),))
    node.lab.until(10)
    assert node.status() == ("Running", False, 1, "CrashLoopBackOff")


@pytest.mark.parametrize(("needs", "restarts"), [(GIB, 0), (GIB + 1, 1)])
def test_a_program_that_needs_more_than_its_limit_is_killed(host: Any, needs: int, restarts: int) -> None:
    node = host()
    limited = Container("main", limits=Resources(memory=GIB))
    node.bind(behaviour=Behaviour(memory=needs, exits_after=4), containers=(limited,))
    node.lab.until(10)
    assert node.status()[2] == restarts


def test_the_kernel_kills_what_is_far_above_its_request_before_what_asks_for_nothing(host: Any) -> None:
    node = host()
    node.bind("asks", containers=(Container("c", requests=Resources(100, GIB)),), behaviour=Behaviour(memory=8 * GIB))
    node.bind("modest")
    node.lab.settle()
    node.lab.happens(NodeOutOfMemory("n1"))
    assert (node.status("asks")[2], node.status("modest")[2]) == (1, 0)


def test_the_kernel_kills_whoever_asked_for_nothing_first(host: Any) -> None:
    node = host()
    asks = Resources(100, GIB)
    node.bind("burstable", containers=(Container("c", requests=asks),), requests=asks)
    node.bind("modest")
    node.bind("guaranteed", containers=(Container("c", requests=asks, limits=asks),), requests=asks)
    node.lab.settle()
    killed = []
    for _ in range(3):
        node.lab.happens(NodeOutOfMemory("n1"))
        killed.append({name: node.status(name)[2] for name in ("modest", "burstable", "guaranteed")})
    assert killed[0] == {"modest": 1, "burstable": 0, "guaranteed": 0}
    assert killed[2] == {"modest": 3, "burstable": 0, "guaranteed": 0}


@pytest.mark.parametrize(
    ("requests", "limits", "score"),
    [
        (Resources(), Resources(), 1000),
        (Resources(100, 4 * GIB), Resources(), 750),
        (Resources(100, 16 * GIB), Resources(), 3),
        (Resources(100), Resources(), 999),
        (Resources(100, GIB), Resources(100, GIB), -997),
    ],
)
def test_scores(lab: Any, requests: Resources, limits: Resources, score: int) -> None:
    container = Container("c", requests=requests, limits=limits)
    assert oom_score(lab.spec(containers=(container,)), container, 16 * GIB) == score


def test_critical_pods_of_nodes_are_protected(lab: Any) -> None:
    assert oom_score(lab.spec(priority=2_000_001_000), Container("c"), 16 * GIB) == -997
