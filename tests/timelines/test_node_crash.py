"""A node dies under a pod of a Deployment, and there is room elsewhere."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def shop(make: Any, story: Any) -> Any:
    """Two replicas on n-1 and n-2, a Service before them, and a third node."""
    placed = {"deployment/web": ["n-1", "n-2"]}
    return story(make.deployment(2), make.service(), nodes="3x2cpu,8Gi", placement=placed)


def test_for_fifty_seconds_the_api_knows_nothing(shop: Any) -> None:
    shop.strike("node_crash", node="n-1").until(49)
    assert [line.words for line in shop.lines] == ["node n-1 crashes"], shop.told
    assert shop.node("n-1").ready == "True"
    assert shop.pod("web-1-a").ready
    assert all(each.ready for each in shop.get("EndpointSlice", "web").endpoints)


def test_then_it_is_unknown_its_pods_are_not_ready_and_it_is_tainted_but_nothing_is_replaced(shop: Any) -> None:
    shop.strike("node_crash", node="n-1").until(349)
    shop.shows("""
        50 node-lifecycle sets Ready=Unknown of node/n-1
        50 node-lifecycle sets Ready=False of pod/web-1-a
        50 endpoints updates endpoints of service/web (1 of 2 endpoints ready)
        50 node-lifecycle taints node/n-1 node.kubernetes.io/unreachable:NoSchedule
        50 node-lifecycle taints node/n-1 node.kubernetes.io/unreachable:NoExecute
        50 deployment updates status of deployment/web (2 of 2 updated, 1 available)
    """)
    assert 40 <= shop.times("node-lifecycle", "Ready=Unknown")[0] <= 60
    assert {line.time for line in shop.lines} == {0, 50}, shop.told
    shop.never("replicaset", "creates")


def test_a_machine_that_hangs_is_made_up_for_five_minutes_later_and_its_pod_stays_terminating(shop: Any) -> None:
    shop.strike("node_crash", node="n-1").rest()
    shop.shows("""
        350 taint-eviction deletes pod/web-1-a (does not tolerate node.kubernetes.io/unreachable:NoExecute
        350 replicaset creates pod/web-1-c (2 wanted, 1 there)
        350 scheduler binds pod/web-1-c to n-3
        350 kubelet reports pod/web-1-c Running, Ready
        350 deployment updates status of deployment/web (2 of 2 updated, 2 available)
    """)
    shop.never("replicaset", "creates", before=350)
    assert shop.names(lambda pod: pod.deletion_at is not None) == ["web-1-a"], shop.told


def test_an_instance_that_is_terminated_is_made_up_for_within_two_minutes(shop: Any) -> None:
    """The cloud's controller deletes the Node, and the garbage collector of pods its pods: nobody waits 300 s."""
    shop.strike("instance_terminated", node="n-1").rest()
    shop.shows("""
        50 node-lifecycle sets Ready=Unknown of node/n-1
        50 cloud-node deletes node/n-1
        100 pod-gc force-deletes pod/web-1-a (PodGC: node no longer exists)
        100 replicaset creates pod/web-1-c
        100 kubelet reports pod/web-1-c Running, Ready
    """)
    (deleted,), (collected,) = shop.times("cloud-node", "deletes node"), shop.times("pod-gc", "force-deletes")
    assert 40 <= collected - deleted <= 60
    assert collected <= 120
    shop.never("taint-eviction", "deletes")
    assert shop.names() == ["web-1-b", "web-1-c"], shop.told


def test_a_machine_that_is_back_in_time_keeps_its_pods(shop: Any) -> None:
    uid = shop.pod("web-1-a").uid
    shop.strike("node_crash", node="n-1").until(349).strike("node_recover", node="n-1").rest()
    shop.shows("""
        349 kubelet renews the lease of node/n-1
        349 kubelet restarts in place pod/web-1-a on n-1 (restart 1)
        349 kubelet reports pod/web-1-a Running, Ready
        349 node-lifecycle removes taint node.kubernetes.io/unreachable:NoSchedule
        349 endpoints updates endpoints of service/web (2 of 2 endpoints ready)
        350 node-lifecycle removes taint node.kubernetes.io/unreachable:NoExecute
    """)
    shop.never("taint-eviction", "deletes")
    shop.never("replicaset", "creates")
    pod = shop.pod("web-1-a")
    assert (pod.uid, pod.restarts, pod.ready, pod.deletion_at) == (uid, 1, True, None)
    assert not shop.node("n-1").taints


def test_a_later_failure_has_three_hundred_seconds_of_its_own(shop: Any) -> None:
    shop.strike("node_crash", node="n-1").until(200).strike("node_recover", node="n-1").until(210)
    shop.strike("node_crash", node="n-1").rest()
    assert shop.times("taint-eviction", "deletes pod/web-1-a") == [210 + 50 + 300], shop.told


def test_a_machine_that_is_back_too_late_gives_its_pod_up(shop: Any) -> None:
    shop.strike("node_crash", node="n-1").until(400).strike("node_recover", node="n-1").rest()
    shop.shows("""
        350 replicaset creates pod/web-1-c
        400 kubelet force-deletes pod/web-1-a (everything in it has stopped)
    """)
    assert shop.names(lambda pod: pod.ready) == ["web-1-b", "web-1-c"], shop.told
    assert len(shop.names()) == 2
