"""The control plane is lost: etcd without a majority, and, another thing, an API server that no kubelet reaches."""

from __future__ import annotations

from typing import Any

import pytest

PLACED = {"deployment/web": ["n-1", "n-2"]}


@pytest.fixture
def shop(make: Any, story: Any) -> Any:
    """Two replicas on n-1 and n-2 of four nodes, and a Service before them."""
    return story(make.deployment(2), make.service(), nodes="4x2cpu,8Gi", placement=PLACED)


def test_one_member_of_three_is_not_missed(shop: Any) -> None:
    shop.strike("etcd_member_lost").strike("node_crash", node="n-1").rest()
    assert shop.times("replicaset", "creates") == [350], shop.told


def test_without_a_majority_nothing_is_written_and_kubelets_go_on(shop: Any) -> None:
    """A container is restarted in place; that it was cannot be reported."""
    shop.strike("etcd_member_lost", members=2).until(5)
    shop.strike("container_crash", pod="deployment/web#1").until(20).strike("node_crash", node="n-1").until(3000)
    shop.shows("""
        5 kubelet restarts in place pod/web-1-b on n-2 (restart 1)
        5 kubelet reports pod/web-1-b Running, Ready (refused: 503
    """)
    writes = [line for line in shop.lines if line.actor not in ("event", "kubelet")]
    assert not writes, shop.told
    assert shop.node("n-1").ready == "True"
    assert shop.pod("web-1-b").restarts == 0


def test_with_the_majority_new_leaders_begin_and_every_node_has_a_whole_grace_period(shop: Any) -> None:
    """A leader is elected after 15 s, and takes 50 s from its own first look, though n-1 has been dead for long."""
    shop.strike("etcd_member_lost", members=2).until(20).strike("node_crash", node="n-1").until(300)
    shop.strike("etcd_member_back").rest()
    assert shop.times("node-lifecycle", "Ready=Unknown of node/n-1") == [300 + 15 + 50], shop.told
    assert shop.times("taint-eviction", "deletes pod/web-1-a") == [300 + 15 + 50 + 300], shop.told


def test_tolerated_seconds_are_counted_from_the_beginning_again(shop: Any) -> None:
    shop.strike("node_crash", node="n-1").until(300).strike("etcd_member_lost", members=2).until(340)
    shop.strike("etcd_member_back").rest()
    assert shop.times("node-lifecycle", "taints node/n-1 node.kubernetes.io/unreachable:NoExecute") == [50], shop.told
    assert shop.times("taint-eviction", "deletes pod/web-1-a") == [340 + 15 + 300], shop.told


def test_what_an_autoscaler_has_recommended_is_forgotten_too(make: Any, story: Any) -> None:
    """Its window of 300 s for fewer replicas begins with the first look of the new leader, 15 s after the majority."""
    calm = story(make.autoscaler(2, 12), make.deployment(4, load="1000m"), nodes="4x4cpu,8Gi")
    calm.strike("load", workload="deployment/web", millicores=500)
    lost = story(make.autoscaler(2, 12), make.deployment(4, load="1000m"), nodes="4x4cpu,8Gi")
    lost.strike("load", workload="deployment/web", millicores=500).until(200)
    lost.strike("etcd_member_lost", members=2).until(250).strike("etcd_member_back")
    assert calm.rest().times("horizontal-autoscaler", "scales deployment/web from 4 to 2") == [300], calm.told
    assert lost.rest().times("horizontal-autoscaler", "scales deployment/web from 4 to 2") == [250 + 15 + 315], (
        lost.told
    )


def test_kubelets_that_cannot_reach_the_api_are_unknown_and_services_empty_but_nobody_is_evicted(shop: Any) -> None:
    shop.strike("control_plane_cut", zone="all").until(3000)
    assert shop.times("node-lifecycle", "sets Ready=Unknown") == [50] * 4, shop.told
    assert shop.times("node-lifecycle", "sets Ready=False of pod") == [50, 50], shop.told
    assert not any(each.ready for each in shop.get("EndpointSlice", "web").endpoints), shop.told
    shop.never("node-lifecycle", "NoExecute")
    shop.never("taint-eviction", "deletes")
    machines = shop.cluster.machines.by_name
    assert [len(machines[node].pods) for node in ("n-1", "n-2")] == [1, 1]


def test_a_node_that_was_tainted_before_is_freed_by_the_cut(shop: Any) -> None:
    shop.strike("node_crash", node="n-1").until(60).strike("control_plane_cut", zone="all").until(3000)
    assert shop.times("node-lifecycle", "removes taint node.kubernetes.io/unreachable:NoExecute") == [110], shop.told
    shop.never("taint-eviction", "deletes")


def test_when_nodes_return_the_ones_still_away_are_counted_from_then(make: Any, story: Any) -> None:
    """Three of five are back: the others are tainted at the usual rate, whose first token takes its time, too."""
    shop = story(make.deployment(2), nodes="5x2cpu,8Gi", placement=PLACED)
    shop.strike("control_plane_cut", zone="all").until(1000)
    for node in ("n-3", "n-4", "n-5"):
        shop.strike("node_recover", node=node)
    shop.rest()
    assert shop.times("node-lifecycle", "unreachable:NoExecute") == [1010, 1020], shop.told
    assert shop.times("taint-eviction", "deletes pod") == [1310, 1320], shop.told


def test_one_that_returns_and_is_cut_off_again_has_a_fresh_grace_period(shop: Any) -> None:
    shop.strike("control_plane_cut", zone="all").until(1000).strike("node_recover", node="n-3").until(1001)
    shop.strike("node_partition", node="n-3").rest()
    assert shop.times("node-lifecycle", "Ready=Unknown of node/n-3") == [50, 1055], shop.told
