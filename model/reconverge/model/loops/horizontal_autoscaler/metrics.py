"""What the metrics server says of pods, and which pods of a workload its word is taken for.

Source: `pkg/controller/podautoscaler/metrics/client.go`, `replica_calculator.go` (groupPods, calculatePodRequests).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen

from reconverge.model.load import local_of, share_of
from reconverge.model.loop import Reading
from reconverge.model.naming import workload_of
from reconverge.model.objects import Pod
from reconverge.model.objects.autoscaling import Metric
from reconverge.model.objects.pod import Container
from reconverge.model.value import Seconds


class MetricError(Exception):
    """A metric from which no proposal can be made; the message is upstream's."""


@frozen
class Groups:
    """The pods that the selector matches, by what becomes of their samples; by uid."""

    ready: frozenset[int]
    unready: frozenset[int]
    missing: frozenset[int]
    ignored: frozenset[int]


class MetricsServer:
    """Samples of pods, in millicores and bytes. A running pod has one while its node's kubelet can be asked.

    The load of a workload falls on the first container of its pods that serve. Memory does not depend on load: a pod
    uses half of what the target allows, so that memory neither asks for more pods nor holds those that are there.
    """

    def samples(self, reading: Reading, pods: Iterable[Pod], metric: Metric) -> dict[int, int]:
        """The usage of each pod that has a sample, by uid. Raises MetricError for a metric that nothing measures."""
        if metric.kind not in ("Resource", "ContainerResource"):
            raise MetricError(f"unable to get metric {metric.name}: no custom metrics API")
        measured = [pod for pod in pods if self.is_measured(reading, pod)]
        if metric.name == "cpu":
            return {pod.uid: self.cpu(reading, pod, metric.container) for pod in measured}
        if metric.name == "memory":
            return {pod.uid: self.memory(pod, metric) for pod in measured}
        raise MetricError(f"unable to get metrics for resource {metric.name}: no metrics returned")

    def is_measured(self, reading: Reading, pod: Pod) -> bool:
        """Whether the pod runs on a machine whose kubelet answers."""
        machines = reading.machines
        machine = machines.get(pod.node) if machines is not None and pod.node is not None else None
        if machines is None or machine is None or not machine.connected:
            return False
        return local_of(machines, pod) is not None

    def cpu(self, reading: Reading, pod: Pod, container: str = "") -> int:
        """The pod's share of its workload's load, at most the CPU limit of the container that bears it."""
        workload = workload_of(reading.store, pod)
        if workload is None or reading.machines is None or not pod.ready or not pod.active:
            return 0
        bearer = pod.spec.containers[0] if pod.spec.containers else Container("")
        if container not in ("", bearer.name):
            return 0
        share = share_of(reading.store, reading.machines, workload)
        return min(share, bearer.limits.cpu) if bearer.limits.cpu else share

    def memory(self, pod: Pod, metric: Metric) -> int:
        """Half of what the target allows, whatever the load."""
        if metric.target == "AverageValue":
            return metric.amount // 2
        named = [each for each in pod.spec.containers if metric.container in ("", each.name)]
        return sum(each.requests.memory for each in named) * metric.amount // 200


def requests_of(reading: Reading, pods: Iterable[Pod], metric: Metric) -> dict[int, int]:
    """What each pod requests of the metric's resource, by uid (calculatePodRequests).

    Raises MetricError if a container has no request, of whichever pod.
    """
    requests = {}
    for pod in pods:
        given = dict(pod.spec.pod_requests)
        if reading.rules.autoscaler.pod_level_requests and not metric.container and metric.name in given:
            requests[pod.uid] = given[metric.name]
            continue
        requests[pod.uid] = sum(_request(pod, each, metric.name) for each in _containers(pod, metric.container))
    return requests


def _containers(pod: Pod, named: str) -> list[Container]:
    sidecars = [each for each in pod.spec.init_containers if each.restart_policy == "Always"]
    return [each for each in (*pod.spec.containers, *sidecars) if named in ("", each.name)]


def _request(pod: Pod, container: Container, resource: str) -> int:
    amount = container.requests.amount(resource)
    if not amount:
        raise MetricError(f"missing request for {resource} in container {container.name} of pod {pod.name}")
    return amount


# Which samples count -----------------------------------------------------------------------------------------


def grouped(reading: Reading, pods: Iterable[Pod], samples: Mapping[int, int], resource: str) -> Groups:
    """The pods by what becomes of their samples (groupPods)."""
    found: dict[str, set[int]] = {"ready": set(), "unready": set(), "missing": set(), "ignored": set()}
    for pod in pods:
        found[group_of(reading, pod, pod.uid in samples, resource)].add(pod.uid)
    return Groups(*(frozenset(found[name]) for name in ("ready", "unready", "missing", "ignored")))


def group_of(reading: Reading, pod: Pod, sampled: bool, resource: str) -> str:
    """`ignored`, `unready`, `missing` or `ready`, the first that applies."""
    if pod.deletion_at is not None or pod.phase == "Failed":
        return "ignored"
    if pod.phase == "Pending":
        return "unready"
    if not sampled:
        return "missing"
    return "unready" if resource == "cpu" and cpu_is_unready(reading, pod) else "ready"


def cpu_is_unready(reading: Reading, pod: Pod) -> bool:
    """Whether a pod's CPU does not count yet, because it starts up or has never been ready."""
    settings = reading.rules.autoscaler
    if pod.started_at is None:
        return True
    if pod.started_at + settings.cpu_initialization > reading.now:
        return not pod.ready or reading.now < pod.ready_since + settings.metric_window
    return not pod.ready and pod.started_at + settings.initial_readiness > pod.ready_since


def regrouped_at(reading: Reading, pod: Pod) -> Seconds | None:
    """When the group of a running pod will change with time alone, or None."""
    settings, now = reading.rules.autoscaler, reading.now
    if pod.started_at is None or pod.phase != "Running" or pod.deletion_at is not None:
        return None
    end = pod.started_at + settings.cpu_initialization
    if end <= now:
        return None
    if pod.ready:
        sampled = pod.ready_since + settings.metric_window
        return min(sampled, end) if sampled > now else None
    return end if pod.started_at + settings.initial_readiness <= pod.ready_since else None


def regroupings(reading: Reading, pods: Iterable[Pod], metrics: Iterable[Metric]) -> list[Seconds]:
    """The moments at which the groups of some pods will change with time alone; only CPU has such groups."""
    if not any(each.name == "cpu" for each in metrics):
        return []
    return [moment for moment in (regrouped_at(reading, pod) for pod in pods) if moment is not None]
