"""What a recording says of the future: to where pods are bound, and which are deleted next.

Of many equal choices the walk tries the one that was made; that it was allowed to be made is checked all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reconverge.checker.conformance.names import Names
from reconverge.checker.conformance.recording import Observed
from reconverge.model.action import Action
from reconverge.model.control_plane import ControlPlane
from reconverge.model.loop import Reading
from reconverge.model.loops.replicaset import ReplicaSetController
from reconverge.model.loops.victims import rank, siblings_per_node
from reconverge.model.objects import Pod, ReplicaSet


class Foresight:
    """The bindings and deletions of pods in a history, by place."""

    def __init__(self, history: Sequence[Observed]) -> None:
        self._bound: list[tuple[int, str, str]] = []
        self._doomed: list[tuple[int, str]] = []
        before: dict[str, Observed] = {}
        for each in history:
            if each.kind != "Pod":
                continue
            self._note(each, before.get(each.name))
            if each.event == "DELETED":
                before.pop(each.name, None)
            else:
                before[each.name] = each

    def _note(self, each: Observed, before: Observed | None) -> None:
        if each.event == "DELETED":
            if before is None or not before.fields.get("terminating"):
                self._doomed.append((each.index, each.name))
            return
        node = each.fields.get("node")
        if node and (before is None or not before.fields.get("node")):
            self._bound.append((each.index, each.name, node))
        if each.fields.get("terminating") and (before is None or not before.fields.get("terminating")):
            self._doomed.append((each.index, each.name))

    def bindings(self, after: int, names: Names, most: int = 20) -> Iterator[tuple[str, str]]:
        """(pod key in the model, node) of the next bindings after a place."""
        for index, name, node in self._bound:
            if index > after and most:
                most -= 1
                yield f"default/{names.of_recording('Pod', name)}", node

    def node_of(self, name: str, after: int) -> str | None:
        """To where a pod is bound after a place, by its recorded name."""
        return next((node for index, each, node in self._bound if index > after and each == name), None)

    def doomed(self, since: int, names: Names, most: int = 60) -> tuple[str, ...]:
        """Keys of the pods that are deleted from a place on, in order."""
        found = [name for index, name in self._doomed if index >= since][:most]
        return tuple(f"default/{names.of_recording('Pod', name)}" for name in found)


class Guided(ReplicaSetController):
    """A ReplicaSet controller that is told which pods are deleted next: it takes those of them that it may take.

    The model offers a part of all equal sets of victims, for there may be thousands.
    """

    wanted: tuple[str, ...] = ()
    """Keys of pods, in order; set before every pass."""

    def deletions(
        self, reading: Reading, rs: ReplicaSet, active: list[Pod], count: int
    ) -> list[tuple[str, tuple[Action, ...]]]:
        """The wanted victims first, if the ranking leaves them equal to the others."""
        others = super().deletions(reading, rs, active, count)
        victims = self.admissible(reading, rs, active, min(count, reading.rules.burst_replicas))
        if victims is None or len(others) < 2:
            return others
        everyone = zip(active, super().deletions(reading, rs, active, len(active))[0][1], strict=True)
        writes = {pod.key: write for pod, write in everyone}
        choice = ", ".join(pod.name for pod in victims)
        return [(choice, tuple(writes[pod.key] for pod in victims)), *others]

    def admissible(self, reading: Reading, rs: ReplicaSet, active: list[Pod], count: int) -> list[Pod] | None:
        """The first of the wanted pods that are active, if no other pod ranks before one of them."""
        by_key = {pod.key: pod for pod in active}
        victims = [by_key[key] for key in dict.fromkeys(self.wanted) if key in by_key][:count]
        if len(victims) < count:
            return None
        siblings = siblings_per_node(reading, rs)
        ranks = {pod.key: rank(pod, siblings, reading.now) for pod in active}
        gone = {pod.key for pod in victims}
        last = max(ranks[pod.key] for pod in victims)
        return victims if all(ranks[pod.key] >= last for pod in active if pod.key not in gone) else None


def guided(plane: ControlPlane) -> ControlPlane:
    """The control plane with a ReplicaSet controller that can be told; one with rules of its own is left as it is."""
    loop = plane.by_name.get(ReplicaSetController.name)
    return plane.replacing(Guided()) if type(loop) is ReplicaSetController else plane
