"""Actions: exactly one write each, made by a control loop, an operator's tool or a kubelet.

A write carries what its maker had read, and fails as the real API call does if that no longer holds.
Source: apiserver `pkg/registry/generic/registry/store.go`, `pkg/registry/core/pod/strategy.go`,
`pkg/registry/core/pod/storage/storage.go` (binding).
"""

from __future__ import annotations

from typing import Any

from attrs import frozen

from reconverge.model.admission import admit_pod, check_admission
from reconverge.model.cluster import Cluster
from reconverge.model.errors import AlreadyExists, Conflict, NotFound
from reconverge.model.objects import ApiObject, Pod
from reconverge.model.store import Change, Store
from reconverge.model.value import Seconds, Value

Written = tuple[Cluster, tuple[Change, ...]]
"""The cluster after a write, and what its watches will deliver."""


@frozen
class Action(Value):
    """One write. `reason` is a clause for people: why the maker does it."""

    def apply(self, cluster: Cluster) -> Written:
        """The cluster after the write. Raises ApiError if the API refuses it."""
        raise NotImplementedError

    def describe(self) -> str:
        """What is done, in a few words for a trace."""
        raise NotImplementedError


@frozen
class Create(Action):
    """Create an object; a name that ends in "-" is a generateName prefix. Raises AlreadyExists, Forbidden."""

    object: ApiObject
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """Admission defaults a pod on the way in (plugin/pkg/admission)."""
        store = cluster.store
        name = self.object.name
        if name.endswith("-"):
            store, name = _free_name(store, self.object)
        new: ApiObject = self.object.with_(name=name, created_at=cluster.now)
        if store.get(new.kind, new.key) is not None:
            raise AlreadyExists(f"{new.reference} already exists")
        if isinstance(new, Pod):
            new = self.admitted(cluster.with_(store=store), new)
        store, change = store.put(new)
        return cluster.with_(store=store), (change,)

    def admitted(self, cluster: Cluster, pod: Pod) -> Pod:
        """The pod as admission lets it in. Raises Forbidden."""
        pod = admit_pod(cluster.store, pod, cluster.rules)
        check_admission(cluster.store, pod, cluster.now)
        return pod

    def describe(self) -> str:
        """Names the object, or the kind and what its name begins with."""
        return f"creates {self.object.reference.removesuffix('-')}"


@frozen
class Update(Action):
    """Replace an object by what was made of the version that was read. Raises NotFound, Conflict."""

    before: ApiObject
    after: ApiObject
    reason: str = ""
    verb: str = ""
    """What it does, in a few words; empty for "updates status of ..."."""

    def apply(self, cluster: Cluster) -> Written:
        """Optimistic concurrency: the resourceVersion must still be the one that was read."""
        current = _current(cluster, self.before.kind, self.before.key, self.before.uid)
        if current.revision != self.before.revision:
            raise Conflict(f"{self.before.reference} has been modified since it was read")
        store, change = stored(cluster.store, self.after)
        return cluster.with_(store=store), (change,)

    def describe(self) -> str:
        """The words that the maker gave, or the object."""
        return self.verb or f"updates status of {self.before.reference}"


@frozen
class Patch(Action):
    """Set some fields of an object, whatever its version. Raises NotFound, and Conflict if the uid is another."""

    kind: str
    key: str
    uid: int
    fields: tuple[tuple[str, Any], ...]
    reason: str = ""
    verb: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """Fields that already have the value make no write."""
        current = _current(cluster, self.kind, self.key, self.uid)
        after = current.with_(**dict(self.fields))
        if after == current:
            return cluster, ()
        store, change = stored(cluster.store, after)
        return cluster.with_(store=store), (change,)

    def describe(self) -> str:
        """The verb that the maker gave, or the fields."""
        kind = self.kind.lower()
        name = self.key.removeprefix("default/")
        return self.verb or f"sets {', '.join(name for name, _ in self.fields)} of {kind}/{name}"


@frozen
class Delete(Action):
    """Delete an object that is no pod: it goes at once. Raises NotFound, Conflict."""

    kind: str
    key: str
    uid: int
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """The uid is a precondition."""
        _current(cluster, self.kind, self.key, self.uid)
        store, change = cluster.store.remove(self.kind, self.key)
        return cluster.with_(store=store), (change,)

    def describe(self) -> str:
        """Names the object."""
        return f"deletes {self.kind.lower()}/{self.key.removeprefix('default/')}"


