"""ControllerRevisions: the templates that a StatefulSet or DaemonSet has had.

Source: `pkg/controller/history/controller_history.go`, `pkg/controller/statefulset/stateful_set_control.go`
(getStatefulSetRevisions, truncateHistory), `pkg/controller/daemon/update.go` (constructHistory, cleanupHistory).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reconverge.model.action import Action, Delete, Patch
from reconverge.model.loops.pod_writes import CreateNamed
from reconverge.model.objects import ControllerRevision
from reconverge.model.store import Store


def revisions_of(store: Store, workload: Any) -> list[ControllerRevision]:
    """A workload's revisions, oldest first."""
    found = [
        each
        for each in store.in_namespace("ControllerRevision", workload.namespace)
        if each.owner is not None and each.owner.uid == workload.uid
    ]
    return sorted(found, key=lambda each: (each.number, each.created_at, each.name))


def update_revision(
    workload: Any, revisions: list[ControllerRevision], known_hash: str = ""
) -> tuple[ControllerRevision, tuple[Action, ...]]:
    """The revision of the workload's present template, and the write that creates it or makes it the newest again.

    `known_hash` is what the cluster calls the present template where a dump has no revisions.
    """
    equal = [each for each in revisions if each.template.digest == workload.template.digest]
    number = revisions[-1].number + 1 if revisions else 1
    if not equal:
        new = new_revision(workload, number, known_hash)
        return new, (CreateNamed(new, "a new pod template" if revisions else "the first pod template"),)
    if equal[-1] is revisions[-1]:
        return revisions[-1], ()
    again = equal[-1].with_(number=number)
    verb = f"makes {again.reference} revision {number}"
    fields = (("number", number),)
    return again, (Patch(again.kind, again.key, again.uid, fields, "its template is wanted again", verb),)


def new_revision(workload: Any, number: int, known_hash: str = "") -> ControllerRevision:
    """A revision of the workload's present template; its name carries the template's hash."""
    return ControllerRevision(
        name=f"{workload.name}-{known_hash or workload.template.digest}",
        namespace=workload.namespace,
        labels=workload.template.labels,
        owner=workload.owner_reference(),
        template=workload.template,
        number=number,
    )


def truncated(revisions: list[ControllerRevision], live: Iterable[str], limit: int) -> tuple[Action, ...]:
    """The deletions of what is beyond revisionHistoryLimit: the oldest that are not live, by name."""
    named = set(live)
    history = [each for each in revisions if each.name not in named]
    return tuple(
        Delete(each.kind, each.key, each.uid, "beyond revisionHistoryLimit")
        for each in history[: max(0, len(history) - limit)]
    )
