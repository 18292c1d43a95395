"""What becomes of pods when their machine is away for a while, with all control loops at work."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.events import (
    ContainerCrashes,
    InstanceTerminated,
    KubeletRestarts,
    NetworkPluginFails,
    NetworkUnavailable,
    NodeCrashes,
    NodeReboots,
    NodeRecovers,
)


@pytest.fixture
def shop(lab: Any) -> Any:
    """Deployment web of two on four nodes; the first pod is on n1."""
    made = lab.of(*(lab.node(f"n{number}") for number in range(1, 5)), lab.deployment(2))
    made.settle()
    assert [pod.node for pod in made.pods()] == ["n1", "n2"]
    made.until(1_000)
    return made


def on(made: Any, node: str) -> list[tuple[int, bool, int]]:
    """(uid, ready, restarts) of the pods on a node."""
    return [(pod.uid, pod.ready, pod.restarts) for pod in made.cluster.store.pods_on(node)]


def test_a_hung_machine_is_noticed_tainted_and_its_pods_are_replaced_after_five_minutes(shop: Any) -> None:
    ((uid, _, _),) = on(shop, "n1")
    shop.strikes(NodeCrashes("n1"))
    shop.until(1_045)
    assert shop.get("Node", "n1").ready == "True"
    assert on(shop, "n1") == [(uid, True, 0)], "nobody knows"
    shop.until(1_060)
    assert shop.get("Node", "n1").ready == "Unknown"
    assert on(shop, "n1") == [(uid, False, 0)]
    assert shop.get("Deployment", "web").status.available == 1
    assert len(shop.pods()) == 2, "a pod that is not ready is not replaced"
    shop.until(1_300)
    assert len(shop.pods()) == 2
    shop.settle()
    (deleted,) = shop.times("deletes pod/")
    assert 1_350 <= deleted <= 1_360
    assert shop.get("Deployment", "web").status.available == 2
    assert len(on(shop, "n1")) == 1, "the old object stays"


def test_a_terminated_instance_makes_its_pods_go_earlier(shop: Any) -> None:
    shop.strikes(InstanceTerminated("n1"))
    shop.settle()
    assert shop.get("Node", "n1") is None
    assert on(shop, "n1") == []
    (gone,) = shop.times("force-deletes pod/")
    assert 1_090 <= gone <= 1_125, "noticed, its Node removed, and 40 seconds of quarantine on a grid of 20"
    assert shop.get("Deployment", "web").status.available == 2


@pytest.mark.parametrize("away", [30, 100, 300])
def test_a_machine_that_is_back_in_time_keeps_its_pods(shop: Any, away: float) -> None:
    ((uid, _, _),) = on(shop, "n1")
    shop.strikes(NodeCrashes("n1"))
    shop.until(1_000 + away)
    shop.happens(NodeRecovers("n1"))
    assert on(shop, "n1") == [(uid, True, 1)]
    assert shop.get("Node", "n1").taints == ()
    assert len(shop.pods()) == 2
    assert shop.get("Deployment", "web").status.available == 2


def test_a_machine_that_is_back_too_late_removes_what_it_had(shop: Any) -> None:
    shop.strikes(NodeCrashes("n1"))
    shop.until(1_400)
    shop.happens(NodeRecovers("n1"))
    assert on(shop, "n1") == []
    assert len(shop.pods()) == 2
    assert shop.times("restarts in place") == []


def test_a_restarted_kubelet_goes_unnoticed(shop: Any) -> None:
    before = shop.cluster.store.tables
    shop.happens(KubeletRestarts("n1"))
    assert shop.cluster.store.tables == before


def test_a_reboot_starts_the_time_of_being_ready_anew(lab: Any) -> None:
    made = lab.of(lab.node("n1"), lab.deployment(1, min_ready=30))
    made.settle()
    made.until(1_000)
    made.strikes(NodeReboots("n1"))
    made.quiet_now()
    status = made.get("Deployment", "web").status
    assert (status.ready, status.available) == (1, 0)
    made.settle()
    assert made.cluster.now == 1_030
    assert made.get("Deployment", "web").status.available == 1


def test_pods_of_a_node_that_says_itself_that_it_is_not_ready_stay_ready_until_they_are_evicted(shop: Any) -> None:
    """Only a node that falls silent has its pods marked not ready."""
    ((uid, _, _),) = on(shop, "n1")
    shop.strikes(NetworkPluginFails("n1"))
    shop.quiet_now()
    node = shop.get("Node", "n1")
    assert (node.ready, node.ready_reason) == ("False", "KubeletNotReady")
    shop.until(1_299)
    assert {(taint.key, taint.effect) for taint in shop.get("Node", "n1").taints} == {
        ("node.kubernetes.io/not-ready", "NoSchedule"),
        ("node.kubernetes.io/not-ready", "NoExecute"),
    }
    assert on(shop, "n1") == [(uid, True, 0)]
    shop.settle()
    assert set(shop.times("deletes pod/")) == {1_300}
    assert on(shop, "n1") == [], "its kubelet lives, and removes them"
    assert shop.get("Deployment", "web").status.available == 2


def test_nothing_is_started_without_a_network_but_what_uses_the_host_s(host: Any) -> None:
    node = host()
    node.strikes(NetworkPluginFails("n1"))
    node.bind("own")
    node.bind("hosts", host_network=True)
    node.lab.settle()
    assert node.status("own") == ("Pending", False, 0, "ContainerCreating")
    assert node.status("hosts")[:2] == ("Running", True)
    node.lab.happens(NodeRecovers("n1"))
    assert node.status("own")[:2] == ("Running", True)
    assert node.lab.get("Node", "n1").ready == "True"


def test_a_container_that_ends_without_a_network_stays_down(host: Any) -> None:
    node = host()
    node.bind()
    node.lab.settle()
    node.strikes(NetworkPluginFails("n1"))
    node.lab.happens(ContainerCrashes("pod/p"))
    assert node.status() == ("Running", False, 0, "")
    node.lab.happens(NodeRecovers("n1"))
    assert node.status() == ("Running", True, 1, "")


def test_a_node_without_a_route_keeps_its_pods_and_gets_no_new_ones(shop: Any) -> None:
    shop.strikes(NetworkUnavailable("n1"))
    shop.settle()
    node = shop.get("Node", "n1")
    assert [(taint.key, taint.effect) for taint in node.taints] == [
        ("node.kubernetes.io/network-unavailable", "NoSchedule")
    ]
    assert node.ready == "True"
    assert len(on(shop, "n1")) == 1
    shop.strikes(NetworkUnavailable("n1", on=False))
    shop.settle()
    assert shop.get("Node", "n1").taints == ()
