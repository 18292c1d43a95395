"""What of a node itself speaks against a pod: selectors, node affinity, taints, cordon.

Source: the documentation of assigning pods to nodes, and of taints and tolerations.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from reconverge.invariants.stock.facts import untolerated
from reconverge.model.labels import label
from reconverge.model.objects import Node, Pod, Taint
from reconverge.model.objects.node import NO_EXECUTE, NO_SCHEDULE, UNSCHEDULABLE


@frozen
class Refusal:
    """One reason why a node may not take a pod: its kind, and a clause that follows the node's name."""

    kind: str
    text: str


def node_refusals(pod: Pod, node: Node) -> Iterator[Refusal]:
    """What of the node itself, whatever runs there, speaks against the pod."""
    if pod.spec.node_selector or pod.spec.affinity.node_required is not None:
        yield from selection_refusals(pod, node)
    if node.taints or node.unschedulable:
        yield from closed(pod, node)


def selection_refusals(pod: Pod, node: Node) -> Iterator[Refusal]:
    """Whether node selector and required node affinity choose the node."""
    for key, value in pod.spec.node_selector:
        if label(node.labels, key) != value:
            yield Refusal("selector", f"does not have the label {key}={value} of the node selector")
    required = pod.spec.affinity.node_required
    if required is not None and not any(term.matches(node.labels, node.name) for term in required):
        yield Refusal("affinity", "does not match the required node affinity")


def closed(pod: Pod, node: Node) -> Iterator[Refusal]:
    """Whether the node is closed to the pod by a taint or a cordon."""
    if node.unschedulable and untolerated(pod, (Taint(UNSCHEDULABLE, NO_SCHEDULE),)) is not None:
        yield Refusal("unschedulable", "is marked unschedulable")
    taint = untolerated(pod, tuple(each for each in node.taints if each.effect in (NO_SCHEDULE, NO_EXECUTE)))
    if taint is not None:
        yield Refusal("taint", f"has the taint {taint}, which the pod does not tolerate")
