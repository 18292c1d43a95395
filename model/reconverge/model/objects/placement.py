"""Where a pod may run: node affinity, pod affinity, spread, tolerations.

Source: `pkg/apis/core/types.go`, component-helpers `scheduling/corev1/helpers.go` (toleration match),
`scheduling/corev1/nodeaffinity/nodeaffinity.go`.
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.labels import Labels, Requirement, Selector
from reconverge.model.objects.node import Taint
from reconverge.model.value import Seconds


@frozen
class Toleration:
    """A toleration. An empty key with operator Exists tolerates everything; an empty effect every effect.

    `seconds` is tolerationSeconds: how long a NoExecute taint is tolerated; None means for ever.
    """

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""
    seconds: Seconds | None = None

    def tolerates(self, taint: Taint) -> bool:
        """Whether this toleration matches the taint."""
        return (
            self.effect in ("", taint.effect)
            and self.key in ("", taint.key)
            and (self.operator == "Exists" or (self.operator in ("", "Equal") and self.value == taint.value))
        )


@frozen
class NodeSelectorTerm:
    """One term of node affinity: all label expressions and all field expressions (metadata.name) must hold."""

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()

    def matches(self, labels: Labels, node_name: str) -> bool:
        """Whether a node with these labels and this name satisfies the term; an empty term matches no node."""
        if not self.expressions and not self.fields:
            return False
        named: Labels = (("metadata.name", node_name),)
        return all(each.matches(labels) for each in self.expressions) and all(
            each.matches(named) for each in self.fields
        )


@frozen
class PreferredNodeTerm:
    """A node affinity preference with its weight, 1 to 100."""

    weight: int
    term: NodeSelectorTerm


@frozen
class PodAffinityTerm:
    """Which pods a term of (anti-)affinity is about, and over which topology.

    `namespaces` is empty for the pod's own namespace; `namespace_selector` that matches all is `all_namespaces`.
    """

    topology_key: str
    selector: Selector | None = None
    namespaces: tuple[str, ...] = ()
    all_namespaces: bool = False
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


@frozen
class WeightedPodAffinityTerm:
    """A pod (anti-)affinity preference with its weight, 1 to 100."""

    weight: int
    term: PodAffinityTerm


@frozen
class Affinity:
    """All affinity rules of a pod. `node_required` is None if absent; terms are alternatives."""

    node_required: tuple[NodeSelectorTerm, ...] | None = None
    node_preferred: tuple[PreferredNodeTerm, ...] = ()
    pod_required: tuple[PodAffinityTerm, ...] = ()
    pod_preferred: tuple[WeightedPodAffinityTerm, ...] = ()
    anti_required: tuple[PodAffinityTerm, ...] = ()
    anti_preferred: tuple[WeightedPodAffinityTerm, ...] = ()


@frozen
class TopologySpreadConstraint:
    """A topology spread constraint; `hard` is whenUnsatisfiable: DoNotSchedule."""

    topology_key: str
    max_skew: int = 1
    hard: bool = True
    selector: Selector | None = None
    min_domains: int = 1
    match_label_keys: tuple[str, ...] = ()
    honor_affinity: bool = True
    honor_taints: bool = False
