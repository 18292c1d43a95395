"""Whether the traffic of Services arrives, by the rules that the nodes have at each moment.

Between a change of endpoints and a node's rules for it lies the time that its kube-proxy takes: whoever sends a request
meanwhile is sent to what was there before. Judged only where kube-proxies are modelled.
Source: `pkg/proxy/iptables/proxier.go`; documentation of Services (virtual IPs) and of pod termination.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Situation
from reconverge.invariants.stock.services import at_stake, is_wanted, left_with_one, lost_pods
from reconverge.model.cluster import Cluster
from reconverge.model.load_balancers import balanced_nodes, passes_check
from reconverge.model.local_pods import LocalPod
from reconverge.model.loop import MACHINES
from reconverge.model.loops.kube_proxy import KubeProxy, works
from reconverge.model.machines import Machine
from reconverge.model.objects import Service
from reconverge.model.objects.service import LOAD_BALANCER, NODE_PORT
from reconverge.model.proxy import Backend, Route
from reconverge.model.store import Change

PROXY = KubeProxy.name


# What traffic meets -------------------------------------------------------------------------------------------


def routed(cluster: Cluster, service: str) -> Iterator[tuple[Machine, Route]]:
    """The machines that run and have a rule for a Service, by its key, in the order of their names."""
    for name in sorted(cluster.machines.by_name):
        machine = cluster.machines.by_name[name]
        if machine.powered and machine.proxy is not None and (route := machine.proxy.routes.get(service)) is not None:
            yield machine, route


def process_at(cluster: Cluster, backend: Backend) -> LocalPod | None:
    """What runs at the address of a backend; None if nothing does."""
    machine = cluster.machines.get(backend.node)
    local = machine.pods.get(backend.uid) if machine is not None and machine.powered else None
    return local if local is not None and local.alive else None


def serves(cluster: Cluster, backend: Backend) -> bool:
    """Whether what runs at the address of a backend answers requests by now: it is ready, and has been for long enough.

    `serves-after` counts from when the pod was reported ready.
    """
    local = process_at(cluster, backend)
    if local is None or not local.ready:
        return False
    pod = cluster.store.pod(backend.pod)
    since = pod.ready_since if pod is not None and pod.uid == backend.uid and pod.ready else local.since
    return cluster.now >= since + local.spec.behaviour.serves_after


def _why_dead(cluster: Cluster, backend: Backend) -> str:
    machine = cluster.machines.get(backend.node)
    down = machine is None or not machine.powered
    return f"was on {backend.node}, which is down" if down else f"has stopped on {backend.node}"


def _why_not(cluster: Cluster, backend: Backend) -> str:
    return "does not serve yet" if process_at(cluster, backend) is not None else _why_dead(cluster, backend)


# Requests that are lost ---------------------------------------------------------------------------------------


def _services_of_change(situation: Situation, change: Change) -> Iterable[str]:
    """The Services whose traffic a change of a machine may concern: its rules, or its pods that rules lead to."""
    if change.kind == "Service":
        return (change.key,)
    if change.kind != MACHINES or change.after is None:
        return ()
    before, after = change.before, change.after
    keys: dict[str, None] = {}
    if before is None or before.proxy is not after.proxy or before.powered != after.powered:
        keys.update(_other_routes(before, after))
    if before is not None and (lost := {*lost_pods(before, after), *_ended(before, after)}):
        keys.update(dict.fromkeys(_leading_to(situation.cluster, lost)))
    return tuple(keys)


def _ended(before: Machine, after: Machine) -> Iterator[str]:
    """Keys of the pods of which something ran on a machine before a change of it, and nothing does after it."""
    if before.pods is not after.pods:
        stays = after.pods.get
        for uid, pod in before.pods.items():
            if pod.alive and ((now := stays(uid)) is None or not now.alive):
                yield pod.key


def _other_routes(before: Machine | None, after: Machine) -> dict[str, None]:
    new = after.proxy.routes if after.proxy is not None else {}
    if before is None or before.powered != after.powered or before.proxy is None:
        return dict.fromkeys(new)
    old = before.proxy.routes
    return {key: None for key in (*old, *new) if old.get(key) != new.get(key)}


def _leading_to(cluster: Cluster, pods: set[str]) -> Iterator[str]:
    """The Services that some node sends to one of the pods."""
    for machine in cluster.machines.by_name.values():
        if machine.proxy is not None:
            for key, route in machine.proxy.routes.items():
                if any(backend.pod in pods for backend in route.backends):
                    yield key


def _lost(situation: Situation, service: Service) -> Iterable[Violation]:
    """One violation, with the first rule that leads to nothing that runs; how many nodes have such rules is a fact."""
    cluster = situation.cluster
    found = [
        (machine, backend)
        for machine, route in routed(cluster, service.key)
        for backend in route.backends
        if process_at(cluster, backend) is None and _is_sent(cluster, service, machine, backend, route)
    ]
    if not found:
        return ()
    machine, backend = found[0]
    message = (
        f"{machine.name} sends requests for {service.reference} to {_name(backend)}, "
        f"which {_why_dead(cluster, backend)}{_why_behind(machine)}"
    )
    nodes = sorted({machine.name for machine, _ in found})
    return (Violation(service.reference, message, {"nodes": nodes, "pods": sorted({each.pod for _, each in found})}),)


def _is_sent(cluster: Cluster, service: Service, machine: Machine, backend: Backend, route: Route) -> bool:
    """Whether traffic comes to a node that goes to the backend: from outside only if the load balancer sends some."""
    if backend in route.internal or service.type != LOAD_BALANCER:
        return True
    return any(name == machine.name for name, _ in behind_load_balancer(cluster, service))


def _why_behind(machine: Machine) -> str:
    if works(machine):
        return ""
    stalled = machine.proxy is not None and machine.proxy.stalled
    return f" ({'its kube-proxy has stalled' if stalled else 'it is cut off from the API server'})"


def _has_rules(situation: Situation, service: Service) -> bool:
    """Whether nodes have rules for a Service: proxies are modelled, and it has an address of its own."""
    return PROXY in situation.cluster.loops and service.proxied


def _voluntary(situation: Situation, service: Service) -> bool:
    return _has_rules(situation, service) and not any(event.failure for event in situation.events)


_REQUESTS_WHY = "Each connection that is sent there fails, until the node's kube-proxy has seen that the pod is gone."
_REQUESTS_REMEDY = (
    "Let containers go on for some seconds after the stop signal (a preStop hook that sleeps, or a program that "
    "drains; reconverge/stops-after says so here), within terminationGracePeriodSeconds."
)
_REQUESTS_SOURCE = "documentation of pod lifecycle (termination of pods); pkg/proxy/iptables/proxier.go"


@invariant(
    "no-request-lost",
    "always",
    for_each="Service",
    statement="While nothing fails, no node sends traffic of a Service to a pod of which nothing runs any more: "
    "rollouts, scalings and drains lose no request.",
    why=_REQUESTS_WHY,
    remedy=_REQUESTS_REMEDY,
    source=_REQUESTS_SOURCE,
    applies=_voluntary,
    touched_by=_services_of_change,
    needs=PROXY,
    watches=(
        "Service",
        MACHINES,
    ),
)
def no_request_lost(situation: Situation, service: Service) -> Iterable[Violation]:
    """Judges the rules of every node that runs, as long as no failure has struck."""
    return _lost(situation, service)


@invariant(
    "traffic-reaches-pods",
    "always",
    for_each="Service",
    statement="Whatever happens, no node sends traffic of a Service to a pod of which nothing runs any more, not even "
    "from a failure until it has been noticed.",
    why=_REQUESTS_WHY,
    remedy=f"{_REQUESTS_REMEDY} Clients that try again get over what no setting prevents: a node that dies.",
    source=_REQUESTS_SOURCE,
    applies=_has_rules,
    touched_by=_services_of_change,
    default=False,
    needs=PROXY,
    watches=(
        "Service",
        MACHINES,
    ),
)
def traffic_reaches_pods(situation: Situation, service: Service) -> Iterable[Violation]:
    """Judges the rules of every node that runs."""
    return _lost(situation, service)


# Services that cannot be reached ------------------------------------------------------------------------------


def _services_reached(situation: Situation, change: Change) -> Iterable[str]:
    """As for requests; a Node besides concerns every Service with a load balancer."""
    if change.kind == "Node":
        return [each.key for each in situation.store.all("Service") if each.type == LOAD_BALANCER]
    return _services_of_change(situation, change)


def _has_clients(situation: Situation, service: Service) -> bool:
    return _has_rules(situation, service) and at_stake(situation, service)


@invariant(
    "service-reachable",
    "always",
    for_each="Service",
    statement="Wherever clients reached a Service at the start they still reach it, through voluntary disruption and "
    "one failure: from every node that runs, through every NodePort, through the load balancer.",
    why="An endpoint that serves somewhere is of no use to clients whose node has no rule that leads there.",
    remedy="Keep endpoints ready throughout (service-available). With externalTrafficPolicy Local, nodes without an "
    "endpoint of their own drop what comes to their NodePort: send clients through a load balancer that checks the "
    "nodes' health, run a pod on every node that gets traffic, or use Cluster.",
    source="documentation of Services (traffic policies); pkg/proxy/topology.go",
    applies=_has_clients,
    touched_by=_services_reached,
    needs=PROXY,
    watches=(
        "Service",
        "Node",
        MACHINES,
    ),
)
def service_reachable(situation: Situation, service: Service) -> Iterable[Violation]:
    """Compares where the Service was reached at the start with where it is reached now."""
    start, now = situation.start, situation.cluster
    if start is None:
        return ()
    shut = [way for way, open_ in _ways(now, service).items() if not open_]
    if shut:
        before = _ways(start, service)
        shut = [way for way in shut if before.get(way)]
    if not shut or not is_wanted(situation, service) or left_with_one(situation, service):
        return ()
    more = f" (nor in {len(shut) - 1} other ways)" if len(shut) > 1 else ""
    message = f"{service.reference} cannot be reached {shut[0]}{more}: {_rule_at(now, service, shut[0])}"
    return (Violation(service.reference, message, {"ways": shut}),)


LB = "through its load balancer"


def _ways(cluster: Cluster, service: Service) -> dict[str, bool]:
    """The ways by which clients come to a Service, in words, and whether one of their backends serves."""
    ways: dict[str, bool] = {}
    for machine, route in routed(cluster, service.key):
        ways[f"from {machine.name}"] = _any_serves(cluster, route.internal)
        if service.type == NODE_PORT:
            ways[f"through the NodePort of {machine.name}"] = _any_serves(cluster, route.external)
    if service.type == LOAD_BALANCER:
        ways[LB] = any(_any_serves(cluster, route.external) for _, route in behind_load_balancer(cluster, service))
    return ways


def behind_load_balancer(cluster: Cluster, service: Service) -> Iterator[tuple[str, Route]]:
    """The nodes to which the load balancer of a Service sends traffic now, with their rules."""
    for node in balanced_nodes(cluster.store):
        machine = cluster.machines.get(node.name)
        if machine is None or machine.proxy is None or not passes_check(service, node, machine):
            continue
        yield node.name, machine.proxy.routes.get(service.key, Route())


def _any_serves(cluster: Cluster, backends: Sequence[Backend]) -> bool:
    return any(serves(cluster, each) for each in backends)


def _rule_at(cluster: Cluster, service: Service, way: str) -> str:
    """Why a way is shut."""
    if way == LB:
        nodes = [name for name, _ in behind_load_balancer(cluster, service)]
        return f"none of {', '.join(nodes)} leads to a pod that serves" if nodes else "no node passes its health check"
    name = way.rpartition(" ")[2]
    route = next((route for machine, route in routed(cluster, service.key) if machine.name == name), Route())
    outside = "NodePort" in way
    backends = route.external if outside else route.internal
    if not backends:
        policy = service.external_traffic_policy if outside else service.internal_traffic_policy
        return f"the node has no endpoint for it (policy {policy})"
    return f"its rule leads to {', '.join(f'{_name(each)}, which {_why_not(cluster, each)}' for each in backends)}"


def _name(backend: Backend) -> str:
    return f"pod/{backend.pod.removeprefix('default/')}"
