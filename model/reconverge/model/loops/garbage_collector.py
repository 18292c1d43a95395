"""The garbage collector: what has an owner goes when its owner has gone.

Source: `pkg/controller/garbagecollector/garbagecollector.go` (attemptToDeleteItem),
`pkg/controller/garbagecollector/graph_builder.go` (processGraphChanges).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from attrs import frozen

from reconverge.model import objects
from reconverge.model.action import Action, Delete, DeletePod, Written
from reconverge.model.cluster import Cluster
from reconverge.model.likeness import pod_likeness
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.objects import ApiObject, OwnerReference
from reconverge.model.store import Change, Store

_CLASSES = {
    each.kind: each
    for each in (getattr(objects, name) for name in sorted(objects.__all__))
    if isinstance(each, type) and issubclass(each, ApiObject) and each.kind
}
"""The kinds that the model knows. An owner of another kind is opaque, and never considered gone."""

KINDS = frozenset(_CLASSES)


def owner_key(dependent: ApiObject, owner: OwnerReference) -> str:
    """The key under which the store has the owner, if it has."""
    return f"{dependent.namespace}/{owner.name}" if _CLASSES[owner.kind].namespaced else owner.name


def owner_is_gone(store: Store, dependent: ApiObject) -> bool:
    """Whether the dependent has an owner of a known kind, and that incarnation of it is not there."""
    owner = dependent.owner
    if owner is None or owner.kind not in KINDS:
        return False
    found = store.get(owner.kind, owner_key(dependent, owner))
    return found is None or found.uid != owner.uid


@frozen
class CollectPod(DeletePod):
    """Delete a pod whose owner is gone; nothing is written if the owner is there after all. Raises as DeletePod."""

    def apply(self, cluster: Cluster) -> Written:
        """Upstream asks the API server for the owner before it deletes, not its own graph."""
        pod = cluster.store.pod(self.key)
        if pod is not None and pod.uid == self.uid and not owner_is_gone(cluster.store, pod):
            return cluster, ()
        return DeletePod.apply(self, cluster)


@frozen
class CollectObject(Delete):
    """Delete an object, not a pod, whose owner is gone; nothing is written if the owner is there after all."""

    def apply(self, cluster: Cluster) -> Written:
        """As for pods. Raises NotFound, Conflict as Delete does."""
        found = cluster.store.get(self.kind, self.key)
        if found is not None and found.uid == self.uid and not owner_is_gone(cluster.store, found):
            return cluster, ()
        return Delete.apply(self, cluster)


class GarbageCollector(ControlLoop[None]):
    """Deletes dependents of vanished owners, in the background. Budgets are not asked.

    Keys: a pod's key, or `Kind:key` for a dependent of another kind.
    Source: `pkg/controller/garbagecollector/garbagecollector.go`.
    """

    name: ClassVar[str] = "garbage-collector"
    watches: ClassVar[frozenset[str]] = KINDS
    source: ClassVar[str] = "pkg/controller/garbagecollector/garbagecollector.go"

    # Rules ---------------------------------------------------------------------------------------------------

    def collects(self, store: Store, dependent: ApiObject) -> bool:
        """Whether an object is deleted: its owner is gone, and it is not being deleted already."""
        return not dependent.terminating and owner_is_gone(store, dependent)

    # The loop ------------------------------------------------------------------------------------------------

    def relist(self, reading: Reading) -> Iterable[str]:
        """All objects whose owner is not there."""
        return [_key(each) for each in reading.store.objects() if self.collects(reading.store, each)]

    def observe(self, memory: None, change: Change, reading: Reading) -> tuple[None, Iterable[str]]:
        """A removal wakes the dependents; an object whose owner is gone when it appears wakes itself."""
        before, after = change.before, change.after
        if after is None or (before is not None and before.uid != after.uid):
            return None, [*self._dependents(reading.store, before.uid), *self._itself(reading.store, before, after)]
        return None, self._itself(reading.store, before, after)

    def order(self, reading: Reading, memory: None, keys: Iterable[str]) -> list[str]:
        """By what the dependents are, and by name between interchangeable ones."""
        return sorted(keys, key=lambda key: (_likeness(reading, key), key))

    def sync(self, reading: Reading, memory: None, key: str) -> Sequence[Plan[None]]:
        """Delete one dependent if its owner is gone."""
        kind, name = _split(key)
        dependent = reading.store.get(kind, name)
        if dependent is None or not self.collects(reading.store, dependent):
            return (Plan(None),)
        return (Plan(None, (self._delete(dependent),)),)

    # Inside --------------------------------------------------------------------------------------------------

    def _delete(self, dependent: ApiObject) -> Action:
        owner = dependent.owner
        assert owner is not None
        why = f"its owner {owner.kind.lower()}/{owner.name} is gone"
        if dependent.kind == "Pod":
            return CollectPod(dependent.key, dependent.uid, reason=why)
        return CollectObject(dependent.kind, dependent.key, dependent.uid, why)

    def _dependents(self, store: Store, uid: int) -> Iterator[str]:
        """Objects whose controlling owner has the uid: one look at the owner index of each kind."""
        for kind in sorted(store.tables):
            table = store.tables[kind]
            yield from (_key(table.objects[key]) for key in sorted(table.keys_at("owner", str(uid))))

    def _itself(self, store: Store, before: ApiObject | None, after: ApiObject | None) -> tuple[str, ...]:
        if after is None or after.owner is None:
            return ()
        known = before is not None and before.uid == after.uid and before.owner == after.owner
        return (_key(after),) if not known and self.collects(store, after) else ()


def _key(dependent: ApiObject) -> str:
    return dependent.key if dependent.kind == "Pod" else f"{dependent.kind}:{dependent.key}"


def _split(key: str) -> tuple[str, str]:
    kind, colon, name = key.partition(":")
    return (kind, name) if colon else ("Pod", key)


def _likeness(reading: Reading, key: str) -> str:
    kind, name = _split(key)
    pod = reading.store.pod(name) if kind == "Pod" else None
    return "" if pod is None else repr(pod_likeness(pod, reading.now))
