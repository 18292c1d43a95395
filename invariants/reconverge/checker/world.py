"""What is explored: a start, what may happen, which rules, and what is to hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import field, frozen

from reconverge.checker.judge import Judge
from reconverge.invariants import Invariant
from reconverge.model.canonical import node_classes, pod_classes
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane
from reconverge.model.events import EVENTS, Event
from reconverge.model.events.machines import NodeEvent
from reconverge.model.events.pods import PodEvent
from reconverge.model.naming import pod_named


@frozen
class Allowance:
    """An event kind that may happen, and with which arguments; at most `times` in one sequence (None: no limit)."""

    event: str
    times: int | None = None
    options: Mapping[str, Any] = field(factory=dict)


@frozen
class World:
    """One model to be checked. `prefix` are fixed events that come first; `start` is the cluster before them."""

    name: str
    plane: ControlPlane
    start: Cluster
    invariants: tuple[Invariant, ...]
    allowances: tuple[Allowance, ...] = ()
    prefix: tuple[Event, ...] = ()
    scopes: Mapping[str, frozenset[str]] = field(factory=dict)
    symmetry: bool = True

    def judge(self, only: str | None = None) -> Judge:
        """A fresh judge of the invariants, or of one of them."""
        chosen = [each for each in self.invariants if only is None or each.id == only]
        return Judge(chosen, self.scopes)

    def candidates(self, cluster: Cluster, used: Mapping[str, int]) -> Iterator[Event]:
        """The events that may strike now, one per class of interchangeable targets."""
        representatives = Representatives(self.plane, cluster) if self.symmetry else None
        for allowance in self.allowances:
            if allowance.times is not None and used.get(allowance.event, 0) >= allowance.times:
                continue
            for event in EVENTS[allowance.event].candidates(cluster, allowance.options):
                if representatives is None or representatives.first_of_its_kind(event):
                    yield event

    def permits(self, cluster: Cluster, event: Event, used: Mapping[str, int]) -> bool:
        """Whether the event is one of those that may happen here, or the next of the fixed ones."""
        played = sum(used.values())
        if played < len(self.prefix):
            return event == self.prefix[played]
        fixed = Counter(each.name for each in self.prefix)
        for allowance in self.allowances:
            if allowance.event != event.name:
                continue
            if allowance.times is not None and used.get(event.name, 0) - fixed[event.name] >= allowance.times:
                continue
            if event in EVENTS[allowance.event].candidates(cluster, allowance.options):
                return True
        return False

    def limited(self) -> frozenset[str]:
        """Names of the events whose number is limited: how many are left is part of a state."""
        return frozenset(each.event for each in self.allowances if each.times is not None)


class Representatives:
    """Picks one event of those that differ only in which of several interchangeable nodes or pods they strike."""

    def __init__(self, plane: ControlPlane, cluster: Cluster) -> None:
        self._cluster = cluster
        self._plane = plane
        self._nodes: dict[str, str] | None = None
        self._pods: dict[str, str] | None = None
        self._seen: set[Any] = set()

    def first_of_its_kind(self, event: Event) -> bool:
        """Whether no event like it has been seen yet."""
        if isinstance(event, NodeEvent):
            if self._nodes is None:
                self._nodes = node_classes(self._plane, self._cluster)
            kind: Any = (type(event), self._nodes.get(event.node, event.node))
        elif isinstance(event, PodEvent):
            if self._pods is None:
                self._pods = pod_classes(self._plane, self._cluster)
            pod = pod_named(self._cluster.store, event.pod)
            kind = (type(event), self._pods.get(pod.key, "") if pod is not None else event.pod)
        else:
            return True
        if kind in self._seen:
            return False
        self._seen.add(kind)
        return True
