"""The writes of the node lifecycle controller, each with the way it deals with a version that is not the one read.

Source: `pkg/controller/util/node/controller_utils.go` (MarkPodsNotReady, SwapNodeControllerTaint),
`pkg/controller/controller_utils.go` (AddOrUpdateTaintOnNode, RemoveTaintOffNode: they read the live node and retry).
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.action import Action, Written
from reconverge.model.cluster import Cluster
from reconverge.model.errors import Conflict, NotFound
from reconverge.model.loops.node_lifecycle.taints import KUBELET_CONDITIONS, Taints, changed_taints
from reconverge.model.objects import Node
from reconverge.model.value import Seconds


def _node(cluster: Cluster, name: str, uid: int) -> Node:
    node = cluster.store.node(name)
    if node is None or node.uid != uid:
        raise NotFound(f"node/{name} not found")
    return node


@frozen
class MarkNodeUnknown(Action):
    """Set Ready and the pressure conditions to Unknown. Raises NotFound; Conflict if the kubelet has reported since.

    A change of anything else is no obstacle: upstream reads the node again and still finds no heartbeat.
    """

    key: str
    uid: int
    seen: str
    """Status of the Ready condition that was read."""
    at: Seconds
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """NetworkUnavailable is left as it is: it is not the kubelet's."""
        node = _node(cluster, self.key, self.uid)
        if node.ready != self.seen:
            raise Conflict(f"node/{self.key} has reported Ready={node.ready}")
        after = node.with_(
            ready="Unknown", ready_reason="NodeStatusUnknown", pressure=node.pressure - KUBELET_CONDITIONS
        )
        store, change = cluster.store.put(after)
        return cluster.with_(store=store), (change,)

    def describe(self) -> str:
        """Names the node."""
        return f"sets Ready=Unknown of node/{self.key}"


@frozen
class ChangeTaints(Action):
    """Add and remove taints of a node, as it is at that moment. Raises NotFound."""

    key: str
    uid: int
    add: Taints = ()
    remove: Taints = ()
    reason: str = ""
    zone: str = ""
    """The zone whose token was taken for the write, if one was."""

    def apply(self, cluster: Cluster) -> Written:
        """Taints that are there already, or gone already, make no write."""
        node = _node(cluster, self.key, self.uid)
        taints = changed_taints(node.taints, self.add, self.remove)
        if taints == node.taints:
            return cluster, ()
        store, change = cluster.store.put(node.with_(taints=taints))
        return cluster.with_(store=store), (change,)

    def describe(self) -> str:
        """Names the node and the taints."""
        parts = []
        if self.add:
            parts.append(f"taints node/{self.key} {', '.join(str(taint) for taint in self.add)}")
        if self.remove:
            parts.append(f"removes taint {', '.join(str(taint) for taint in self.remove)} from node/{self.key}")
        return " and ".join(parts)


@frozen
class MarkPodNotReady(Action):
    """Set a pod's Ready condition to False. A pod that has gone meanwhile makes no write."""

    key: str
    uid: int
    node: str
    at: Seconds
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """Upstream passes over NotFound, and retries a conflict until it has succeeded."""
        pod = cluster.store.pod(self.key)
        if pod is None or pod.uid != self.uid or not pod.ready:
            return cluster, ()
        store, change = cluster.store.put(pod.with_(ready=False, ready_since=self.at))
        return cluster.with_(store=store), (change,)

    def describe(self) -> str:
        """Names the pod."""
        return f"sets Ready=False of pod/{self.key.removeprefix('default/')}"
