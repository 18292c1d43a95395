"""The examples of Services are as they say, and what asks for kube-proxies gets them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reconverge.checker import Scenario, check
from reconverge.loading import LoadError

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "services"
FILES = sorted(FOLDER.glob("*.scenario.yaml"))
ABOUT_PROXIES = {"no-request-lost", "routes-converge", "service-reachable"}


def scenario(**spec: Any) -> Scenario:
    """The rollout example's cluster with other words of its spec; None takes one away."""
    document = Scenario.from_file(FOLDER / "rollout-with-a-delay-before-the-stop.scenario.yaml").document
    plain = {key: each for key, each in document["spec"].items() if key not in ("loops", "check", "expect")}
    return Scenario.from_document({**document, "spec": {**plain, **spec}})


@pytest.mark.parametrize(
    ("spec", "asked"),
    [
        ({}, False),
        ({"check": ["service-available"]}, False),
        ({"skip": ["traffic-reaches-pods"]}, False),
        ({"loops": {"kube-proxy": {}}}, True),
        ({"may": {"proxy-stall": 1}}, True),
        ({"may": {"proxy-resume": 1}}, True),
        ({"steps": [{"proxy-stall": {"node": "node-1"}}]}, True),
        ({"check": ["no-request-lost"]}, True),
        ({"check": ["service-available"], "expect": {"violated": ["routes-converge"]}}, True),
    ],
    ids=str,
)
def test_what_is_about_proxies_asks_for_them(spec: dict[str, Any], asked: bool) -> None:
    made = scenario(**spec)
    world = made.world()
    assert ("kube-proxy" in world.plane.by_name) is asked
    assert all((machine.proxy is not None) is asked for machine in world.start.machines.by_name.values())
    found = {each.id for each in made.invariants()} & ABOUT_PROXIES
    wanted = set(spec.get("check", ABOUT_PROXIES)) & ABOUT_PROXIES
    assert found == (wanted if asked else set())
    assert "ingress-served" not in {each.id for each in made.invariants()}


def test_a_loop_that_is_given_is_not_added_again() -> None:
    names = [each.name for each in scenario(loops={"kube-proxy": {}}, may={"proxy-stall": 1}).optional()]
    assert names == ["kube-proxy"]


def test_proxies_have_no_settings() -> None:
    with pytest.raises(LoadError, match=r"spec\.loops\.kube-proxy\.every"):
        scenario(loops={"kube-proxy": {"every": 1}})


@pytest.mark.parametrize("may", [{"proxy-stall": 1, "delete-pod": 1}, {"rollout": 1}], ids=str)
def test_names_of_nodes_make_no_difference(may: dict[str, int]) -> None:
    made = scenario(check=["traffic-reaches-pods", "service-reachable"], may=may, events=2, deviations=0)
    found = [{(each.invariant, each.object) for each in check(made, symmetry=each).violated} for each in (True, False)]
    assert found[0] == found[1]
    assert bool(found[0]) is ("proxy-stall" in may)


def test_an_ingress_that_is_not_served_is_told_of_the_workloads_behind_it() -> None:
    result = check(Scenario.from_file(FOLDER / "ingress-without-its-controller.scenario.yaml"))
    assert ("deployment/web", "start", "violated") in {
        (each.workload, each.event, each.status) for each in result.table
    }
