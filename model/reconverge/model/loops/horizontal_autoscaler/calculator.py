"""How many replicas one metric asks for.

Ratios are floating-point numbers and utilisations truncated percents, as upstream, so that the same inputs round the
same way. Source: `pkg/controller/podautoscaler/replica_calculator.go`, `metrics/utilization.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil

from attrs import frozen

from reconverge.model.loop import Reading
from reconverge.model.loops.horizontal_autoscaler.metrics import (
    Groups,
    MetricError,
    MetricsServer,
    grouped,
    requests_of,
)
from reconverge.model.objects import HorizontalPodAutoscaler, Pod
from reconverge.model.objects.autoscaling import Metric


@frozen
class Tolerances:
    """How far a ratio may be from 1, by direction."""

    down: float
    up: float
    by_distance: bool = False

    def within(self, ratio: float) -> bool:
        """Whether a ratio has no effect (isWithin)."""
        if self.by_distance:
            return abs(1.0 - ratio) <= (self.up if ratio > 1.0 else self.down)
        return (1.0 - self.down) <= ratio <= (1.0 + self.up)


@frozen
class Proposal:
    """What a metric asks for, and the words that say why."""

    replicas: int
    name: str
    """What is measured, as in "cpu resource utilization (percentage of request)"."""
    measured: str
    """The value and its target, as in "160% of 50%"."""


Samples = dict[int, int]


class ReplicaCalculator:
    """Proposals by metric. `server` answers for the metrics APIs; a subclass of it may know custom metrics."""

    def __init__(self, server: MetricsServer | None = None) -> None:
        self.server = server if server is not None else MetricsServer()

    def tolerances(self, reading: Reading, autoscaler: HorizontalPodAutoscaler) -> Tolerances:
        """The controller's own, or those of the autoscaler where the version lets it have any (tolerancesForHpa)."""
        settings = reading.rules.autoscaler
        down = up = settings.tolerance
        if settings.own_tolerances and autoscaler.behavior is not None:
            rules = autoscaler.behavior
            down = down if rules.down.tolerance is None else rules.down.tolerance
            up = up if rules.up.tolerance is None else rules.up.tolerance
        return Tolerances(down, up, settings.tolerance_by_distance)

    def propose(
        self, reading: Reading, current: int, metric: Metric, pods: Sequence[Pod], tolerances: Tolerances
    ) -> Proposal:
        """What a metric asks for (computeReplicasForMetric). Raises MetricError if that cannot be said."""
        if metric.kind in ("Object", "External"):
            return self.of_one_value(reading, current, metric, pods, tolerances)
        samples = self.server.samples(reading, pods, metric)
        if not pods:
            raise MetricError("no pods returned by selector while calculating replica count")
        groups = grouped(reading, pods, samples, metric.name if metric.kind != "Pods" else "")
        counted = {uid: samples[uid] for uid in groups.ready}
        if not counted:
            raise MetricError("did not receive metrics for targeted pods (pods might be unready)")
        if metric.target == "Utilization":
            return self.of_utilisation(reading, current, metric, pods, groups, counted, tolerances)
        return self.of_average(current, metric, groups, counted, tolerances)

    # Per pod -------------------------------------------------------------------------------------------------

    def of_utilisation(
        self,
        reading: Reading,
        current: int,
        metric: Metric,
        pods: Sequence[Pod],
        groups: Groups,
        counted: Samples,
        tolerances: Tolerances,
    ) -> Proposal:
        """Usage as a percentage of the requests (GetResourceReplicas)."""
        requests = requests_of(reading, pods, metric)
        utilisation = self.utilisation(counted, requests)
        fallback = {uid: requests[uid] * max(100, metric.amount) // 100 for uid in groups.missing}
        replicas = self.replicas(
            current, groups, counted, fallback, tolerances,
            lambda samples: self.utilisation(samples, requests) / metric.amount,
        )  # fmt: skip
        what = f"{metric.name} {_kind_word(metric)} utilization (percentage of request)"
        return Proposal(replicas, what, f"{utilisation}% of {metric.amount}%")

    def utilisation(self, samples: Samples, requests: Samples) -> int:
        """Summed usage in truncated percents of the summed requests (GetResourceUtilizationRatio)."""
        requested = sum(requests[uid] for uid in samples)
        if not requested:
            raise MetricError("no metrics returned matched known pods")
        return sum(samples.values()) * 100 // requested

    def of_average(
        self, current: int, metric: Metric, groups: Groups, counted: Samples, tolerances: Tolerances
    ) -> Proposal:
        """Usage per pod as an amount (calcPlainMetricReplicas)."""
        fallback = dict.fromkeys(groups.missing, metric.amount)
        replicas = self.replicas(
            current, groups, counted, fallback, tolerances,
            lambda samples: (sum(samples.values()) // len(samples)) / metric.amount,
        )  # fmt: skip
        average = sum(counted.values()) // len(counted)
        return Proposal(replicas, f"{metric.name} {_kind_word(metric)}", f"{average} of {metric.amount}")

    def replicas(
        self,
        current: int,
        groups: Groups,
        counted: Samples,
        fallback: Samples,
        tolerances: Tolerances,
        ratio_of: Callable[[Samples], float],
    ) -> int:
        """Ready pods times the ratio; where pods are missing or unready, only as far as the worst case still asks.

        The product is with the pods that are measured, not with the present replicas.
        """
        ratio = ratio_of(counted)
        unready = bool(groups.unready) and ratio > 1.0
        if not unready and not groups.missing:
            return current if tolerances.within(ratio) else ceil(ratio * len(groups.ready))
        assumed = self.assumed(ratio, groups, fallback)
        worst = ratio_of({**counted, **assumed})
        if tolerances.within(worst) or (ratio < 1.0 < worst) or (ratio > 1.0 > worst):
            return current
        replicas = ceil(worst * (len(counted) + len(assumed)))
        against = (worst < 1.0 and replicas > current) or (worst > 1.0 and replicas < current)
        return current if against else replicas

    def assumed(self, ratio: float, groups: Groups, fallback: Samples) -> Samples:
        """What pods without a sample that counts are taken to use: all on the way down, nothing on the way up."""
        assumed: Samples = {}
        if ratio < 1.0:
            assumed |= fallback
        elif ratio > 1.0:
            assumed |= dict.fromkeys(groups.missing, 0)
            assumed |= dict.fromkeys(groups.unready, 0)
        return assumed

    # One value for all ---------------------------------------------------------------------------------------

    def of_one_value(
        self, reading: Reading, current: int, metric: Metric, pods: Sequence[Pod], tolerances: Tolerances
    ) -> Proposal:
        """Object and External metrics, in thousandths (GetObjectMetricReplicas, GetExternalPerPodMetricReplicas)."""
        value = self.value(reading, metric)
        measured = f"{value} of {metric.amount}"
        if metric.target == "AverageValue":
            steady = tolerances.within(value / (metric.amount * current))
            return Proposal(current if steady else ceil(value / metric.amount), metric.name, measured)
        ratio = value / metric.amount
        if tolerances.within(ratio):
            return Proposal(current, metric.name, measured)
        ready = sum(pod.phase == "Running" and pod.ready for pod in pods)
        return Proposal(ceil(ratio * ready), metric.name, measured)

    def value(self, reading: Reading, metric: Metric) -> int:
        """The value of an Object or External metric. Nothing measures any: a subclass may."""
        raise MetricError(f"unable to get {metric.kind.lower()} metric {metric.name}: no metrics API has it")


def _kind_word(metric: Metric) -> str:
    words = {"Resource": "resource", "ContainerResource": "container resource", "Pods": "pods metric"}
    return words[metric.kind]
