"""Events in the words of scenarios and traces: `{drain: {node: n1}}`, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import attrs

from reconverge.checker.manifests import unsaid
from reconverge.loading import Fields, LoadError, decode, nearest
from reconverge.loading.errors import quoted_nearest
from reconverge.model.events import EVENTS, Event, ManifestApplied, RollOut

PREPARED: Mapping[type[Event], tuple[str, ...]] = {
    RollOut: ("template", "changes"),
    ManifestApplied: ("leaving", "written"),
}
"""Fields that nobody writes: those of a rollout are filled by `set`, those of an apply by its objects."""


def event_class(name: str, fields: Fields) -> type[Event]:
    """The event kind of a name. Raises LoadError with the nearest known one."""
    if name not in EVENTS:
        close = nearest(name, EVENTS)
        raise LoadError(f'there is no event "{name}"', fields.where(name), f'"{close}"' if close else "")
    return EVENTS[name]


def event_from(name: str, arguments: Fields, parent: Fields) -> Event:
    """The event that a scenario's step names. Raises LoadError for unknown, missing or wrong arguments."""
    kind = event_class(name, parent)
    values = argument_values(kind, arguments)
    required = [field.name for field in attrs.fields(kind) if field.default is attrs.NOTHING]
    for each in required:
        if each not in values:
            raise arguments.error("is required", _word(each))
    return kind(**values)


def argument_values(kind: type[Event], arguments: Fields, extra: tuple[str, ...] = ()) -> dict[str, Any]:
    """The arguments given for an event kind, by attribute name; lists are choices. Raises LoadError."""
    names = {_word(field.name): field for field in attrs.fields(kind)}
    arguments.only(*(each for each in (*names, *extra) if each not in PREPARED.get(kind, ())))
    values: dict[str, Any] = {}
    for word in arguments.names():
        if word in names:
            values[names[word].name] = _value(kind, names[word], arguments, word)
    if kind is ManifestApplied and "objects" in values:
        written = [document.value for document in arguments.documents("objects")]
        silent = [each for each, text in zip(values["objects"], written, strict=True) if unsaid(each, text)]
        values["leaving"] = tuple(each.reference for each in silent)
        values["written"] = tuple(json.dumps(each) for each in written)
    return values


def _word(name: str) -> str:
    return name.replace("_", "-")


def _value(kind: type[Event], field: Any, arguments: Fields, word: str) -> Any:
    raw = arguments.raw(word)
    if kind is ManifestApplied and word == "objects":
        return tuple(decode(document) for document in arguments.documents(word))
    if word == "labels":
        child = arguments.child(word)
        return tuple(sorted((key, None if child.raw(key) is None else child.text(key)) for key in child.value))
    if field.name in kind.allowed:
        _check_words(arguments, word, raw, kind.allowed[field.name])
    if isinstance(raw, list):
        return tuple(raw)
    if field.type in ("int", int):
        return arguments.integer(word, 0)
    if field.type in ("bool", bool):
        return arguments.flag(word)
    if field.type in ("Seconds", "float", float):
        return _seconds(arguments, word)
    return arguments.text(word)


def _check_words(arguments: Fields, word: str, raw: Any, allowed: tuple[str, ...]) -> None:
    for each in raw if isinstance(raw, list) else [raw]:
        if each not in allowed:
            message = f'must be one of {", ".join(allowed)}, not "{each}"'
            raise arguments.error(message, word, quoted_nearest(str(each), allowed))


def _seconds(arguments: Fields, word: str) -> float:
    raw = arguments.raw(word)
    if isinstance(raw, bool) or not isinstance(raw, (int, float)) or raw < 0:
        raise arguments.wrong(word, raw, "a number of seconds")
    return raw


def words_of(event: Event) -> tuple[str, dict[str, Any]]:
    """(name, arguments) of an event, as plain data that a trace keeps."""
    if isinstance(event, ManifestApplied):
        return event.name, {"objects": [json.loads(each) for each in event.written]}
    return event.name, {_word(name): _plain(value) for name, value in event.arguments().items()}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple) and all(isinstance(each, tuple) and len(each) == 2 for each in value):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def signature(kind: type[Event]) -> Mapping[str, bool]:
    """The arguments of an event kind in a scenario's words, and whether each is required."""
    found = {
        _word(field.name): field.default is attrs.NOTHING
        for field in attrs.fields(kind)
        if field.name not in PREPARED.get(kind, ())
    }
    return {**found, "set": False} if kind is RollOut else found
