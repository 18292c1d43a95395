"""Topology spread counted from scratch, for the placement oracle and for the settled state.

Source: the documentation of topology spread constraints;
`pkg/scheduler/framework/plugins/podtopologyspread/filtering.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attrs import frozen

from reconverge.invariants.stock.facts import untolerated
from reconverge.invariants.stock.selection import Refusal, selection_refusals
from reconverge.model.labels import Labels, Selector, label
from reconverge.model.objects import Node, Pod, TopologySpreadConstraint
from reconverge.model.objects.node import NO_EXECUTE, NO_SCHEDULE
from reconverge.model.store import Store


def hard_constraints(pod: Pod) -> list[TopologySpreadConstraint]:
    """The constraints with whenUnsatisfiable: DoNotSchedule."""
    return [each for each in pod.spec.spread if each.hard]


def counts_for(constraint: TopologySpreadConstraint, of: Labels, labels: Labels) -> bool:
    """Whether a pod with `labels` counts for a constraint of a pod with the labels `of` (matchLabelKeys included)."""
    selector: Selector | None = constraint.selector
    if selector is None or not selector.matches(labels):
        return False
    wanted = ((key, label(of, key)) for key in constraint.match_label_keys)
    return all(value is None or label(labels, key) == value for key, value in wanted)


@frozen
class Domains:
    """How many pods that count each domain of a constraint holds."""

    constraint: TopologySpreadConstraint
    counts: dict[str, int]

    @property
    def least(self) -> int:
        """The count that others are compared with: the smallest, or 0 while there are fewer domains than wanted."""
        if not self.counts or len(self.counts) < self.constraint.min_domains:
            return 0
        return min(self.counts.values())

    def described(self) -> str:
        """`a: 3, b: 0`."""
        return ", ".join(f"{value}: {number}" for value, number in sorted(self.counts.items()))


def domains_of(
    store: Store,
    pod: Pod,
    constraint: TopologySpreadConstraint,
    without: frozenset[int],
    counted: Callable[[Node], bool],
) -> Domains:
    """The domains of a constraint on the nodes that are counted, and their pods that neither end nor have ended."""
    keys = [each.topology_key for each in hard_constraints(pod)]
    values: dict[str, str] = {}
    for node in store.nodes():
        value = label(node.labels, constraint.topology_key)
        if value is not None and all(label(node.labels, key) is not None for key in keys) and counted(node):
            values[node.name] = value
    counts = dict.fromkeys(values.values(), 0)
    for other in store.pods_matching(pod.namespace, constraint.selector):
        if other.node in values and other.active and other.uid not in without:
            counts[values[other.node]] += counts_for(constraint, pod.labels, other.labels)
    return Domains(constraint, counts)


def counted_for_scheduling(pod: Pod, constraint: TopologySpreadConstraint) -> Callable[[Node], bool]:
    """Which nodes make domains when a pod is scheduled: by nodeAffinityPolicy and nodeTaintsPolicy."""

    def counted(node: Node) -> bool:
        if constraint.honor_affinity and next(selection_refusals(pod, node), None) is not None:
            return False
        closing = tuple(each for each in node.taints if each.effect in (NO_SCHEDULE, NO_EXECUTE))
        return not constraint.honor_taints or untolerated(pod, closing) is None

    return counted


class SpreadCounts:
    """The hard constraints of one pod, counted once for all nodes."""

    def __init__(self, store: Store, pod: Pod, without: frozenset[int]) -> None:
        self.pod = pod
        self.domains = [
            domains_of(store, pod, each, without, counted_for_scheduling(pod, each)) for each in hard_constraints(pod)
        ]

    def refusals(self, node: Node) -> Iterator[Refusal]:
        """Whether the pod would make some domain hold more than maxSkew pods above the least."""
        for domains in self.domains:
            key, skew = domains.constraint.topology_key, domains.constraint.max_skew
            value = label(node.labels, key)
            if value is None:
                yield Refusal("no-label", f"does not have the label {key} of a topology spread constraint")
                continue
            would = domains.counts.get(value, 0) + counts_for(domains.constraint, self.pod.labels, self.pod.labels)
            if would - domains.least > skew:
                yield Refusal(
                    "spread",
                    f"would make {key} {value} hold {would} pods with {domains.least} in the least, maxSkew {skew}",
                )
