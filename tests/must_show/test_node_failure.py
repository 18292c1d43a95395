"""What becomes of the pods of a node that dies: when they are replaced, and when they are not."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.events import EVENTS, Event

GRACE = 50
TOLERATED = 300
QUARANTINE = 40
GC_PERIOD = 20


def happens(name: str, *arguments: Any) -> Event:
    return EVENTS[name](*arguments)


@pytest.fixture
def two_nodes(studio: Any) -> Any:
    return studio.scenario(studio.deployment(), nodes="2x4cpu,16Gi@a,b")


@pytest.fixture
def four_in_a_zone(studio: Any) -> Any:
    return studio.scenario(studio.deployment(replicas=4), nodes="4x4cpu,16Gi@a")


def test_the_node_becomes_unknown_after_its_grace_period(studio: Any, two_nodes: Any) -> None:
    film = studio.film(two_nodes, happens("node-crash", "node-1"))
    assert film.first(lambda scene: scene.cluster.store.node("node-1").ready == "Unknown") == GRACE


def test_a_pod_is_replaced_when_its_tolerations_have_run_out_too(studio: Any, two_nodes: Any) -> None:
    film = studio.film(two_nodes, happens("node-crash", "node-1"))
    (old,) = film[0].pods.values()
    assert film.first(lambda scene: scene.pods[old.uid].deletion_at is not None) == GRACE + TOLERATED
    assert film.first(lambda scene: len(scene.pods) == 2) == GRACE + TOLERATED
    (new,) = (pod for uid, pod in film[-1].pods.items() if uid != old.uid)
    assert new.name != old.name
    assert new.node == "node-2"
    assert new.ready


def test_the_old_pod_stays_terminating_while_its_machine_is_down(studio: Any, two_nodes: Any) -> None:
    film = studio.film(two_nodes, happens("node-crash", "node-1"))
    (old,) = film[0].pods
    assert film[-1].pods[old].deletion_at is not None


def test_the_old_pod_goes_when_its_machine_returns(studio: Any, two_nodes: Any) -> None:
    film = studio.film(two_nodes, happens("node-crash", "node-1"), happens("node-recover", "node-1"))
    (old,) = film[0].pods
    assert old not in film[-1].pods
    assert [pod.node for pod in film[-1].pods.values()] == ["node-2"]


def test_the_old_pod_goes_after_the_quarantine_when_the_node_object_is_deleted(studio: Any, two_nodes: Any) -> None:
    film = studio.film(two_nodes, happens("node-crash", "node-1"), happens("node-delete", "node-1"))
    (old,) = film[0].pods
    deleted = film.first(lambda scene: scene.cluster.store.node("node-1") is None)
    gone = film.first(lambda scene: old not in scene.pods)
    assert QUARANTINE <= gone - deleted <= QUARANTINE + GC_PERIOD


@pytest.mark.parametrize("seconds", [10, 60, GRACE + TOLERATED - 10])
def test_a_node_that_is_back_in_time_keeps_its_pods(studio: Any, two_nodes: Any, seconds: int) -> None:
    events = (happens("node-crash", "node-1"), happens("time", seconds), happens("node-recover", "node-1"))
    film = studio.film(two_nodes, *events)
    (old,) = film[0].pods
    assert not film.ever(lambda scene: set(scene.pods) != {old})
    assert film[-1].pods[old].node == "node-1"
    assert film[-1].pods[old].ready
    assert not film[-1].cluster.store.node("node-1").taints


def test_a_node_that_is_back_too_late_finds_its_pods_replaced(studio: Any, two_nodes: Any) -> None:
    events = (
        happens("node-crash", "node-1"),
        happens("time", GRACE + TOLERATED + 10),
        happens("node-recover", "node-1"),
    )
    film = studio.film(two_nodes, *events)
    assert not set(film[0].pods) & set(film[-1].pods)


def crashes(*nodes: str) -> list[Event]:
    """Several nodes crash in the same moment."""
    events: list[Event] = []
    for node in nodes:
        events += [happens("node-crash", node), happens("time", 0)]
    return events[:-1]


def evicts(scene: Any) -> bool:
    return any(pod.deletion_at is not None for pod in scene.pods.values())


def test_two_of_four_nodes_of_a_zone_are_evicted(studio: Any, four_in_a_zone: Any) -> None:
    film = studio.film(four_in_a_zone, *crashes("node-1", "node-2"))
    assert film.ever(evicts)


def test_nobody_is_evicted_when_three_of_four_nodes_of_a_zone_are_dead(studio: Any, four_in_a_zone: Any) -> None:
    film = studio.film(four_in_a_zone, *crashes("node-1", "node-2", "node-3"))
    assert not film.ever(evicts)
    assert [node.ready for node in film[-1].cluster.store.nodes()] == ["Unknown"] * 3 + ["True"]


def test_nobody_is_evicted_when_all_nodes_are_dead(studio: Any) -> None:
    scenario = studio.scenario(studio.deployment(replicas=3), nodes="3x4cpu,16Gi@a,b,c")
    film = studio.film(scenario, *crashes("node-1", "node-2", "node-3"))
    assert not film.ever(evicts)
    assert {node.ready for node in film[-1].cluster.store.nodes()} == {"Unknown"}


def test_nobody_is_evicted_when_no_kubelet_reaches_the_control_plane(studio: Any) -> None:
    scenario = studio.scenario(studio.deployment(replicas=3), nodes="3x4cpu,16Gi@a,b,c")
    film = studio.film(scenario, happens("control-plane-cut", "all"))
    assert not film.ever(evicts)
