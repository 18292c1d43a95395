"""Single rules that a scenario switches, whatever its version says."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import fields

from reconverge.checker import Scenario
from reconverge.loading import LoadError
from reconverge.model.rules import Rules


def scenario(rules: dict[str, Any], version: str = "1.34") -> Scenario:
    pool = {"name": "n", "count": 1, "allocatable": {"cpu": "4", "memory": "8Gi"}}
    spec = {"kubernetes": version, "rules": rules, "nodePools": [pool], "objects": []}
    document = {"apiVersion": "reconverge/v1alpha1", "kind": "Scenario", "metadata": {"name": "s"}, "spec": spec}
    return Scenario.from_document(document)


@pytest.mark.parametrize(
    ("given", "field", "value"),
    [
        ({"stale-cache-guard": True}, "stale_cache_guard", True),
        ({"statefulset-max-unavailable": True}, "statefulset_max_unavailable", True),
        ({"job-end-waits-for-pods": False}, "job_end_waits_for_pods", False),
        ({"unhealthy-pod-eviction-policy": False}, "unhealthy_pod_eviction_policy", False),
        ({"autoscaler-expander": "random"}, "autoscaler_expander", "random"),
    ],
)
def test_one_rule_is_switched_and_the_others_stay(given: dict[str, Any], field: str, value: Any) -> None:
    assert scenario(given).rules == Rules().with_(**{field: value})
    assert getattr(scenario(given, "1.30").rules, field) == value


def test_the_old_release_of_finished_pods_is_given_in_seconds() -> None:
    """The scenario's word is that of `list rules`."""
    assert scenario({"kubelet-release": 2}).rules.kubelet.release == 2
    assert scenario({}).rules.kubelet.release == 0


FLAGS = [each.name for each in fields(Rules) if isinstance(each.default, bool)]


@pytest.mark.parametrize("name", FLAGS)
def test_every_rule_that_is_on_or_off_may_be_switched(name: str) -> None:
    other = not getattr(Rules(), name)
    assert getattr(scenario({name.replace("_", "-"): other}).rules, name) is other


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"stale-cache-gard": True}, 'Did you mean "stale-cache-guard"?'),
        ({"stale-cache-guard": "yes"}, 'spec.rules.stale-cache-guard must be true or false, not "yes"'),
        ({"autoscaler-expander": "most"}, "must be one of least-waste, random"),
    ],
)
def test_a_rule_that_cannot_be_switched_so_is_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(LoadError) as caught:
        scenario(given)
    assert said in str(caught.value)
