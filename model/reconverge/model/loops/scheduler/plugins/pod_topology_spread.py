"""Topology spread constraints: the hard ones as a filter, the soft ones and the cluster's default as a score.

Source: `pkg/scheduler/framework/plugins/podtopologyspread/{filtering,scoring,common,plugin}.go`,
`pkg/scheduler/framework/plugins/helper/spread.go` (default selector).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import floor, log

from attrs import frozen

from reconverge.model.labels import Labels, Requirement, Selector, label, labels_of
from reconverge.model.loops.scheduler.cycle import Cycle
from reconverge.model.loops.scheduler.plugin import MOST, Check, Delta, Failure, Filter, Score
from reconverge.model.loops.scheduler.plugins.node_affinity import required_match
from reconverge.model.loops.scheduler.plugins.taint_toleration import untolerated
from reconverge.model.objects import Node, Pod, TopologySpreadConstraint
from reconverge.model.objects.node import HOSTNAME, ZONE
from reconverge.model.resources import Usage

_UNEVEN = Failure("PodTopologySpread", ("node(s) didn't match pod topology spread constraints",))
_NO_LABEL = Failure(
    "PodTopologySpread",
    ("node(s) didn't match pod topology spread constraints (missing required label)",),
    resolvable=False,
)


@frozen
class Constraint:
    """A constraint as it applies to one pod: its selector has the values of matchLabelKeys in it."""

    key: str
    max_skew: int
    selector: Selector | None
    min_domains: int = 1
    honor_affinity: bool = True
    honor_taints: bool = False

    def selects(self, pod: Pod) -> bool:
        """Whether the pod counts, its namespace apart."""
        return self.selector is not None and self.selector.matches(pod.labels)


@lru_cache(maxsize=4096)
def constraints_of(given: tuple[TopologySpreadConstraint, ...], labels: Labels, hard: bool) -> tuple[Constraint, ...]:
    """The hard or the soft constraints of a pod with these labels."""
    return tuple(
        Constraint(
            each.topology_key,
            each.max_skew,
            _with_label_keys(each.selector, each.match_label_keys, labels),
            each.min_domains,
            each.honor_affinity,
            each.honor_taints,
        )
        for each in given
        if each.hard == hard
    )


def _with_label_keys(selector: Selector | None, keys: tuple[str, ...], labels: Labels) -> Selector | None:
    if selector is None or not keys:
        return selector
    values = ((key, label(labels, key)) for key in keys)
    extra = tuple(Requirement(key, "In", (value,)) for key, value in values if value is not None)
    return Selector(selector.match_labels, (*selector.match_expressions, *extra))


def eligible(cycle: Cycle, constraints: Sequence[Constraint], all_keys: bool) -> list[dict[str, str]]:
    """Per constraint, the domain by node name of the nodes that count for it.

    With `all_keys`, only nodes that have the keys of all constraints count for any.
    """
    values = [cycle.nodes.values(each.key) for each in constraints]
    matches = required_match(cycle.pod.spec)
    result = []
    for constraint, own in zip(constraints, values, strict=True):
        domains = own
        if all_keys and len(constraints) > 1:
            domains = {name: value for name, value in domains.items() if all(name in each for each in values)}
        if constraint.honor_affinity and matches is not None:
            wanted = matches
            domains = {name: value for name, value in domains.items() if wanted(cycle.nodes.by_name[name])}
        if constraint.honor_taints:
            tolerations = cycle.pod.spec.tolerations
            domains = {
                name: value
                for name, value in domains.items()
                if untolerated(cycle.nodes.by_name[name].taints, tolerations) is None
            }
        result.append(domains)
    return result


class PodTopologySpread(Filter):
    """In every hard constraint the domain's count, with the pod, may exceed the smallest count by maxSkew at most.

    Domains are the values of the key on eligible nodes, whether or not a pod could run there.
    """

    name = "PodTopologySpread"

    def prepare(self, cycle: Cycle) -> Check | None:
        pod = cycle.pod
        if not pod.spec.spread:
            return None
        constraints = constraints_of(pod.spec.spread, pod.labels, hard=True)
        if not constraints:
            return None
        domains = eligible(cycle, constraints, all_keys=True)
        counts = [self.counts(cycle, each, of) for each, of in zip(constraints, domains, strict=True)]
        lowest = [_lowest(each, count) for each, count in zip(constraints, counts, strict=True)]
        values = [cycle.nodes.values(each.key) for each in constraints]
        selves = [int(each.selects(pod)) for each in constraints]

        def check(node: Node, usage: Usage, delta: Delta) -> Failure | None:
            for index, constraint in enumerate(constraints):
                value = values[index].get(node.name)
                if value is None:
                    return _NO_LABEL
                count, least = counts[index], lowest[index]
                if delta:
                    count = _changed(pod, constraint, domains[index].get(node.name), count, delta)
                    least = _lowest(constraint, count)
                if count.get(value, 0) + selves[index] - least > constraint.max_skew:
                    return _UNEVEN
            return None

        return check

    def counts(self, cycle: Cycle, constraint: Constraint, domains: dict[str, str]) -> dict[str, int]:
        """How many pods each domain holds; Terminating ones do not count."""
        counts = dict.fromkeys(domains.values(), 0)
        for node, count in cycle.per_node(cycle.pod.namespace, constraint.selector).items():
            value = domains.get(node)
            if value is not None:
                counts[value] += count
        return counts


def _lowest(constraint: Constraint, counts: dict[str, int]) -> int:
    if len(counts) < constraint.min_domains or not counts:
        return 0
    return min(counts.values())


def _changed(
    pod: Pod, constraint: Constraint, value: str | None, counts: dict[str, int], delta: Delta
) -> dict[str, int]:
    """The counts with pods added to or taken from one node, whose domain is `value` if it is eligible.

    As upstream, a Terminating pod that is taken away is subtracted although it had not been counted.
    """
    if value is None:
        return counts
    change = sum(sign for other, sign in delta if other.namespace == pod.namespace and constraint.selects(other))
    return {**counts, value: counts.get(value, 0) + change} if change else counts


class PodTopologySpreadScore(Score):
    """Fewer matching pods in the node's domains are better.

    A pod without constraints of its own that a Service or its owner selects has the cluster's default ones.
    """

    name = "PodTopologySpread"
    weight = 2
    defaults: tuple[tuple[str, int], ...] = ((HOSTNAME, 3), (ZONE, 5))
    """The cluster's default soft constraints: key and maxSkew."""

    def score(self, cycle: Cycle, nodes: Sequence[Node]) -> list[int] | None:
        pod = cycle.pod
        own = bool(pod.spec.spread)
        constraints = constraints_of(pod.spec.spread, pod.labels, hard=False) if own else self.default(cycle)
        if not constraints:
            return None
        values = [cycle.nodes.values(each.key) for each in constraints]
        # Nodes without all the keys are not scored if the pod has its own constraints; the default ones are lenient.
        scored = [node for node in nodes if not own or all(node.name in each for each in values)]
        domains = eligible(cycle, constraints, all_keys=own)
        raw = dict.fromkeys((node.name for node in scored), 0.0)
        for constraint, value_of, counted in zip(constraints, values, domains, strict=True):
            self._add(cycle, constraint, value_of, counted, raw)
        rounded = {name: _round(score) for name, score in raw.items()}
        return _inverted(rounded, nodes)

    def default(self, cycle: Cycle) -> tuple[Constraint, ...]:
        """The default constraints, with the selector of whatever selects the pod."""
        selector = default_selector(cycle)
        if selector is None or selector.empty:
            return ()
        return tuple(Constraint(key, skew, selector) for key, skew in self.defaults)

    def _add(
        self,
        cycle: Cycle,
        constraint: Constraint,
        value_of: dict[str, str],
        counted: dict[str, str],
        raw: dict[str, float],
    ) -> None:
        per_host = constraint.key == HOSTNAME
        sizes = {value_of.get(name, "") for name in raw}
        weight = log((len(raw) if per_host else len(sizes)) + 2)
        counts = per_node = cycle.per_node(cycle.pod.namespace, constraint.selector)
        if not per_host:
            counts = {}
            for node, count in per_node.items():
                value = counted.get(node)
                if value is not None:
                    counts[value] = counts.get(value, 0) + count
        extra = constraint.max_skew - 1
        for name in raw:
            value = value_of.get(name)
            if value is not None:
                raw[name] += counts.get(name if per_host else value, 0) * weight + extra


