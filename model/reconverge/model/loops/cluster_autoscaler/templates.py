"""Template nodes: what a new node of a group would look like, with the pods that DaemonSets would put on it.

Source: autoscaler `cluster-autoscaler/processors/nodeinfosprovider/mixed_nodeinfos_processor.go`,
`cluster-autoscaler/simulator/node_info_utils.go`, `cluster-autoscaler/utils/taints/taints.go` (SanitizeTaints).
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.daemon_pods import daemon_spec
from reconverge.model.labels import with_label
from reconverge.model.loops.cluster_autoscaler.view import View
from reconverge.model.loops.cluster_autoscaler.writes import CANDIDATE, TO_BE_DELETED
from reconverge.model.loops.daemonset.nodes import fits
from reconverge.model.node_groups import NodeGroup
from reconverge.model.objects import DaemonSet, Node, Pod
from reconverge.model.objects.node import HOSTNAME, SHUTDOWN, UNINITIALIZED

OWN_TAINTS = frozenset({TO_BE_DELETED.key, CANDIDATE.key, UNINITIALIZED, SHUTDOWN})


@frozen
class Template:
    """The node and its daemons."""

    node: Node
    daemons: tuple[Pod, ...] = ()

    def fresh(self, name: str) -> tuple[Node, tuple[Pod, ...]]:
        """One node of this shape under a name of its own, with its pods."""
        labels = with_label(self.node.labels, HOSTNAME, name)
        pods = tuple(pod.with_(name=f"{pod.name}-{name}", node=name) for pod in self.daemons)
        return self.node.with_(name=name, labels=labels), pods


def templates(view: View, group: NodeGroup) -> list[Template]:
    """The template of a group: one of its ready nodes, and any may be taken; or what the cloud says of an empty group.

    One for each shape (in a group over several zones that is one per zone), in a fixed order.
    """
    ready = [view.store.node(name) for name in view.readiness[group.name].ready]
    shapes = {repr(shape): shape for shape in (sanitised(node) for node in ready if node is not None)}
    if not shapes:
        return [_with_daemons(view, sanitised(group.node(0, group.zones[0])))]
    return [_with_daemons(view, shapes[text]) for text in sorted(shapes)]


def sanitised(node: Node) -> Node:
    """A node without what is its own: name, condition, cordon, and the taints that control loops set."""
    taints = tuple(
        taint
        for taint in node.taints
        if taint.key not in OWN_TAINTS and not taint.key.startswith("node.kubernetes.io/")
    )
    return Node(
        name="",
        labels=with_label(node.labels, HOSTNAME, ""),
        allocatable=node.allocatable,
        taints=taints,
    )


def _with_daemons(view: View, node: Node) -> Template:
    daemons = (_daemon(ds) for ds in view.store.all("DaemonSet") if fits(ds, node)[0])
    return Template(node, tuple(daemons))


def _daemon(ds: DaemonSet) -> Pod:
    """The pod that a DaemonSet would create."""
    template = ds.template
    return Pod(
        name=ds.name,
        namespace=ds.namespace,
        labels=template.labels,
        annotations=template.annotations,
        owner=ds.owner_reference(),
        spec=daemon_spec(template.spec),
    )
