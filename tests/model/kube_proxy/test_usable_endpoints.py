"""Which endpoints traffic goes to (pkg/proxy/topology.go, CategorizeEndpoints)."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.loops.kube_proxy import KubeProxy
from reconverge.model.objects import Endpoint, Service
from reconverge.model.objects.service import LOCAL


def endpoint(name: str, node: str = "n1", state: str = "ready", zone: str = "") -> Endpoint:
    """An endpoint that is ready, unready, going (terminating and serving), or ended (terminating, not serving)."""
    serving, terminating = state in ("ready", "going"), state in ("going", "ended")
    return Endpoint(name, node, state == "ready", serving, terminating, zone or {"n1": "a", "n2": "b"}.get(node, "c"))


def route(*endpoints: Endpoint, node: str = "n1", zone: str = "a", **service: Any) -> Any:
    return KubeProxy().route(Service(name="web", **service), endpoints, node, zone)


def inside(*endpoints: Endpoint, **options: Any) -> str:
    return " ".join(each.pod for each in route(*endpoints, **options).internal)


def outside(*endpoints: Endpoint, **options: Any) -> str:
    given = {"type": "NodePort", **options}
    return " ".join(each.pod for each in route(*endpoints, **given).external)


A, B = endpoint("a", "n1"), endpoint("b", "n2")
GOING_A, GOING_B = endpoint("a", "n1", "going"), endpoint("b", "n2", "going")


@pytest.mark.parametrize(
    ("endpoints", "cluster", "local"),
    [
        ((), "", ""),
        ((A, B), "a b", "a"),
        ((A, GOING_B), "a", "a"),
        ((GOING_A, B), "b", "a"),
        ((B,), "b", ""),
        ((GOING_B,), "b", ""),
        ((GOING_A, GOING_B), "a b", "a"),
        ((endpoint("a", "n1", "unready"),), "", ""),
        ((endpoint("a", "n1", "ended"),), "", ""),
        ((endpoint("a", "n1", "ended"), GOING_B), "b", ""),
        ((endpoint("a", "n1", "unready"), endpoint("c", "n1", "going")), "c", "c"),
        ((Endpoint("a", "n1", True, False, True), GOING_B), "a", "a"),
    ],
)
def test_ready_ones_else_those_that_still_serve(endpoints: Any, cluster: str, local: str) -> None:
    assert inside(*endpoints) == outside(*endpoints) == cluster
    assert inside(*endpoints, internal_traffic_policy=LOCAL) == local
    assert outside(*endpoints, external_traffic_policy=LOCAL) == local


def test_each_way_has_its_own_policy() -> None:
    assert (inside(A, B, external_traffic_policy=LOCAL), outside(A, B, external_traffic_policy=LOCAL)) == ("a b", "a")
    assert (inside(A, B, internal_traffic_policy=LOCAL), outside(A, B, internal_traffic_policy=LOCAL)) == ("a", "a b")


@pytest.mark.parametrize(("kind", "seen"), [("ClusterIP", ""), ("NodePort", "a b"), ("LoadBalancer", "a b")])
def test_only_some_types_let_in_what_comes_from_outside(kind: str, seen: str) -> None:
    assert outside(A, B, type=kind) == seen


@pytest.mark.parametrize(("state", "told"), [("ready", True), ("going", False), ("unready", False)])
def test_a_health_check_is_told_of_ready_endpoints_on_the_node_only(state: str, told: bool) -> None:
    assert route(endpoint("a", "n1", state), B).local_ready is told
    assert route(B).local_ready is False


C = endpoint("c", "n3", zone="a")


@pytest.mark.parametrize(
    ("wanted", "endpoints", "seen"),
    [
        ("", (A, B, C), "a b c"),
        ("PreferClose", (A, B, C), "a c"),
        ("PreferSameZone", (A, B, C), "a c"),
        ("PreferSameNode", (A, B, C), "a"),
        ("PreferSameNode", (B, C), "c"),
        ("PreferClose", (B,), "b"),
        ("PreferClose", (GOING_A, B), "b"),
        ("PreferClose", (GOING_A, GOING_B), "a b"),
        ("PreferClose", (A, B, Endpoint("d", "n4", True, True, False)), "a b d"),
    ],
)
def test_near_endpoints_are_preferred_if_there_are_any(wanted: str, endpoints: Any, seen: str) -> None:
    assert inside(*endpoints, traffic_distribution=wanted) == seen


def test_a_node_without_a_zone_prefers_nothing() -> None:
    assert inside(A, B, zone="", traffic_distribution="PreferClose") == "a b"


def test_a_local_policy_knows_no_preference() -> None:
    own = endpoint("d", "n1", zone="b")
    assert inside(A, own, internal_traffic_policy=LOCAL, traffic_distribution="PreferClose") == "a d"
