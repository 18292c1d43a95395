"""How many nodes of one shape some pods need: first-fit with the larger pods first; and how much of them is wasted.

Source: autoscaler `cluster-autoscaler/estimator/{binpacking_estimator,decreasing_pod_orderer}.go`,
`cluster-autoscaler/expander/waste/waste.go`.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from reconverge.model.likeness import pod_text
from reconverge.model.loops.cluster_autoscaler.simulation import Snapshot
from reconverge.model.loops.cluster_autoscaler.templates import Template
from reconverge.model.objects import Node, Pod
from reconverge.model.resources import total


@frozen
class Option:
    """What one group could do: so many nodes more, which would hold these pods."""

    group: str
    count: int
    pods: tuple[Pod, ...]
    waste: float


def estimate(snapshot: Snapshot, pods: Sequence[Pod], template: Template, group: str, most: int) -> Option | None:
    """The option of a group that may grow by at most `most` nodes; None if it helps no pod.

    A pod that does not fit an empty new node is passed over.
    """
    names: list[str] = []
    helped: list[Pod] = []
    for pod in larger_first(snapshot, pods, template.node):
        place = snapshot.first(pod, names)
        if place is None and len(names) < most:
            name = f"template-{group}-{len(names)}"
            tried = snapshot.with_node(*template.fresh(name))
            if tried.fits(pod, name):
                snapshot, place = tried, name
                names.append(name)
        if place is not None:
            snapshot = snapshot.with_pod(pod, place)
            helped.append(pod)
    if not helped:
        return None
    return Option(group, len(names), tuple(helped), waste(helped, template.node, len(names)))


def larger_first(snapshot: Snapshot, pods: Sequence[Pod], node: Node) -> list[Pod]:
    """Pods by the share of the node that they ask for, CPU and memory added up, the largest first."""
    has = node.allocatable.resources

    def share(pod: Pod) -> float:
        wants = pod.spec.requests
        return (wants.cpu / has.cpu if has.cpu else 0) + (wants.memory / has.memory if has.memory else 0)

    return sorted(pods, key=lambda pod: (-share(pod), pod_text(pod, snapshot.now), pod.key))


def waste(pods: Sequence[Pod], node: Node, count: int) -> float:
    """The unused share of CPU plus that of memory of so many nodes that hold these pods (least-waste)."""
    wanted, has = total(pod.spec.requests for pod in pods), node.allocatable.resources
    pairs = ((has.cpu * count, wanted.cpu), (has.memory * count, wanted.memory))
    return sum((have - want) / have for have, want in pairs if have)
