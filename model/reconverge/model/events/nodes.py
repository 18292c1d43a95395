"""What operators do to Node objects: delete, cordon, drain, label, taint.

Source: kubectl `pkg/drain/drain.go`, `pkg/cmd/{drain,label,taint}`.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from reconverge.model.action import Written
from reconverge.model.cluster import Cluster
from reconverge.model.events.base import Event, Options, choices, edited
from reconverge.model.events.machines import NodeEvent
from reconverge.model.labels import with_label
from reconverge.model.loops.drain import DrainOptions, begin_drain
from reconverge.model.objects import Taint
from reconverge.model.objects.node import NO_SCHEDULE
from reconverge.model.store import Change


@frozen
class NodeDeleted(NodeEvent):
    """An operator deletes the Node object."""

    name = "node-delete"
    summary = "the Node object is deleted from the API"
    voluntary = True

    def enabled(self, cluster: Cluster) -> bool:
        """The object is there."""
        return cluster.store.node(self.node) is not None

    def apply(self, cluster: Cluster) -> Written:
        """Node and lease go; the machine is not told."""
        store, gone = cluster.store.remove("Node", self.node)
        changes: tuple[Change, ...] = (gone,)
        if store.lease(self.node) is not None:
            store, lease = store.remove("Lease", self.node)
            changes = (gone, lease)
        return cluster.with_(store=store), changes

    def describe(self) -> str:
        """Node object n1 is deleted."""
        return f"the Node object {self.node} is deleted"


@frozen
class Cordon(NodeEvent):
    """kubectl cordon."""

    name = "cordon"
    summary = "a node is marked unschedulable"
    voluntary = True

    def enabled(self, cluster: Cluster) -> bool:
        """The node is schedulable."""
        node = cluster.store.node(self.node)
        return node is not None and not node.unschedulable

    def apply(self, cluster: Cluster) -> Written:
        """spec.unschedulable := true."""
        return edited(cluster, cluster.store.table("Node").objects[self.node], unschedulable=True)

    def describe(self) -> str:
        """Node n1 is cordoned."""
        return f"node {self.node} is cordoned"


@frozen
class Uncordon(NodeEvent):
    """kubectl uncordon."""

    name = "uncordon"
    summary = "a node is marked schedulable again"
    voluntary = True

    def enabled(self, cluster: Cluster) -> bool:
        """The node is unschedulable."""
        node = cluster.store.node(self.node)
        return node is not None and node.unschedulable

    def apply(self, cluster: Cluster) -> Written:
        """spec.unschedulable := false."""
        return edited(cluster, cluster.store.table("Node").objects[self.node], unschedulable=False)

    def describe(self) -> str:
        """Node n1 is uncordoned."""
        return f"node {self.node} is uncordoned"


@frozen
class Drain(NodeEvent):
    """kubectl drain --ignore-daemonsets --force --delete-emptydir-data."""

    name = "drain"
    summary = "a node is cordoned and its pods evicted, as kubectl drain does"
    voluntary = True

    def enabled(self, cluster: Cluster) -> bool:
        """The node is there and not yet cordoned (a drained node stays cordoned)."""
        node = cluster.store.node(self.node)
        return node is not None and not node.unschedulable

    def apply(self, cluster: Cluster) -> Written:
        """The drain begins; its steps are those of the drain loop."""
        state = cluster.loops["drain"]
        memory = begin_drain(state.memory, self.node, DrainOptions())
        queue = {**state.queue, self.node: None}
        return cluster.with_(loops={**cluster.loops, "drain": state.with_(memory=memory, queue=queue)}), ()

    def describe(self) -> str:
        """Drain of node n1."""
        return f"drain of node {self.node}"


@frozen
class LabelChanges(Event):
    """A node's labels are changed; a value of None removes the label."""

    node: str
    labels: tuple[tuple[str, str | None], ...]

    name = "relabel"
    summary = "labels of a node are changed"
    voluntary = True

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """Only with labels given: there is no ordinary relabelling."""
        given = options.get("labels")
        if not given:
            return
        labels = tuple(sorted(given.items() if isinstance(given, dict) else given))
        for name in choices(options, "node", sorted(cluster.store.table("Node").objects)):
            event = cls(name, labels)
            if event.enabled(cluster):
                yield event

    def enabled(self, cluster: Cluster) -> bool:
        """The node is there and the labels would change."""
        node = cluster.store.node(self.node)
        return node is not None and any(dict(node.labels).get(key) != value for key, value in self.labels)

    def apply(self, cluster: Cluster) -> Written:
        """metadata.labels of the Node."""
        node = cluster.store.table("Node").objects[self.node]
        labels = node.labels
        for key, value in self.labels:
            labels = with_label(labels, key, value)
        return edited(cluster, node, labels=labels)

    def describe(self) -> str:
        """Node n1 is labelled a=b."""
        words = [f"{key}={value}" if value is not None else f"{key}-" for key, value in self.labels]
        return f"node {self.node} is labelled {', '.join(words)}"


@frozen
class TaintAdded(Event):
    """A taint is put on a node."""

    node: str
    key: str
    value: str = ""
    effect: str = NO_SCHEDULE

    name = "taint"
    summary = "a taint is put on a node"
    voluntary = True

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """Only with a key given."""
        if "key" not in options:
            return
        for name in choices(options, "node", sorted(cluster.store.table("Node").objects)):
            event = cls(name, options["key"], options.get("value", ""), options.get("effect", NO_SCHEDULE))
            if event.enabled(cluster):
                yield event

    @property
    def taint(self) -> Taint:
        """The taint that is put."""
        return Taint(self.key, self.effect, self.value)

    def enabled(self, cluster: Cluster) -> bool:
        """The node is there without it."""
        node = cluster.store.node(self.node)
        return node is not None and self.taint not in node.taints

    def apply(self, cluster: Cluster) -> Written:
        """spec.taints of the Node: in the place of one that differs in its value only."""
        node = cluster.store.table("Node").objects[self.node]
        others = tuple(each for each in node.taints if (each.key, each.effect) != (self.key, self.effect))
        return edited(cluster, node, taints=(*others, self.taint))

    def describe(self) -> str:
        """Node n1 is tainted k=v:NoExecute."""
        return f"node {self.node} is tainted {self.taint}"


@frozen
class TaintRemoved(Event):
    """Taints of one key are taken from a node."""

    node: str
    key: str
    effect: str = ""

    name = "untaint"
    summary = "a taint is taken from a node"
    voluntary = True

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """Each key of taints that people put (node.kubernetes.io ones belong to control loops)."""
        for node in cluster.store.nodes():
            if node.name not in choices(options, "node", [node.name]):
                continue
            keys = sorted({taint.key for taint in node.taints if not taint.key.startswith("node.kubernetes.io/")})
            for key in choices(options, "key", keys):
                event = cls(node.name, key, options.get("effect", ""))
                if event.enabled(cluster):
                    yield event

    def _matches(self, taint: Taint) -> bool:
        return taint.key == self.key and self.effect in ("", taint.effect)

    def enabled(self, cluster: Cluster) -> bool:
        """The node has such a taint."""
        node = cluster.store.node(self.node)
        return node is not None and any(self._matches(taint) for taint in node.taints)

    def apply(self, cluster: Cluster) -> Written:
        """spec.taints of the Node."""
        node = cluster.store.table("Node").objects[self.node]
        return edited(cluster, node, taints=tuple(taint for taint in node.taints if not self._matches(taint)))

    def describe(self) -> str:
        """Node n1 loses its taint k."""
        return f"node {self.node} loses its taint {self.key}"
