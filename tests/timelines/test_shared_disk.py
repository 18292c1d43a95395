"""One replica with a disk that one node can have, and a rollout."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def wiki(make: Any, story: Any, zonal: Any) -> Any:
    """Begins the story of deployment/web with a disk, for `(nodes, **fields of the Deployment)`."""

    def begin(nodes: str, **fields: Any) -> Any:
        volume = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
        claim = make.other("PersistentVolumeClaim", "v1", "data", spec=zonal.claim)
        return story(zonal.disk, claim, make.deployment(1, pod=volume, **fields), nodes=nodes)

    return begin


def test_the_surge_on_another_node_waits_for_ever_for_the_disk(wiki: Any) -> None:
    shop = wiki("2x2cpu,8Gi@a").strike("rollout", workload="deployment/web").rest()
    shop.shows("""
        0 replicaset creates pod/web-2-a
        0 scheduler binds pod/web-2-a to n-2
        0 kubelet reports pod/web-2-a ContainerCreating (Multi-Attach error: volume pvc-data is attached to n-1)
        601 deployment updates status of deployment/web (1 of 1 updated, 1 available)
    """)
    shop.never("attach-detach", "")
    shop.never("deployment", "scales")
    assert shop.names(lambda pod: pod.ready) == ["web-1-a"], shop.told


def test_on_the_same_node_it_works(wiki: Any) -> None:
    shop = wiki("1x2cpu,8Gi@a").strike("rollout", workload="deployment/web").rest()
    shop.shows("""
        0 kubelet reports pod/web-2-a Running, Ready
        0 deployment scales replicaset/web-1 from 1 to 0
    """)
    assert shop.names(lambda pod: pod.ready) == ["web-2-a"], shop.told


def test_recreate_works_with_a_time_without_any(wiki: Any) -> None:
    """The old pod takes 10 s to stop, and cannot run on the node that it came from."""
    slow = {"annotations": {"reconverge/stops-after": "10"}, "strategy": {"type": "Recreate"}}
    shop = wiki("2x2cpu,8Gi@a", **slow).strike("cordon", node="n-1").strike("rollout", workload="deployment/web")
    shop.until(9)
    assert shop.names(lambda pod: pod.ready and pod.deletion_at is None) == [], shop.told
    shop.rest()
    shop.shows("""
        0 deployment scales replicaset/web-1 from 1 to 0 (Recreate: old pods go first)
        10 kubelet force-deletes pod/web-1-a
        10 deployment creates replicaset/web-2
        10 attach-detach deletes volumeattachment/pvc-data (detaches it from n-1
        10 attach-detach creates volumeattachment/pvc-data (attaches it to n-2)
        10 kubelet reports pod/web-2-a Running, Ready
    """)
    assert shop.names(lambda pod: pod.ready) == ["web-2-a"], shop.told
