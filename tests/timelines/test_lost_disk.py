"""A node dies under a pod of a StatefulSet that has a disk in its zone: nobody replaces it until its object is gone."""

from __future__ import annotations

from typing import Any

import pytest

OUT_OF_SERVICE = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}


@pytest.fixture
def database(make: Any, story: Any, zonal: Any) -> Any:
    """db-0 on n-1 (zone a), db-1 on n-2 (zone b), db-2 on n-3 (zone a); n-4 (zone b) is empty."""
    placed = {"statefulset/db": ["n-1", "n-2", "n-3"]}
    return story(zonal.disk, make.stateful(3, **zonal.claims), nodes="4x2cpu,8Gi@a,b", placement=placed)


@pytest.fixture
def waiting(database: Any) -> Any:
    """The same 400 s after n-1 died."""
    return database.strike("node_crash", node="n-1").until(400)


def test_it_is_deleted_and_stays(database: Any) -> None:
    database.strike("node_crash", node="n-1").rest()
    database.shows("""
        50 node-lifecycle sets Ready=Unknown of node/n-1
        50 statefulset updates status of statefulset/db (3 pods, 2 ready, 3 updated)
        350 taint-eviction deletes pod/db-0
    """)
    database.never("statefulset", "creates pod")
    assert database.pod("db-0").deletion_at is not None, database.told
    assert database.names(lambda pod: pod.ready) == ["db-1", "db-2"], database.told


def test_meanwhile_the_others_are_neither_touched_nor_added_to(waiting: Any) -> None:
    waiting.strike("scale", workload="statefulset/db", replicas=5).until(500)
    waiting.strike("rollout", workload="statefulset/db").until(600)
    waiting.strike("scale", workload="statefulset/db", replicas=2).rest()
    waiting.never("statefulset", "creates pod")
    waiting.never("statefulset", "deletes pod")
    assert waiting.names(lambda pod: pod.ready) == ["db-1", "db-2"], waiting.told


def test_the_kubelet_comes_back_and_confirms(waiting: Any) -> None:
    waiting.strike("node_recover", node="n-1").rest()
    waiting.shows("""
        400 kubelet force-deletes pod/db-0 (everything in it has stopped)
        400 statefulset creates pod/db-0 (ordinal 0 has no pod)
        400 scheduler binds pod/db-0 to n-1
        400 kubelet reports pod/db-0 Running, Ready
    """)
    assert waiting.names(lambda pod: pod.ready) == ["db-0", "db-1", "db-2"], waiting.told


def test_the_node_object_is_deleted(waiting: Any) -> None:
    """The disk is detached with it; the pod goes to the other node of the disk's zone."""
    waiting.strike("node_delete", node="n-1").rest()
    waiting.shows("""
        400 attach-detach deletes volumeattachment/pvc-data-db-0 (detaches it from n-1
        440 pod-gc force-deletes pod/db-0 (PodGC: node no longer exists)
        440 statefulset creates pod/db-0
        440 scheduler binds pod/db-0 to n-3 (the only node that fits)
        440 attach-detach creates volumeattachment/pvc-data-db-0 (attaches it to n-3)
        440 kubelet reports pod/db-0 Running, Ready
    """)
    assert 40 <= waiting.times("pod-gc", "force-deletes")[0] - 400 <= 60


def test_the_node_is_said_to_be_out_of_service(waiting: Any) -> None:
    waiting.until(401).strike("taint", node="n-1", **OUT_OF_SERVICE).rest()
    waiting.shows("""
        420 pod-gc force-deletes pod/db-0 (it is Terminating and its node has the taint
        420 attach-detach deletes volumeattachment/pvc-data-db-0 (detaches it from n-1: the node is out of service)
        420 statefulset creates pod/db-0
        420 attach-detach creates volumeattachment/pvc-data-db-0 (attaches it to n-3)
        420 kubelet reports pod/db-0 Running, Ready
    """)


def test_it_is_force_deleted_and_waits_six_minutes_for_its_disk(waiting: Any) -> None:
    waiting.strike("force_delete_pod", pod="statefulset/db#0").rest()
    waiting.shows("""
        400 statefulset creates pod/db-0
        400 scheduler binds pod/db-0 to n-3
        400 kubelet reports pod/db-0 ContainerCreating (Multi-Attach error: volume pvc-data-db-0 is attached to n-1)
        760 attach-detach deletes volumeattachment/pvc-data-db-0 (detaches it from n-1
        760 attach-detach creates volumeattachment/pvc-data-db-0 (attaches it to n-3)
        760 kubelet reports pod/db-0 Running, Ready
    """)


def test_without_room_in_the_zone_of_its_disk_it_stays_pending(make: Any, story: Any, zonal: Any) -> None:
    database = story(
        zonal.disk,
        make.stateful(2, **zonal.claims),
        nodes="3x500m,8Gi@a,b",
        placement={"statefulset/db": ["n-1", "n-2"]},
    )
    database.strike("cordon", node="n-3").strike("node_crash", node="n-1").until(400)
    database.strike("node_delete", node="n-1").rest()
    database.shows("440 statefulset creates pod/db-0\n 440 scheduler leaves pod/db-0 pending")
    database.never("scheduler", "binds")
    assert "1 node(s) were unschedulable" in database.pod("db-0").unscheduled[1], database.told
