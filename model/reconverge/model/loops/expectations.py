"""Expectations of a workload controller: what it has asked for and its watch has not shown yet.

Source: `pkg/controller/controller_utils.go` (ControllerExpectations, UIDTrackingControllerExpectations).
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from reconverge.model.action import Action, Create, DeletePod
from reconverge.model.loop import Reading
from reconverge.model.objects import Pod
from reconverge.model.persistent import Map
from reconverge.model.store import Change
from reconverge.model.value import Seconds


@frozen
class Expectation:
    """Creations and deletions (by uid) that were asked for and not observed yet; void after `deadline`."""

    creations: int = 0
    deletions: frozenset[int] = frozenset()
    deadline: Seconds = 0

    def satisfied(self, now: Seconds) -> bool:
        """Whether everything was observed, or the time is up."""
        return (self.creations <= 0 and not self.deletions) or now > self.deadline


Expectations = Map[str, Expectation]


def satisfied(expected: Expectations, key: str, reading: Reading) -> bool:
    """Whether a key may create and delete: all was seen, or five minutes have passed."""
    found = expected.get(key)
    return found is None or found.satisfied(reading.now)


def expecting(expected: Expectations, key: str, actions: Iterable[Action], reading: Reading) -> Expectations:
    """The expectations with those of some writes to come; as they are if none creates or deletes a pod."""
    listed = tuple(actions)
    creations = sum(isinstance(each, Create) and isinstance(each.object, Pod) for each in listed)
    deletions = frozenset(each.uid for each in listed if isinstance(each, DeletePod))
    if not creations and not deletions:
        return expected
    return expected.set(key, Expectation(creations, deletions, reading.now + reading.rules.expectations_timeout))


def lowered(expected: Expectations, kind: str, change: Change) -> Expectations:
    """The expectations after a pod change: a new pod is a creation, a deletionTimestamp or removal a deletion."""
    pod: Pod = change.object
    if pod.owner is None or pod.owner.kind != kind:
        return expected
    key = f"{pod.namespace}/{pod.owner.name}"
    found = expected.get(key)
    if found is None:
        return expected
    creations, deletions = found.creations, found.deletions
    if change.before is None and change.after.deletion_at is None and creations > 0:
        creations -= 1
    if change.after is None or change.after.deletion_at is not None:
        deletions -= {pod.uid}
    if not creations and not deletions:
        return expected.discard(key)
    if (creations, deletions) == (found.creations, found.deletions):
        return expected
    return expected.set(key, Expectation(creations, deletions, found.deadline))


def withdrawn(expected: Expectations, action: Action) -> Expectations:
    """The expectations after a write was refused: the rest of the batch is not tried."""
    if isinstance(action, Create) and action.object.owner is not None:
        return expected.discard(f"{action.object.namespace}/{action.object.owner.name}")
    if isinstance(action, DeletePod):
        for key, found in expected.items():
            if action.uid in found.deletions:
                return expected.discard(key)
    return expected
