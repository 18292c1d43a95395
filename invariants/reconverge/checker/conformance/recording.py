"""A recording of a real control plane as a value: what was applied, what the script did, what was seen in order.

The format is documented in docs/recordings.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from reconverge.model.value import Seconds

Fields = Mapping[str, Any]
META = frozenset({"t", "rv", "ev", "kind", "name", "changed"})
"""What of a history entry is not a field of the object."""


class RecordingError(ValueError):
    """A text is no recording; the message says what is missing or wrong."""


@frozen
class Observed:
    """One watched change. `at` in seconds since the clock started, `fields` the compact fields after the change."""

    index: int
    at: Seconds
    event: str
    """ADDED, MODIFIED or DELETED."""
    kind: str
    name: str
    fields: Fields
    changed: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown = {name: self.fields.get(name) for name in self.changed} if self.changed else dict(self.fields)
        words = ", ".join(f"{name}={_words(value)}" for name, value in shown.items())
        return f"#{self.index} at {self.at:g} s: {self.kind} {self.name} {self.event} {words}".rstrip()


@frozen
class ScriptStep:
    """One action of the script: when it was sent (seconds), what, its arguments, and the API's answer."""

    index: int
    at: Seconds
    do: str
    arguments: Fields

    def get(self, name: str) -> Any:
        """An argument or a part of the answer, None if it is absent."""
        return self.arguments.get(name)

    def __str__(self) -> str:
        told = [str(self.arguments[name]) for name in ("kind", "name", "node", "pod") if name in self.arguments]
        return f"step {self.index} at {self.at:g} s: {' '.join([self.do, *told])}"


@frozen
class Recording:
    """One recorded scenario. `kubelet` has the delays of its kubelets in seconds, `flags` those that were set."""

    name: str
    what: str
    kubernetes: str
    flags: Mapping[str, str]
    kubelet: Mapping[str, Seconds]
    objects: tuple[Mapping[str, Any], ...]
    initial_nodes: tuple[str, ...]
    steps: tuple[ScriptStep, ...]
    history: tuple[Observed, ...]
    final: Mapping[str, Mapping[str, Fields]]

    @property
    def ends_at(self) -> Seconds:
        """When the recording ends, in seconds."""
        return max([each.at for each in self.steps] + [each.at for each in self.history], default=0)


def read_recording(source: str | Path | Mapping[str, Any]) -> Recording:
    """The recording in a JSON file, or in a document that has been read already. Raises RecordingError."""
    if isinstance(source, Mapping):
        return _recording(source)
    try:
        document = json.loads(Path(source).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RecordingError(f"{source}: {error}") from None
    if not isinstance(document, dict):
        raise RecordingError(f"{source}: a recording is one JSON object")
    return _recording(document)


def _recording(document: Mapping[str, Any]) -> Recording:
    for key in ("objects", "initial", "steps", "history", "final"):
        if key not in document:
            raise RecordingError(f'{document.get("name", "this document")} is no recording: it has no "{key}"')
    settings = document.get("settings", {})
    return Recording(
        name=str(document.get("name", "")),
        what=str(document.get("what", "")),
        kubernetes=str(document.get("kubernetes", "")),
        flags=_flags(settings),
        kubelet=dict(settings.get("kubelet_seconds", {})),
        objects=tuple(document["objects"]),
        initial_nodes=tuple(sorted(document["initial"].get("Node", {}))),
        steps=tuple(_step(index, each) for index, each in enumerate(document["steps"])),
        history=tuple(_observed(index, each) for index, each in enumerate(_ordered(document["history"]))),
        final=document["final"],
    )


def _ordered(history: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(history, key=lambda each: each["rv"])


def _flags(settings: Mapping[str, Any]) -> dict[str, str]:
    """All command line flags of the components, by name."""
    flags = {}
    for component in ("apiserver", "controller_manager", "scheduler"):
        for flag in settings.get(component, ()):
            name, _, value = flag.removeprefix("--").partition("=")
            flags[name] = value
    return flags


def _observed(index: int, entry: Mapping[str, Any]) -> Observed:
    fields = {name: value for name, value in entry.items() if name not in META}
    changed = tuple(entry.get("changed", ()))
    return Observed(index, entry["t"], entry["ev"], entry["kind"], entry["name"], fields, changed)


def _step(index: int, entry: Mapping[str, Any]) -> ScriptStep:
    arguments = {name: value for name, value in entry.items() if name not in ("t", "do")}
    return ScriptStep(index, entry["t"], entry["do"], arguments)


def _words(value: Any) -> str:
    return json.dumps(value, sort_keys=True) if isinstance(value, (dict, list)) else str(value)
