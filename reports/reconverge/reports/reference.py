"""What there is to know about each invariant, event, control loop, rule and annotation: for `explain` and `list`."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator
from functools import cache, reduce
from typing import Any

import attrs
from attrs import frozen

from reconverge.checker.event_words import signature
from reconverge.invariants import Invariant
from reconverge.loading.decoders.behaviour import OF_PODS, SETTINGS
from reconverge.loading.decoders.meta import LOAD, LOADS
from reconverge.model.events import EVENTS
from reconverge.model.events.base import Event
from reconverge.model.loop import ControlLoop
from reconverge.model.objects import BEHAVIOURS
from reconverge.model.rules import DEFAULT_VERSION, NEWEST, OLDEST, Rules
from reconverge.reports import words

KIND_WORDS = {
    "always": "judged on every state",
    "on_step": "judged on every step",
    "eventually": "judged on the quiet run after the last event",
    "sometimes": "judged on the whole exploration",
}


RULE_WORDS = {
    "autoscaler-ambiguous-selectors": "Whether an autoscaler stands still whose pods another one selects, too.",
    "autoscaler-downscale-window": "Seconds whose highest recommendation holds an autoscaler up.",
    "autoscaler-own-tolerances": "Whether an autoscaler's own tolerances count.",
    "autoscaler-period": "Seconds between two syncs of a horizontal autoscaler.",
    "autoscaler-pod-level-requests": "Whether pod-level requests count for a horizontal autoscaler.",
    "autoscaler-tolerance-by-distance": "Whether the distance of a ratio from 1 is compared, so that 1.1 is "
    "just beyond a tolerance of 0.1.",
    "burst-replicas": "The most pods that a ReplicaSet or Job controller creates or deletes in one pass.",
    "disrupted-pod-lifetime": "Seconds after which an eviction that did not happen no longer counts against a budget.",
    "drain-retry": "Seconds after which kubectl drain tries a refused eviction again.",
    "eviction-rate": "Nodes per second from which pods are evicted in a healthy zone.",
    "expectations-timeout": "Seconds after which a controller no longer waits to see what it has created or deleted.",
    "gc-period": "Seconds between two passes of the pod garbage collector.",
    "gc-quarantine": "Seconds for which a node must be gone before its pods are removed.",
    "kubelet-admission": "Seconds that a kubelet takes to admit a pod; kept of recordings, without effect.",
    "kubelet-crash-backoff-first": "Seconds that containers wait before they are restarted a second time.",
    "kubelet-crash-backoff-most": "The most seconds that containers wait before they are restarted.",
    "kubelet-crash-backoff-reset": "Seconds for which containers must have run for their back-off to begin anew.",
    "kubelet-start": "Seconds that a kubelet takes to start the containers of a pod.",
    "kubelet-stop": "The fewest seconds that the containers of a deleted pod take to stop.",
    "kubelet-stop-not-started": "Seconds that a kubelet takes to give up a pod that is deleted before it has started.",
    "node-monitor-grace": "Seconds without a heartbeat after which a node becomes Unknown.",
    "node-monitor-period": "Seconds between two looks of the node lifecycle controller at all nodes.",
    "scheduler-backoff-first": "Seconds that a pod waits after its first failed scheduling attempt.",
    "scheduler-backoff-most": "The most seconds that a pod waits after a failed scheduling attempt.",
    "secondary-eviction-rate": "Nodes per second from which pods are evicted in a zone that is largely down.",
    "terminated-pods-kept": "Finished pods that are kept before the oldest are removed.",
    "terminating-replicas": "Whether ReplicaSet and Deployment report status.terminatingReplicas.",
    "unhealthy-zone-threshold": "The share of a zone's nodes that must be down for it to count as largely down.",
}
"""What the rules mean whose fields say it in their names only."""


@frozen
class Entry:
    """One thing that can be explained. `details` are (label, text) pairs."""

    group: str
    """invariants, events, loops, rules or annotations."""
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
    by_default = checked(each)
    details = (
        ("judged", f"{KIND_WORDS[each.kind].removeprefix('judged ')}, {whom}"),
        ("family", _family(each.family)),
        ("matters", each.why),
        ("remedy", each.remedy),
        ("source", each.source),
        ("checked", by_default),
    )
    return Entry("invariants", each.id, each.statement, f"{each.kind}, {each.family}", _told(details))


def checked(each: Invariant) -> str:
    """When an invariant is checked, in words; empty for always."""
    if not each.default:
        return "only when it is asked for"
    if not each.needs:
        return ""
    article = "an" if each.needs[0] in "AEIOU" else "a"
    return (
        f"only where there is {article} {each.needs}"
        if each.needs[0].isupper()
        else f"only where {each.needs} is modelled"
    )


def _family(family: str) -> str:
    return {
        "law": "a law: holds for any configuration if the control loops are right",
        "objective": "an objective: what a configuration is for",
    }[family]


def events() -> list[Entry]:
    """The events that can be written in scenarios, by name."""
    return [_event(name, kind) for name, kind in sorted(EVENTS.items())]


def _event(name: str, kind: type[Event]) -> Entry:
    arguments = ", ".join(signature(kind))
    nature = "a failure of the environment" if kind.failure else "done on purpose" if kind.voluntary else ""
    details = (
        ("arguments", arguments),
        ("nature", nature),
        ("in words", _one_line(kind.__doc__)),
        ("use", f"--may {name}=1, or in a scenario's may: and steps:"),
    )
    return Entry("events", name, words.sentence(kind.summary), arguments, _told(details))


def of_programs() -> list[Entry]:
    """The annotations that say how programs behave, by name."""
    return [_annotation(name, told) for name, told in sorted({**SETTINGS, LOAD: LOADS}.items())]


def _annotation(name: str, told: str) -> Entry:
    of_workload = name == LOAD
    kinds = [(kind, what) for kind, what in BEHAVIOURS.items()] if name == "reconverge/behaviour" else []
    of_one = "" if of_workload or name in OF_PODS else f"{name}.CONTAINER is about one container of the pod"
    place = f"metadata.annotations of {'a workload' if of_workload else 'a pod template, or of a pod'}"
    details = (("place", place), ("one", of_one), *kinds)
    return Entry("annotations", name, words.sentence(told), "", _told(details))


def loops(every: Iterable[ControlLoop[Any]], asked_for: Iterable[ControlLoop[Any]] = ()) -> list[Entry]:
    """The control loops, by name; those of `asked_for` run only where something asks for them."""
    found = [*(_loop(each) for each in every), *(_loop(each, "only where it is asked for") for each in asked_for)]
    return sorted(found, key=lambda entry: entry.id)


def _loop(loop: ControlLoop[Any], note: str = "") -> Entry:
    first, more = _sentences(re.sub(r"Source: .*", "", _one_line(loop.__doc__)))
    details = (
        ("more", more),
        ("watches", ", ".join(sorted(loop.watches))),
        ("lives on", "the machines" if loop.physical else ""),
        ("source", loop.source),
        ("runs", note and f"{note}: as loops: in a scenario, by an event or an invariant that is about it"),
    )
    return Entry("loops", loop.name, first, note, _told(details))


def _sentences(text: str) -> tuple[str, str]:
    """The first sentence, and the rest."""
    first, stop, rest = text.partition(". ")
    return first + stop.strip(), rest.strip()


@cache
def rules() -> list[Entry]:
    """The rules that a version or a setting decides; those of one loop begin with its name."""
    found = [_rule(*each) for each in _rule_fields(Rules, ())]
    return sorted(found, key=lambda each: each.id)


def _rule_fields(kind: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any, str]]:
    """(names on the way to it, default, docstring) of each rule, those in settings of a loop too."""
    told = _field_docstrings(kind)
    for field in _fields(kind):
        names = (*path, field.name)
        if attrs.has(type(field.default)):
            yield from _rule_fields(type(field.default), names)
        elif field.name != "version":
            yield names, field.default, told.get(field.name, "")


def _fields(kind: Any) -> tuple[Any, ...]:
    return tuple(attrs.fields(kind))


def _rule(path: tuple[str, ...], default: Any, docstring: str) -> Entry:
    spans = _by_version(path)
    changed = ", ".join(f"{words.value(value)} from {version}" for version, value in spans)
    details = (("default", f"{words.value(default)} in Kubernetes {DEFAULT_VERSION}"), ("versions", changed))
    id_ = "-".join(path).replace("_", "-")
    headline = RULE_WORDS.get(id_) or docstring or words.sentence(words.field_name(path[-1]))
    note = words.value(default)
    if spans:
        note += f", changed in {', '.join(version for version, _ in spans[1:])}"
    return Entry("rules", id_, headline, note, _told(details))


def _by_version(path: tuple[str, ...]) -> list[tuple[str, Any]]:
    """(first version, value) for each stretch of known versions with the same value; empty if it never changes."""
    spans: list[tuple[str, Any]] = []
    for minor in range(OLDEST[1], NEWEST[1] + 1):
        version = f"{OLDEST[0]}.{minor}"
        value = reduce(getattr, path, Rules.for_version(version))
        if not spans or spans[-1][1] != value:
            spans.append((version, value))
    return spans if len(spans) > 1 else []


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
