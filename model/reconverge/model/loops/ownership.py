"""Adoption and release: which objects a controller takes and lets go.

Source: `pkg/controller/controller_ref_manager.go`.
"""

from __future__ import annotations

from collections.abc import Iterator

from reconverge.model.labels import Selector
from reconverge.model.objects import Deployment, Pod, ReplicaSet
from reconverge.model.store import Store


def releasable(pod: Pod, selector: Selector) -> bool:
    """Whether an owned pod is to be released: its labels no longer match."""
    return not selector.matches(pod.labels)


def adoptable(store: Store, namespace: str, selector: Selector) -> list[Pod]:
    """Active pods without a controller that match the selector, ordered by key."""
    if not store.table("Pod").keys_at("orphan", namespace):
        return []
    return [pod for pod in store.orphan_pods(namespace) if pod.active and selector.matches(pod.labels)]


def adoptable_sets(store: Store, deployment: Deployment) -> list[ReplicaSet]:
    """ReplicaSets without a controller that match the deployment's selector, ordered by key; none once it goes."""
    if deployment.terminating:
        return []
    orphans = store.orphan_sets(deployment.namespace)
    return [rs for rs in orphans if rs.deletion_at is None and deployment.selector.matches(rs.labels)]


def owner_keys_for_orphan(store: Store, kind: str, orphan: Pod | ReplicaSet) -> Iterator[str]:
    """Keys of the objects of a kind whose selector matches an object that has no controller."""
    for owner in store.in_namespace(kind, orphan.namespace):
        if owner.selector.matches(orphan.labels):
            yield owner.key
