"""What there is to know about each invariant, event, control loop and rule: for `explain`, `list` and the pages."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable
from typing import Any

import attrs
from attrs import frozen

from reconverge.invariants import Invariant
from reconverge.model.events import EVENTS
from reconverge.model.events.base import Event
from reconverge.model.loop import ControlLoop
from reconverge.model.rules import DEFAULT_VERSION, NEWEST, OLDEST, Rules
from reconverge.reports import words

KIND_WORDS = {
    "always": "judged on every state",
    "on_step": "judged on every step",
    "eventually": "judged on the quiet run after the last event",
    "sometimes": "judged on the whole exploration",
}


RULE_WORDS = {
    "burst-replicas": "The most pods that a ReplicaSet or Job controller creates or deletes in one pass.",
    "disrupted-pod-lifetime": "Seconds after which an eviction that did not happen no longer counts against a budget.",
    "drain-retry": "Seconds after which kubectl drain tries a refused eviction again.",
    "eviction-rate": "Nodes per second from which pods are evicted in a healthy zone.",
    "expectations-timeout": "Seconds after which a controller no longer waits to see what it has created or deleted.",
    "gc-period": "Seconds between two passes of the pod garbage collector.",
    "gc-quarantine": "Seconds for which a node must be gone before its pods are removed.",
    "node-monitor-grace": "Seconds without a heartbeat after which a node becomes Unknown.",
    "node-monitor-period": "Seconds between two looks of the node lifecycle controller at all nodes.",
    "scheduler-backoff-first": "Seconds that a pod waits after its first failed scheduling attempt.",
    "scheduler-backoff-most": "The most seconds that a pod waits after a failed scheduling attempt.",
    "secondary-eviction-rate": "Nodes per second from which pods are evicted in a zone that is largely down.",
    "terminated-pods-kept": "Finished pods that are kept before the oldest are removed.",
    "unhealthy-zone-threshold": "The share of a zone's nodes that must be down for it to count as largely down.",
}
"""What the rules mean whose fields say it in their names only."""


@frozen
class Entry:
    """One thing that can be explained. `details` are (label, text) pairs."""

    group: str
    """invariants, events, loops or rules."""
    id: str
    headline: str
    """What it is, in one sentence."""
    note: str = ""
    """A few words beside the id."""
    details: tuple[tuple[str, str], ...] = ()


def invariants(every: Iterable[Invariant]) -> list[Entry]:
    """The invariants, in alphabetical order."""
    return [_invariant(each) for each in sorted(every, key=lambda each: each.id)]


def _invariant(each: Invariant) -> Entry:
    whom = f"for each {each.for_each}" if each.for_each else "for the cluster as a whole"
    by_default = "" if each.default else "only when it is asked for"
    details = (
        ("judged", f"{KIND_WORDS[each.kind].removeprefix('judged ')}, {whom}"),
        ("family", _family(each.family)),
        ("matters", each.why),
        ("remedy", each.remedy),
        ("source", each.source),
        ("checked", by_default),
    )
    return Entry("invariants", each.id, each.statement, f"{each.kind}, {each.family}", _told(details))


def _family(family: str) -> str:
    return {
        "law": "a law: holds for any configuration if the control loops are right",
        "objective": "an objective: what a configuration is for",
    }[family]


def events() -> list[Entry]:
    """The events that can be written in scenarios, by name."""
    return [_event(name, kind) for name, kind in sorted(EVENTS.items())]


def _event(name: str, kind: type[Event]) -> Entry:
    arguments = ", ".join(field.name for field in _fields(kind) if field.name != "template")
    nature = "a failure of the environment" if kind.failure else "done on purpose" if kind.voluntary else ""
    details = (
        ("arguments", arguments),
        ("nature", nature),
        ("in words", _one_line(kind.__doc__)),
        ("use", f"--may {name}=1, or in a scenario's may: and steps:"),
    )
    return Entry("events", name, words.sentence(kind.summary), arguments, _told(details))


def loops(every: Iterable[ControlLoop[Any]]) -> list[Entry]:
    """The control loops, by name."""
    return [_loop(each) for each in sorted(every, key=lambda each: each.name)]


def _loop(loop: ControlLoop[Any]) -> Entry:
    first, more = _sentences(re.sub(r"Source: .*", "", _one_line(loop.__doc__)))
    details = (
        ("more", more),
        ("watches", ", ".join(sorted(loop.watches))),
        ("lives on", "the machines" if loop.physical else ""),
        ("source", loop.source),
    )
    return Entry("loops", loop.name, first, "", _told(details))


def _sentences(text: str) -> tuple[str, str]:
    """The first sentence, and the rest."""
    first, stop, rest = text.partition(". ")
    return first + stop.strip(), rest.strip()


def rules() -> list[Entry]:
    """The rules that a version or a setting decides, as scenarios write them."""
    told = _field_docstrings(Rules)
    return [
        _rule(field.name, field.default, told.get(field.name, ""))
        for field in sorted(_fields(Rules), key=lambda field: str(field.name))
        if field.name != "version" and isinstance(field.default, (bool, int, float, str))
    ]


def _fields(kind: Any) -> tuple[Any, ...]:
    return tuple(attrs.fields(kind))


def _rule(name: str, default: Any, docstring: str) -> Entry:
    changed = _by_version(name)
    details = (("default", f"{words.value(default)} in Kubernetes {DEFAULT_VERSION}"), ("versions", changed))
    id_ = name.replace("_", "-")
    headline = RULE_WORDS.get(id_) or docstring or words.sentence(words.field_name(name))
    return Entry("rules", id_, headline, words.value(default), _told(details))


def _by_version(name: str) -> str:
    """Where a rule changes between the known versions; empty if it does not."""
    spans: list[tuple[str, Any]] = []
    for minor in range(OLDEST[1], NEWEST[1] + 1):
        version = f"{OLDEST[0]}.{minor}"
        value = getattr(Rules.for_version(version), name)
        if not spans or spans[-1][1] != value:
            spans.append((version, value))
    if len(spans) < 2:
        return ""
    return ", ".join(f"{words.value(value)} from {version}" for version, value in spans)


def _field_docstrings(kind: type) -> dict[str, str]:
    """The text literals below the fields of a class; Python does not keep them at run time."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(body, ast.ClassDef)
    told = {}
    for field, text in zip(body.body, body.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
        ):
            told[field.target.id] = _one_line(str(text.value.value))
    return told


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def _told(details: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((label, text) for label, text in details if text)
