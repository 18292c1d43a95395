"""The order in which a StatefulSet makes its pods and takes them away.

Source: `pkg/controller/statefulset/stateful_set_control.go` (processReplica, processCondemned, updateStatefulSet); the
documentation of StatefulSets (deployment and scaling guarantees).
"""

from __future__ import annotations

from collections.abc import Iterable

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Situation, Step
from reconverge.invariants.stock.facts import begins_to_go, is_updated, knew_better
from reconverge.model.loops.statefulset.ordinals import most_unavailable
from reconverge.model.objects import Pod, StatefulSet
from reconverge.model.store import Change


def _set_of_pod(situation: Situation, change: Change) -> Iterable[str]:
    """The StatefulSet of a pod that comes or begins to go."""
    if change.kind != "Pod" or (change.before is not None and not begins_to_go(change)):
        return ()
    pod: Pod = change.object
    owner = pod.owner
    return (f"{pod.namespace}/{owner.name}",) if owner is not None and owner.kind == "StatefulSet" else ()


@invariant(
    "ordered-pods",
    "on_step",
    for_each="StatefulSet",
    family="law",
    statement="An ordered StatefulSet makes a pod only when all lower ones are available, and gives up the highest "
    "first; a rolling update goes down from the highest, one available pod after the other.",
    why="Members of a database join, leave and are updated one at a time, or its quorum is lost.",
    remedy="See what the controller took for available.",
    source="pkg/controller/statefulset/stateful_set_control.go; documentation of StatefulSets",
    touched_by=_set_of_pod,
    watches=("Pod",),
)
def ordered_pods(step: Step, sts: StatefulSet) -> Iterable[Violation]:
    """Judges what the StatefulSet controller creates and deletes, with the cluster as it was just before."""
    if step.actor != "statefulset":
        return ()
    found = []
    for change in step.changes:
        if change.kind != "Pod" or change.object.owner is None or change.object.owner.uid != sts.uid:
            continue
        if change.before is None:
            wrong, done = _too_early(step, sts, change.after), "creates"
        elif begins_to_go(change) and not change.before.terminal:
            wrong, done = _out_of_order(step, sts, change.before), "deletes"
        else:
            continue
        if wrong and knew_better(step):
            message = f"{sts.reference} {done} {change.object.reference}, {wrong}"
            found.append(Violation(sts.reference, message, {"pod": change.object.reference}))
    return found


def _wanted(sts: StatefulSet) -> range:
    return range(sts.first_ordinal, sts.first_ordinal + sts.replicas)


def _ordinal(pod: Pod) -> int:
    number = pod.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else -1


def _lacks(step: Step, sts: StatefulSet, numbers: Iterable[int]) -> str:
    """The first of some ordinals whose pod is not there, or not available: a clause; empty if all are."""
    for number in numbers:
        pod = step.before.store.pod(f"{sts.namespace}/{sts.name}-{number}")
        if pod is None:
            return f"and pod/{sts.name}-{number} does not exist"
        if not pod.active or pod.phase != "Running" or not pod.available(sts.min_ready, step.before.cluster.now):
            return f"and {pod.reference} is not available"
    return ""


def _of_old(step: Step, sts: StatefulSet, numbers: Iterable[int]) -> str:
    """The first of some ordinals whose pod is of an old template: a clause; empty if none is."""
    for number in numbers:
        pod = step.before.store.pod(f"{sts.namespace}/{sts.name}-{number}")
        if pod is not None and not is_updated(step.before.store, sts, pod):
            return f"and {pod.reference} is of an old template"
    return ""


def _too_early(step: Step, sts: StatefulSet, pod: Pod) -> str:
    number, wanted = _ordinal(pod), _wanted(sts)
    if number not in wanted:
        return f"which is none of its {sts.replicas} replicas"
    return _lacks(step, sts, range(wanted.start, number)) if sts.policy == "OrderedReady" else ""


def _out_of_order(step: Step, sts: StatefulSet, pod: Pod) -> str:
    number, wanted = _ordinal(pod), _wanted(sts)
    ordered = sts.policy == "OrderedReady"
    if number in wanted:
        if sts.strategy != "RollingUpdate" or number < wanted.start + (sts.partition or 0):
            return "which no update may replace"
        if is_updated(step.before.store, sts, pod):
            return "which is wanted and of the present template"
        most = most_unavailable(sts, step.before.cluster.rules)
        if most is not None:
            down = sum(bool(_lacks(step, sts, (each,))) for each in wanted)
            return f"and {down} of its pods are unavailable already" if down >= most else ""
        above = range(wanted.stop - 1, number, -1)
        lacking = _lacks(step, sts, above) or (_lacks(step, sts, range(wanted.start, number)) if ordered else "")
        return lacking or _of_old(step, sts, above)
    if not ordered:
        return ""
    higher = [each for each in step.before.store.pods_of(sts.uid) if _ordinal(each) > number]
    higher = [each for each in higher if _ordinal(each) not in wanted]
    if higher:
        return f"and {higher[-1].reference} is still there"
    return _lacks(step, sts, wanted)
