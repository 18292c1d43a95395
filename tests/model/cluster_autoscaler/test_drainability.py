"""Which pods hold up the removal of their node, and which rule comes first."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.labels import labels_of
from reconverge.model.loops.cluster_autoscaler import AutoscalerOptions
from reconverge.model.loops.cluster_autoscaler.drainability import BLOCK, OK, RULES, SAFE_TO_EVICT, SKIP, Case, verdict
from reconverge.model.objects import BudgetStatus, OwnerReference, Pod, ReplicaSet
from reconverge.model.store import Store

Lab = Any
OWNER = ReplicaSet(name="rs", uid=7)
OWNED = {"owner": OWNER.owner_reference()}
YES, NO = ({"annotations": labels_of({SAFE_TO_EVICT: word})} for word in ("true", "false"))
MIRROR = {"annotations": labels_of({"kubernetes.io/config.mirror": "x"})}
GONE = {"owner": OwnerReference("ReplicaSet", "rs", 8)}
DAEMON = {"owner": OwnerReference("DaemonSet", "agent", 9)}


def judged(lab: Lab, now: float = 1000, budgets: tuple[int, ...] = (), **fields: Any) -> tuple[str, str]:
    volumes = fields.pop("volumes", ())
    pod: Pod = lab.pod(node="n", labels=labels_of({"app": "web"}), spec={"volumes": volumes}, **fields)
    store = Store({})
    for each in (OWNER, pod):
        store, _ = store.put(each)
    for number, allowed in enumerate(budgets):
        budget = lab.budget(status=BudgetStatus(disruptions_allowed=allowed)).with_(
            name=f"b{number}", namespace=pod.namespace
        )
        store, _ = store.put(budget)
    said = verdict(Case(store, pod, now, AutoscalerOptions(), {}))
    return said.outcome, said.reason


@pytest.mark.parametrize(
    ("outcome", "reason", "fields"),
    [
        (OK, "", OWNED),
        (BLOCK, "no controller", {}),
        (BLOCK, "no controller", {"owner": OwnerReference("Opaque", "x", 3)}),
        (BLOCK, "is gone", GONE),
        (OK, "", YES),
        (BLOCK, "is gone", {**GONE, **YES}),
        (SKIP, "", {**MIRROR, **GONE}),
        (BLOCK, "safe-to-evict", {**OWNED, **NO}),
        (BLOCK, "no controller", NO),
        (BLOCK, "local storage", {**OWNED, "volumes": ("emptyDir",)}),
        (BLOCK, "local storage", {**OWNED, "volumes": ("hostPath", "configMap")}),
        (OK, "", {**OWNED, "volumes": ("configMap",)}),
        (OK, "", {**YES, "volumes": ("emptyDir",)}),
        (BLOCK, "allows no disruption", {**OWNED, "budgets": (1, 0)}),
        (OK, "", {**OWNED, "budgets": (1,)}),
        (OK, "", {**YES, "budgets": (0,)}),
        (SKIP, "", {"deletion_at": 900}),
        (BLOCK, "no controller", {"deletion_at": 950}),
    ],
)
def test_the_first_rule_that_says_something_decides(lab: Lab, outcome: str, reason: str, fields: Any) -> None:
    said = judged(lab, **fields)
    assert said[0] == outcome
    assert reason in said[1]


def test_daemons_never_hold_up_their_node(lab: Lab) -> None:
    found = [rule.__name__ for rule in RULES]
    assert found.index("of_daemon_set") < found.index("budget")
    pod = lab.pod(node="n", **DAEMON)
    rules = [rule for rule in RULES if rule.__name__ != "owner_missing"]
    assert verdict(Case(Store({}), pod, 0, AutoscalerOptions(), {}), rules).outcome == OK


@pytest.mark.parametrize(("age", "budgets", "outcome"), [(3599, (), BLOCK), (3600, (), OK), (10, (1,), OK)])
def test_young_pods_of_kube_system_without_a_budget_hold_up(
    lab: Lab, age: float, budgets: tuple[int, ...], outcome: str
) -> None:
    rs = OWNER.with_(namespace="kube-system")
    pod = lab.pod(node="n", namespace="kube-system", labels=labels_of({"app": "web"}), **OWNED)
    store = Store({}).put(rs)[0].put(pod)[0]
    for allowed in budgets:
        budget = lab.budget(status=BudgetStatus(disruptions_allowed=allowed)).with_(namespace="kube-system")
        store, _ = store.put(budget)
    assert verdict(Case(store, pod, age, AutoscalerOptions(), {})).outcome == outcome


def test_what_a_budget_still_allows_is_spent_by_pods_that_were_counted_before(lab: Lab) -> None:
    pod = lab.pod(node="n", labels=labels_of({"app": "web"}), **OWNED)
    budget = lab.budget(status=BudgetStatus(disruptions_allowed=1))
    store = Store({}).put(OWNER)[0].put(budget)[0].put(pod)[0]
    answers = [verdict(Case(store, pod, 0, AutoscalerOptions(), left)).outcome for left in ({}, {budget.key: 0})]
    assert answers == [OK, BLOCK]
