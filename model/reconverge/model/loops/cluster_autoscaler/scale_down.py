"""Which nodes the autoscaler thinks it can do without, and when it begins to remove them.

Source: autoscaler `cluster-autoscaler/core/scaledown/{planner,eligibility,unneeded,budgets}`,
`cluster-autoscaler/simulator/cluster.go`, `cluster-autoscaler/simulator/utilization/info.go`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import field, frozen

from reconverge.model.eviction import matching_budgets
from reconverge.model.labels import label
from reconverge.model.likeness import node_likeness, pod_text
from reconverge.model.loops.cluster_autoscaler.drainability import (
    BLOCK,
    OK,
    RULES,
    SKIP,
    Case,
    Rule,
    Verdict,
    is_daemon,
    overdue_at,
    verdict,
)
from reconverge.model.loops.cluster_autoscaler.memory import AutoscalerMemory, Deletion
from reconverge.model.loops.cluster_autoscaler.options import AutoscalerOptions
from reconverge.model.loops.cluster_autoscaler.simulation import Snapshot
from reconverge.model.loops.cluster_autoscaler.view import View, is_ready
from reconverge.model.node_groups import NodeGroup
from reconverge.model.objects import Node, Pod
from reconverge.model.resources import Resources, total
from reconverge.model.store import Store
from reconverge.model.value import Seconds

DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"


@frozen
class Movable:
    """The pods of a node that would have to move, or the first that holds it up and why."""

    pods: tuple[Pod, ...] = ()
    blocker: Pod | None = None
    verdict: Verdict = Verdict(OK)


@frozen
class Unneeded:
    """The nodes that can be done without, in the order in which they were found, each with the pods that move."""

    nodes: dict[str, tuple[Pod, ...]] = field(factory=dict)
    refused: dict[str, str] = field(factory=dict)
    """Nodes that are used little and cannot go, with the reason."""
    changes_at: tuple[Seconds, ...] = ()
    """When a refusal ends by itself."""


class ScaleDownRules:
    """The half of the autoscaler that looks for nodes to remove. Each rule is a method of its own."""

    options: AutoscalerOptions
    rules: tuple[Rule, ...] = RULES

    # One node ------------------------------------------------------------------------------------------------

    def is_candidate(self, view: View, node: Node) -> bool:
        """Whether a node is looked at: of a group above its minimum, not protected, and not going already."""
        group = view.group_of(node.name)
        if group is None or view.going(node) or label(node.annotations, DISABLED) == "true":
            return False
        return self.above_minimum(view, group)

    def above_minimum(self, view: View, group: NodeGroup) -> bool:
        """Whether the group may lose a node: its size without those that are being removed."""
        going = sum(each.group == group.name for each in view.memory.deletions.values())
        return group.desired - going > group.minimum

    def utilisation(self, store: Store, node: Node, now: Seconds) -> float:
        """The larger share of CPU and memory that is requested on a node; daemons count, what should be gone not."""
        pods = [pod for pod in store.pods_on(node.name) if not pod.terminal and not self.is_overdue(pod, now)]
        return utilisation(total(pod.spec.requests for pod in pods), node.allocatable.resources)

    def is_overdue(self, pod: Pod, now: Seconds) -> bool:
        """Whether a Terminating pod should have gone long ago."""
        over = overdue_at(pod)
        return over is not None and over < now

    def underused(self, view: View, snapshot: Snapshot, node: Node) -> bool:
        """Whether so little is requested on a node that it may go."""
        return self.utilisation(snapshot.store, node, view.now) <= self.options.threshold

    def movable(self, view: View, store: Store, node: str, remaining: dict[str, int]) -> Movable:
        """The pods that would have to move, if none holds up the node."""
        moving = []
        pods = [pod for pod in store.pods_on(node) if not pod.terminal and pod.spec.priority >= self.options.cutoff]
        for pod in sorted(pods, key=lambda pod: (pod_text(pod, view.now), pod.key)):
            said = verdict(Case(store, pod, view.now, self.options, remaining), self.rules)
            if said.outcome == BLOCK:
                return Movable((), pod, said)
            if said.outcome != SKIP and not is_daemon(pod):
                moving.append(pod)
        return Movable(tuple(moving))

    # All nodes -----------------------------------------------------------------------------------------------

    def candidates(self, view: View, memory: AutoscalerMemory) -> list[Node]:
        """The nodes to be tried, those first that were unneeded before, then by what they are."""
        found = [node for node in view.nodes if self.is_candidate(view, node)]
        return sorted(
            found,
            key=lambda node: (
                node.name not in memory.unneeded,
                node_likeness(view.store, node, view.now),
                node.name,
            ),
        )

    def unneeded(self, view: View, snapshot: Snapshot, candidates: Sequence[Node]) -> Unneeded:
        """The nodes whose pods all find another place, one after the other: each takes the places for the next.

        A node that is found unneeded is no place for the pods of others any more.
        """
        found = Unneeded()
        moments: list[Seconds] = []
        remaining: dict[str, int] = {}
        destinations = snapshot.ordered(node.name for node in view.nodes if not view.going(node))
        for node in [node for node in candidates if self.underused(view, snapshot, node)]:
            moved = self.movable(view, snapshot.store, node.name, remaining)
            if moved.blocker is not None:
                found.refused[node.name] = f"{moved.blocker.reference} holds it up: {moved.verdict.reason}"
                moments += [moved.verdict.until] if moved.verdict.until is not None else []
                continue
            others = [name for name in destinations if name != node.name]
            after, left = snapshot.without_pods(moved.pods).placed(moved.pods, others)
            if left:
                found.refused[node.name] = f"no other node has a place for {left[0].reference}"
                continue
            snapshot, destinations = after, others
            found.nodes[node.name] = moved.pods
            self._spend(view.store, moved.pods, remaining)
        return Unneeded(found.nodes, found.refused, tuple(moments))

    def _spend(self, store: Store, pods: Sequence[Pod], remaining: dict[str, int]) -> None:
        for pod in pods:
            for each in matching_budgets(store, pod):
                remaining[each.key] = remaining.get(each.key, each.status.disruptions_allowed) - 1

    def selections(self, view: View, snapshot: Snapshot, memory: AutoscalerMemory) -> list[Unneeded]:
        """What may be found unneeded; more than one answer where the nodes are rivals for the same places.

        Which node is tried first is not defined, except that those found before come first.
        """
        candidates = self.candidates(view, memory)
        default = self.unneeded(view, snapshot, candidates)
        rivals = [node for node in candidates if node.name not in memory.unneeded]
        if not default.nodes or not any(node.name in default.refused for node in rivals):
            return [default]
        kept = [node for node in candidates if node.name in memory.unneeded]
        kinds = {node_likeness(view.store, node, view.now): node for node in reversed(rivals)}
        found = {frozenset(default.nodes): default}
        for text in sorted(kinds):
            first = kinds[text]
            order = [*kept, first, *(node for node in rivals if node is not first)]
            other = self.unneeded(view, snapshot, order)
            found.setdefault(frozenset(other.nodes), other)
        return list(found.values())

    # When ----------------------------------------------------------------------------------------------------

    def patience(self, node: Node) -> Seconds:
        """How long a node has to be unneeded."""
        return self.options.unneeded if is_ready(node) else self.options.unready

    def ripe(self, view: View, memory: AutoscalerMemory, name: str) -> bool:
        """Whether a node has been unneeded for long enough."""
        node = view.store.node(name)
        return node is not None and memory.unneeded[name] + self.patience(node) < view.now

    def cooldown_until(self, memory: AutoscalerMemory) -> Seconds | None:
        """Until when nothing is removed after the last change; None if there was none."""
        options = self.options
        pairs = (
            (memory.scaled_up_at, options.after_add),
            (memory.failed_at, options.after_failure),
            (memory.deleted_at, options.after_delete),
        )
        return max((at + length for at, length in pairs if at is not None), default=None)

    def to_delete(self, view: View, memory: AutoscalerMemory, unneeded: Unneeded) -> dict[str, Deletion]:
        """The removals that begin now: empty nodes at once, of those that need a drain one at a time."""
        sizes = {name: group.desired for name, group in view.groups.items()}
        for deletion in memory.deletions.values():
            if deletion.group in sizes:
                sizes[deletion.group] -= 1
        room = self.options.parallel - len(memory.deletions)
        drains = self.options.parallel_drains - sum(each.drains for each in memory.deletions.values())
        begun: dict[str, Deletion] = {}
        for name in sorted(unneeded.nodes, key=lambda name: bool(unneeded.nodes[name])):
            group, node = view.group_of(name), view.store.node(name)
            if group is None or node is None or not self.ripe(view, memory, name):
                continue
            needs_drain = bool(unneeded.nodes[name])
            if sizes[group.name] <= group.minimum or room <= 0 or (needs_drain and drains <= 0):
                continue
            sizes[group.name] -= 1
            room -= 1
            drains -= needs_drain
            begun[name] = Deletion(node.uid, group.name, needs_drain, since=view.now)
        return begun

    def unneeded_changes_at(self, view: View, memory: AutoscalerMemory, unneeded: Unneeded) -> Iterator[Seconds]:
        """When something about the unneeded nodes is due by itself."""
        yield from unneeded.changes_at
        cooldown = self.cooldown_until(memory)
        if memory.unneeded and cooldown is not None:
            yield cooldown
        for name in memory.unneeded:
            node = view.store.node(name)
            if node is not None:
                yield memory.unneeded[name] + self.patience(node) + MOMENT
        for pod in view.store.table("Pod").objects.values():
            over = overdue_at(pod)
            if over is not None and pod.node is not None and view.group_of(pod.node) is not None:
                yield over + MOMENT


MOMENT: Seconds = 0.001
"""What has to have passed is looked at just after."""


def utilisation(requested: Resources, allocatable: Resources) -> float:
    """The larger of the shares of CPU and memory."""
    pairs = ((requested.cpu, allocatable.cpu), (requested.memory, allocatable.memory))
    return max((part / whole for part, whole in pairs if whole), default=0)
