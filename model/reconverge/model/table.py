"""One kind's objects in the store, with the indexes that keep look-ups independent of the cluster's size.

A table is a value: a stalled watch is nothing but an older table in front of a control loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from attrs import frozen

from reconverge.model.objects import ApiObject, Pod
from reconverge.model.persistent import EMPTY, Map
from reconverge.model.requests import nonzero_requests
from reconverge.model.resources import NO_USAGE, Usage

Index = Map[str, Map[str, None]]
IndexEntry = tuple[str, str]
"""(name of the index, value under which the object is found)."""


def _pod_entries(pod: Pod) -> Iterator[IndexEntry]:
    if pod.node is not None:
        yield ("node", pod.node)
    elif not pod.terminal:
        yield ("unbound", "")
    if pod.owner is not None:
        yield ("owner", str(pod.owner.uid))
    else:
        yield ("orphan", pod.namespace)
    for key, value in pod.labels:
        yield ("label", f"{pod.namespace}/{key}={value}")
    if pod.spec.affinity.anti_required or pod.spec.affinity.pod_required:
        yield ("affinity", "")
    if pod.spec.affinity.pod_preferred or pod.spec.affinity.anti_preferred:
        yield ("affinity", "")


def _same_pod_entries(before: Pod, after: Pod) -> bool:
    return (
        before.node == after.node
        and before.owner is after.owner
        and before.labels is after.labels
        and before.phase == after.phase
        and before.spec is after.spec
    )


def _owned_entries(owned: ApiObject) -> Iterator[IndexEntry]:
    yield ("namespace", owned.namespace)
    if owned.owner is not None:
        yield ("owner", str(owned.owner.uid))


def _set_entries(rs: ApiObject) -> Iterator[IndexEntry]:
    yield from _owned_entries(rs)
    if rs.owner is None:
        yield ("orphan", rs.namespace)


def _never_same(before: Any, after: Any) -> bool:
    return False


def _same_owner(before: ApiObject, after: ApiObject) -> bool:
    return before.owner == after.owner


_ENTRIES: dict[str, tuple[Callable[[Any], Iterator[IndexEntry]], Callable[[Any, Any], bool]]] = {
    "Pod": (_pod_entries, _same_pod_entries),
    "ReplicaSet": (_set_entries, _same_owner),
    "Node": (lambda node: iter((("zone", node.zone),)), _never_same),
}


@frozen
class Table:
    """All objects of one kind by key, with indexes. For pods also the usage per node that the scheduler counts."""

    kind: str
    objects: Map[str, Any] = EMPTY
    indexes: Map[str, Index] = EMPTY
    usage: Map[str, Usage] = EMPTY

    def keys_at(self, index: str, value: str) -> Map[str, None]:
        """Keys of the objects that the named index holds under `value`."""
        found = self.indexes.get(index)
        return EMPTY if found is None else found.get(value, EMPTY)

    def put(self, new: ApiObject) -> Table:
        """The table with `new` added, or in place of the object with its key."""
        old = self.objects.get(new.key)
        indexes = self._reindexed(old, new)
        usage = self._reused(old, new) if self.kind == "Pod" else self.usage
        return Table(self.kind, self.objects.set(new.key, new), indexes, usage)

    def remove(self, key: str) -> Table:
        """The table without the object. Raises KeyError if it is not there."""
        old = self.objects[key]
        usage = self._reused(old, None) if self.kind == "Pod" else self.usage
        return Table(self.kind, self.objects.delete(key), self._reindexed(old, None), usage)

    def _reindexed(self, old: Any, new: Any) -> Map[str, Index]:
        entries, same = _ENTRIES.get(self.kind, (_owned_entries, _same_owner))
        if old is not None and new is not None and same(old, new):
            return self.indexes
        before = dict.fromkeys(entries(old)) if old is not None else {}
        after = dict.fromkeys(entries(new)) if new is not None else {}
        indexes = self.indexes
        for name, value in before:
            if (name, value) not in after:
                rest = indexes[name][value].delete(old.key)
                found = indexes[name].set(value, rest) if rest else indexes[name].delete(value)
                indexes = indexes.set(name, found)
        for name, value in after:
            if (name, value) not in before:
                found = indexes.get(name, EMPTY)
                indexes = indexes.set(name, found.set(value, found.get(value, EMPTY).set(new.key, None)))
        return indexes

    def _reused(self, old: Any, new: Any) -> Map[str, Usage]:
        """Usage per node after a pod changed: bound pods that are not terminal count, Terminating ones too.

        Source: `pkg/scheduler/eventhandlers.go` (the scheduler's pod informer drops terminal pods).
        """
        was = old.node if old is not None and not old.terminal else None
        now = new.node if new is not None and not new.terminal else None
        if was == now and (was is None or old.spec is new.spec):
            return self.usage
        usage = self.usage
        if was is not None and old is not None:
            usage = usage.set(was, _without(usage.get(was, NO_USAGE), old))
        if now is not None and new is not None:
            usage = usage.set(now, _with(usage.get(now, NO_USAGE), new))
        return usage


def _with(usage: Usage, pod: Pod) -> Usage:
    cpu, memory = nonzero_requests(pod.spec)
    return Usage(
        usage.requests + pod.spec.requests,
        usage.nonzero_cpu + cpu,
        usage.nonzero_memory + memory,
        usage.pods + 1,
        tuple(sorted((*usage.ports, *_ports(pod)))),
    )


def _without(usage: Usage, pod: Pod) -> Usage:
    cpu, memory = nonzero_requests(pod.spec)
    ports = list(usage.ports)
    for port in _ports(pod):
        ports.remove(port)
    return Usage(
        usage.requests - pod.spec.requests,
        usage.nonzero_cpu - cpu,
        usage.nonzero_memory - memory,
        usage.pods - 1,
        tuple(ports),
    )


def _ports(pod: Pod) -> tuple[tuple[str, str, int], ...]:
    return tuple(port for container in pod.spec.containers for port in container.host_ports)
