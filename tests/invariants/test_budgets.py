"""Disruption budgets in two readings."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.invariants import Situation
from reconverge.model.action import DeletePod
from reconverge.model.events import PodDeleted
from reconverge.model.eviction import EVICTED, Evict
from reconverge.model.loop import InFlight, LoopState
from reconverge.model.objects import BudgetStatus
from reconverge.model.table import Table


def world(lab: Any, replicas: int, ready: int, **budget: Any) -> tuple[Any, list[Any]]:
    """A Deployment under a budget with some pods ready, and the others running but not ready."""
    deployment = lab.deployment(replicas)
    rs = lab.set_of(deployment, replicas=replicas)
    pods = lab.pods_of(rs, *["n1"] * replicas)
    pods = [pod.with_(ready=place < ready) for place, pod in enumerate(pods)]
    return lab.situation(lab.node(), deployment, rs, lab.budget(**budget), *pods), pods


def evicts(lab: Any, situation: Any, pod: Any) -> Any:
    return lab.step(situation, "drain", DeletePod(pod.key, pod.uid, disruption_target=EVICTED))


@pytest.mark.parametrize(
    ("replicas", "ready", "budget", "broken"),
    [
        (3, 3, {"min_available": 2}, False),
        (3, 3, {"min_available": 3}, True),
        (3, 3, {"min_available": "50%"}, False),
        (3, 2, {"min_available": "50%"}, True),
        (3, 3, {"max_unavailable": 1}, False),
        (3, 2, {"max_unavailable": 1}, True),
        (3, 2, {"max_unavailable": "30%"}, True),
        (1, 1, {"max_unavailable": 0}, True),
        (1, 1, {"max_unavailable": 1}, False),
    ],
)
def test_an_eviction_of_a_ready_pod_is_counted(
    lab: Any, replicas: int, ready: int, budget: dict[str, Any], broken: bool
) -> None:
    situation, pods = world(lab, replicas, ready, **budget)
    step = evicts(lab, situation, pods[0])
    assert bool(lab.broken("budget-honoured", step)) is broken
    assert lab.broken("budget-kept", step) == []


def test_an_unready_or_terminating_pod_lowers_nothing(lab: Any) -> None:
    situation, pods = world(lab, 3, 1, min_available=2)
    assert lab.broken("budget-honoured", evicts(lab, situation, pods[2])) == []


def test_a_loss_that_the_status_does_not_show_yet_is_not_the_evictions_fault(lab: Any) -> None:
    """A pod has become unready since; with an allowance that is simply wrong the eviction is to blame."""
    for published, broken in ((3, False), (2, True)):
        status = BudgetStatus(published, 2, 1, 3, observed_generation=1)
        situation, pods = world(lab, 3, 2, min_available=2, status=status)
        assert bool(lab.broken("budget-honoured", evicts(lab, situation, pods[0]))) is broken


@pytest.mark.parametrize(
    ("state", "broken"),
    [
        (LoopState(), True),
        (LoopState(queue={"default/web": None}), False),
        (LoopState(queue={"default/other": None}), True),
        (LoopState(queue={"default/other,default/web": None}), False),
        (LoopState(serving=("default/web",)), False),
        (LoopState(in_flight=InFlight("default/web", ())), False),
        (LoopState(paused=True), False),
        (LoopState(stalled={"Pod": Table("Pod")}), False),
    ],
)
def test_a_loss_is_not_charged_while_the_controller_has_still_to_look(lab: Any, state: LoopState, broken: bool) -> None:
    status = BudgetStatus(3, 2, 1, 3, observed_generation=1)
    situation, pods = world(lab, 3, 2, min_available=2, status=status)
    situation = Situation(situation.cluster.with_(loops={"disruption": state}))
    assert bool(lab.broken("budget-honoured", evicts(lab, situation, pods[0]))) is broken


def test_a_loss_under_two_budgets_is_shown_in_one_of_them_only(lab: Any) -> None:
    status = BudgetStatus(3, 2, 1, 3, observed_generation=1)
    situation, pods = world(lab, 3, 2, min_available=2, status=status)
    store, _ = situation.store.put(lab.budget(min_available=0).with_(name="other"))
    after = Situation(situation.cluster.with_(store=store, loops={"disruption": LoopState()}))
    assert [each.object for each in lab.broken("budget-honoured", evicts(lab, after, pods[0]))] == []


def test_evictions_that_the_status_has_forgotten_are_the_evictions_fault(lab: Any) -> None:
    status = BudgetStatus(3, 1, 2, 3, observed_generation=1)
    situation, pods = world(lab, 3, 3, min_available=1, status=status)
    for pod in pods[:2]:
        step = evicts(lab, situation, pod)
        assert lab.broken("budget-honoured", step) == []
        situation = step.after
    (violation,) = lab.broken("budget-honoured", evicts(lab, situation, pods[2]))
    assert violation.object == "poddisruptionbudget/web"
    assert violation.facts["healthy"] == 0
    assert violation.facts["published_allowed"] == 2


@pytest.mark.parametrize(("minimum", "broken"), [(2, False), (3, True)])
def test_an_eviction_is_judged_when_it_is_granted_and_not_again(lab: Any, minimum: int, broken: bool) -> None:
    status = BudgetStatus(3, minimum, 1, 3, observed_generation=1)
    situation, pods = world(lab, 3, 3, min_available=minimum, status=status)
    grants = lab.step(situation, "drain", Evict(pods[0].key, pods[0].uid))
    assert bool(lab.broken("budget-honoured", grants)) is broken
    # Another pod fails between the grant and the deletion: that is not the eviction's doing.
    store, _ = grants.after.store.put(pods[1].with_(ready=False))
    later = Situation(grants.after.cluster.with_(store=store))
    assert lab.broken("budget-honoured", evicts(lab, later, pods[0])) == []


def test_a_budget_above_the_scale_cannot_be_kept(lab: Any) -> None:
    deployment = lab.deployment(1)
    rs = lab.set_of(deployment, replicas=1)
    pods = lab.pods_of(rs, "n1", "n1")
    situation = lab.situation(lab.node(), deployment, rs, lab.budget(min_available=2), *pods)
    assert lab.broken("budget-kept", lab.step(situation, "replicaset", DeletePod(pods[0].key, pods[0].uid))) == []


def test_a_scale_that_the_status_does_not_know_is_not_charged(lab: Any) -> None:
    for expected, broken in ((3, False), (5, True)):
        deployment = lab.deployment(5)
        rs = lab.set_of(deployment, replicas=3)
        pods = lab.pods_of(rs, "n1", "n1", "n1")
        status = BudgetStatus(3, 2, 1, expected, observed_generation=1)
        budget = lab.budget(max_unavailable=1, status=status)
        situation = lab.situation(lab.node(), deployment, rs, budget, *pods)
        assert bool(lab.broken("budget-honoured", evicts(lab, situation, pods[0]))) is broken


@pytest.mark.parametrize(
    ("actor", "broken"), [("replicaset", True), ("scheduler", True), ("taint-eviction", False), ("kubelet", False)]
)
def test_voluntary_removals_are_counted_in_the_wider_reading(lab: Any, actor: str, broken: bool) -> None:
    situation, pods = world(lab, 2, 2, min_available=2)
    step = lab.step(situation, actor, DeletePod(pods[0].key, pods[0].uid))
    assert bool(lab.broken("budget-kept", step)) is broken
    assert lab.broken("budget-honoured", step) == []


def test_a_person_who_deletes_a_pod_is_counted(lab: Any) -> None:
    situation, pods = world(lab, 2, 2, min_available=2)
    (violation,) = lab.broken("budget-kept", lab.event(situation, PodDeleted(pods[0].reference)))
    assert "an operator removes pod/web-new-a, which leaves 1 healthy pod" in violation.message
    situation, pods = world(lab, 3, 3, min_available=2)
    assert lab.broken("budget-kept", lab.event(situation, PodDeleted(pods[0].reference))) == []


def test_a_removal_of_what_is_down_already_is_not_counted(lab: Any) -> None:
    situation, pods = world(lab, 2, 1, min_available=2)
    assert lab.broken("budget-kept", lab.step(situation, "replicaset", DeletePod(pods[1].key, pods[1].uid))) == []
    assert lab.broken("budget-kept", lab.step(situation, "replicaset", DeletePod(pods[0].key, pods[0].uid))) != []


def test_a_budget_whose_scale_is_not_to_be_found_is_not_judged(lab: Any) -> None:
    deployment = lab.deployment()
    rs = lab.set_of(deployment)
    pods = lab.pods_of(rs, "n1", "n1")
    situation = lab.situation(lab.node(), lab.budget(max_unavailable=0), *pods)
    assert lab.broken("budget-kept", lab.step(situation, "replicaset", DeletePod(pods[0].key, pods[0].uid))) == []
