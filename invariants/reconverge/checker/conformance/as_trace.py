"""A recording as a trace: the run of the model that explains it, step by step, for reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from reconverge.checker.build_trace import differences_of, worded
from reconverge.checker.conformance.conform import PATIENCE
from reconverge.checker.conformance.recording import Recording
from reconverge.checker.conformance.run import SCRIPT, Entry, Happen, Make, Point
from reconverge.checker.conformance.simulated import recorded_control_plane
from reconverge.checker.conformance.start import start_cluster
from reconverge.checker.conformance.walker import Walker
from reconverge.checker.trace import StepKind, Trace, TraceStep
from reconverge.invariants import Situation, Step
from reconverge.model.action import Bind
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane
from reconverge.model.loop import MACHINES
from reconverge.model.store import Change

EVERYTHING = 1_000_000
"""Moves of a run that are kept: all."""


def recording_trace(recording: Recording, plane: ControlPlane | None = None) -> Trace:
    """The run of the model along a recording, as far as it is explained.

    Steps have the model's times and names. Raises RecordingError as `conform` does.
    """
    plane = plane if plane is not None else recorded_control_plane()
    most = len(recording.history) + PATIENCE
    walker = Walker(recording, plane, start_cluster(recording, plane), most, EVERYTHING)
    ended, stuck = walker.walk()
    state = ended if ended is not None else stuck.state
    explained = f"{state.explained} of {len(recording.history)} observed changes explained"
    return Trace(
        invariant="",
        family="",
        object="",
        message=f"{recording.name}: {explained}",
        facts={},
        statement=recording.what,
        why="",
        remedy="",
        scenario={},
        strokes=(),
        steps=tuple(_steps(recording, state.trail)),
        outcome="rest" if ended is not None else "broken",
        kubernetes=recording.kubernetes,
    )


def recording_steps(recording: Recording, plane: ControlPlane | None = None) -> Iterator[Step]:
    """The run of the model along a recording as steps that invariants can be judged on.

    What the script does to machines and objects is the doing of "environment". Raises RecordingError as `conform` does.
    """
    plane = plane if plane is not None else recorded_control_plane()
    start = start_cluster(recording, plane)
    walker = Walker(recording, plane, start, len(recording.history) + PATIENCE, EVERYTHING)
    ended, stuck = walker.walk()
    trail = (ended if ended is not None else stuck.state).trail
    flights = {flight.number: flight for entry in trail for flight in entry.point.flights}
    for before, entry in pairwise(trail):
        changes = tuple(_changes(before.point, entry.point))
        if not changes:
            continue
        actor, action = "environment", None
        if isinstance(entry.move, Make):
            loop = flights[entry.move.number].loop
            actor, action = ("environment" if loop == SCRIPT else loop), entry.move.action
        seen = _assumed(before.point, entry.move) if isinstance(action, Bind) else before.point.cluster
        yield Step(Situation(seen), Situation(entry.point.cluster), actor, changes, None, action)


def _assumed(point: Point, move: Any) -> Cluster:
    """The cluster as the scheduler took it when it chose: with the pods bound whose bindings it had under way.

    Bindings are sent one by one while further pods are being scheduled (`pkg/scheduler/schedule_one.go`, assume).
    """
    cluster = point.cluster
    for flight in point.flights:
        if flight.loop != "scheduler" or flight.number >= move.number:
            continue
        for action in flight.actions:
            pod = cluster.store.pod(action.key) if isinstance(action, Bind) else None
            if isinstance(action, Bind) and pod is not None and pod.node is None:
                cluster = cluster.with_(store=cluster.store.put(pod.with_(node=action.node))[0])
    return cluster


def _steps(recording: Recording, trail: tuple[Entry, ...]) -> Iterator[TraceStep]:
    flights = {flight.number: flight for entry in trail for flight in entry.point.flights}
    for before, entry in pairwise(trail):
        changes = tuple(_changes(before.point, entry.point))
        if not changes:
            continue
        differences = tuple(differences_of(changes))
        time = entry.point.cluster.now
        if isinstance(entry.move, Happen):
            text = recording.steps[entry.move.step].do
            yield TraceStep(time, "event", SCRIPT, text, "", differences)
        elif isinstance(entry.move, Make):
            loop, action = flights[entry.move.number].loop, entry.move.action
            kind: StepKind = "event" if loop == SCRIPT else "write"
            yield TraceStep(time, kind, loop, worded(action, changes), getattr(action, "reason", ""), differences)


def _changes(before: Point, after: Point) -> Iterator[Change]:
    """What differs between two points, in the store and among the machines."""
    old, new = before.cluster.store.tables, after.cluster.store.tables
    for kind in sorted({*old, *new}):
        if old.get(kind) is not new.get(kind):
            was: Mapping[str, Any] = old[kind].objects if kind in old else {}
            now: Mapping[str, Any] = new[kind].objects if kind in new else {}
            yield from (Change(kind, key, was.get(key), now.get(key)) for key in _differing(was, now))
    if before.cluster.machines is not after.cluster.machines:
        was, now = before.cluster.machines.by_name, after.cluster.machines.by_name
        yield from (Change(MACHINES, key, was.get(key), now.get(key)) for key in _differing(was, now))


def _differing(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [key for key in sorted({*was, *now}) if was.get(key) is not now.get(key)]
