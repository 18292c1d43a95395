"""A rollout to a template whose image cannot be pulled, and what happens when the old template is applied again."""

from __future__ import annotations

from typing import Any

import pytest

BAD = {"behaviour": "no-image"}


def sizes(shop: Any) -> list[int]:
    """Replicas that the sets are to have, the newest template first."""
    sets = sorted(shop.cluster.store.all("ReplicaSet"), key=lambda each: -each.deployment_revision)
    return [each.replicas for each in sets]


def ready(shop: Any) -> int:
    """How many pods are ready."""
    return len(shop.names(lambda pod: pod.ready))


@pytest.mark.parametrize(
    ("replicas", "stuck", "available"), [(1, [1, 1], 1), (3, [1, 3], 3), (4, [2, 3], 3), (10, [5, 8], 8)]
)
def test_it_freezes_with_what_must_be_available(
    make: Any, story: Any, replicas: int, stuck: list[int], available: int
) -> None:
    shop = story(make.deployment(replicas, cpu="100m"), nodes="3x4cpu,8Gi")
    shop.strike("rollout", workload="deployment/web", **BAD).rest()
    assert sizes(shop) == stuck, shop.told
    assert ready(shop) == available, shop.told
    assert shop.times("deployment", f"updates status of deployment/web ({stuck[0]} of {replicas} updated")[-1] == 601
    assert shop.get("Deployment", "web").status.condition("Progressing").reason == "ProgressDeadlineExceeded"


def test_nobody_rolls_back_by_himself(make: Any, story: Any) -> None:
    shop = story(make.deployment(4), nodes="3x4cpu,8Gi")
    shop.strike("rollout", workload="deployment/web", **BAD).until(100_000)
    assert sizes(shop) == [2, 3], shop.told
    assert max(line.time for line in shop.lines) == 601


@pytest.mark.parametrize("replicas", [1, 3, 4, 10])
def test_the_old_template_applied_again_converges_without_a_hand(make: Any, story: Any, replicas: int) -> None:
    shop = story(make.deployment(replicas, cpu="100m"), nodes="3x4cpu,8Gi")
    shop.strike("rollout", workload="deployment/web", **BAD).until(700)
    shop.strike("apply", objects=[make.deployment(replicas, cpu="100m")]).rest()
    assert sizes(shop) == [replicas, 0], shop.told
    assert shop.get("ReplicaSet", "web-1").deployment_revision == 3
    assert ready(shop) == replicas, shop.told
    assert {line.time for line in shop.lines if line.time > 601} == {700}, shop.told


def test_then_the_broken_set_shrinks_and_the_old_one_grows(make: Any, story: Any) -> None:
    shop = story(make.deployment(10, cpu="100m"), nodes="3x4cpu,8Gi")
    shop.strike("rollout", workload="deployment/web", **BAD).until(700)
    shop.strike("rollback", workload="deployment/web").rest()
    shop.shows("""
        0 deployment creates replicaset/web-2 (revision 2, 3 replicas at first)
        0 deployment scales replicaset/web-1 from 10 to 8 (10 available, 8 needed)
        0 deployment scales replicaset/web-2 from 3 to 5 (rolling update, at most 13 pods)
        700 deployment makes replicaset/web-1 revision 3 (its template is wanted again)
        700 deployment scales replicaset/web-2 from 5 to 0 (its pods are not available)
        700 deployment scales replicaset/web-1 from 8 to 10 (rolling update, at most 13 pods)
    """)


def test_a_stateful_set_waits_for_its_broken_pod_even_then(make: Any, story: Any) -> None:
    database = story(make.stateful(3), nodes="3x4cpu,8Gi")
    database.strike("rollout", workload="statefulset/db", **BAD).until(700)
    database.strike("rollback", workload="statefulset/db").until(5000)
    database.shows("""
        0 statefulset deletes pod/db-2 (it is of an old revision)
        0 statefulset creates pod/db-2
        700 statefulset makes controllerrevision/db-
    """)
    assert database.times("statefulset", "creates pod") == [0], database.told
    assert database.names(lambda pod: pod.ready) == ["db-0", "db-1"], database.told
    database.strike("delete_pod", pod="statefulset/db#2").rest()
    assert database.times("statefulset", "creates pod/db-2") == [0, 5000], database.told
    assert database.names(lambda pod: pod.ready) == ["db-0", "db-1", "db-2"], database.told
