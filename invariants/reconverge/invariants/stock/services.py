"""Whether Services keep an endpoint that really serves."""

from __future__ import annotations

from collections.abc import Iterable

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Situation
from reconverge.invariants.stock.facts import local_pod
from reconverge.model.cluster import Cluster
from reconverge.model.events import Drain, Scale
from reconverge.model.local_pods import LocalPod
from reconverge.model.loop import MACHINES
from reconverge.model.machines import Machine
from reconverge.model.naming import WORKLOADS
from reconverge.model.objects import Endpoint, Pod, Service
from reconverge.model.store import Change
from reconverge.model.value import Seconds

MOST_FAILURES = 1
"""How many failures of the environment a Service is meant to live through."""


def _services_at_stake(situation: Situation, change: Change) -> Iterable[str]:
    """The Services that may have lost an endpoint: by their slice, or by a pod that a machine has stopped running."""
    if change.kind in ("EndpointSlice", "Service"):
        return (change.key,)
    if change.kind != MACHINES or change.before is None:
        return ()
    store = situation.store
    keys: dict[str, None] = {}
    for key in lost_pods(change.before, change.after):
        pod = store.pod(key)
        if pod is not None:
            for service in store.in_namespace("Service", pod.namespace):
                if service.selector is not None and service.selector.matches(pod.labels):
                    keys[service.key] = None
    return tuple(keys)


def lost_pods(before: Machine, after: Machine | None) -> list[str]:
    """Keys of the pods that were ready on a machine before a change of it and do not serve after it."""
    if after is None or (before.powered and not after.powered):
        return [pod.key for pod in before.pods.values() if pod.alive]
    if before.pods is after.pods:
        return []
    stays = after.pods.get
    return [pod.key for uid, pod in before.pods.items() if pod.ready and ((now := stays(uid)) is None or not now.ready)]


def at_stake(situation: Situation, service: Service) -> bool:
    """Whether the Service is meant to be available: after one failure at most, and while somebody wants its pods."""
    if situation.start is None or service.selector is None or service.selector.empty:
        return False
    return sum(event.failure for event in situation.events) <= MOST_FAILURES


@invariant(
    "service-available",
    "always",
    for_each="Service",
    statement="A Service that served at the start keeps an endpoint that serves, through voluntary disruption and one "
    "failure, unless somebody has scaled what is behind it to a single pod.",
    why="Without an endpoint every request fails.",
    remedy="Run two replicas or more, spread over nodes and zones, under a budget, with a readiness probe that is true "
    "only when the pod serves, and a strategy that keeps one (maxUnavailable less than replicas, not Recreate).",
    source="documentation of Services and EndpointSlices (conditions); of disruptions",
    applies=at_stake,
    touched_by=_services_at_stake,
    watches=(
        "EndpointSlice",
        "Service",
        MACHINES,
    ),
)
def service_available(situation: Situation, service: Service) -> Iterable[Violation]:
    """An endpoint serves if its slice calls it ready, its machine is up, and it has been ready for `serves-after`.

    A workload that somebody has scaled to one pod is not expected to live through a failure or a drain.
    """
    if serving(situation.cluster, service) or not _was_serving(situation, service) or not is_wanted(situation, service):
        return ()
    if left_with_one(situation, service):
        return ()
    slice_ = situation.store.endpoint_slice(service.key)
    endpoints = slice_.endpoints if slice_ is not None else ()
    before = _serving_endpoints(situation.start, service)
    nodes = sorted({each.node for each in before})
    reasons = [_why_not(situation.cluster, each) for each in endpoints]
    message = f"{service.reference} has no endpoint that serves: {'; '.join(reasons) or 'it has none at all'}"
    if len(nodes) == 1 and len(before) > 1:
        message += f" (all {len(before)} were on {nodes[0]} at the start)"
    facts = {"at_start": len(before), "nodes_at_start": nodes, "endpoints": reasons}
    return (Violation(service.reference, message, facts),)


