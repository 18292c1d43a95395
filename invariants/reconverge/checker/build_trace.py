"""Making a trace of a sequence: playing it once more and writing down every step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs
from attrs import frozen

from reconverge.checker.event_words import words_of
from reconverge.checker.judge import Found
from reconverge.checker.runner import Observer, Play, Rested, Struck, run
from reconverge.checker.schedule import Interruption, Taken
from reconverge.checker.trace import Difference, Pending, Stroke, Trace, TraceStep
from reconverge.checker.world import World
from reconverge.invariants.stock.missing import not_ready, why_unplaced
from reconverge.model.action import Action
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import Read, Wait
from reconverge.model.loop import MACHINES
from reconverge.model.loops.drain import drain_status
from reconverge.model.machines import Machine
from reconverge.model.naming import symbol_of
from reconverge.model.objects import ApiObject, Endpoint, Taint
from reconverge.model.store import Change

UNSHOWN = frozenset(
    {
        "uid",
        "revision",
        "generation",
        "created_at",
        "ready_since",
        "since",
        "spec",
        "template",
        "observed_generation",
        "fully_labeled",
        "owner",
        "grace",
        "started_at",
        "updated_at",
        "template_digest",
        "pods",
        "registers",
        "deployment_revision",
        "conditions",
        "condition",
        "renewed_at",
        "disrupted_pods",
        "unscheduled",
        "desired_replicas",
        "max_replicas",
        "ready_reason",
    }
)
"""Fields whose changes people are not shown: bookkeeping, and what the step's words say already."""


class Recorder:
    """Writes down the steps of one run."""

    def __init__(self, start: Cluster) -> None:
        self._zero = start.now
        self.steps: list[TraceStep] = []
        self.moves = 0
        self.places: list[int] = []
        """For each move of the present stretch: how many steps were written before it."""
        self._odd = ""
        self.rested: Rested | None = None
        self._interrupted = False

    def observer(self) -> Observer:
        """What the runner tells."""
        return Observer(struck=self.struck, taken=self.taken, rested=self.ended)

    def struck(self, struck: Struck) -> None:
        """An event."""
        odd = "strikes before everything has settled" if self._interrupted else ""
        self._interrupted = False
        differences = tuple(differences_of(struck.changes))
        time = struck.before.now - self._zero
        self.steps.append(TraceStep(time, "event", "environment", struck.event.describe(), "", differences, odd))
        self.places = []

    def interrupted(self) -> None:
        """The next event strikes before its time."""
        self._interrupted = True

    def taken(self, taken: Taken) -> None:
        """A step of the schedule."""
        self.places.append(len(self.steps))
        if taken.out_of_turn:
            self._odd = f"the {taken.move.loop} loop is served out of turn"  # type: ignore[union-attr]
        if isinstance(taken.move, Read):
            if taken.chosen:
                other = taken.alternatives[taken.chosen] or f"alternative {taken.chosen + 1}"
                usual = taken.alternatives[0] or "the first"
                self._odd = f"{other} is chosen; by default it would be {usual}, which is as good"
            return
        time = taken.after.now - self._zero
        if isinstance(taken.move, Wait):
            passed = taken.after.now - taken.before.now
            self.steps.append(TraceStep(time, "time", "time", f"{passed:g} s pass"))
            return
        action = taken.action
        assert action is not None
        reason = getattr(action, "reason", "")
        odd, self._odd = self._odd, ""
        if taken.error is not None:
            text = action.describe()
            self.steps.append(TraceStep(time, "refused", taken.move.loop, text, f"refused: {taken.error}", (), odd))
        elif taken.changes:
            differences = tuple(differences_of(taken.changes))
            text = worded(action, taken.changes)
            self.steps.append(TraceStep(time, "write", taken.move.loop, text, reason, differences, odd))

    def ended(self, rested: Rested) -> None:
        """The end of a stretch."""
        self.rested = rested


def worded(action: Action, changes: tuple[Change, ...]) -> str:
    """An action in words; a created object by the name that it was given."""
    text = action.describe()
    created = [change.after for change in changes if change.before is None and isinstance(change.after, ApiObject)]
    if len(created) == 1 and text.startswith("creates "):
        return f"creates {created[0].reference}"
    return text


def trace_of(
    world: World,
    plays: tuple[Play, ...],
    found: Found | None,
    *,
    document: Mapping[str, Any],
    kubernetes: str,
    shortest: bool = False,
    minimal: bool = True,
    seed: int | None = None,
) -> Trace:
    """The trace of a sequence that breaks an invariant (or of an ordinary run, `found` None)."""
    recorder = Recorder(world.start)
    until = found.invariant.id if found is not None else None
    interrupted = [any(isinstance(each, Interruption) for each in play.deviations) for play in plays]
    observer = recorder.observer()
    if any(interrupted):
        observer = attrs.evolve(observer, rested=_InterruptionsOf(recorder, interrupted))
    result = run(world, plays, world.judge(until), until=until, observer=observer)
    broken = next((each for _, each in result.found if found is None or each.identity == found.identity), found)
    invariant = found.invariant if found is not None else None
    ended = recorder.rested is not None and invariant is not None and invariant.kind == "eventually"
    rested = recorder.rested if ended or found is None else None
    return Trace(
        invariant=invariant.id if invariant is not None else "",
        family=invariant.family if invariant is not None else "",
        object=broken.violation.object if broken is not None else "",
        message=broken.violation.message if broken is not None else "",
        facts={key: plain(value) for key, value in broken.violation.facts.items()} if broken is not None else {},
        statement=invariant.statement if invariant is not None else "",
        why=invariant.why if invariant is not None else "",
        remedy=invariant.remedy if invariant is not None else "",
        scenario=document,
        strokes=tuple(stroke_of(play) for play in result.plays),
        steps=tuple(recorder.steps),
        outcome=rested.outcome if rested is not None else "broken",
        repeats_from=_repeats_from(recorder, rested),
        shortest=shortest,
        minimal=minimal,
        waiting=tuple(waiting(result.cluster)) if rested is not None else (),
        kubernetes=kubernetes,
        seed=seed,
    )


