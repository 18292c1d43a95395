"""Whether a write of the model is the change that was observed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import frozen

from reconverge.checker.conformance.compact import Seen, compact, differences, seen, with_revisions
from reconverge.checker.conformance.names import Names
from reconverge.checker.conformance.recording import Observed
from reconverge.model.action import Action
from reconverge.model.cluster import Cluster
from reconverge.model.errors import ApiError
from reconverge.model.objects import OwnerReference


def named(each: Seen, observed: Observed, names: Names) -> Names | None:
    """The names if what is seen is about the observed object, with the object named if it is new; None if not."""
    if each.event != observed.event or each.kind != observed.kind:
        return None
    if each.event == "ADDED":
        if not _generated(each) and each.name != observed.name:
            return None
        return names.bound(each.kind, each.name, observed.name)
    return names if names.of_model(each.kind, each.name) == observed.name else None


def _generated(each: Seen) -> bool:
    """Whether the object's name has a part that is random in a real cluster, so that recordings replace it."""
    if each.kind == "Pod":
        return str(each.fields.get("owner") or "").partition("/")[0] in ("ReplicaSet", "DaemonSet", "Job")
    return each.kind in ("ReplicaSet", "EndpointSlice")


def matched(each: Seen, observed: Observed, names: Names) -> Names | None:
    """The names after the change if what is seen is what was observed, field by field; None if it is not."""
    after = named(each, observed, names)
    if after is None:
        return None
    fields, known = with_revisions(each.fields, observed.fields, after)
    if each.event == "DELETED":
        fields = {name: value for name, value in fields.items() if name in observed.fields}
    return known if known is not None and not differences(fields, observed.fields) else None


@frozen
class Visible:
    """The first visible write of a pass: the silent ones before it, the write, what is seen, the cluster after it."""

    silent: tuple[Action, ...]
    action: Action
    seen: Seen
    cluster: Cluster


def first_visible(cluster: Cluster, actions: Iterable[Action], names: Names) -> Visible | None:
    """The first write of some that a watcher sees; None if there is none, or one is refused before."""
    silent: list[Action] = []
    for action in actions:
        try:
            cluster, changes = action.apply(cluster)
        except ApiError:
            return None
        visible = seen(changes, names)
        if visible:
            return Visible(tuple(silent), action, visible[0], cluster)
        silent.append(action)
    return None


def foreseen(cluster: Cluster, actions: Sequence[Action], names: Names, coming: Sequence[Observed]) -> int:
    """How many of some later writes are at odds with what is observed next of the same objects.

    Only the fields that a write changes are compared; others may change before it is made. What a pass creates for an
    owner is observed between its first write and its report of the owner's status, and nothing else is.
    """
    odds = created = 0
    creator: OwnerReference | None = None
    for action in actions:
        before = cluster
        try:
            cluster, changes = action.apply(cluster)
        except ApiError:
            return odds + 1
        for each in seen(changes, names):
            created += each.event == "ADDED" and each.kind == "Pod"
            if each.event == "MODIFIED" and not _agrees(before, each, names, coming, created):
                odds += 1
        created_pods = [change.after for change in changes if change.kind == "Pod" and change.before is None]
        creator = created_pods[0].owner if created_pods else creator
    return odds + (creator is not None and not _reported(cluster, creator, names, coming))


def _reported(cluster: Cluster, creator: OwnerReference, names: Names, coming: Sequence[Observed]) -> bool:
    """Whether the ReplicaSet's next other number of replicas is the one that it has after a pass of creations.

    The next pass begins after them, and reports what it finds. True if pods are lost before, or for other kinds.
    """
    rs = next((each for each in cluster.store.all("ReplicaSet") if each.uid == creator.uid), None)
    if rs is None:
        return True
    name = names.of_model("ReplicaSet", rs.name)
    active = sum(pod.active for pod in cluster.store.pods_of(rs.uid))
    for each in coming:
        if each.kind == "Pod" and each.fields.get("owner") == f"ReplicaSet/{name}" and each.fields.get("terminating"):
            return True
        if each.kind == "ReplicaSet" and each.name == name and each.fields.get("replicas") != rs.status.replicas:
            return bool(each.fields.get("replicas") == active)
    return True


def _agrees(before: Cluster, each: Seen, names: Names, coming: Sequence[Observed], created: int) -> bool:
    name = names.of_model(each.kind, each.name)
    old = _fields(before, each, names)
    changed = {field for field, value in each.fields.items() if old.get(field) != value}
    # Others may change other fields of the object before.
    place = None
    before_that: Mapping[str, object] = old
    for index, following in enumerate(coming):
        if following.kind != each.kind or following.name != name:
            continue
        if changed & set(differences(old, following.fields)):
            place = index
            break
        before_that = following.fields
    if place is None or changed & set(differences(each.fields, coming[place].fields)):
        return False
    if set(differences(dict(before_that), coming[place].fields)) - changed:
        return False
    return each.kind not in OWNERS or created == _created_for(f"{each.kind}/{name}", coming[:place])


OWNERS = frozenset({"ReplicaSet", "StatefulSet", "Job"})
"""Kinds whose controllers report after they have created pods."""


def _created_for(owner: str, coming: Sequence[Observed]) -> int:
    return sum(each.event == "ADDED" and each.kind == "Pod" and each.fields.get("owner") == owner for each in coming)


def _fields(cluster: Cluster, each: Seen, names: Names) -> dict[str, object]:
    table = cluster.store.table(each.kind).objects
    found = table.get(each.name) or table.get(f"default/{each.name}")
    return compact(found, names) if found is not None else {}


def text_of(each: Seen, names: Names) -> str:
    """What is seen, in words, under recorded names."""
    fields = ", ".join(f"{field}={value}" for field, value in each.fields.items())
    return f"{each.kind} {names.of_model(each.kind, each.name)} {each.event} {fields}"
