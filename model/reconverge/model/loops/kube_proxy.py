"""kube-proxy: the rules on each node that send the traffic of Services to pods, as far as this node has seen them.

Source: `pkg/proxy/topology.go` (CategorizeEndpoints), `pkg/proxy/endpointslicecache.go`,
`pkg/proxy/iptables/proxier.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from attrs import frozen

from reconverge.model.action import Action, Written
from reconverge.model.cluster import Cluster
from reconverge.model.errors import NotFound, Unreachable
from reconverge.model.loop import MACHINES, ControlLoop, Plan, Reading
from reconverge.model.machines import Machine
from reconverge.model.objects import Endpoint, Service
from reconverge.model.objects.service import LOCAL, SAME_NODE
from reconverge.model.persistent import Map
from reconverge.model.power import with_machine
from reconverge.model.proxy import Backend, Proxy, Route
from reconverge.model.store import Change, Store


@frozen
class SyncRules(Action):
    """Write all rules of a node anew. Raises NotFound, and Unreachable if the node's proxy does not work any more."""

    node: str
    routes: Map[str, Route]
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """Needs the machine and the proxy on it, not the API server."""
        machine = cluster.machines.get(self.node)
        if machine is None:
            raise NotFound(f"machine {self.node} not found")
        if not machine.powered or (machine.proxy is not None and machine.proxy.stalled):
            raise Unreachable(f"the kube-proxy of {self.node} does not run")
        return with_machine(cluster, machine.with_(proxy=Proxy(self.routes)))

    def describe(self) -> str:
        """Names the node."""
        return f"updates the rules of {self.node}"


class KubeProxy(ControlLoop[None]):
    """The kube-proxies of all machines as one loop: keys are names of nodes, a pass writes the rules of one."""

    name: ClassVar[str] = "kube-proxy"
    watches: ClassVar[frozenset[str]] = frozenset({"Service", "EndpointSlice", "Node", MACHINES})
    physical: ClassVar[bool] = True
    idle_without: ClassVar[str] = "Service"
    source: ClassVar[str] = "pkg/proxy/iptables/proxier.go"

    # The rules, one each -------------------------------------------------------------------------------------

    def route(self, service: Service, endpoints: Sequence[Endpoint], node: str, zone: str) -> Route:
        """What a node does with the traffic of a Service."""
        inside = self.usable(service, endpoints, node, zone, service.internal_traffic_policy)
        outside: tuple[Endpoint, ...] = ()
        if service.external:
            outside = self.usable(service, endpoints, node, zone, service.external_traffic_policy)
        ready_here = any(each.ready and each.node == node for each in endpoints)
        return Route(_backends(inside), _backends(outside), ready_here)

    def usable(
        self, service: Service, endpoints: Sequence[Endpoint], node: str, zone: str, policy: str
    ) -> tuple[Endpoint, ...]:
        """The endpoints that traffic under a policy goes to; under Local only those of the node, or it is dropped."""
        if policy == LOCAL:
            own = self.own(endpoints, node)
            return self.ready(own) or self.fallback(own)
        ready = self.ready(endpoints)
        return self.near(service, ready, node, zone) if ready else self.fallback(endpoints)

    def own(self, endpoints: Iterable[Endpoint], node: str) -> tuple[Endpoint, ...]:
        """The endpoints on a node itself."""
        return tuple(each for each in endpoints if each.node == node)

    def ready(self, endpoints: Iterable[Endpoint]) -> tuple[Endpoint, ...]:
        """The endpoints that get new traffic."""
        return tuple(each for each in endpoints if each.ready)

    def fallback(self, endpoints: Iterable[Endpoint]) -> tuple[Endpoint, ...]:
        """The endpoints that get it where none is ready: those that still serve while they terminate."""
        return tuple(each for each in endpoints if each.serving and each.terminating)

    def near(self, service: Service, ready: tuple[Endpoint, ...], node: str, zone: str) -> tuple[Endpoint, ...]:
        """The ready endpoints that the traffic distribution prefers here; all if none is near or one has no zone."""
        wanted = service.traffic_distribution
        if not wanted:
            return ready
        if wanted == SAME_NODE and (here := self.own(ready, node)):
            return here
        if not zone or not all(each.zone for each in ready):
            return ready
        return tuple(each for each in ready if each.zone == zone) or ready

    # The loop ------------------------------------------------------------------------------------------------

    def relist(self, reading: Reading) -> Iterable[str]:
        """All nodes whose proxy works, if there is a Service."""
        return _at_work(reading) if reading.store.count("Service") else ()

    def observe(self, memory: None, change: Change, reading: Reading) -> tuple[None, Iterable[str]]:
        """Services and slices wake all nodes; a node wakes itself when its zone is another or its proxy works again."""
        if change.kind in ("Service", "EndpointSlice"):
            return None, _at_work(reading)
        before, after = change.before, change.after
        if after is None:
            return None, ()
        if change.kind == MACHINES:
            again = works(after) and (before is None or not works(before))
            return None, (after.name,) if again else ()
        same = before is not None and (before.labels is after.labels or before.zone == after.zone)
        return None, () if same else (after.name,)

    def sync(self, reading: Reading, memory: None, key: str) -> Sequence[Plan[None]]:
        """One pass of one node's proxy: it writes its rules anew if they differ from what it sees."""
        assert reading.machines is not None
        machine = reading.machines.get(key)
        if machine is None or not works(machine):
            return (Plan(None),)
        wanted = self.routes(reading.store, key)
        current = machine.proxy
        if current is not None and current.routes == wanted:
            return (Plan(None),)
        told = _told(current.routes if current is not None else Map(), wanted)
        return (Plan(None, (SyncRules(key, wanted, told),)),)

    def routes(self, store: Store, name: str) -> Map[str, Route]:
        """The rules that a node should have, by key of the Service."""
        node = store.node(name)
        zone = node.zone if node is not None else ""
        found: dict[str, Route] = {}
        for service in store.all("Service"):
            if service.proxied:
                slice_ = store.endpoint_slice(service.key)
                found[service.key] = self.route(service, slice_.endpoints if slice_ else (), name, zone)
        return Map(found)


def works(machine: Machine) -> bool:
    """Whether the proxy of a machine sees the API and writes rules."""
    return machine.powered and machine.reachable and (machine.proxy is None or not machine.proxy.stalled)


def _at_work(reading: Reading) -> list[str]:
    assert reading.machines is not None
    return sorted(name for name, machine in reading.machines.by_name.items() if works(machine))


def _backends(endpoints: Iterable[Endpoint]) -> tuple[Backend, ...]:
    return tuple(Backend(each.pod, each.uid, each.node) for each in endpoints)


def _told(before: Map[str, Route], after: Map[str, Route]) -> str:
    """What of the rules is new, in words."""
    words = []
    for key in sorted({*before, *after}):
        route = after.get(key)
        if route == before.get(key):
            continue
        name = f"service/{key.removeprefix('default/')}"
        if route is None:
            words.append(f"{name} is gone")
            continue
        pods = ", ".join(f"pod/{each.pod.removeprefix('default/')}" for each in route.backends)
        words.append(f"{name} to {pods or 'nothing'}")
    return "; ".join(words)
