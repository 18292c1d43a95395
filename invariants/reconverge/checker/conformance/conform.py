"""Holding the model against a recording."""

from __future__ import annotations

from collections.abc import Iterator

from reconverge.checker.conformance.compact import Seen, compact, differences
from reconverge.checker.conformance.finish import final_differences, left_alone
from reconverge.checker.conformance.match import first_visible, named, text_of
from reconverge.checker.conformance.projections import Compact
from reconverge.checker.conformance.recording import Observed, Recording
from reconverge.checker.conformance.report import Allowed, Conformance, Unexplained
from reconverge.checker.conformance.run import SCRIPT, Point
from reconverge.checker.conformance.simulated import recorded_control_plane
from reconverge.checker.conformance.start import start_cluster
from reconverge.checker.conformance.walker import State, Stuck, Walker
from reconverge.model.control_plane import ControlPlane, Read

SCRIPT_SOURCE = "the recording's script"
MOST_ALLOWED = 12
PATIENCE = 4000
"""Explanations that may turn out wrong. The recordings that are explained need a handful."""


def conform(recording: Recording, plane: ControlPlane | None = None, patience: int = PATIENCE) -> Conformance:
    """Whether the recording is a run of the control plane (default: the standard one with simulated kubelets).

    The search gives up after `patience` wrong turns. Raises RecordingError for a recording that asks for what the
    model does not know.
    """
    plane = plane if plane is not None else recorded_control_plane()
    walker = Walker(recording, plane, start_cluster(recording, plane), len(recording.history) + patience)
    ended, stuck = walker.walk()
    total = len(recording.history)
    if ended is None:
        found = unexplained(walker, stuck)
        return Conformance(recording.name, stuck.state.explained, total, found, (), _answers(stuck.state))
    point = left_alone(walker.mover, ended.trail, recording.ends_at)
    return Conformance(recording.name, total, total, None, final_differences(recording, point), _answers(ended))


def _answers(state: State) -> tuple:  # type: ignore[type-arg]
    return tuple(each for each in state.answers if not each.same)


def unexplained(walker: Walker, stuck: Stuck) -> Unexplained:
    """Where the walk has ended, and what the model would have allowed there."""
    recording = walker.recording
    until = stuck.observed.at if stuck.observed is not None else recording.ends_at
    state = walker.prepared(stuck.state, until)
    observed = None if state.busy else stuck.observed
    point = state.point
    allowed = tuple(_with_places(walker, point, observed))[:MOST_ALLOWED]
    return Unexplained(recording.name, observed, point.cluster.now, allowed, _objects(point, observed))


def _with_places(walker: Walker, point: Point, observed: Observed | None) -> list[Allowed]:
    found = list(_allowed(walker, point, observed))
    # What is about the observed object comes first, the closest before.
    return sorted(found, key=lambda each: (not each.differences, len(each.differences)))


def _allowed(walker: Walker, point: Point, observed: Observed | None) -> Iterator[Allowed]:
    plane = walker.mover.plane
    for flight in point.flights:
        visible = first_visible(point.cluster, flight.actions, point.names)
        if visible is not None:
            yield _of(walker, point, flight.loop, flight.key, visible.seen, observed)
    for loop in plane.names:
        for key in point.awake(loop):
            if point.flights_of(loop, key):
                continue
            for plan in list(walker.mover.plans(point.cluster, Read(loop, key)))[:3]:
                visible = first_visible(point.cluster, plan.actions, point.names)
                if visible is not None:
                    yield _of(walker, point, loop, key, visible.seen, observed)


def _of(walker: Walker, point: Point, loop: str, key: str, each: Seen, observed: Observed | None) -> Allowed:
    source = SCRIPT_SOURCE if loop == SCRIPT else walker.mover.plane.by_name[loop].source
    odd = {}
    if observed is not None and named(each, observed, point.names) is not None:
        odd = differences(each.fields, observed.fields)
    if loop == SCRIPT:
        key = str(walker.recording.steps[int(key)])
    return Allowed(loop, key, source, text_of(each, point.names), odd)


def _objects(point: Point, observed: Observed | None) -> dict[str, Compact]:
    """The observed object, its owner, and the pods that it or its owner owns."""
    if observed is None:
        return {}
    name = point.names.of_recording(observed.kind, observed.name)
    found: dict[str, Compact] = {}
    for kind, table in sorted(point.cluster.store.tables.items()):
        for each in table.objects.values():
            about = (kind, each.name) == (observed.kind, name)
            owned = each.owner is not None and (each.owner.kind, each.owner.name) == (observed.kind, name)
            if about or owned:
                try:
                    fields = compact(each, point.names)
                except KeyError:
                    continue
                found[f"{kind}/{point.names.of_model(kind, each.name)}"] = fields
    return found
