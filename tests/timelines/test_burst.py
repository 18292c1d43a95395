"""The load becomes four times as much: the pod autoscaler adds pods, the cluster autoscaler nodes for them."""

from __future__ import annotations

from typing import Any

import pytest


def burst(make: Any, story: Any, pool: Any, most: int, **bounds: Any) -> Any:
    """Three replicas at the half of what they request, and two of them, with a daemon, on a node."""
    objects = make.autoscaler(3, 20), make.deployment(3, load="750m"), make.daemon(cpu="100m")
    shop = story(*objects, nodePools=[pool("3x1100m,8Gi", min=3, max=most, **bounds)])
    return shop.strike("load", workload="deployment/web", millicores=3000)


@pytest.fixture
def shop(make: Any, story: Any, pool: Any) -> Any:
    """With room for all nodes that are needed."""
    return burst(make, story, pool, 10)


def test_pods_are_doubled_every_fifteen_seconds(shop: Any) -> None:
    shop.rest()
    shop.shows("""
        0 horizontal-autoscaler scales deployment/web from 3 to 6
        0 scheduler binds pod/web-1-d to n-1
        15 horizontal-autoscaler scales deployment/web from 6 to 12
    """)
    assert shop.times("horizontal-autoscaler", "scales") == [0, 15], shop.told


def test_all_pending_pods_are_counted_at_once_for_the_nodes_that_they_need(shop: Any) -> None:
    shop.rest()
    assert shop.times("cluster-autoscaler", "desired size of n to 6 (6 pending pods would fit on 3 more)") == [25], (
        shop.told
    )
    (pending, *_), (sized,) = shop.times("scheduler", "pending"), shop.times("cluster-autoscaler", "desired size")
    assert 2 <= sized - pending <= 10


def test_nodes_boot_join_not_ready_become_ready_and_then_pods_are_bound(shop: Any) -> None:
    shop.rest()
    shop.shows("""
        25 node-group launches an instance of n (3 of 6 instances exist)
        145 node-group has booted instance n-4
        145 kubelet registers node/n-4
        145 kubelet reports node/n-4 Ready
        145 node-lifecycle removes taint node.kubernetes.io/not-ready:NoSchedule from node/n-4
        145 daemonset creates pod/agent-d (node n-4 has no pod)
        145 scheduler binds pod/agent-d to n-4
        145 scheduler binds pod/web-1-g
        145 kubelet reports pod/web-1-g Running, Ready
    """)
    assert 60 <= shop.times("node-group", "has booted")[0] - 25 <= 240
    assert len(shop.names(lambda pod: pod.ready and pod.name.startswith("web"))) == 12, shop.told


def test_a_group_at_its_maximum_leaves_pods_pending_and_the_replicas_high(make: Any, story: Any, pool: Any) -> None:
    shop = burst(make, story, pool, 4).rest()
    assert shop.times("cluster-autoscaler", "desired size of n to 4") == [25], shop.told
    assert len(shop.names(lambda pod: pod.node is None)) == 4, shop.told
    assert shop.get("Deployment", "web").replicas == 12
    assert shop.times("horizontal-autoscaler", "scales") == [0, 15], shop.told


def test_the_pod_autoscaler_stops_at_its_own_maximum(make: Any, story: Any, pool: Any) -> None:
    objects = make.autoscaler(3, 8), make.deployment(3, load="750m")
    shop = story(*objects, nodePools=[pool("4x1cpu,8Gi", min=4, max=10)])
    shop.strike("load", workload="deployment/web", millicores=3000).rest()
    shop.shows("""
        0 horizontal-autoscaler scales deployment/web from 3 to 6
        15 horizontal-autoscaler scales deployment/web from 6 to 8
    """)
    shop.never("cluster-autoscaler", "desired size")


def test_less_load_takes_pods_after_five_minutes_and_nodes_ten_after_that(shop: Any) -> None:
    shop.until(1000).strike("load", workload="deployment/web", millicores=750).rest()
    assert shop.times("horizontal-autoscaler", "scales deployment/web from 12 to 3") == [1300], shop.told
    terminated = shop.times("cluster-autoscaler", "terminates instance")
    assert len(terminated) == 3, shop.told
    assert min(terminated) >= 1300 + 600, shop.told
    assert len(shop.cluster.store.nodes()) == 3
