"""Most nodes of a small cluster of one zone are lost."""

from __future__ import annotations

from typing import Any

import pytest

ALL = ("n-1", "n-2", "n-3", "n-4")


@pytest.fixture
def shop(make: Any, story: Any) -> Any:
    """Four nodes, one replica on each, and room for all of them on any."""
    return story(make.deployment(4), nodes="4x2cpu,8Gi", placement={"deployment/web": list(ALL)})


def test_of_three_lost_nodes_none_is_tainted_no_execute_and_nothing_is_replaced(shop: Any) -> None:
    for node in ALL[:3]:
        shop.strike("node_crash", node=node)
    shop.rest()
    assert shop.times("node-lifecycle", "sets Ready=Unknown") == [50, 50, 50], shop.told
    assert shop.times("node-lifecycle", "sets Ready=False of pod") == [50, 50, 50], shop.told
    assert shop.times("node-lifecycle", ":NoSchedule") == [50, 50, 50], shop.told
    shop.never("node-lifecycle", "NoExecute")
    shop.never("taint-eviction", "deletes")
    shop.never("replicaset", "creates")
    assert len(shop.pods()) == 4, shop.told


def test_unless_their_instances_are_gone(shop: Any) -> None:
    for node in ALL[:3]:
        shop.strike("instance_terminated", node=node)
    shop.rest()
    shop.never("node-lifecycle", "NoExecute")
    assert shop.times("pod-gc", "force-deletes") == [100, 100, 100], shop.told
    assert [pod.node for pod in shop.pods()] == ["n-4"] * 4, shop.told
    assert all(pod.ready for pod in shop.pods()), shop.told


def test_of_two_lost_nodes_the_pods_go_as_usual(shop: Any) -> None:
    shop.strike("node_crash", node="n-1").strike("node_crash", node="n-2").rest()
    assert shop.times("node-lifecycle", "NoExecute") == [50, 60], shop.told
    assert shop.times("replicaset", "creates") == [350, 360], shop.told


def test_all_lost_takes_the_taints_off_again_and_evicts_nobody(shop: Any) -> None:
    shop.strike("node_crash", node="n-1").until(60)
    for node in ALL[1:]:
        shop.strike("node_crash", node=node)
    shop.rest()
    shop.shows("""
        50 node-lifecycle taints node/n-1 node.kubernetes.io/unreachable:NoExecute
        110 node-lifecycle sets Ready=Unknown of node/n-4
        110 node-lifecycle removes taint node.kubernetes.io/unreachable:NoExecute from node/n-1 (all zones are fully
    """)
    shop.never("taint-eviction", "deletes")
    assert shop.names() == ["web-1-a", "web-1-b", "web-1-c", "web-1-d"], shop.told
