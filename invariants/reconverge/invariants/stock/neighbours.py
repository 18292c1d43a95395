"""Inter-pod affinity and anti-affinity from scratch, for the placement oracle and for the settled state.

Source: the documentation of inter-pod affinity; `pkg/scheduler/framework/plugins/interpodaffinity/filtering.go`.
"""

from __future__ import annotations

from collections.abc import Iterator

from reconverge.invariants.stock.selection import Refusal
from reconverge.model.labels import label
from reconverge.model.objects import Node, Pod, PodAffinityTerm
from reconverge.model.store import Store


def is_about(term: PodAffinityTerm, owner: Pod, other: Pod) -> bool:
    """Whether a term of `owner` is about the pod `other`."""
    if not term.all_namespaces and other.namespace not in (term.namespaces or (owner.namespace,)):
        return False
    if term.selector is None or not term.selector.matches(other.labels):
        return False
    same = ((key, label(owner.labels, key)) for key in term.match_label_keys)
    unlike = ((key, label(owner.labels, key)) for key in term.mismatch_label_keys)
    return all(value is None or label(other.labels, key) == value for key, value in same) and all(
        value is None or label(other.labels, key) != value for key, value in unlike
    )


def with_anti_affinity(store: Store) -> Iterator[Pod]:
    """The pods with required anti-affinity, by key."""
    table = store.table("Pod")
    for key in sorted(table.keys_at("affinity", "")):
        pod: Pod = table.objects[key]
        if pod.spec.affinity.anti_required:
            yield pod


def pods_about(store: Store, term: PodAffinityTerm, owner: Pod) -> Iterator[Pod]:
    """The pods on nodes, not finished, that a term is about; Terminating ones are among them."""
    if term.all_namespaces:
        candidates: Iterator[Pod] = iter(store.all("Pod"))
    else:
        spaces = term.namespaces or (owner.namespace,)
        candidates = (pod for space in spaces for pod in store.pods_matching(space, term.selector))
    for pod in candidates:
        if pod.node is not None and not pod.terminal and is_about(term, owner, pod):
            yield pod


def domain(store: Store, pod: Pod, key: str) -> str | None:
    """The value of a topology key where the pod is; None if its node is gone or has no such label."""
    node = store.node(pod.node) if pod.node is not None else None
    return None if node is None else label(node.labels, key)


class Neighbours:
    """What a pod's neighbours and its own required terms say, counted once for all nodes."""

    def __init__(self, store: Store, pod: Pod, without: frozenset[int]) -> None:
        self.pod = pod
        affinity = pod.spec.affinity
        self.company: dict[str, frozenset[str]] = {}
        """By topology key of the affinity terms: the domains that hold a pod which matches all of them."""
        self.first_of_group = False
        if affinity.pod_required:
            self._find_company(store, without)
        self.shunned: dict[tuple[str, str], str] = {}
        """Domains, as (key, value), that hold a pod the new one must not meet: its reference."""
        for term in affinity.anti_required:
            for other in pods_about(store, term, pod):
                if other.uid not in without:
                    self._shun(store, term.topology_key, other)
        for other in with_anti_affinity(store):
            if other.node is None or other.terminal or other.uid in without:
                continue
            for term in other.spec.affinity.anti_required:
                if is_about(term, other, pod):
                    self._shun(store, term.topology_key, other)

    def _find_company(self, store: Store, without: frozenset[int]) -> None:
        terms = self.pod.spec.affinity.pod_required
        matching = [
            other
            for other in pods_about(store, terms[0], self.pod)
            if other.uid not in without and all(is_about(term, self.pod, other) for term in terms)
        ]
        for term in terms:
            values = (domain(store, other, term.topology_key) for other in matching)
            self.company[term.topology_key] = frozenset(value for value in values if value is not None)
        alone = not any(self.company.values())
        self.first_of_group = alone and all(is_about(term, self.pod, self.pod) for term in terms)

    def _shun(self, store: Store, key: str, other: Pod) -> None:
        value = domain(store, other, key)
        if value is not None:
            self.shunned.setdefault((key, value), other.reference)

    def refusals(self, node: Node) -> Iterator[Refusal]:
        """Whether the node's domains have the company that the pod needs, and none that either side excludes."""
        for key, values in self.company.items():
            value = label(node.labels, key)
            if value is None or (value not in values and not self.first_of_group):
                yield Refusal("no-company", f"has no pod of the required pod affinity in its {key}")
        for (key, value), reference in self.shunned.items():
            if label(node.labels, key) == value:
                yield Refusal("anti-affinity", f"shares {key} {value} with {reference}, against a pod anti-affinity")
