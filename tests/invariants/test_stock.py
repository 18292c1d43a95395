"""The set of stock invariants as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.invariants import Invariant
from reconverge.invariants.stock import STOCK, stock
from reconverge.model.events import Drain, RollOut
from reconverge.model.loop import LoopState
from reconverge.model.loops.drain import DONE, EVICTING, PodDrain
from reconverge.model.loops.drain import Drain as DrainMemory
from reconverge.model.objects import Node, Service
from reconverge.model.persistent import EMPTY, Map

OPT_IN = {"rollout-ceiling-terminating", "moved-once", "traffic-reaches-pods"}
LAWS = {
    "pod-on-one-node",
    "requests-within-capacity",
    "placement-honoured",
    "admission-agrees",
    "budget-honoured",
    "one-controller",
    "ordered-pods",
    "job-accounting",
    "cronjob-concurrency",
    "cronjob-history",
    "readiness-true",
    "containers-start-in-turn",
    "disk-on-one-node",
    "claims-kept",
    "ordinals-have-claims",
    "scaling-within-policy",
    "quota-honoured",
    "limits-honoured",
    "no-surplus",
    "endpoints-true",
    "routes-converge",
    "autoscaler-bounds",
    "no-unprovoked-kill",
    "eviction-in-order",
    "pending-pods-placed",
    "orphans-removed",
    "bounded-churn",
}


def test_the_registry_has_all_in_their_order() -> None:
    assert [each.id for each in stock()] == [each.id for each in STOCK]
    assert len(stock()) == 52


def test_laws_are_laws_and_only_three_must_be_asked_for() -> None:
    assert {each.id for each in STOCK if each.family == "law"} == LAWS
    assert {each.id for each in STOCK if not each.default} == OPT_IN


@pytest.mark.parametrize("invariant", STOCK, ids=lambda each: each.id)
def test_each_says_what_why_and_what_to_do(invariant: Invariant) -> None:
    for text in (invariant.statement, invariant.why, invariant.remedy):
        assert text.endswith(".")
        assert text[0].isupper()
    assert invariant.source


def test_some_are_about_what_is_not_always_there() -> None:
    proxies = {"service-reachable", "no-request-lost", "traffic-reaches-pods", "routes-converge"}
    assert {each.id: each.needs for each in STOCK if each.needs} == {
        **dict.fromkeys(proxies, "kube-proxy"),
        "ingress-served": "Ingress",
        "quota-honoured": "ResourceQuota",
        "limits-honoured": "LimitRange",
        "scaling-within-policy": "HorizontalPodAutoscaler",
        **dict.fromkeys(("disk-on-one-node", "claims-kept", "ordinals-have-claims"), "attach-detach"),
    }


@pytest.mark.parametrize("invariant", STOCK, ids=lambda each: each.id)
def test_an_empty_cluster_breaks_nothing(lab: Any, invariant: Invariant) -> None:
    on = {"always": lab.situation(), "on_step": None}.get(invariant.kind, lab.quiet(lab.situation()))
    if on is not None:
        assert invariant.for_each or invariant.kind == "sometimes" or lab.broken(invariant.id, on) == []


@pytest.mark.parametrize("digest", ["new", "old"])
def test_a_rollout_that_completes_is_witnessed(lab: Any, digest: str) -> None:
    deployment = lab.deployment(1)
    rs = lab.set_of(deployment, digest)
    situation = lab.situation(lab.node(), deployment, rs, *lab.pods_of(rs, "n1"), events=(RollOut("deployment/web"),))
    assert bool(lab.broken("some-rollout-completes", lab.quiet(situation))) is (digest == "old")
    assert not lab.registry["some-rollout-completes"].applicable(lab.situation(), None)


@pytest.mark.parametrize("state", [DONE, EVICTING])
def test_a_drain_that_completes_is_witnessed(lab: Any, state: str) -> None:
    pods = Map({"default/web-a": PodDrain(3)}) if state == EVICTING else EMPTY
    loops = {"drain": LoopState(Map({"n1": DrainMemory(state=state, pods=pods)}))}
    situation = lab.situation(lab.node(), loops=loops, events=(Drain("n1"),))
    assert bool(lab.broken("some-drain-completes", lab.quiet(situation))) is (state == EVICTING)


def test_subjects_are_kinds_that_the_store_has() -> None:
    assert {each.for_each for each in STOCK} == {
        "", Node.kind, Service.kind, "PodDisruptionBudget", "Deployment", "HorizontalPodAutoscaler", "StatefulSet",
        "Job", "CronJob", "Ingress", "PersistentVolume", "PersistentVolumeClaim",
        "ResourceQuota", "LimitRange",
    }  # fmt: skip
