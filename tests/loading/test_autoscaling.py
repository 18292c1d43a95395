"""HorizontalPodAutoscalers as they are written, in all four versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.loading import Loaded
from reconverge.model.load import LOAD, load_of
from reconverge.model.machines import Machines
from reconverge.model.objects import HorizontalPodAutoscaler
from reconverge.model.objects.autoscaling import DEFAULT_DOWN, Metric, ScalingBehavior, ScalingPolicy, ScalingRules

Read = Callable[[str], Any]
Text = Callable[..., str]
TARGET = "scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}"
CPU = "{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}"


def written(spec: str, version: str = "v2", bounds: str = "minReplicas: 2, maxReplicas: 10") -> str:
    kind = "kind: HorizontalPodAutoscaler\nmetadata: {name: web}"
    return f"apiVersion: autoscaling/{version}\n{kind}\nspec: {{{TARGET}, {bounds}, {spec}}}\n"


def test_the_first_version_has_one_metric(read_one: Read) -> None:
    found = read_one(written("targetCPUUtilizationPercentage: 50", "v1"))
    assert isinstance(found, HorizontalPodAutoscaler)
    assert (found.minimum, found.maximum, found.target_kind, found.target) == (2, 10, "Deployment", "default/web")
    assert found.metrics == (Metric("Resource", "cpu", "Utilization", 50),)
    assert found.behavior is None


@pytest.mark.parametrize("version", ["v1", "v2", "v2beta1", "v2beta2"])
def test_without_metrics_it_is_cpu_at_80_percent_and_at_least_one_replica(read_one: Read, version: str) -> None:
    found = read_one(written("", version, bounds="maxReplicas: 5"))
    assert (found.minimum, found.maximum) == (1, 5)
    assert found.metrics == (Metric("Resource", "cpu", "Utilization", 80),)


@pytest.mark.parametrize("version", ["v2", "v2beta2"])
def test_resource_metrics_are_read(read_one: Read, version: str) -> None:
    memory = "{type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 500Mi}}}"
    named = (
        "{type: ContainerResource, containerResource: "
        "{name: cpu, container: app, target: {type: AverageValue, averageValue: 250m}}}"
    )
    found = read_one(written(f"metrics: [{CPU}, {memory}, {named}]", version))
    assert found.metrics == (
        Metric("Resource", "cpu", "Utilization", 70),
        Metric("Resource", "memory", "AverageValue", 500 * 2**20),
        Metric("ContainerResource", "cpu", "AverageValue", 250, "app"),
    )


def test_the_oldest_version_writes_targets_beside_the_name(read_one: Read) -> None:
    spec = (
        "metrics: [{type: Resource, resource: {name: cpu, targetAverageUtilization: 60}}, "
        "{type: Resource, resource: {name: memory, targetAverageValue: 1Gi}}]"
    )
    metrics = read_one(written(spec, "v2beta1")).metrics
    assert metrics == (
        Metric("Resource", "cpu", "Utilization", 60),
        Metric("Resource", "memory", "AverageValue", 2**30),
    )


@pytest.mark.parametrize(
    ("version", "metric", "key", "name"),
    [
        (
            "v2",
            "type: Pods, pods: {metric: {name: rps}, target: {type: AverageValue, averageValue: 1k}}",
            "pods",
            "rps",
        ),
        (
            "v2",
            "type: External, external: {metric: {name: queue}, target: {type: Value, value: 5}}",
            "external",
            "queue",
        ),
        ("v2beta1", "type: Pods, pods: {metricName: rps, targetAverageValue: 10}", "pods", "rps"),
    ],
)
def test_custom_metrics_are_accounted_as_not_supported(
    read_all: Callable[[str], Loaded], version: str, metric: str, key: str, name: str
) -> None:
    loaded = read_all(written(f"metrics: [{{{metric}}}]", version))
    (found,) = loaded.objects
    assert isinstance(found, HorizontalPodAutoscaler)
    assert [each.name for each in found.metrics] == [name]
    assert [each.path for each in loaded.accounting.unsupported] == [f"spec.metrics[0].{key}"]


def test_what_behavior_does_not_say_is_filled_in(read_one: Read) -> None:
    spec = (
        "behavior: {scaleUp: {stabilizationWindowSeconds: 60, selectPolicy: Min}, "
        "scaleDown: {policies: [{type: Pods, value: 1, periodSeconds: 60}], tolerance: 0.05}}"
    )
    behavior = read_one(written(spec)).behavior
    assert behavior == ScalingBehavior(
        ScalingRules(60, "Min", (ScalingPolicy("Pods", 4, 15), ScalingPolicy("Percent", 100, 15))),
        ScalingRules(None, "Max", (ScalingPolicy("Pods", 1, 60),), 0.05),
    )
    assert read_one(written("behavior: {scaleUp: {selectPolicy: Disabled}}")).behavior.down == DEFAULT_DOWN


def test_a_target_of_another_group_keeps_it(read_one: Read) -> None:
    text = written("").replace("apps/v1, kind: Deployment", "argoproj.io/v1alpha1, kind: Rollout")
    assert read_one(text).target_kind == "Rollout.argoproj.io"


@pytest.mark.parametrize(
    ("spec", "bounds", "said"),
    [
        ("", "maxReplicas: 0", "maxReplicas must be at least 1, not 0"),
        ("", "minReplicas: 3", "maxReplicas is required"),
        ("", "minReplicas: 3, maxReplicas: 2", "maxReplicas must be at least minReplicas (3), not 2"),
        ("", "minReplicas: 0, maxReplicas: 2", "minReplicas must be at least 1, not 0"),
        ("targetCPUUtilizationPercentage: 50", "maxReplicas: 2", 'unknown field "spec.targetCPUUtilizationPercentage"'),
        ("metrics: [{type: Resources}]", "maxReplicas: 2", 'Did you mean "Resource"?'),
        ("metrics: [{type: Resource}]", "maxReplicas: 2", "spec.metrics[0].resource is required for type Resource"),
        (
            "metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization}}}]",
            "maxReplicas: 2",
            "averageUtilization is required for type Utilization",
        ),
        ("behaviour: {}", "maxReplicas: 2", 'Did you mean "behavior"?'),
        ("behavior: {scaleUp: {policies: []}}", "maxReplicas: 2", "policies must have at least one policy"),
        (
            "behavior: {scaleDown: {policies: [{type: Percent, value: 10, periodSeconds: 3600}]}}",
            "maxReplicas: 2",
            "periodSeconds must be at most 1800, not 3600",
        ),
    ],
)
def test_what_the_api_server_refuses_is_refused(error_of: Read, spec: str, bounds: str, said: str) -> None:
    assert said in error_of(written(spec, bounds=bounds))


def test_a_dump_has_its_status(read_one: Read) -> None:
    text = written("") + (
        "status: {currentReplicas: 3, desiredReplicas: 4, conditions: "
        "[{type: ScalingActive, status: 'True', reason: ValidMetricFound}]}\n"
    )
    status = read_one(text).status
    assert (status.current, status.desired) == (3, 4)
    assert status.condition("ScalingActive").reason == "ValidMetricFound"


@pytest.mark.parametrize(("load", "millicores"), [("800m", 800), ("'1.5'", 1500), ("2", 2000), ("1e-1", 100)])
def test_the_load_of_a_workload_is_a_quantity_of_cpu(
    read_one: Read, deployment: Text, load: str, millicores: int
) -> None:
    text = deployment().replace("  name: web\n", f"  name: web\n  annotations: {{{LOAD}: {load}}}\n")
    assert load_of(Machines(), read_one(text)) == millicores
