"""Pod affinity and anti-affinity, required and preferred, of the pod itself and of the pods that are there.

Source: `pkg/scheduler/framework/plugins/interpodaffinity/{filtering,scoring,plugin}.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from attrs import frozen

from reconverge.model.labels import Labels, Requirement, Selector, label
from reconverge.model.loops.scheduler.cycle import Cycle
from reconverge.model.loops.scheduler.plugin import MOST, Check, Delta, Failure, Filter, Score
from reconverge.model.objects import Node, Pod, PodAffinityTerm, WeightedPodAffinityTerm
from reconverge.model.resources import Usage

_AFFINITY = Failure("InterPodAffinity", ("node(s) didn't match pod affinity rules",), resolvable=False)
_ANTI_AFFINITY = Failure("InterPodAffinity", ("node(s) didn't match pod anti-affinity rules",))
_EXISTING = Failure("InterPodAffinity", ("node(s) didn't satisfy existing pods anti-affinity rules",))

Domain = tuple[str, str]
"""A topology key and a value of it."""
Counts = dict[Domain, int]


@frozen
class Term:
    """A term as it applies to the pod that has it. `namespaces` None means all."""

    key: str
    namespaces: tuple[str, ...] | None
    selector: Selector | None

    def matches(self, pod: Pod) -> bool:
        """Whether the term is about the pod."""
        return (
            self.selector is not None
            and (self.namespaces is None or pod.namespace in self.namespaces)
            and self.selector.matches(pod.labels)
        )


@lru_cache(maxsize=4096)
def terms_of(given: tuple[PodAffinityTerm, ...], namespace: str, labels: Labels) -> tuple[Term, ...]:
    """The terms of a pod with this namespace and these labels."""
    return tuple(
        Term(
            each.topology_key,
            None if each.all_namespaces else each.namespaces or (namespace,),
            _with_label_keys(each, labels),
        )
        for each in given
    )


def _with_label_keys(term: PodAffinityTerm, labels: Labels) -> Selector | None:
    selector = term.selector
    if selector is None or not (term.match_label_keys or term.mismatch_label_keys):
        return selector
    wanted = ((key, "In", label(labels, key)) for key in term.match_label_keys)
    unwanted = ((key, "NotIn", label(labels, key)) for key in term.mismatch_label_keys)
    extra = tuple(
        Requirement(key, operator, (value,)) for key, operator, value in (*wanted, *unwanted) if value is not None
    )
    return Selector(selector.match_labels, (*selector.match_expressions, *extra))


def required_terms(pod: Pod) -> tuple[Term, ...]:
    """The terms of required affinity."""
    return terms_of(pod.spec.affinity.pod_required, pod.namespace, pod.labels)


def required_anti_terms(pod: Pod) -> tuple[Term, ...]:
    """The terms of required anti-affinity."""
    return terms_of(pod.spec.affinity.anti_required, pod.namespace, pod.labels)


def weighted_terms(given: tuple[WeightedPodAffinityTerm, ...], pod: Pod) -> list[tuple[Term, int]]:
    """Preferred terms of a pod with their weights."""
    terms = terms_of(tuple(each.term for each in given), pod.namespace, pod.labels)
    return list(zip(terms, (each.weight for each in given), strict=True))


def _matches_all(terms: Sequence[Term], pod: Pod) -> bool:
    return bool(terms) and all(term.matches(pod) for term in terms)


class _State:
    """Pods per domain that matter: for the pod's affinity, for its anti-affinity, and with anti-affinity against it."""

    def __init__(self, cycle: Cycle) -> None:
        self.cycle = cycle
        self.affinity_terms = required_terms(cycle.pod)
        self.anti_terms = required_anti_terms(cycle.pod)
        self.affinity: Counts = {}
        self.anti: Counts = {}
        self.existing: Counts = {}
        against = _against(cycle.pod)
        for other in cycle.with_terms():
            if other.spec.affinity.anti_required:
                self._count(self.existing, other.node or "", against(other), 1)
        if self.affinity_terms:
            first = self.affinity_terms[0]
            for other in cycle.matching(first.namespaces, first.selector):
                if _matches_all(self.affinity_terms, other):
                    self._count(self.affinity, other.node or "", (term.key for term in self.affinity_terms), 1)
        for term in self.anti_terms:
            for other in cycle.matching(term.namespaces, term.selector):
                self._count(self.anti, other.node or "", (term.key,), 1)
        self.idle = not (self.affinity_terms or self.anti_terms or self.existing)

    def _count(self, counts: Counts, node: str, keys: Iterable[str], sign: int) -> None:
        for key in keys:
            value = self.cycle.nodes.values(key).get(node)
            if value is not None:
                domain = (key, value)
                left = counts.get(domain, 0) + sign
                if left:
                    counts[domain] = left
                else:
                    counts.pop(domain, None)

    def changed(self, node: Node, delta: Delta) -> tuple[Counts, Counts, Counts]:
        """The three counts with pods added to or taken from a node."""
        affinity, anti, existing = dict(self.affinity), dict(self.anti), dict(self.existing)
        against = _against(self.cycle.pod)
        for other, sign in delta:
            self._count(existing, node.name, against(other), sign)
            if _matches_all(self.affinity_terms, other):
                self._count(affinity, node.name, (term.key for term in self.affinity_terms), sign)
            self._count(anti, node.name, (term.key for term in self.anti_terms if term.matches(other)), sign)
        return affinity, anti, existing


