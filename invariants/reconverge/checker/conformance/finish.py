"""The end of a recording: the model, left to itself until then, has the recorded end state up to names."""

from __future__ import annotations

from collections.abc import Mapping

from reconverge.checker.conformance.compact import compact, differences
from reconverge.checker.conformance.projections import PROJECTIONS, Compact
from reconverge.checker.conformance.recording import Recording
from reconverge.checker.conformance.run import Make, Mover, Point, Trail
from reconverge.checker.schedule import Course, stretch
from reconverge.model.cluster import Cluster
from reconverge.model.value import Seconds


def left_alone(mover: Mover, trail: Trail, until: Seconds) -> Point:
    """The point at a later time, after the model has finished what is under way and gone on by its default schedule."""
    for flight in trail[-1].point.flights:
        for action in flight.actions:
            after = mover.moves(trail, (Make(flight.number, action),))
            if after is None:
                break
            trail = after
    cluster = trail[-1].point.cluster
    for taken in stretch(mover.plane, cluster, Course(horizon=until)):
        cluster = taken.after
    return trail[-1].point.with_(cluster=cluster)


def final_differences(recording: Recording, point: Point) -> tuple[str, ...]:
    """What differs from the recorded end state, object by object, under recorded names."""
    found = []
    for kind in sorted(PROJECTIONS):
        mine = objects_of(point, kind)
        theirs: Mapping[str, Mapping[str, object]] = recording.final.get(kind, {})
        found += [f"{kind} {name} is there, but not in the recording" for name in sorted({*mine} - {*theirs})]
        found += [f"{kind} {name} is missing" for name in sorted({*theirs} - {*mine})]
        for name in sorted({*mine} & {*theirs}):
            for field, (here, there) in differences(mine[name], theirs[name]).items():
                found.append(f"{kind} {name} has {field}={here}, recorded is {there}")
    return tuple(found)


def objects_of(point: Point, kind: str) -> dict[str, Compact]:
    """The compact fields of all objects of a kind, by recorded name."""
    cluster: Cluster = point.cluster
    return {point.names.of_model(kind, each.name): compact(each, point.names) for each in cluster.store.all(kind)}
