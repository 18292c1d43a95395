"""The cluster autoscaler's writes to Node objects: each sets or takes back a taint and the cordon in one update.

Source: autoscaler `cluster-autoscaler/utils/taints/taints.go` (MarkToBeDeleted, CleanToBeDeleted).
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.action import Action, Written
from reconverge.model.cluster import Cluster
from reconverge.model.errors import NotFound
from reconverge.model.loops.node_lifecycle.taints import changed_taints, has_taint
from reconverge.model.objects import Node, Taint
from reconverge.model.objects.node import NO_SCHEDULE, PREFER_NO_SCHEDULE

TO_BE_DELETED = Taint("ToBeDeletedByClusterAutoscaler", NO_SCHEDULE)
CANDIDATE = Taint("DeletionCandidateOfClusterAutoscaler", PREFER_NO_SCHEDULE)


def to_be_deleted(node: Node) -> bool:
    """Whether a node is marked as one that goes."""
    return has_taint(node.taints, TO_BE_DELETED)


@frozen
class MarkToBeDeleted(Action):
    """Taint a node so that nothing new comes to it, and cordon it unless that is off. Raises NotFound."""

    node: str
    uid: int
    cordons: bool = True
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """One update of the Node as it is at that moment."""
        node = _node(cluster, self.node, self.uid)
        taints = changed_taints(node.taints, (TO_BE_DELETED,), ())
        store, change = cluster.store.put(node.with_(taints=taints, unschedulable=node.unschedulable or self.cordons))
        return cluster.with_(store=store), (change,)

    def describe(self) -> str:
        """Names the node."""
        return f"marks node/{self.node} as to be deleted"


@frozen
class Unmark(Action):
    """Take the mark back, and with it the cordon, whoever set it. Raises NotFound."""

    node: str
    uid: int
    cordons: bool = True
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """One update of the Node as it is at that moment; none if the mark is not there."""
        node = _node(cluster, self.node, self.uid)
        if not to_be_deleted(node):
            return cluster, ()
        taints = changed_taints(node.taints, (), (TO_BE_DELETED,))
        unschedulable = node.unschedulable and not self.cordons
        store, change = cluster.store.put(node.with_(taints=taints, unschedulable=unschedulable))
        return cluster.with_(store=store), (change,)

    def describe(self) -> str:
        """Names the node."""
        return f"keeps node/{self.node} after all"


def _node(cluster: Cluster, name: str, uid: int) -> Node:
    node = cluster.store.node(name)
    if node is None or node.uid != uid:
        raise NotFound(f"node/{name} not found")
    return node