def serving(cluster: Cluster, service: Service) -> bool:
    """Whether some endpoint of the Service serves."""
    slice_ = cluster.store.endpoint_slice(service.key)
    return slice_ is not None and any(_serves(cluster, each) for each in slice_.endpoints)


def _serving_endpoints(cluster: Cluster | None, service: Service) -> list[Endpoint]:
    slice_ = None if cluster is None else cluster.store.endpoint_slice(service.key)
    return [] if cluster is None or slice_ is None else [each for each in slice_.endpoints if _serves(cluster, each)]


def _serves(cluster: Cluster, endpoint: Endpoint) -> bool:
    return endpoint.ready and _why_not(cluster, endpoint) == ""


def _why_not(cluster: Cluster, endpoint: Endpoint) -> str:
    """Why an endpoint does not serve; empty if it does."""
    pod = cluster.store.pod(endpoint.pod)
    name = f"pod/{endpoint.pod.removeprefix('default/')}"
    if pod is None:
        return f"{name} is gone"
    local = local_pod(cluster, pod)
    if local is None:
        machine = cluster.machines.get(endpoint.node)
        down = machine is None or not machine.powered
        return f"{name} was on {endpoint.node}, which is down" if down else f"{name} does not run on {endpoint.node}"
    if not local.alive:
        return f"{name} on {endpoint.node} has stopped"
    if endpoint.terminating:
        return f"{name} is Terminating"
    if not endpoint.ready:
        return f"{name} is not ready"
    if not local.ready or cluster.now < _serves_at(pod, local):
        return f"{name} is called ready, and does not serve yet"
    hung = [part.name for part, each in local.parts() if each.hung_at is not None]
    return f"{name} is called ready, and its container {hung[0]} hangs" if hung else ""


def _serves_at(pod: Pod, local: LocalPod) -> Seconds:
    """When a ready pod really serves: one that nobody probes is called ready though its program is still starting."""
    begins = [
        each.since + part.behaviour.starts_after
        for part, each in local.parts()
        if part.role != "init" and part.container.readiness is None
    ]
    return max(pod.ready_since + pod.spec.behaviour.serves_after, *begins, 0)


def _was_serving(situation: Situation, service: Service) -> bool:
    start = situation.start
    return start is not None and serving(start, service)


def is_wanted(situation: Situation, service: Service) -> bool:
    """Whether a workload that is not scaled to 0, or a pod of its own, stands behind the Service."""
    store, selector = situation.store, service.selector
    if selector is None:
        return False
    for kind in WORKLOADS:
        for workload in store.in_namespace(kind, service.namespace):
            if (
                selector.matches(workload.template.labels)
                and getattr(workload, "replicas", 1) > 0
                and _counts(workload)
            ):
                return True
    return any(selector.matches(pod.labels) and pod.active for pod in store.orphan_pods(service.namespace))


def left_with_one(situation: Situation, service: Service) -> bool:
    """Whether somebody has scaled the only workload behind the Service to one pod, and something else happened, too.

    Who gives up the other replicas knows that the last one can go.
    """
    events = situation.events
    if service.selector is None or not any(event.failure or isinstance(event, Drain) for event in events):
        return False
    behind = [
        workload
        for kind in WORKLOADS
        for workload in situation.store.in_namespace(kind, service.namespace)
        if service.selector.matches(workload.template.labels) and _counts(workload)
    ]
    names = {each.reference for each in behind if getattr(each, "replicas", 0) == 1}
    scaled = any(isinstance(event, Scale) and event.replicas == 1 and event.workload in names for event in events)
    return scaled and len(behind) == 1 and len(_serving_endpoints(situation.start, service)) > 1


def _counts(workload: object) -> bool:
    """Whether a workload speaks for itself: a ReplicaSet of a Deployment does not."""
    return getattr(workload, "owner", None) is None
