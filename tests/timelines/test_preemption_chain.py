"""A pod of high priority takes the place of two lower ones, and others come while it waits for them to go."""

from __future__ import annotations

from typing import Any

import pytest

PRIORITIES = {"lowest": 1, "low": 5, "high": 10, "top": 20}


def of(name: str, **notes: str) -> dict[str, Any]:
    """A template of a priority class, with annotations by their short names."""
    return {
        "pod": {"priorityClassName": name},
        "annotations": {f"reconverge/{key}": said for key, said in notes.items()},
    }


@pytest.fixture
def waiting(make: Any, story: Any) -> Any:
    """The node of 1 CPU was filled by two pods of low priority, which take 5 s and 20 s to stop; shop wants all of it.

    At 10 s one half of the node is free.
    """
    quick = make.deployment(1, "quick", **of("low", **{"stops-after": "5"}))
    slow = make.deployment(1, "slow", **of("low", **{"stops-after": "20"}))
    classes = [make.priority(name, value) for name, value in PRIORITIES.items()]
    world = story(*classes, quick, slow, nodes="1x1cpu,8Gi")
    return world.strike("apply", objects=[make.deployment(1, "shop", cpu="1", **of("high"))]).until(10)


def test_it_is_nominated_and_its_victims_are_given_their_grace(waiting: Any) -> None:
    waiting.rest()
    waiting.shows("""
        0 scheduler leaves pod/shop-3-a pending, nominated to n-1 (0/1 nodes are available: 1 Insufficient cpu.)
        0 scheduler deletes pod/quick-1-a (makes room for pod/shop-3-a)
        0 scheduler deletes pod/slow-2-a (makes room for pod/shop-3-a)
        5 kubelet force-deletes pod/quick-1-a
        20 kubelet force-deletes pod/slow-2-a
        20 scheduler binds pod/shop-3-a to n-1
    """)
    assert waiting.times("scheduler", "binds pod/shop-3-a") == [20], waiting.told


def test_only_as_many_go_as_must(make: Any, story: Any) -> None:
    classes = [make.priority(name, value) for name, value in PRIORITIES.items()]
    world = story(*classes, make.deployment(2, "batch", **of("low")), nodes="1x1cpu,8Gi")
    world.strike("apply", objects=[make.deployment(1, "shop", **of("high"))]).rest()
    assert len(world.times("scheduler", "deletes pod/batch")) == 1, world.told


@pytest.mark.parametrize("priority", ["lowest", "low", "high"])
def test_a_pod_of_no_higher_priority_does_not_take_the_hole(make: Any, waiting: Any, priority: str) -> None:
    waiting.strike("apply", objects=[make.deployment(1, "other", **of(priority))]).rest()
    waiting.never("scheduler", "binds pod/other")
    assert waiting.times("scheduler", "leaves pod/other-4-a pending")[0] == 10, waiting.told
    assert waiting.times("scheduler", "binds pod/shop-3-a") == [20], waiting.told


def test_a_pod_of_higher_priority_takes_it_and_the_nominated_one_tries_again(make: Any, waiting: Any) -> None:
    waiting.strike("apply", objects=[make.deployment(1, "other", **of("top"))]).rest()
    waiting.shows("""
        10 scheduler binds pod/other-4-a to n-1
        20 scheduler leaves pod/shop-3-a pending (0/1 nodes are available: 1 Insufficient cpu.
        20 scheduler binds pod/quick-1-b to n-1
    """)
    waiting.never("scheduler", "binds pod/shop-3-a")
    assert waiting.pod("shop-3-a").nominated_node is None


def test_without_a_nomination_the_hole_is_free(make: Any, story: Any) -> None:
    """The same hole of 0.5 CPU beside a pod that stops, and nobody who waits for it."""
    slow = make.deployment(1, "slow", annotations={"reconverge/stops-after": "20"})
    world = story(slow, nodes="1x1cpu,8Gi").strike("scale", workload="deployment/slow", replicas=0).until(10)
    world.strike("apply", objects=[make.deployment(1, "other")]).rest()
    assert world.times("scheduler", "binds pod/other-2-a") == [10], world.told


def test_the_victims_owners_make_new_pods_that_take_the_place_of_still_lower_ones(make: Any, story: Any) -> None:
    """Priority top takes the place of high, high of low; low finds none."""
    classes = [make.priority(name, value) for name, value in PRIORITIES.items()]
    batch, shop = make.deployment(1, "batch", **of("low")), make.deployment(1, "shop", **of("high"))
    placed = {"deployment/batch": ["n-1"], "deployment/shop": ["n-2"]}
    pinned = {"nodeSelector": {"kubernetes.io/hostname": "n-2"}, "priorityClassName": "top"}
    world = story(*classes, batch, shop, nodes="2x500m,8Gi", placement=placed)
    world.strike("apply", objects=[make.deployment(1, "alarm", pod=pinned)]).rest()
    world.shows("""
        0 scheduler deletes pod/shop-2-a (makes room for pod/alarm-3-a)
        0 replicaset creates pod/shop-2-b
        0 scheduler deletes pod/batch-1-a (makes room for pod/shop-2-b)
        0 replicaset creates pod/batch-1-b
        0 scheduler leaves pod/batch-1-b pending
    """)
    assert world.names(lambda pod: pod.node is None) == ["batch-1-b"], world.told


def test_what_is_left_over_brings_a_node(make: Any, story: Any, pool: Any) -> None:
    classes = [make.priority(name, value) for name, value in PRIORITIES.items()]
    batch = make.deployment(1, "batch", **of("low"))
    world = story(*classes, batch, nodePools=[pool("1x500m,8Gi", min=1, max=2)])
    world.strike("apply", objects=[make.deployment(1, "shop", **of("high"))]).rest()
    world.shows("""
        0 scheduler deletes pod/batch-1-a (makes room for pod/shop-2-a)
        10 cluster-autoscaler sets the desired size of n to 2 (1 pending pod would fit on 1 more)
        130 scheduler binds pod/batch-1-b to n-2
    """)


def test_but_not_for_pods_below_the_autoscalers_cutoff(make: Any, story: Any, pool: Any) -> None:
    spare = {"pod": {"priorityClassName": "spare"}}
    classes = [make.priority("spare", -11), make.priority("high", 10)]
    world = story(*classes, make.deployment(1, "batch", **spare), nodePools=[pool("1x500m,8Gi", min=1, max=2)])
    world.strike("apply", objects=[make.deployment(1, "shop", **of("high"))]).rest()
    world.never("cluster-autoscaler", "desired size")
    assert world.names(lambda pod: pod.node is None) == ["batch-1-b"], world.told
