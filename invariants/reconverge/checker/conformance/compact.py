"""Objects of the model as a watcher of a recording sees them.

Only kinds that have a projection are observed; writes of others, and writes that change none of the compact fields,
are inner steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from reconverge.checker.conformance.names import Names
from reconverge.checker.conformance.projections import PROJECTIONS, REVISION, Compact, Revision
from reconverge.model.objects import ApiObject
from reconverge.model.store import Change


@frozen
class Seen:
    """A change as a watcher sees it: the event, the object's kind and name in the model, its compact fields."""

    event: str
    kind: str
    name: str
    fields: Mapping[str, Any]


def compact(each: ApiObject, names: Names) -> Compact:
    """The compact fields of an object. Raises KeyError for a kind that is not observed."""
    return PROJECTIONS[each.kind](each, names)


def seen(changes: tuple[Change, ...], names: Names) -> list[Seen]:
    """What a watcher sees of some changes: those of observed kinds that change a compact field."""
    found = []
    for change in changes:
        if change.kind not in PROJECTIONS:
            continue
        name = change.object.name
        if change.before is None:
            found.append(Seen("ADDED", change.kind, name, compact(change.after, names)))
        elif change.after is None:
            found.append(Seen("DELETED", change.kind, name, compact(change.before, names)))
        else:
            after = compact(change.after, names)
            if after != compact(change.before, names):
                found.append(Seen("MODIFIED", change.kind, name, after))
    return found


def differences(fields: Mapping[str, Any], recorded: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """(model, recorded) by field where they differ. The `rev` of a ReplicaSet's pod is its owner and left out."""
    found = {}
    for name in sorted({*fields, *recorded}):
        if name == "rev" and name not in fields:
            continue
        mine, theirs = fields.get(name), _plain(name, recorded.get(name))
        if mine != theirs:
            found[name] = (mine, theirs)
    return found


def _plain(name: str, value: Any) -> Any:
    return str(value) if name == "deletionCost" and value is not None else value


def with_revisions(
    fields: Mapping[str, Any], recorded: Mapping[str, Any], names: Names
) -> tuple[Compact, Names | None]:
    """The fields with revisions under their recorded names, and the names; None if that pairs one name with two."""
    translated = dict(fields)
    for field, value in fields.items():
        given = recorded.get(field)
        if isinstance(value, Revision) and isinstance(given, str):
            bound = names.bound(REVISION, str(value), given)
            if bound is None:
                return translated, None
            names, translated[field] = bound, given
    return translated, names
