"""Which pods go first when there are too many."""

from __future__ import annotations

from typing import Any

from reconverge.model.labels import labels_of
from reconverge.model.objects.pod import DELETION_COST

HOUR = 3600


def at(sets: Any, now: float) -> None:
    sets.lab.cluster = sets.lab.cluster.with_(now=now)


def test_d1_unbound_then_pending_then_not_ready_then_ready(sets: Any) -> None:
    web = sets(4)
    at(web, HOUR)
    web.pod("a", ready_since=0)
    web.pod("b", phase="Pending", ready=False)
    web.pod("c", None)
    web.pod("d", ready=False)
    web.scale(1)
    assert web.choices() == [["c", "b", "d"]]


def test_d2_a_lower_deletion_cost_goes_first_whatever_its_age(sets: Any) -> None:
    web = sets(1)
    at(web, HOUR)
    web.pod("old", "n2", annotations=labels_of({DELETION_COST: "-1"}))
    web.pod("new", "n1", ready_since=HOUR - 1)
    assert web.choices() == [["old"]]


def test_a_deletion_cost_that_is_no_number_is_none(sets: Any) -> None:
    web = sets(1)
    at(web, HOUR)
    web.pod("old", "n2", annotations=labels_of({DELETION_COST: "cheap"}))
    web.pod("new", "n1", ready_since=HOUR - 1)
    assert web.choices() == [["new"]]


def test_d3_a_node_with_two_gives_one_up(sets: Any) -> None:
    web = sets(2)
    at(web, HOUR)
    web.pod("p1", "n1")
    web.pod("p2", "n1")
    web.pod("p3", "n2", ready_since=HOUR - 1)
    assert web.choices() == [["p1"]], "alike, so there is no choice between the two"


def test_pods_of_the_deployments_other_sets_count_as_neighbours(lab: Any, sets: Any) -> None:
    web = sets(1)
    at(web, HOUR)
    other = lab.replica_set(1, name="other", uid=6, owner=web.rs.owner)
    web.lab.put(other)
    web.pod("p1", "n1")
    web.pod("p2", "n2", ready_since=HOUR - 1)
    web.lab.put(lab.pod("q", "n1", phase="Running", owner=other.owner_reference()))
    assert web.choices() == [["p1"]]


def test_terminating_neighbours_do_not_count(lab: Any, sets: Any) -> None:
    web = sets(1)
    at(web, HOUR)
    other = lab.replica_set(1, name="other", uid=6, owner=web.rs.owner)
    web.lab.put(other)
    web.pod("p1", "n1")
    web.pod("p2", "n2", ready_since=HOUR - 1)
    web.lab.put(lab.pod("q", "n1", phase="Running", owner=other.owner_reference(), deletion_at=HOUR + 9))
    assert web.choices() == [["p2"]]


def test_a_set_without_a_deployment_does_not_look_at_nodes(sets: Any) -> None:
    """Upstream finds related pods through the controlling owner only, and nothing where there is none."""
    web = sets(2, owner=None)
    at(web, HOUR)
    web.pod("p1", "n1")
    web.pod("p2", "n1")
    web.pod("p3", "n2", ready_since=HOUR - 1)
    assert web.choices() == [["p3"]]


def test_d4_a_second_of_age_decides_nothing(sets: Any) -> None:
    web = sets(1)
    at(web, 100)
    web.pod("ten", "n1", ready_since=90, created_at=80)
    web.pod("eleven", "n2", ready_since=89, created_at=80)
    assert sorted(map(tuple, web.choices())) == [("eleven",), ("ten",)]


def test_d4_not_even_restarts_decide_between_ready_times_of_one_bucket(sets: Any) -> None:
    web = sets(1)
    at(web, 100)
    web.pod("ten", "n1", ready_since=90, restarts=7)
    web.pod("eleven", "n2", ready_since=89)
    assert sorted(map(tuple, web.choices())) == [("eleven",), ("ten",)]


def test_a_pod_that_is_ready_for_much_shorter_goes_first(sets: Any) -> None:
    web = sets(1)
    at(web, 100)
    web.pod("short", "n1", ready_since=98)
    web.pod("long", "n2", ready_since=50)
    assert web.choices() == [["short"]]


def test_with_equal_ready_times_restarts_and_then_creation_decide(sets: Any) -> None:
    web = sets(2)
    at(web, HOUR)
    web.pod("restarted", "n1", restarts=2)
    web.pod("new", "n2", created_at=HOUR - 1)
    web.pod("old", "n3")
    assert web.choices() == [["restarted"]]
    web.scale(1)
    assert web.choices() == [["restarted", "new"]]


def test_unready_pods_are_told_apart_by_restarts_and_creation(sets: Any) -> None:
    web = sets(2)
    at(web, HOUR)
    web.pod("new", ready=False, created_at=HOUR - 1, ready_since=7)
    web.pod("restarted", "n2", ready=False, restarts=1, ready_since=9)
    web.pod("old", "n3", ready=False)
    assert web.choices() == [["restarted"]]


def test_if_all_go_there_is_no_choice(sets: Any) -> None:
    web = sets(0)
    web.pod("a", "n1")
    web.pod("b", "n2", labels=labels_of({"app": "web", "x": "y"}))
    assert len(web.choices()) == 1


def test_alternatives_are_told_apart_by_what_their_nodes_are(lab: Any, sets: Any) -> None:
    """Three alike pods on three nodes, of which two are alike: two ways to give one up."""
    web = sets(2)
    web.lab.report("Node", "n3", unschedulable=True)
    for name, node in (("a", "n1"), ("b", "n2"), ("c", "n3")):
        web.pod(name, node)
    choices = web.choices()
    assert len(choices) == 2
    assert {tuple(each) for each in choices} >= {("c",)}


def test_alternatives_are_named_by_their_victims(sets: Any) -> None:
    web = sets(1)
    web.lab.report("Node", "n3", unschedulable=True)
    for name, node in (("a", "n1"), ("c", "n3")):
        web.pod(name, node)
    assert sorted(plan.choice for plan in web.lab.passes_of("replicaset")) == ["a", "c"]


def test_alternatives_of_pairs_differ_in_what_is_left(sets: Any) -> None:
    """Two of four go, two of them on cordoned nodes: both of these, one of each, or none."""
    web = sets(2)
    web.lab.report("Node", "n3", unschedulable=True)
    for name, node in (("a", "n1"), ("b", "n2")):
        web.pod(name, node, labels=labels_of({"app": "web"}))
    web.lab.put(web.make.node("n4", unschedulable=True))
    web.pod("c", "n3")
    web.pod("d", "n4")
    places = {"a": "up", "b": "up", "c": "down", "d": "down"}
    kinds = sorted(sorted(places[name] for name in each) for each in web.choices())
    assert kinds == [["down", "down"], ["down", "up"], ["up", "up"]]
