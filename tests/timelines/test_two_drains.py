"""Two replicas with a budget of one and two nodes, drained one after the other."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def shop(make: Any, story: Any) -> Any:
    """One replica on each node; both fit on either."""
    placed = {"deployment/web": ["n-1", "n-2"]}
    return story(make.deployment(2), make.budget(minAvailable=1), nodes="2x1cpu,8Gi", placement=placed)


@pytest.fixture
def drained(shop: Any) -> Any:
    """The same ten seconds after the drain of n-1."""
    return shop.strike("drain", node="n-1").until(10)


def test_the_first_spends_the_budget_until_the_replacement_is_ready(drained: Any) -> None:
    drained.shows("""
        0 drain cordons n-1
        0 drain evicts pod/web-1-a
        0 drain deletes pod/web-1-a
        0 replicaset creates pod/web-1-c
        0 scheduler binds pod/web-1-c to n-2 (the only node that fits)
        0 kubelet reports pod/web-1-c Running, Ready
    """)
    budget = drained.get("PodDisruptionBudget", "web").status
    assert (budget.current_healthy, budget.desired_healthy, budget.disruptions_allowed) == (2, 1, 1)
    assert not drained.pods("n-1")


def test_without_room_for_it_the_budget_is_spent(make: Any, story: Any) -> None:
    placed = {"deployment/web": ["n-1", "n-2"]}
    shop = story(make.deployment(2), make.budget(minAvailable=1), nodes="2x500m,8Gi", placement=placed)
    shop.strike("drain", node="n-1").until(100)
    budget = shop.get("PodDisruptionBudget", "web").status
    assert (budget.current_healthy, budget.disruptions_allowed) == (1, 0), shop.told


def test_the_second_never_ends_while_the_first_node_is_cordoned(drained: Any) -> None:
    drained.strike("drain", node="n-2").until(1000)
    drained.shows("""
        10 drain cordons n-2
        10 drain evicts pod/web-1-b
        10 drain evicts pod/web-1-c (refused: 429
        10 scheduler leaves pod/web-1-d pending (0/2 nodes are available: 2 node(s) were unschedulable.
        15 drain evicts pod/web-1-c (refused: 429
    """)
    assert drained.names(lambda pod: pod.ready) == ["web-1-c"], drained.told
    assert [pod.node for pod in drained.pods("n-2")] == ["n-2"]
    assert "drain of n-2" in str(drained.waiting())


def test_the_second_ends_if_the_first_node_was_uncordoned(drained: Any) -> None:
    """The second eviction waits for the replacement of the first; kubectl asks again after 5 s."""
    drained.strike("uncordon", node="n-1").until(20).strike("drain", node="n-2").rest()
    drained.shows("""
        20 drain evicts pod/web-1-b
        20 drain evicts pod/web-1-c (refused: 429
        20 scheduler binds pod/web-1-d to n-1
        25 drain evicts pod/web-1-c
        25 drain deletes pod/web-1-c
        25 scheduler binds pod/web-1-e to n-1
    """)
    assert [pod.node for pod in drained.pods()] == ["n-1", "n-1"], drained.told


def test_uncordoning_alone_brings_nothing_back(drained: Any) -> None:
    drained.strike("uncordon", node="n-1").until(10_000)
    assert [pod.node for pod in drained.pods()] == ["n-2", "n-2"], drained.told
    assert {line.actor for line in drained.lines if line.time > 0} == {"event", "node-lifecycle"}, drained.told
