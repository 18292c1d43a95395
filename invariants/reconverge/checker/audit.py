"""Judging the invariants along something that has happened: a recording, or a watch of a real cluster.

Nothing is explored. In a recording the model's run that explains it says who did what; in a watch it is inferred
from the change: a pod's node appears (the scheduler has bound it), its deletion begins (somebody has deleted it).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from attrs import frozen

from reconverge.checker.conformance import Recording, recording_steps
from reconverge.checker.judge import Found, Judge
from reconverge.invariants import Invariant, Situation, Step
from reconverge.invariants.stock import stock
from reconverge.loading.stream import Observation, read_stream
from reconverge.model.action import Action, Bind, DeletePod
from reconverge.model.cluster import Cluster
from reconverge.model.objects import ApiObject, Pod
from reconverge.model.rules import Rules
from reconverge.model.standard import cluster_of, standard_control_plane
from reconverge.model.store import Change
from reconverge.model.value import Seconds


@frozen
class Finding:
    """A violation in a history, and when: in seconds of a recording, or the place in a stream."""

    when: str
    found: Found


@frozen
class Audit:
    """What of the invariants a history breaks; `judged` are the ids of those that were applicable at all."""

    name: str
    steps: int
    findings: tuple[Finding, ...]
    judged: tuple[str, ...]


def judged_along(steps: Iterable[tuple[str, Step]], invariants: Sequence[Invariant], name: str) -> Audit:
    """The audit of some steps, each with its moment in words; a promise to one object is reported once."""
    judge = Judge(invariants)
    first: dict[tuple[str, str], Finding] = {}
    count = 0
    for when, step in steps:
        count += 1
        for found in judge.step(step):
            first.setdefault(found.identity, Finding(when, found))
    judged = tuple(each.id for each in invariants if judge.applicable[each.id])
    return Audit(name, count, tuple(first.values()), judged)


def along_the_way() -> list[Invariant]:
    """The stock invariants that are judged on states and steps."""
    return [each for each in stock() if each.default and each.kind in ("always", "on_step")]


def audit_recording(recording: Recording, invariants: Sequence[Invariant] | None = None) -> Audit:
    """The invariants along the run of the model that explains a recording, as far as it is explained."""
    steps = ((f"{step.after.cluster.now:g} s", step) for step in recording_steps(recording))
    return judged_along(steps, invariants if invariants is not None else along_the_way(), recording.name)


def audit_stream(path: str | Path, invariants: Sequence[Invariant] | None = None, *, text: str | None = None) -> Audit:
    """The invariants along a watch of a cluster. Raises LoadError."""
    steps = _steps(read_stream(path, text))
    return judged_along(steps, invariants if invariants is not None else along_the_way(), str(path))


def _steps(observations: Iterable[Observation]) -> Iterator[tuple[str, Step]]:
    plane = standard_control_plane()
    rules = Rules()
    known: dict[tuple[str, str], ApiObject] = {}
    situation = Situation(plane.start(cluster_of([], rules)))
    for observation in observations:
        new = observation.object
        identity = (new.kind, new.key)
        before = known.pop(identity, None)
        if not observation.deleted:
            known[identity] = new
        after = Situation(_standing(plane.start(cluster_of(known.values(), rules)), new), (), situation.start)
        change = Change(new.kind, new.key, before, None if observation.deleted else new)
        actor, action = _inferred(change)
        yield observation.where, Step(situation, after, actor, (change,), None, action)
        situation = after


def _standing(cluster: Cluster, newest: ApiObject) -> Cluster:
    """The cluster at the time of its newest object, as far as that tells."""
    moments: list[Seconds] = [newest.created_at]
    if isinstance(newest, Pod):
        moments.append(newest.ready_since)
    return cluster.with_(now=max(cluster.now, *moments))


def _inferred(change: Change) -> tuple[str, Action | None]:
    """Who has probably made a change, and the write that it was."""
    before, after = change.before, change.after
    if not isinstance(before, Pod):
        return "unknown", None
    if after is None:
        return "kubelet", DeletePod(before.key, before.uid, 0)
    if before.node is None and after.node is not None:
        return "scheduler", Bind(after.key, after.uid, after.node)
    if before.deletion_at is None and after.deletion_at is not None:
        return "unknown", DeletePod(after.key, after.uid, disruption_target=after.disruption_target)
    return "unknown", None
