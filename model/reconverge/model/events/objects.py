"""Manifests that are applied, and objects that are deleted.

Source: kubectl `pkg/cmd/apply`, `pkg/cmd/delete`, apiserver `pkg/registry/rest/delete.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import fields, frozen

from reconverge.model.action import Create, Written
from reconverge.model.cluster import Cluster
from reconverge.model.events.base import Event, Options, choices, combined, edited
from reconverge.model.naming import resolve, workloads
from reconverge.model.objects import ApiObject
from reconverge.model.objects.storage import PersistentVolumeClaim
from reconverge.model.volumes import described


@frozen
class ManifestApplied(Event):
    """kubectl apply: objects are created, or their specs set to what the manifests say; status stays."""

    objects: tuple[ApiObject, ...]
    leaving: tuple[str, ...] = ()
    """References of the workloads whose manifests say nothing of replicas: an apply leaves them to others."""
    written: tuple[str, ...] = ()
    """The manifests as JSON texts: what a trace keeps."""

    name = "apply"
    summary = "manifests are applied: objects are created or their specs changed"
    voluntary = True

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """Only with objects given."""
        if options.get("objects"):
            event = cls(tuple(options["objects"]), options.get("leaving", ()), options.get("written", ()))
            if event.enabled(cluster):
                yield event

    def enabled(self, cluster: Cluster) -> bool:
        """Always possible."""
        return bool(self.objects)

    def apply(self, cluster: Cluster) -> Written:
        """Each object in turn."""
        written: Written = (cluster, ())
        for new in self.objects:
            leaving = frozenset({"replicas"}) if new.reference in self.leaving else frozenset()
            written = combined(written, applied(written[0], new, leaving))
        return written

    def describe(self) -> str:
        """deployment/web is applied."""
        names = ", ".join(each.reference for each in self.objects)
        return f"{names} {'is' if len(self.objects) == 1 else 'are'} applied"


KEPT = frozenset(
    {
        "uid",
        "revision",
        "generation",
        "created_at",
        "owner",
        "deletion_at",
        "status",
        "deployment_revision",
        "kind",
        "node",
        "ready",
        "ready_reason",
        "ready_since",
        "phase",
        "taints",
        "volume",
        "selected_node",
        "claim",
    }
)
"""Fields that an apply leaves as they are."""


def applied(cluster: Cluster, new: ApiObject, leaving: frozenset[str] = frozenset()) -> Written:
    """The cluster with one object created or its spec set, but for the fields that are left as they are."""
    before = cluster.store.get(new.kind, new.key)
    if before is None:
        return Create(new).apply(cluster)
    changes = {
        name: getattr(new, name)
        for name in _field_names(type(new))
        if name not in KEPT and name not in leaving and getattr(new, name) != getattr(before, name)
    }
    return edited(cluster, before, **changes) if changes else (cluster, ())


def _field_names(cls: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls))


@frozen
class ObjectDeleted(Event):
    """kubectl delete, with background propagation."""

    object: str

    name = "delete"
    summary = "an object is deleted; what it owns follows"
    voluntary = True

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """Each workload, or the objects given."""
        for name in choices(options, "object", [each.reference for each in workloads(cluster.store)]):
            event = cls(name)
            if event.enabled(cluster):
                yield event

    def enabled(self, cluster: Cluster) -> bool:
        """It is there, and no pod (those have their own events)."""
        found = resolve(cluster.store, self.object)
        return found is not None and found.kind != "Pod" and not found.terminating

    def apply(self, cluster: Cluster) -> Written:
        """The object is removed at once; the garbage collector deletes its dependents. A claim in use is protected."""
        found = resolve(cluster.store, self.object)
        if isinstance(found, PersistentVolumeClaim) and described(cluster.store):
            store, change = cluster.store.put(found.with_(deletion_at=cluster.now))
            return cluster.with_(store=store), (change,)
        store, change = cluster.store.remove(found.kind, found.key)
        return cluster.with_(store=store), (change,)

    def describe(self) -> str:
        """deployment/web is deleted."""
        return f"{self.object} is deleted"
