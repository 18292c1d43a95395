"""Placement in the settled state."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.labels import Requirement, Selector, labels_of
from reconverge.model.objects import Affinity, NodeSelectorTerm, PodAffinityTerm, TopologySpreadConstraint
from reconverge.model.objects.node import HOSTNAME, ZONE

WEB = Selector(labels_of({"app": "web"}))
EVEN = (TopologySpreadConstraint(ZONE, 1, True, WEB),)


def settled(lab: Any, nodes: list[Any], placed: tuple[str, ...], outcome: str = "rest", **spec: Any) -> Any:
    """Pods of one Deployment on the named nodes, at rest."""
    deployment = lab.deployment(len(placed))
    rs = lab.set_of(deployment)
    pods = lab.pods_of(rs, *placed, spec=lab.spec(**spec))
    return lab.quiet(lab.situation(*nodes, deployment, rs, *pods), outcome)


def two(lab: Any, **second: Any) -> list[Any]:
    return [lab.node("n1", "a"), lab.node("n2", "b", **second)]


def test_an_uneven_spread_is_found_with_its_counts(lab: Any) -> None:
    (violation,) = lab.broken("placement-at-rest", settled(lab, two(lab), ("n1", "n1", "n1"), spread=EVEN))
    assert violation.object == "deployment/web"
    assert violation.facts["counts"] == {"a": 3, "b": 0}
    assert "a: 3, b: 0" in violation.message


@pytest.mark.parametrize("placed", [("n1", "n2"), ("n1", "n1", "n2")])
def test_a_spread_within_its_skew_is_not(lab: Any, placed: tuple[str, ...]) -> None:
    assert lab.broken("placement-at-rest", settled(lab, two(lab), placed, spread=EVEN)) == []


def test_soft_spread_and_loops_are_not_judged(lab: Any) -> None:
    soft = (TopologySpreadConstraint(ZONE, 1, False, WEB),)
    assert lab.broken("placement-at-rest", settled(lab, two(lab), ("n1", "n1"), spread=soft)) == []
    assert lab.broken("placement-at-rest", settled(lab, two(lab), ("n1", "n1"), "loop", spread=EVEN)) == []


def test_a_domain_that_no_pod_may_enter_does_not_count(lab: Any) -> None:
    nodes = two(lab, unschedulable=True)
    assert lab.broken("placement-at-rest", settled(lab, nodes, ("n1", "n1", "n1"), spread=EVEN)) == []


def test_pods_that_are_going_do_not_count(lab: Any) -> None:
    end = settled(lab, two(lab), ("n1", "n1", "n2"), spread=EVEN)
    store = end.store
    for pod in [pod for pod in store.all("Pod") if pod.node == "n2"]:
        store, _ = store.put(pod.with_(deletion_at=1030))
    after = end.after.__class__(end.cluster.with_(store=store))
    assert lab.broken("placement-at-rest", lab.quiet(after)) != []


def test_pods_of_other_revisions_do_not_count_with_match_label_keys(lab: Any) -> None:
    """Two of the old revision on n1 and two of the new one on n2: each revision is uneven only by itself."""
    by_revision = (TopologySpreadConstraint(ZONE, 1, True, WEB, match_label_keys=("rev",)),)
    deployment = lab.deployment(2)
    rs = lab.set_of(deployment)
    for constraints, counts in ((by_revision, {"a": 0, "b": 2}), (EVEN, None)):
        pods = [
            pod.with_(labels=labels_of({"app": "web", "rev": "1" if pod.node == "n1" else "2"}))
            for pod in lab.pods_of(rs, "n1", "n1", "n2", "n2", spec=lab.spec(spread=constraints))
        ]
        found = lab.broken("placement-at-rest", lab.quiet(lab.situation(*two(lab), deployment, rs, *pods)))
        assert bool(found) is (counts is not None)


@pytest.mark.parametrize(("placed", "broken"), [(("n1", "n1"), True), (("n1", "n2"), False)])
def test_pods_that_exclude_each_other_stay_apart(lab: Any, placed: tuple[str, ...], broken: bool) -> None:
    anti = Affinity(anti_required=(PodAffinityTerm(HOSTNAME, WEB),))
    assert bool(lab.broken("placement-at-rest", settled(lab, two(lab), placed, affinity=anti))) is broken


def test_bare_pods_that_exclude_each_other_are_found_too(lab: Any) -> None:
    anti = Affinity(anti_required=(PodAffinityTerm(HOSTNAME, WEB),))
    pods = [lab.pod("pa", "n1", spec=lab.spec(affinity=anti)), lab.pod("pb", "n1")]
    (violation,) = lab.broken("placement-at-rest", lab.quiet(lab.situation(*two(lab), *pods)))
    assert violation.object == "pod/pa"
    assert "with pod/pb" in violation.message


@pytest.mark.parametrize(("node", "broken"), [("n1", False), ("n2", True)])
def test_pods_stay_where_their_company_is(lab: Any, node: str, broken: bool) -> None:
    near = Affinity(pod_required=(PodAffinityTerm(ZONE, Selector(labels_of({"app": "db"}))),))
    db = lab.pod("db-0", "n1", labels=labels_of({"app": "db"}))
    pod = lab.pod("web-a", node, spec=lab.spec(affinity=near))
    assert bool(lab.broken("placement-at-rest", lab.quiet(lab.situation(*two(lab), db, pod)))) is broken


@pytest.mark.parametrize(("zones", "broken"), [(("a",), False), (("b",), True)])
def test_pods_stay_where_their_node_affinity_holds(lab: Any, zones: tuple[str, ...], broken: bool) -> None:
    there = Affinity(node_required=(NodeSelectorTerm((Requirement(ZONE, "In", zones),)),))
    assert bool(lab.broken("placement-at-rest", settled(lab, two(lab), ("n1",), affinity=there))) is broken
