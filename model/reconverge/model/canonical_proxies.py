"""What slices and the rules on nodes add to the canonical form: which pods they mean.

Rules that are what the API says add nothing. Those that are behind lead from one node to pods on others, which is no
tree. So every set of such rules gets a title made of what its pods are; its nodes and its pods are told of the title.
Only where two different sets would get one title, the names of the pods are part of it: then less is recognised as the
same, and never too much.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane
from reconverge.model.local_pods import LocalPod
from reconverge.model.loops.kube_proxy import KubeProxy
from reconverge.model.machines import Machine
from reconverge.model.objects import Pod
from reconverge.model.persistent import Map
from reconverge.model.proxy import Backend, Route

Routes = Map[str, Route]
Standing = tuple[bool | None, Routes | None]
"""Whether the proxy of a node is stalled (None: it has never run), and its rules, if they are behind."""


def standings(plane: ControlPlane, cluster: Cluster) -> dict[str, Standing]:
    """How each machine's proxy stands; empty where none is modelled."""
    loop = plane.by_name.get(KubeProxy.name)
    if not isinstance(loop, KubeProxy):
        return {}
    return {name: _standing(loop, cluster, machine) for name, machine in cluster.machines.by_name.items()}


def _standing(loop: KubeProxy, cluster: Cluster, machine: Machine) -> Standing:
    proxy = machine.proxy
    if proxy is None:
        return None, None
    return proxy.stalled, None if proxy.routes == loop.routes(cluster.store, machine.name) else proxy.routes


def marks(
    cluster: Cluster,
    standing: Mapping[str, Standing],
    pod: Callable[[Pod], Any],
    local: Callable[[LocalPod], Any],
) -> Iterator[tuple[tuple[str, str], Any]]:
    """What nodes, pods, and processes without an object are told: of slices that list them, of rules that are behind.

    `pod` and `local` say what one is, without names but with what it has been told before.
    """
    for slice_ in cluster.store.table("EndpointSlice").objects.values():
        for each in slice_.endpoints:
            known = (slice_.service, each.ready, each.serving, each.terminating, each.zone)
            place = place_of(cluster, each.pod, each.uid, each.node)
            yield place if place[0] else ("Node", each.node), ("endpoint", place[0], known)
    nodes: dict[Routes, list[str]] = defaultdict(list)
    for name, (_, routes) in standing.items():
        if routes is not None:
            nodes[routes].append(name)
    titles = _titles(list(nodes), lambda backend: _described(cluster, backend, pod, local))
    for routes, names in nodes.items():
        title = titles[routes]
        for name in names:
            yield ("Node", name), ("rules", title)
        for service, way, backend in _led(routes):
            yield _place(cluster, backend), ("led to", title, service, way)


def _titles(every: list[Routes], described: Callable[[Backend], str]) -> dict[Routes, str]:
    titles = {
        routes: f"{_digest(sorted((key, way, described(each)) for key, way, each in _led(routes)))} {_rest(routes)}"
        for routes in every
    }
    given = list(titles.values())
    return {
        routes: title if given.count(title) == 1 else f"{title} {sorted(map(repr, _led(routes)))}"
        for routes, title in titles.items()
    }


def _rest(routes: Routes) -> str:
    """The Services that lead to nothing, and what health checks are told."""
    return _digest([(key, bool(routes[key].internal), routes[key].local_ready) for key in sorted(routes)])


def _led(routes: Routes) -> Iterator[tuple[str, str, Backend]]:
    """(Service, way, backend) of every rule."""
    for key, route in routes.items():
        yield from ((key, "internal", backend) for backend in route.internal)
        yield from ((key, "external", backend) for backend in route.external)


def _described(cluster: Cluster, backend: Backend, pod: Callable[[Pod], Any], local: Callable[[LocalPod], Any]) -> str:
    kind, key = _place(cluster, backend)
    if kind == "Pod":
        return repr(pod(cluster.store.table("Pod").objects[key]))
    if kind == "Local":
        return repr(local(cluster.machines.by_name[backend.node].pods[backend.uid]))
    return "gone"


def _place(cluster: Cluster, backend: Backend) -> tuple[str, str]:
    """The object that stands for a backend: its pod, its process alone, or nothing any more."""
    return place_of(cluster, backend.pod, backend.uid, backend.node)


def place_of(cluster: Cluster, key: str, uid: int, node: str) -> tuple[str, str]:
    """Where a pod's address still is: its object, its process alone (kind Local, by uid), or nowhere (kind "")."""
    found = cluster.store.pod(key)
    if found is not None and (found.uid == uid or not uid):
        return "Pod", key
    machine = cluster.machines.get(node)
    return ("Local", str(uid)) if machine is not None and uid in machine.pods else ("", "")


def _digest(value: Any) -> str:
    return blake2b(repr(value).encode(), digest_size=6).hexdigest()