@frozen
class DeletePod(Action):
    """DELETE of a pod. `grace` None is the pod's own period; 0 removes the object at once. Raises NotFound, Conflict.

    Source: `pkg/registry/core/pod/strategy.go` (CheckGracefulDelete), apiserver `pkg/registry/rest/delete.go`.
    """

    key: str
    uid: int
    grace: Seconds | None = None
    reason: str = ""
    disruption_target: str = ""
    """Reason of the DisruptionTarget condition with which the caller has marked the pod before (MarkDisrupted)."""

    def apply(self, cluster: Cluster) -> Written:
        """Unbound and terminal pods go at once; others become Terminating until their kubelet has stopped them."""
        pod: Pod = _current(cluster, "Pod", self.key, self.uid)
        grace = pod.spec.termination_grace if self.grace is None else self.grace
        if pod.node is None or pod.terminal:
            grace = 0
        if grace < 0:
            grace = 1
        if grace == 0 and not pod.finalizers:
            store, change = cluster.store.remove("Pod", self.key)
            return cluster.with_(store=store), (change,)
        deadline = cluster.now + grace
        if pod.deletion_at is not None:
            # A later DELETE can only shorten the grace period.
            if grace >= pod.grace if pod.grace is not None else pod.deletion_at <= deadline:
                return cluster, ()
            deadline = min(deadline, pod.deletion_at)
        after = pod.with_(
            deletion_at=deadline, grace=grace, disruption_target=self.disruption_target or pod.disruption_target
        )
        store, change = cluster.store.put(after)
        return cluster.with_(store=store), (change,)

    def describe(self) -> str:
        """Names the pod, and whether it is forced."""
        name = self.key.removeprefix("default/")
        return f"force-deletes pod/{name}" if self.grace == 0 else f"deletes pod/{name}"


@frozen
class MarkDisrupted(Action):
    """Set the DisruptionTarget condition of a pod that is about to be deleted. Raises NotFound, Conflict.

    Whoever disrupts a pod makes two calls: it patches the status, then it deletes.
    Source: `pkg/registry/core/pod/storage/eviction.go` (addConditionAndDeletePod),
    `pkg/controller/tainteviction/taint_eviction.go`, `pkg/scheduler/framework/preemption/executor.go`.
    """

    key: str
    uid: int
    target: str
    """Reason of the condition, such as EvictionByEvictionAPI."""
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """A pod that has the condition already makes no write."""
        pod: Pod = _current(cluster, "Pod", self.key, self.uid)
        if pod.disruption_target == self.target:
            return cluster, ()
        store, change = cluster.store.put(pod.with_(disruption_target=self.target))
        return cluster.with_(store=store), (change,)

    def describe(self) -> str:
        """Names the pod and the reason."""
        return f"marks pod/{self.key.removeprefix('default/')} as disrupted ({self.target})"


@frozen
class Bind(Action):
    """Bind a pod to a node, once. Raises NotFound, Conflict.

    Source: `pkg/registry/core/pod/storage/storage.go` (assignPod): same uid, not being deleted, not bound, no gates.
    The API server does not check capacity again.
    """

    key: str
    uid: int
    node: str
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """Writes spec.nodeName and PodScheduled=True."""
        pod: Pod = _current(cluster, "Pod", self.key, self.uid)
        if pod.deletion_at is not None:
            raise Conflict(f"{pod.reference} is being deleted, cannot be assigned to a node")
        if pod.node is not None:
            raise Conflict(f"{pod.reference} is already assigned to node {pod.node}")
        if pod.spec.scheduling_gates:
            raise Conflict(f"{pod.reference} has scheduling gates")
        store, change = cluster.store.put(pod.with_(node=self.node, unscheduled=None, nominated_node=None))
        return cluster.with_(store=store), (change,)

    def describe(self) -> str:
        """Names pod and node."""
        return f"binds pod/{self.key.removeprefix('default/')} to {self.node}"


def stored(store: Store, after: ApiObject) -> tuple[Store, Change]:
    """An update. A pod whose deletion waits for nothing but its finalizers is removed with the last of them.

    Source: apiserver `pkg/registry/generic/registry/store.go` (ShouldDeleteDuringUpdate).
    """
    written, change = store.put(after)
    before = change.before
    if not isinstance(after, Pod) or after.finalizers or before is None or not before.finalizers:
        return written, change
    if after.deletion_at is None or after.grace != 0:
        return written, change
    written, _ = written.remove(after.kind, after.key)
    return written, Change(after.kind, after.key, before, None)


def _free_name(store: Store, new: ApiObject) -> tuple[Store, str]:
    """A generated name that no object has, such as one of a dump, and the store that has given it."""
    while True:
        store, key = store.generate_name(f"{new.namespace}/{new.name}")
        if store.get(new.kind, key) is None:
            return store, key.partition("/")[2]


def _current(cluster: Cluster, kind: str, key: str, uid: int) -> Any:
    current = cluster.store.get(kind, key)
    if current is None:
        raise NotFound(f"{kind.lower()}/{key.removeprefix('default/')} not found")
    if current.uid != uid:
        raise Conflict(f"{kind.lower()}/{key.removeprefix('default/')} is another object now")
    return current
