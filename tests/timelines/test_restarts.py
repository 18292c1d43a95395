"""A kubelet or a whole node restarts: what happens depends on how long it is away."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def shop(make: Any, story: Any) -> Any:
    """Two replicas on n-1 and n-2, and a third node."""
    return story(make.deployment(2), nodes="3x2cpu,8Gi", placement={"deployment/web": ["n-1", "n-2"]})


def test_a_kubelet_that_restarts_leaves_its_containers_alone_and_nobody_notices(shop: Any) -> None:
    shop.strike("kubelet_restart", node="n-1").rest()
    assert [line.words for line in shop.lines[1:]] == ["admits again pod/web-1-a on n-1"], shop.told
    assert shop.pod("web-1-a").restarts == 0


def test_a_kubelet_away_for_less_than_fifty_seconds_is_not_noticed(shop: Any) -> None:
    shop.strike("node_partition", node="n-1").until(49).strike("node_recover", node="n-1").rest()
    shop.never("node-lifecycle", "")
    shop.never("kubelet", "restarts")
    assert shop.pod("web-1-a").ready


def test_a_quick_reboot_restarts_containers_in_place(make: Any, story: Any) -> None:
    """They take 2 s to get ready, and are not ready meanwhile."""
    late = {"reconverge/behaviour": "not-ready-first"}
    shop = story(make.deployment(2, annotations=late), nodes="2x2cpu,8Gi")
    uid = shop.pod("web-1-a").uid
    shop.strike("node_reboot", node="n-1").rest()
    shop.shows("""
        0 kubelet restarts in place pod/web-1-a on n-1 (restart 1)
        0 kubelet reports pod/web-1-a Running, not ready
        2 kubelet reports pod/web-1-a Running, Ready
    """)
    pod = shop.pod("web-1-a")
    assert (pod.uid, pod.restarts, pod.ready) == (uid, 1, True)
    shop.never("replicaset", "creates")
    shop.never("node-lifecycle", "")


def test_a_reboot_shorter_than_the_grace_period_is_not_noticed(shop: Any) -> None:
    shop.strike("node_crash", node="n-1").until(45).strike("node_recover", node="n-1").rest()
    assert shop.times("kubelet", "restarts in place pod/web-1-a") == [45], shop.told
    shop.never("node-lifecycle", "")
    shop.never("replicaset", "creates")


def test_one_longer_than_it_makes_the_node_unknown_but_keeps_the_pods(shop: Any) -> None:
    uid = shop.pod("web-1-a").uid
    shop.strike("node_crash", node="n-1").until(340).strike("node_recover", node="n-1").rest()
    shop.shows("""
        50 node-lifecycle sets Ready=Unknown of node/n-1
        50 node-lifecycle sets Ready=False of pod/web-1-a
        50 node-lifecycle taints node/n-1 node.kubernetes.io/unreachable:NoExecute
        340 kubelet restarts in place pod/web-1-a on n-1 (restart 1)
        340 node-lifecycle removes taint node.kubernetes.io/unreachable:NoExecute
    """)
    assert shop.pod("web-1-a").uid == uid
    shop.never("replicaset", "creates")


def test_one_longer_than_the_toleration_has_them_replaced_and_removed(shop: Any) -> None:
    shop.strike("node_crash", node="n-1").until(360).strike("node_recover", node="n-1").rest()
    shop.shows("""
        350 taint-eviction deletes pod/web-1-a
        350 replicaset creates pod/web-1-c
        360 kubelet force-deletes pod/web-1-a
    """)
    shop.never("kubelet", "restarts")
    assert shop.names() == ["web-1-b", "web-1-c"], shop.told
