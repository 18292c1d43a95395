"""Whether the rules on nodes become those that the endpoints of Services ask for.

Source: `pkg/proxy/topology.go` (CategorizeEndpoints); the documentation of Services (traffic policies, distribution).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Quiet
from reconverge.invariants.stock.facts import acts
from reconverge.model.loops.kube_proxy import KubeProxy, works
from reconverge.model.objects import Endpoint, Service
from reconverge.model.proxy import Backend, Route
from reconverge.model.store import Store


@invariant(
    "routes-converge",
    "eventually",
    family="law",
    statement="In the end every node whose kube-proxy works sends the traffic of each Service to exactly the endpoints "
    "that the traffic policy leaves: ready ones, or if there is none those that still serve while they terminate.",
    why="A node that is left behind sends its clients to pods that are gone, or does not let them through.",
    remedy="See which change of a slice, a Service or the node the proxy did not notice.",
    source="pkg/proxy/topology.go; documentation of Services (traffic policies)",
    applies=lambda situation, _: KubeProxy.name in situation.cluster.loops,
    needs=KubeProxy.name,
)
def routes_converge(quiet: Quiet, _: None) -> Iterable[Violation]:
    """Judges the settled state; nodes that are off, cut off or whose proxy has stalled cannot follow."""
    if quiet.outcome != "rest" or not acts(quiet.cluster, KubeProxy.name):
        return ()
    return list(_behind(quiet))


def _behind(quiet: Quiet) -> Iterator[Violation]:
    services = [each for each in quiet.store.all("Service") if not each.headless and each.type != "ExternalName"]
    for name in sorted(quiet.cluster.machines.by_name):
        machine = quiet.cluster.machines.by_name[name]
        if not works(machine):
            continue
        routes = machine.proxy.routes if machine.proxy is not None else {}
        wrong = [each.reference for each in services if routes.get(each.key) != _right(quiet.store, each, name)]
        wrong += [f"service/{key}" for key in sorted(set(routes) - {each.key for each in services})]
        if wrong:
            message = f"the rules of {name} for {wrong[0]} are not what its endpoints ask for"
            yield Violation(f"node/{name}", message, {"services": wrong})


def _right(store: Store, service: Service, node: str) -> Route:
    """The rule that a node should have for a Service, put together from the conditions of each endpoint."""
    slice_ = store.endpoint_slice(service.key)
    endpoints = slice_.endpoints if slice_ is not None else ()
    here = [each for each in endpoints if each.node == node]
    inside = here if service.internal_traffic_policy == "Local" else endpoints
    outside = here if service.external_traffic_policy == "Local" else endpoints
    if service.type not in ("NodePort", "LoadBalancer"):
        outside = ()
    local_ready = any(each.ready for each in here)
    return Route(
        _chosen(store, service, inside, node, inside is here),
        _chosen(store, service, outside, node, outside is here),
        local_ready,
    )


def _chosen(store: Store, service: Service, among: Sequence[Endpoint], node: str, local: bool) -> tuple[Backend, ...]:
    best = [each for each in among if each.ready]
    if not best:
        best = [each for each in among if each.serving and each.terminating]
    elif not local and service.traffic_distribution:
        best = _preferred(store, service, best, node)
    return tuple(Backend(each.pod, each.uid, each.node) for each in best)


def _preferred(store: Store, service: Service, ready: list[Endpoint], node: str) -> list[Endpoint]:
    same_node = [each for each in ready if each.node == node]
    if service.traffic_distribution == "PreferSameNode" and same_node:
        return same_node
    found = store.node(node)
    zone = found.zone if found is not None else ""
    same_zone = [each for each in ready if zone and each.zone == zone]
    return same_zone if same_zone and all(each.zone for each in ready) else ready
