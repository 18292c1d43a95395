"""How many replicas a load asks for by the documented formula: an oracle that shares no code with the autoscaler.

Source: documentation of horizontal pod autoscaling, algorithm details:
desiredReplicas = ceil(currentReplicas * currentMetricValue / desiredMetricValue), without effect near a ratio of 1.
"""

from __future__ import annotations

from typing import Any

from attrs import frozen

from reconverge.model.cluster import Cluster
from reconverge.model.load import SCALABLE, load_of
from reconverge.model.objects import HorizontalPodAutoscaler, PodSpec
from reconverge.model.objects.autoscaling import Metric


@frozen
class Demanded:
    """What a workload's own load asks for, if its replicas share it evenly."""

    load: int
    """Millicores in all."""
    replicas: int
    wanted: int
    """Millicores of each replica when the metric that asks for most is on target."""
    ratios: tuple[float, ...]
    """Usage over target at the present count, with the usage as it is, in truncated percents, and rounded up."""
    down: float
    up: float
    """The ratios between which nothing moves."""

    def facts(self) -> dict[str, Any]:
        """The numbers."""
        return {"load": self.load, "replicas": self.replicas, "wanted_per_replica": self.wanted}


def demanded(cluster: Cluster, autoscaler: HorizontalPodAutoscaler) -> Demanded | None:
    """What the load asks for; None where it cannot be told: scaled to zero, without requests, custom metrics."""
    known = autoscaler.target_kind in SCALABLE
    target = cluster.store.get(autoscaler.target_kind, autoscaler.target) if known else None
    if target is None or target.replicas == 0 or any(not _judged(each) for each in autoscaler.metrics):
        return None
    whole = cluster.rules.autoscaler.pod_level_requests
    by_metric = (_wanted(metric, target.template.spec, whole) for metric in autoscaler.metrics if metric.name == "cpu")
    least = min((each for each in by_metric if each), default=0)
    if not least:
        return None
    load, replicas = load_of(cluster.machines, target), target.replicas
    exact = load / replicas / least
    up_to_one = -(-load // replicas) / least
    # A truncated percent is at most one below.
    truncated = max(0.0, exact - _one_percent(autoscaler))
    down, up = tolerances(cluster, autoscaler)
    return Demanded(load, replicas, least, (exact, truncated, up_to_one), down, up)


def _judged(metric: Metric) -> bool:
    return metric.kind in ("Resource", "ContainerResource") and metric.name in ("cpu", "memory")


def _wanted(metric: Metric, spec: PodSpec, whole: bool) -> int:
    """Millicores of one replica on target; 0 where nothing is requested. `whole`: what a pod requests itself counts."""
    if metric.target == "AverageValue":
        return metric.amount
    if whole and not metric.container and (given := dict(spec.pod_requests).get("cpu")):
        return round(given * metric.amount / 100)
    sidecars = (each for each in spec.init_containers if each.restart_policy == "Always")
    named = [each.requests.cpu for each in (*spec.containers, *sidecars) if metric.container in ("", each.name)]
    return round(sum(named) * metric.amount / 100) if all(named) else 0


def _one_percent(autoscaler: HorizontalPodAutoscaler) -> float:
    """What one percent of the requests is as a part of the target."""
    percents = [each.amount for each in autoscaler.metrics if each.name == "cpu" and each.target == "Utilization"]
    return 1 / min(percents) if percents else 0.0


def tolerances(cluster: Cluster, autoscaler: HorizontalPodAutoscaler) -> tuple[float, float]:
    """The ratios of usage to target between which an autoscaler leaves a count as it is."""
    settings = cluster.rules.autoscaler
    down = up = settings.tolerance
    behavior = autoscaler.behavior
    if settings.own_tolerances and behavior is not None:
        down = down if behavior.down.tolerance is None else behavior.down.tolerance
        up = up if behavior.up.tolerance is None else behavior.up.tolerance
    return 1 - down, 1 + up