def _round(score: float) -> int:
    """Half away from zero, as Go rounds; scores are not negative."""
    whole = floor(score)
    return whole + 1 if score - whole >= 0.5 else whole


def _inverted(raw: dict[str, int], nodes: Sequence[Node]) -> list[int]:
    highest, lowest = max(raw.values(), default=0), min(raw.values(), default=0)
    if highest == 0:
        return [MOST if node.name in raw else 0 for node in nodes]
    return [MOST * (highest + lowest - raw[node.name]) // highest if node.name in raw else 0 for node in nodes]


def default_selector(cycle: Cycle) -> Selector | None:
    """The labels of all Services that select the pod, and the selector of its owner; None if nothing selects it."""
    pod = cycle.pod
    labels: dict[str, str] = {}
    if "Service" in cycle.store.tables:
        for service in cycle.store.in_namespace("Service", pod.namespace):
            if service.selector is not None and not service.selector.empty and service.selector.matches(pod.labels):
                labels.update(service.selector.match_labels)
    owner = pod.owner
    theirs: Selector | None = None
    if owner is not None and owner.kind in ("ReplicaSet", "StatefulSet", "ReplicationController"):
        found = cycle.store.get(owner.kind, f"{pod.namespace}/{owner.name}")
        theirs = found.selector if found is not None else None
    if not labels:
        return theirs
    if theirs is None:
        return Selector(labels_of(labels))
    extra = tuple(Requirement(key, "In", (value,)) for key, value in labels_of(labels))
    return Selector(theirs.match_labels, (*theirs.match_expressions, *extra))
