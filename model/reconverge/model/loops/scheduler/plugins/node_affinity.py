"""nodeSelector and node affinity.

Source: `pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go`, component-helpers
`scheduling/corev1/nodeaffinity/nodeaffinity.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reconverge.model.labels import Selector
from reconverge.model.loops.scheduler.cycle import Cycle
from reconverge.model.loops.scheduler.plugin import Check, Delta, Failure, Filter, Score, normalized
from reconverge.model.objects import Node, PodSpec
from reconverge.model.resources import Usage

_FAILURE = Failure("NodeAffinity", ("node(s) didn't match Pod's node affinity/selector",), resolvable=False)
OTHER_NODES = Failure("NodeAffinity", ("node(s) didn't satisfy plugin(s) [NodeAffinity]",), resolvable=False)
"""Of the nodes that are not even looked at, because the pod names others."""


def required_match(spec: PodSpec) -> Callable[[Node], bool] | None:
    """Whether a node satisfies nodeSelector and the required node affinity; None if the pod asks for neither."""
    terms = spec.affinity.node_required
    if not spec.node_selector and terms is None:
        return None
    selector = Selector(match_labels=spec.node_selector)

    def matches(node: Node) -> bool:
        return selector.matches(node.labels) and (
            terms is None or any(term.matches(node.labels, node.name) for term in terms)
        )

    return matches


def named_nodes(spec: PodSpec) -> frozenset[str] | None:
    """The only nodes that can pass, if every required term names some by metadata.name; else None."""
    terms = spec.affinity.node_required
    if not terms:
        return None
    names: set[str] = set()
    for term in terms:
        found: set[str] | None = None
        for field in term.fields:
            if field.key == "metadata.name" and field.operator == "In":
                found = set(field.values) if found is None else found & set(field.values)
        if found is None:
            return None
        names |= found
    return frozenset(names)


class NodeAffinity(Filter):
    """The node must satisfy nodeSelector and one of the required terms."""

    name = "NodeAffinity"
    node_only = True

    def prepare(self, cycle: Cycle) -> Check | None:
        matches = required_match(cycle.pod.spec)
        if matches is None:
            return None
        wanted = matches

        def check(node: Node, usage: Usage, delta: Delta) -> Failure | None:
            return None if wanted(node) else _FAILURE

        return check


class NodeAffinityScore(Score):
    """The summed weights of the preferred terms that match."""

    name = "NodeAffinity"
    weight = 2

    def score(self, cycle: Cycle, nodes: Sequence[Node]) -> list[int] | None:
        terms = cycle.pod.spec.affinity.node_preferred
        if not terms:
            return None
        return normalized(
            [sum(each.weight for each in terms if each.term.matches(node.labels, node.name)) for node in nodes]
        )