class _Against:
    """Over which topology keys another pod's anti-affinity speaks against one pod; worked out once per template."""

    def __init__(self, pod: Pod) -> None:
        self.pod = pod
        self.known: dict[tuple[int, int, str], tuple[str, ...]] = {}

    def __call__(self, other: Pod) -> tuple[str, ...]:
        mark = (id(other.spec), id(other.labels), other.namespace)
        keys = self.known.get(mark)
        if keys is None:
            keys = tuple(term.key for term in required_anti_terms(other) if term.matches(self.pod))
            self.known[mark] = keys
        return keys


def _against(pod: Pod) -> _Against:
    return _Against(pod)


class InterPodAffinity(Filter):
    """Required affinity and anti-affinity of the pod, and the required anti-affinity of the pods that are there.

    Terminating pods count.
    """

    name = "InterPodAffinity"

    def prepare(self, cycle: Cycle) -> Check | None:
        if not cycle.pods.keys_at("affinity", "") and not cycle.assumed and not _has_required(cycle.pod):
            return None
        state = _State(cycle)
        if state.idle:
            return None
        # The first pod of a group that wants to be together may go anywhere.
        alone = _matches_all(state.affinity_terms, cycle.pod)

        def check(node: Node, usage: Usage, delta: Delta) -> Failure | None:
            affinity, anti, existing = state.affinity, state.anti, state.existing
            if delta:
                affinity, anti, existing = state.changed(node, delta)
            if state.affinity_terms and not _together(cycle, state.affinity_terms, affinity, node, alone):
                return _AFFINITY
            for term in state.anti_terms:
                value = cycle.nodes.values(term.key).get(node.name)
                if value is not None and anti.get((term.key, value), 0) > 0:
                    return _ANTI_AFFINITY
            for (key, value), count in existing.items():
                if count > 0 and cycle.nodes.values(key).get(node.name) == value:
                    return _EXISTING
            return None

        return check


def _has_required(pod: Pod) -> bool:
    return bool(pod.spec.affinity.pod_required or pod.spec.affinity.anti_required)


def _together(cycle: Cycle, terms: Sequence[Term], counts: Counts, node: Node, alone: bool) -> bool:
    found = True
    for term in terms:
        value = cycle.nodes.values(term.key).get(node.name)
        if value is None:
            return False
        found = found and counts.get((term.key, value), 0) > 0
    return found or (not counts and alone)


class InterPodAffinityScore(Score):
    """Weights of preferred terms per matching pod in the domain: the pod's own, and those of the pods that are there.

    A required affinity of a pod that is there counts 1.
    """

    name = "InterPodAffinity"
    weight = 2
    required_weight = 1

    def score(self, cycle: Cycle, nodes: Sequence[Node]) -> list[int] | None:
        own = cycle.pod.spec.affinity
        if not (own.pod_preferred or own.anti_preferred or cycle.assumed or cycle.pods.keys_at("affinity", "")):
            return None
        sums = self._sums(cycle)
        if not sums:
            return None
        values = {key: cycle.nodes.values(key) for key, _ in sums}
        raw = [
            sum(sums.get((key, of.get(node.name, "")), 0) if node.name in of else 0 for key, of in values.items())
            for node in nodes
        ]
        lowest, highest = min(raw), max(raw)
        if highest == lowest:
            return [0] * len(raw)
        return [int(MOST * ((score - lowest) / (highest - lowest))) for score in raw]

    def _sums(self, cycle: Cycle) -> Counts:
        pod = cycle.pod
        sums: Counts = {}
        own = pod.spec.affinity
        for given, sign in ((own.pod_preferred, 1), (own.anti_preferred, -1)):
            for term, weight in weighted_terms(given, pod):
                for other in cycle.matching(term.namespaces, term.selector):
                    _add(cycle, sums, term.key, other.node, sign * weight)
        known: dict[tuple[int, int, str], list[tuple[str, int]]] = {}
        for other in cycle.with_terms():
            mark = (id(other.spec), id(other.labels), other.namespace)
            says = known.get(mark)
            if says is None:
                says = known[mark] = self._says(other, pod)
            for key, weight in says:
                _add(cycle, sums, key, other.node, weight)
        return sums

    def _says(self, other: Pod, pod: Pod) -> list[tuple[str, int]]:
        """What a pod that is there has to say of the new one: topology keys with signed weights."""
        theirs = other.spec.affinity
        terms = [(term, self.required_weight) for term in required_terms(other)]
        terms += weighted_terms(theirs.pod_preferred, other)
        terms += [(term, -weight) for term, weight in weighted_terms(theirs.anti_preferred, other)]
        return [(term.key, weight) for term, weight in terms if term.matches(pod)]


def _add(cycle: Cycle, sums: Counts, key: str, node: str | None, weight: int) -> None:
    value = cycle.nodes.values(key).get(node or "")
    if value is not None:
        sums[(key, value)] = sums.get((key, value), 0) + weight
