"""PodDisruptionBudgets, PriorityClasses, Services."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.labels import Selector
from reconverge.model.objects import PodDisruptionBudget, PriorityClass, Service

Read = Callable[[str], Any]
WEB = Selector((("app", "web"),))


def budget(spec: str, version: str = "policy/v1") -> str:
    return f"apiVersion: {version}\nkind: PodDisruptionBudget\nmetadata: {{name: web}}\nspec: {{{spec}}}\n"


@pytest.mark.parametrize(("value", "read"), [("1", 1), ("'50%'", "50%"), ("100%", "100%"), ("0", 0)])
def test_a_budget_has_one_bound(read_one: Read, value: str, read: int | str) -> None:
    found = read_one(budget(f"minAvailable: {value}, selector: {{matchLabels: {{app: web}}}}"))
    assert isinstance(found, PodDisruptionBudget)
    assert (found.min_available, found.max_unavailable, found.selector) == (read, None, WEB)
    assert found.unhealthy_pod_eviction == "IfHealthyBudget"
    assert read_one(budget(f"maxUnavailable: {value}")).max_unavailable == read


def test_an_empty_selector_selects_all_and_in_the_old_version_nothing(read_one: Read) -> None:
    assert read_one(budget("minAvailable: 1, selector: {}")).selector == Selector()
    assert read_one(budget("minAvailable: 1, selector: {}", "policy/v1beta1")).selector is None
    assert read_one(budget("minAvailable: 1")).selector is None


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("minAvailable: 1, maxUnavailable: 1", "both set"),
        ("selector: {}", "sets neither minAvailable nor maxUnavailable"),
        ("minAvailable: 150%", "must not be more than 100%, not 150%"),
        ("minAvailable: half", 'a whole number or a percentage such as "25%", not "half"'),
        ("minAvailable: -1", "must be at least 0, not -1"),
        ("minAvailable: 1, unhealthyPodEvictionPolicy: Always", 'Did you mean "AlwaysAllow"?'),
        ("minAvailable: 1, pdb: {selector: {}}", 'unknown field "spec.pdb"'),
        ("minAvailable: 1, selector: {app: web}", "spec.selector lists labels, which belong under matchLabels"),
        ("minAvailable: 1, selector: {matchLables: {}}", 'Did you mean "matchLabels"?'),
    ],
)
def test_bad_budgets_are_refused(error_of: Read, spec: str, said: str) -> None:
    assert said in error_of(budget(spec))


def priority(rest: str, name: str = "high") -> str:
    return f"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: {name}}}\n{rest}\n"


def test_a_priority_class_is_read(read_one: Read) -> None:
    found = read_one(priority("value: 1000\nglobalDefault: true\npreemptionPolicy: Never\ndescription: x"))
    assert isinstance(found, PriorityClass)
    assert (found.key, found.value, found.global_default, found.preemption_policy) == ("high", 1000, True, "Never")


def test_only_the_built_in_classes_are_above_the_limit(read_one: Read, error_of: Read) -> None:
    assert read_one(priority("value: 2000001000", "system-node-critical")).value == 2000001000
    assert "must be at most 1000000000" in error_of(priority("value: 1000000001"))
    assert "built-in" in error_of(priority("value: 5", "system-mine"))


def service(spec: str) -> str:
    return f"apiVersion: v1\nkind: Service\nmetadata: {{name: web}}\nspec: {{{spec}}}\n"


def test_a_service_is_read(read_one: Read) -> None:
    found = read_one(
        service("selector: {app: web}, ports: [{port: 80}], clusterIP: None, externalTrafficPolicy: Local")
    )
    assert isinstance(found, Service)
    assert (found.selector, found.headless, found.publish_not_ready) == (WEB, True, False)
    assert found.external_traffic_policy == "Local"
    assert read_one(service("publishNotReadyAddresses: true")).publish_not_ready


def test_nothing_keeps_the_endpoints_of_a_service_without_selector(read_one: Read) -> None:
    assert read_one(service("ports: []")).selector is None
    assert read_one(service("selector: {}")).selector is None
    assert read_one(service("type: ExternalName, selector: {app: web}")).selector is None


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("type: Loadbalancer", 'Did you mean "LoadBalancer"?'),
        ("selector: {matchLabels: {app: web}}", "spec.selector.matchLabels must be a string, not a mapping"),
        ("type: '${SERVICE_TYPE:-ClusterIP}'", "this is a template"),
        ("selectors: {}", 'Did you mean "selector"?'),
    ],
)
def test_bad_services_are_refused(error_of: Read, spec: str, said: str) -> None:
    assert said in error_of(service(spec))
