"""The autoscaler's idea of the scheduler: whether pods would fit, tried out on a store that does not exist.

It runs the scheduler's own filters. Where it is told to ignore some of them it believes in places that are none, as an
autoscaler of another version than the scheduler does.
Source: autoscaler `cluster-autoscaler/simulator/{cluster.go,clustersnapshot/,scheduling/hinting_simulator.go}`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from reconverge.model.loop import Reading
from reconverge.model.loops.scheduler import FILTERS, Accounting, Check, Cycle, Delta, Failure, Filter, SchedulerMemory
from reconverge.model.loops.scheduler.nodes import NodesCache, in_likeness_order
from reconverge.model.loops.scheduler.plugins import NodeResourcesFit
from reconverge.model.objects import Node, Pod
from reconverge.model.persistent import EMPTY
from reconverge.model.resources import Usage
from reconverge.model.rules import Rules
from reconverge.model.store import Store
from reconverge.model.value import Seconds

NOTHING_ASSUMED = SchedulerMemory(nominated=EMPTY)


class ResourcesWithoutPodLimit(NodeResourcesFit):
    """Resources only: how many pods a node may hold is not looked at."""

    def prepare(self, cycle: Cycle) -> Check | None:
        """The usual check on a node that seems to hold no pods."""
        inner = super().prepare(cycle)
        assert inner is not None

        def check(node: Node, usage: Usage, delta: Delta) -> Failure | None:
            return inner(node, Usage(usage.requests, usage.nonzero_cpu, usage.nonzero_memory, 0, usage.ports), delta)

        return check


def _without(name: str) -> Callable[[Filter], Filter | None]:
    return lambda each: None if each.name == name else each


def _without_pod_limit(each: Filter) -> Filter | None:
    return ResourcesWithoutPodLimit() if each.name == NodeResourcesFit.name else each


IGNORABLE: dict[str, Callable[[Filter], Filter | None]] = {
    "max-pods": _without_pod_limit,
    "resources": _without("NodeResourcesFit"),
    "ports": _without("NodePorts"),
    "spread": _without("PodTopologySpread"),
    "affinity": _without("InterPodAffinity"),
    "taints": _without("TaintToleration"),
    "node-affinity": _without("NodeAffinity"),
}
"""What a simulation may be told to ignore: what becomes of each filter then."""


class Simulation:
    """The filters and the accounting with which the autoscaler thinks; both can be others than the scheduler's."""

    def __init__(self, filters: Sequence[Filter] = FILTERS, accounting: Accounting | None = None) -> None:
        self.filters = tuple(filters)
        self.accounting = accounting if accounting is not None else Accounting()
        self._nodes = NodesCache()

    @classmethod
    def ignoring(cls, names: Iterable[str]) -> Simulation:
        """One that does not know some rules. Raises KeyError for a name that is not in IGNORABLE."""
        filters: list[Filter] = list(FILTERS)
        for name in names:
            filters = [each for each in map(IGNORABLE[name], filters) if each is not None]
        return cls(filters)

    def cycle(self, reading: Reading, pod: Pod) -> Cycle:
        """A scheduling cycle for a pod in a store that may be a thought one."""
        cycle = Cycle(reading, NOTHING_ASSUMED, pod, self._nodes.of(reading.store), self.accounting)
        cycle.prepare(self.filters)
        return cycle


class Snapshot:
    """A store with thought nodes and placements in it. A value: changes give another one."""

    def __init__(self, simulation: Simulation, store: Store, now: Seconds, rules: Rules) -> None:
        self.simulation = simulation
        self.store = store
        self.now = now
        self.rules = rules

    def _of(self, store: Store) -> Snapshot:
        return Snapshot(self.simulation, store, self.now, self.rules)

    def seen_by(self, simulation: Simulation) -> Snapshot:
        """The same for another simulation."""
        return Snapshot(simulation, self.store, self.now, self.rules)

    def with_node(self, node: Node, pods: Iterable[Pod] = ()) -> Snapshot:
        """With one node more, and pods on it."""
        store, _ = self.store.put(node)
        for pod in pods:
            store, _ = store.put(pod.with_(node=node.name))
        return self._of(store)

    def without_node(self, name: str) -> Snapshot:
        """Without a node and what is on it."""
        snapshot = self.without_pods(self.store.pods_on(name))
        store, _ = snapshot.store.remove("Node", name)
        return self._of(store)

    def without_pods(self, pods: Iterable[Pod]) -> Snapshot:
        """Without some pods."""
        store = self.store
        for pod in pods:
            store, _ = store.remove("Pod", pod.key)
        return self._of(store)

    def with_pod(self, pod: Pod, node: str) -> Snapshot:
        """With a pod on a node, wherever it was before."""
        store, _ = self.store.put(pod.with_(node=node))
        return self._of(store)

    def fits(self, pod: Pod, node: str) -> bool:
        """Whether a pod that is nowhere would pass the filters for a node."""
        return self.first(pod, (node,)) is not None

    def first(self, pod: Pod, nodes: Sequence[str]) -> str | None:
        """The first of some nodes that the pod would pass the filters for; None if there is none."""
        reading = Reading(self.store, self.now, self.rules)
        cycle = self.simulation.cycle(reading, pod.with_(node=None, nominated_node=None))
        by_name = cycle.nodes.by_name
        return next((name for name in nodes if name in by_name and cycle.failure(by_name[name]) is None), None)

    def ordered(self, names: Iterable[str]) -> list[str]:
        """Nodes in the order in which places are sought on them: by what they are, for names mean nothing."""
        nodes = [node for node in map(self.store.node, names) if node is not None]
        return [node.name for node in in_likeness_order(self.store, nodes, self.now)]

    def placed(self, pods: Iterable[Pod], nodes: Sequence[str]) -> tuple[Snapshot, list[Pod]]:
        """The snapshot with each pod on the first node that takes it, and the pods that none takes."""
        snapshot, left = self, []
        for pod in pods:
            node = snapshot.first(pod, nodes)
            if node is None:
                left.append(pod)
            else:
                snapshot = snapshot.with_pod(pod, node)
        return snapshot, left
