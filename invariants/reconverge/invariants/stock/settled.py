"""Whether what pods ask of their places still holds when everything has settled.

Kubernetes checks these rules at the binding only, and nothing moves a pod later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Quiet
from reconverge.invariants.stock.facts import count
from reconverge.invariants.stock.neighbours import domain, pods_about, with_anti_affinity
from reconverge.invariants.stock.selection import node_refusals, selection_refusals
from reconverge.invariants.stock.spread import Domains, domains_of, hard_constraints
from reconverge.model.naming import workload_of
from reconverge.model.objects import ApiObject, Node, Pod
from reconverge.model.store import Store


@invariant(
    "placement-at-rest",
    "eventually",
    statement="In the settled state hard spread, node affinity and required pod (anti-)affinity still hold.",
    why="Rules that hold only at each binding leave a service on one zone or node after scalings, rollouts and losses.",
    remedy="Spread over pods of one revision (matchLabelKeys: pod-template-hash), run a descheduler, or have as many "
    "nodes in each zone.",
    source="pkg/scheduler/framework/plugins/podtopologyspread/; documentation of topology spread, known limitations",
)
def placement_at_rest(quiet: Quiet, _: None) -> Iterable[Violation]:
    """Judges the bound pods that are neither finished nor Terminating; domains that no pod may enter do not count."""
    if quiet.outcome != "rest":
        return ()
    store = quiet.store
    settled = _settled(store)
    found = [*_selection(store, settled), *_spread(store, settled), *_apart(store), *_together(store, settled)]
    first: dict[tuple[str, str], Violation] = {}
    for each in found:
        first.setdefault((each.object, each.facts["rule"]), each)
    return list(first.values())


def _settled(store: Store) -> list[Pod]:
    """Settled pods with rules of their own, by key."""
    return [pod for pod in store.all("Pod") if pod.active and pod.node is not None and _has_rules(pod)]


def _has_rules(pod: Pod) -> bool:
    spec = pod.spec
    affinity = spec.affinity
    return bool(spec.spread or spec.node_selector or affinity.node_required is not None or affinity.pod_required)


def _whose(store: Store, pod: Pod) -> ApiObject:
    return workload_of(store, pod) or pod


def _selection(store: Store, pods: list[Pod]) -> Iterator[Violation]:
    for pod in pods:
        node = store.node(pod.node or "")
        refusal = next(selection_refusals(pod, node), None) if node is not None else None
        if refusal is not None:
            message = f"{pod.reference} is on {pod.node}, which {refusal.text}"
            yield Violation(_whose(store, pod).reference, message, {"rule": "node affinity", "node": pod.node})


def _spread(store: Store, pods: list[Pod]) -> Iterator[Violation]:
    # One pod stands for all of its template: they have the same constraints and count the same pods.
    alike = {(pod.namespace, pod.labels, pod.spec.spread, pod.spec.affinity): pod for pod in pods if pod.spec.spread}
    for pod in alike.values():
        for constraint in hard_constraints(pod):
            domains = domains_of(store, pod, constraint, frozenset(), lambda node, pod=pod: _usable(pod, node))  # type: ignore[misc]
            if domains.counts and max(domains.counts.values()) - domains.least > constraint.max_skew:
                yield _uneven(_whose(store, pod), domains)


def _usable(pod: Pod, node: Node) -> bool:
    return next(node_refusals(pod, node), None) is None


def _uneven(workload: ApiObject, domains: Domains) -> Violation:
    key, skew = domains.constraint.topology_key, domains.constraint.max_skew
    message = (
        f"{workload.reference} is spread over {key} as {domains.described()}; "
        f"maxSkew {skew} allows at most {domains.least + skew} where the least is {domains.least}"
    )
    return Violation(workload.reference, message, {"rule": f"spread over {key}", "counts": dict(domains.counts)})


def _apart(store: Store) -> Iterator[Violation]:
    for pod in with_anti_affinity(store):
        if not pod.active or pod.node is None:
            continue
        for term in pod.spec.affinity.anti_required:
            here = domain(store, pod, term.topology_key)
            others = [
                other
                for other in pods_about(store, term, pod)
                if other.uid != pod.uid and other.active and domain(store, other, term.topology_key) == here
            ]
            if here is not None and others:
                more = f" and {count(len(others) - 1, 'other')}" if len(others) > 1 else ""
                message = (
                    f"{pod.reference} shares {term.topology_key} {here} with {others[0].reference}{more}, "
                    "against its required pod anti-affinity"
                )
                facts = {"rule": f"anti-affinity over {term.topology_key}", "domain": here}
                yield Violation(_whose(store, pod).reference, message, facts)


def _together(store: Store, pods: list[Pod]) -> Iterator[Violation]:
    for pod in pods:
        for term in pod.spec.affinity.pod_required:
            here = domain(store, pod, term.topology_key)
            if not any(domain(store, other, term.topology_key) == here for other in pods_about(store, term, pod)):
                message = f"{pod.reference} has no pod of its required pod affinity in {term.topology_key} {here}"
                facts = {"rule": f"affinity over {term.topology_key}", "domain": here}
                yield Violation(_whose(store, pod).reference, message, facts)
