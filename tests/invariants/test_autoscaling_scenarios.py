"""Autoscalers in whole scenarios: the examples, and how optional loops are asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from reconverge.checker import check
from reconverge.checker.scenario import Scenario
from reconverge.loading import LoadError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "autoscaling"


def test_a_floor_equal_to_a_budget_blocks_a_drain_only_after_the_scale_down() -> None:
    scenario = Scenario.from_file(EXAMPLES / "floor-equal-to-budget.scenario.yaml")
    result = check(scenario)
    (trace,) = result.traces
    assert [stroke.event for stroke in trace.strokes] == ["load", "drain"]
    assert check(evolve(scenario, events=1)).violated == ()


@pytest.mark.parametrize("name", ["gitops-with-replicas", "manifest-with-replicas-applied"])
def test_a_scenario_is_the_same_without_its_files(name: str) -> None:
    """A trace keeps the manifests of loops and applies as plain data."""
    document = json.loads(json.dumps(Scenario.from_file(EXAMPLES / f"{name}.scenario.yaml").document))
    expectation = check(Scenario.from_document(document)).expectation
    assert expectation is not None
    assert expectation.missed == ()


def asked(loops: Any) -> dict[str, Any]:
    pool = {"name": "n", "count": 1, "allocatable": {"cpu": "4", "memory": "8Gi"}}
    spec = {"nodePools": [pool], "objects": [], "loops": loops}
    return {"apiVersion": "reconverge/v1alpha1", "kind": "Scenario", "metadata": {"name": "asked"}, "spec": spec}


@pytest.mark.parametrize(
    ("loops", "said"),
    [
        ({"gitopps": {}}, 'spec.loops.gitopps is no optional loop that is known. Did you mean "gitops"?'),
        ({"gitops": {"each": 5}}, 'unknown field "spec.loops.gitops.each"'),
        ({"gitops": {"every": 0, "objects": []}}, "spec.loops.gitops.every must be at least 1, not 0"),
        ({"gitops": {"every": 60}}, "spec.loops.gitops.objects is required"),
        ({"gitops": {"objects": ["nowhere.yaml"]}}, 'there is no manifest "nowhere.yaml"'),
    ],
)
def test_loops_that_cannot_be_built_are_named(loops: Any, said: str) -> None:
    with pytest.raises(LoadError) as caught:
        Scenario.from_document(asked(loops))
    assert said in str(caught.value)


def web(replicas: int, behavior: Any = None, limit: str = "2") -> dict[str, Any]:
    """deployment/web of 130m each under an autoscaler of 50 %, through two events of any kind that matters."""
    resources = {"requests": {"cpu": "130m"}, "limits": {"cpu": limit}}
    pod = {"containers": [{"name": "web", "image": "web:1", "resources": resources}]}
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": pod}
    cpu = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    bounds = {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 8, "metrics": [cpu]}
    meta = {"name": "web"}
    document = asked({})
    document["spec"] |= {
        "objects": [
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta,
             "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}},
            {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": meta,
             "spec": bounds if behavior is None else {**bounds, "behavior": behavior}},
        ],
        "nodePools": [{"name": "n", "count": 3, "allocatable": {"cpu": "1", "memory": "8Gi"}}],
        "may": {"load": {"times": 2, "millicores": [37, 260, 611]}, "node-crash": 1, "rollout": 1, "scale": 1},
        "events": 2,
        "deviations": 0,
        "check": ["autoscaler-bounds", "autoscaler-settles", "scaling-has-cause", "no-livelock"],
    }  # fmt: skip
    return document


GENTLE = {"scaleDown": {"policies": [{"type": "Percent", "value": 10, "periodSeconds": 60}]}}
AT_ONCE = {
    "scaleDown": {"stabilizationWindowSeconds": 0, "policies": [{"type": "Pods", "value": 1, "periodSeconds": 30}]}
}


@pytest.mark.parametrize("behavior", [None, {}, GENTLE, AT_ONCE, {"scaleUp": {"selectPolicy": "Disabled"}}])
def test_it_settles_after_any_two_events(behavior: Any) -> None:
    result = check(Scenario.from_document(web(3, behavior)))
    assert result.exploration.complete
    assert [each for each in result.verdicts if each.status == "violated"] == []


def test_a_limit_near_the_target_hides_the_load() -> None:
    """At most 68m of the requested 65m are used, which is within the tolerance of 100 %."""
    verdicts = check(Scenario.from_document(web(3, limit="131m"))).verdicts
    assert [each.invariant for each in verdicts if each.status == "violated"] == []
    document = web(3, limit="68m")
    document["spec"]["objects"][0]["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "65m"
    document["spec"]["objects"][1]["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] = 100
    verdicts = check(Scenario.from_document(document)).verdicts
    assert [each.invariant for each in verdicts if each.status == "violated"] == ["autoscaler-settles"]
