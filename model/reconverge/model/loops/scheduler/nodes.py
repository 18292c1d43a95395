"""The Node objects of one view, prepared for many scheduling cycles.

Source: `pkg/scheduler/backend/cache/{snapshot,node_tree}.go`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, zip_longest

from reconverge.model.labels import Labels, label
from reconverge.model.likeness import labels_without_hostname, node_likeness
from reconverge.model.objects import Node
from reconverge.model.objects.node import PREFER_NO_SCHEDULE
from reconverge.model.persistent import Map
from reconverge.model.store import Store
from reconverge.model.value import Seconds

SMALL = 100
"""Clusters with fewer nodes are looked at as a whole."""
_REMEMBERED = 64


class Nodes:
    """All nodes of a view, in the order in which they are tried.

    By name up to 99 nodes, where the order cannot matter; beyond, one of each zone in turn as upstream's node tree
    gives them, so that a scheduler that stops early has seen all zones.
    """

    def __init__(self, objects: Map[str, Node]) -> None:
        self.by_name = {name: objects[name] for name in sorted(objects)}
        self.all: tuple[Node, ...] = tuple(self.by_name.values())
        if len(self.all) >= SMALL:
            self.all = _zones_in_turn(self.all)
        self.any_preference_taint = any(
            taint.effect == PREFER_NO_SCHEDULE for node in self.all for taint in node.taints
        )
        self._values: dict[str, dict[str, str]] = {}

    def values(self, key: str) -> dict[str, str]:
        """The value of a label by node name, for the nodes that have it."""
        found = self._values.get(key)
        if found is None:
            pairs = ((node.name, label(node.labels, key)) for node in self.all)
            found = self._values[key] = {name: value for name, value in pairs if value is not None}
        return found


class NodesCache:
    """Remembers the `Nodes` of the last views, recognised by the identity of their map of Node objects.

    A cache only: results do not depend on it.
    """

    def __init__(self) -> None:
        self._kept: dict[int, tuple[Map[str, Node], Nodes]] = {}

    def of(self, store: Store) -> Nodes:
        """The nodes of a view."""
        objects = store.table("Node").objects
        kept = self._kept.get(id(objects))
        if kept is not None and kept[0] is objects:
            return kept[1]
        if len(self._kept) >= _REMEMBERED:
            self._kept.clear()
        nodes = Nodes(objects)
        self._kept[id(objects)] = (objects, nodes)
        return nodes


def nodes_wanted(count: int) -> int:
    """After how many nodes that pass the scheduler stops looking, of `count` nodes.

    Source: `pkg/scheduler/schedule_one.go` (numFeasibleNodesToFind).
    """
    if count < SMALL:
        return count
    percentage = max(5, 50 - count // 125)
    return max(SMALL, count * percentage // 100)


def in_likeness_order(store: Store, nodes: Sequence[Node], now: Seconds) -> list[Node]:
    """Nodes ordered by what they are, then by name.

    The order is that of `node_likeness`, whose text begins with the labels: nodes that differ there need no more.
    """
    if len(nodes) < 2:
        return list(nodes)
    groups = _by_labels(nodes)
    ordered: list[Node] = []
    for text in sorted(groups):
        group = groups[text]
        if len(group) > 1:
            group.sort(key=lambda node: (node_likeness(store, node, now), node.name))
        ordered.extend(group)
    return ordered


def first_in_likeness_order(store: Store, nodes: Sequence[Node], now: Seconds) -> Node:
    """The first node of that order."""
    if len(nodes) == 1:
        return nodes[0]
    groups = _by_labels(nodes)
    group = groups[min(groups)]
    if len(group) == 1:
        return group[0]
    return min(group, key=lambda node: (node_likeness(store, node, now), node.name))


def _by_labels(nodes: Sequence[Node]) -> dict[str, list[Node]]:
    groups: dict[str, list[Node]] = {}
    for node in nodes:
        groups.setdefault(_labels_text(node.labels), []).append(node)
    return groups


@lru_cache(maxsize=16384)
def _labels_text(labels: Labels) -> str:
    return repr(labels_without_hostname(labels))


def _zones_in_turn(nodes: Sequence[Node]) -> tuple[Node, ...]:
    zones: dict[str, list[Node]] = {}
    for node in nodes:
        zones.setdefault(node.zone, []).append(node)
    rounds = zip_longest(*(zones[zone] for zone in sorted(zones)))
    return tuple(node for node in chain.from_iterable(rounds) if node is not None)
