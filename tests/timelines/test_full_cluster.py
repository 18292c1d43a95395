"""A rolling update of three replicas in a cluster that they fill."""

from __future__ import annotations

from typing import Any

FULL = "1x1500m,8Gi"


def rolled_out(shop: Any) -> Any:
    """A rollout, to its rest."""
    return shop.strike("rollout", workload="deployment/web").rest()


def test_with_none_unavailable_the_surge_waits_and_no_old_pod_goes(make: Any, story: Any) -> None:
    shop = rolled_out(story(make.deployment(3), nodes=FULL))
    shop.shows("""
        0 deployment creates replicaset/web-2 (revision 2, 1 replicas at first)
        0 replicaset creates pod/web-2-a
        0 scheduler leaves pod/web-2-a pending (0/1 nodes are available: 1 Insufficient cpu.
        601 deployment updates status of deployment/web (1 of 3 updated, 3 available)
    """)
    shop.never("deployment", "scales")
    assert shop.get("Deployment", "web").status.condition("Progressing").reason == "ProgressDeadlineExceeded"
    assert shop.names(lambda pod: pod.ready) == ["web-1-a", "web-1-b", "web-1-c"], shop.told


def test_until_six_hundred_seconds_it_is_progressing(make: Any, story: Any) -> None:
    shop = story(make.deployment(3), nodes=FULL).strike("rollout", workload="deployment/web").until(600)
    assert shop.get("Deployment", "web").status.condition("Progressing").status == "True"


def test_with_one_unavailable_each_new_pod_waits_until_a_terminating_one_is_gone(make: Any, story: Any) -> None:
    slow = {"reconverge/stops-after": "20"}
    shop = rolled_out(story(make.deployment(3, unavailable=1, annotations=slow), nodes=FULL))
    shop.shows("""
        0 deployment scales replicaset/web-1 from 3 to 2 (3 available, 2 needed)
        0 replicaset deletes pod/web-1-a
        0 scheduler leaves pod/web-2-a pending
        20 kubelet force-deletes pod/web-1-a
        20 scheduler binds pod/web-2-a to n-1
        40 kubelet force-deletes pod/web-1-b
        40 scheduler binds
        60 kubelet force-deletes pod/web-1-c
        60 scheduler binds
        60 deployment updates status of deployment/web (3 of 3 updated, 3 available)
    """)
    assert shop.times("scheduler", "binds") == [20, 40, 60], shop.told


def test_a_node_that_the_autoscaler_adds_lets_it_proceed(make: Any, story: Any, pool: Any) -> None:
    shop = rolled_out(story(make.deployment(3), nodePools=[pool(FULL, min=1, max=2)]))
    shop.shows("""
        0 scheduler leaves pod/web-2-a pending
        10 cluster-autoscaler sets the desired size of n to 2
        10 node-group launches an instance of n
        130 kubelet registers node/n-2
        130 scheduler binds pod/web-2-a to n-2
        130 deployment scales replicaset/web-1 from 3 to 2 (4 available, 3 needed)
        130 deployment updates status of deployment/web (3 of 3 updated, 3 available)
    """)
    shop.never("deployment", "scales replicaset/web-1", before=130)
    assert shop.get("Deployment", "web").status.condition("Progressing").reason == "NewReplicaSetAvailable"


def test_afterwards_a_node_that_is_not_needed_goes_again(make: Any, story: Any, pool: Any) -> None:
    """Ten minutes after the last node was added and ten of being unneeded, from when it was known to be."""
    shop = rolled_out(story(make.deployment(3), nodePools=[pool(FULL, min=1, max=2)]))
    (marked,) = shop.times("cluster-autoscaler", "as to be deleted")
    assert marked >= 130 + 600, shop.told
    assert len({pod.node for pod in shop.pods()}) == 1, shop.told
    assert len(shop.names(lambda pod: pod.ready)) == 3, shop.told