@frozen
class _InterruptionsOf:
    """Tells the recorder which stretches ended by an interruption."""

    recorder: Recorder
    interrupted: list[bool]

    def __call__(self, rested: Rested) -> None:
        self.recorder.ended(rested)
        strokes = sum(step.kind == "event" for step in self.recorder.steps)
        if 0 < strokes <= len(self.interrupted) and self.interrupted[strokes - 1]:
            self.recorder.interrupted()


def _repeats_from(recorder: Recorder, rested: Rested | None) -> int | None:
    if rested is None or rested.repeats_from is None or rested.repeats_from >= len(recorder.places):
        return None
    return recorder.places[rested.repeats_from]


def stroke_of(play: Play) -> Stroke:
    """A play in the scenario's words."""
    name, arguments = words_of(play.event)
    return Stroke(name, arguments, tuple(each.document() for each in play.deviations))


def waiting(cluster: Cluster) -> Iterator[Pending]:
    """What still waits at the end: pods without a node, pods that do not get ready or do not go, drains."""
    store = cluster.store
    memory: Any = cluster.loops["drain"].memory if "drain" in cluster.loops else {}
    for node in sorted(memory):
        status = drain_status(memory, node)
        if status is not None and status.state != "drained":
            for key, answer in status.waiting:
                yield Pending(f"pod/{key.removeprefix('default/')} (drain of {node})", answer)
            if status.error:
                yield Pending(f"drain of {node}", status.error)
    for pod in store.all("Pod"):
        if pod.terminal:
            continue
        if pod.deletion_at is not None:
            yield Pending(
                _named(cluster, pod), f"Terminating: the kubelet of {pod.node} has not confirmed that it stopped"
            )
        elif pod.node is None:
            yield Pending(_named(cluster, pod), why_unplaced(pod))
        elif not pod.ready:
            yield Pending(_named(cluster, pod), f"on {pod.node}, {not_ready(pod)}")


def _named(cluster: Cluster, pod: Any) -> str:
    symbol = symbol_of(cluster.store, pod)
    return pod.reference if symbol == pod.reference else f"{pod.reference} ({symbol})"


# Differences -------------------------------------------------------------------------------------------------


def differences_of(changes: tuple[Change, ...]) -> Iterator[Difference]:
    """How the objects of some changes differ, in fields that people care for."""
    for change in changes:
        if change.kind == MACHINES:
            yield from _machine(change)
        elif change.before is None:
            yield Difference(change.after.reference, "created")
        elif change.after is None:
            yield Difference(change.before.reference, "removed")
        else:
            fields = tuple(_fields(change.before, change.after))
            if fields:
                yield Difference(change.after.reference, "changed", fields)


def _machine(change: Change) -> Iterator[Difference]:
    before: Machine | None = change.before
    after: Machine | None = change.after
    if before is None or after is None:
        return
    fields = [
        (name, getattr(before, name), getattr(after, name))
        for name in ("powered", "reachable", "kubelet", "runtime", "network", "exists")
        if getattr(before, name) != getattr(after, name)
    ]
    if fields:
        yield Difference(f"machine/{change.key}", "changed", tuple(fields))


def _fields(before: Any, after: Any, prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    for field in attrs.fields(type(after)):
        name = field.name
        if name in UNSHOWN:
            continue
        old, new = getattr(before, name), getattr(after, name)
        if old == new:
            continue
        if name == "deletion_at":
            yield "deletionTimestamp", plain(old is not None), plain(new is not None)
        elif name == "status":
            yield from _fields(old, new)
        elif name == "taints":
            yield (
                "taints",
                plain([each for each in old if each not in new]),
                plain([each for each in new if each not in old]),
            )
        elif name == "endpoints":
            yield (
                name,
                [_endpoint(each) for each in old if each not in new],
                [_endpoint(each) for each in new if each not in old],
            )
        else:
            yield prefix + camel(name), plain(old), plain(new)


def _endpoint(each: Endpoint) -> str:
    """An endpoint of a slice in a few words."""
    state = "terminating" if each.terminating else "ready" if each.ready else "not ready"
    return f"{each.pod.removeprefix('default/')} {state}"


def camel(name: str) -> str:
    """`disruptions_allowed` as Kubernetes writes it: disruptionsAllowed."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    if isinstance(value, (bool, int, str)) or value is None:
        return value
    if isinstance(value, float):
        return int(value) if value == int(value) else round(value, 6)
    if isinstance(value, Taint):
        return str(value)
    if isinstance(value, (frozenset, set)):
        return sorted(plain(each) for each in value)
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if attrs.has(type(value)):
        return {camel(field.name): plain(getattr(value, field.name)) for field in attrs.fields(type(value))}
    return str(value)
