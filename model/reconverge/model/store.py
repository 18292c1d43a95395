"""The API objects: the only thing that control loops can read.

Source: apiserver `pkg/registry/generic/registry/store.go` (create, update, delete),
`pkg/registry/core/pod/strategy.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from attrs import frozen

from reconverge.model.objects import (
    ApiObject,
    Deployment,
    EndpointSlice,
    Job,
    Lease,
    Node,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    ReplicaSet,
    Service,
)
from reconverge.model.persistent import EMPTY, Map
from reconverge.model.resources import NO_USAGE, Usage
from reconverge.model.table import Table


@frozen
class Change:
    """One object before and after a write: what a watch delivers. `before` or `after` may be None."""

    kind: str
    key: str
    before: Any
    after: Any

    @property
    def object(self) -> Any:
        """The object after the change, or as it was before its removal."""
        return self.after if self.after is not None else self.before


@frozen
class Store:
    """Tables by kind, the store's revision, and the counter that gives uids.

    The same type serves as a control loop's view: a view whose watch of some kind is stalled has an older table
    for that kind.
    """

    tables: dict[str, Table]
    revision: int = 0
    next_uid: int = 1
    generated: Map[str, int] = EMPTY
    """How many names the API server has made for each generateName prefix."""

    # Reading -------------------------------------------------------------------------------------------------

    def table(self, kind: str) -> Table:
        """The table of a kind; an empty one if there is no object of it."""
        found = self.tables.get(kind)
        return found if found is not None else Table(kind)

    def get(self, kind: str, key: str) -> Any:
        """The object, or None."""
        table = self.tables.get(kind)
        return None if table is None else table.objects.get(key)

    def all(self, kind: str) -> list[Any]:
        """All objects of a kind, ordered by key."""
        objects = self.table(kind).objects
        return [objects[key] for key in sorted(objects)]

    def count(self, kind: str) -> int:
        """How many objects of a kind there are."""
        return len(self.table(kind).objects)

    def pod(self, key: str) -> Pod | None:
        """The pod at `namespace/name`, or None."""
        return cast("Pod | None", self.get("Pod", key))

    def node(self, name: str) -> Node | None:
        """The Node object, or None."""
        return cast("Node | None", self.get("Node", name))

    def lease(self, node: str) -> Lease | None:
        """The heartbeat lease of a node, or None."""
        return cast("Lease | None", self.get("Lease", node))

    def replica_set(self, key: str) -> ReplicaSet | None:
        """The ReplicaSet at `namespace/name`, or None."""
        return cast("ReplicaSet | None", self.get("ReplicaSet", key))

    def deployment(self, key: str) -> Deployment | None:
        """The Deployment at `namespace/name`, or None."""
        return cast("Deployment | None", self.get("Deployment", key))

    def budget(self, key: str) -> PodDisruptionBudget | None:
        """The PodDisruptionBudget at `namespace/name`, or None."""
        return cast("PodDisruptionBudget | None", self.get("PodDisruptionBudget", key))

    def service(self, key: str) -> Service | None:
        """The Service at `namespace/name`, or None."""
        return cast("Service | None", self.get("Service", key))

    def endpoint_slice(self, key: str) -> EndpointSlice | None:
        """The EndpointSlice at `namespace/name`, or None."""
        return cast("EndpointSlice | None", self.get("EndpointSlice", key))

    def priority_class(self, name: str) -> PriorityClass | None:
        """The PriorityClass, or None."""
        return cast("PriorityClass | None", self.get("PriorityClass", name))

    def nodes(self) -> list[Node]:
        """All Node objects, ordered by name."""
        return self.all("Node")

    def pods_on(self, node: str) -> list[Pod]:
        """All pods bound to a node, terminal and Terminating ones too, ordered by key."""
        return cast("list[Pod]", self._indexed("Pod", "node", node))

    def pods_of(self, uid: int) -> list[Pod]:
        """All pods whose controlling owner has the uid, ordered by key."""
        return cast("list[Pod]", self._indexed("Pod", "owner", str(uid)))

    def unbound_pods(self) -> list[Pod]:
        """All pods that no node has been chosen for and that are not terminal, ordered by key."""
        return cast("list[Pod]", self._indexed("Pod", "unbound", ""))

    def orphan_pods(self, namespace: str) -> list[Pod]:
        """All pods of a namespace without a controlling owner, ordered by key."""
        return cast("list[Pod]", self._indexed("Pod", "orphan", namespace))

    def replica_sets_of(self, uid: int) -> list[ReplicaSet]:
        """All ReplicaSets whose controlling owner has the uid, ordered by key."""
        return cast("list[ReplicaSet]", self._indexed("ReplicaSet", "owner", str(uid)))

    def jobs_of(self, uid: int) -> list[Job]:
        """All Jobs whose controlling owner has the uid, ordered by key."""
        return cast("list[Job]", self._indexed("Job", "owner", str(uid)))

    def orphan_sets(self, namespace: str) -> list[ReplicaSet]:
        """All ReplicaSets of a namespace without a controlling owner, ordered by key."""
        return cast("list[ReplicaSet]", self._indexed("ReplicaSet", "orphan", namespace))

    def in_namespace(self, kind: str, namespace: str) -> list[Any]:
        """All objects of a kind (not Pod or Node) in a namespace, ordered by key."""
        return self._indexed(kind, "namespace", namespace)

    def pods_matching(self, namespace: str, selector: Any) -> list[Pod]:
        """All pods of a namespace that a selector matches, ordered by key. A None selector matches none."""
        if selector is None:
            return []
        table = self.table("Pod")
        if selector.match_labels:
            candidates = min(
                (table.keys_at("label", f"{namespace}/{key}={value}") for key, value in selector.match_labels), key=len
            )
            pods = [table.objects[key] for key in sorted(candidates)]
        else:
            pods = [table.objects[key] for key in sorted(table.objects) if key.startswith(f"{namespace}/")]
        return [pod for pod in pods if selector.matches(pod.labels)]

    def usage(self, node: str) -> Usage:
        """What is held on a node as the scheduler counts it."""
        return self.table("Pod").usage.get(node, NO_USAGE)

    def _indexed(self, kind: str, index: str, value: str) -> list[Any]:
        table = self.tables.get(kind)
        if table is None:
            return []
        return [table.objects[key] for key in sorted(table.keys_at(index, value))]

    # Writing -------------------------------------------------------------------------------------------------

    def put(self, new: ApiObject) -> tuple[Store, Change]:
        """The store with an object created (uid 0: it is given one) or replaced, and the change.

        Revision and uid are given here; nothing else of the object is looked at.
        """
        kind = new.kind
        key = new.key
        table = self.table(kind)
        before = table.objects.get(key)
        revision = self.revision + 1
        next_uid = self.next_uid
        if new.uid == 0:
            new = new.with_(uid=next_uid, revision=revision)
            next_uid += 1
        else:
            new = new.with_(revision=revision)
            next_uid = max(next_uid, new.uid + 1)
        tables = self.tables.copy()
        tables[kind] = table.put(new)
        return Store(tables, revision, next_uid, self.generated), Change(kind, key, before, new)

    def remove(self, kind: str, key: str) -> tuple[Store, Change]:
        """The store without the object, and the change. Raises KeyError if it is not there."""
        table = self.table(kind)
        before = table.objects[key]
        tables = self.tables.copy()
        tables[kind] = table.remove(key)
        return Store(tables, self.revision + 1, self.next_uid, self.generated), Change(kind, key, before, None)

    def with_tables(self, older: dict[str, Table]) -> Store:
        """This store as a control loop sees it whose watches of some kinds have stalled."""
        if not older:
            return self
        return Store({**self.tables, **older}, self.revision, self.next_uid, self.generated)

    def generate_name(self, prefix: str) -> tuple[Store, str]:
        """A new name for a generateName prefix: the prefix and letters in order of creation (a, b ... z, aa ...).

        The real API server appends five random characters; order of creation reads better and is as unique.
        """
        count = self.generated.get(prefix, 0)
        store = Store(self.tables, self.revision, self.next_uid, self.generated.set(prefix, count + 1))
        return store, prefix + letters(count)

    def objects(self) -> Iterator[ApiObject]:
        """Every object, by kind and key in order."""
        for kind in sorted(self.tables):
            yield from self.all(kind)


def letters(count: int) -> str:
    """a, b ... z, aa, ab ... for 0, 1 ..."""
    text = ""
    count += 1
    while count:
        count, digit = divmod(count - 1, 26)
        text = chr(ord("a") + digit) + text
    return text


EMPTY_STORE = Store({})
