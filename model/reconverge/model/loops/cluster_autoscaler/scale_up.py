"""When and how the autoscaler makes a group larger.

Source: autoscaler `cluster-autoscaler/core/static_autoscaler.go`,
`cluster-autoscaler/core/scaleup/orchestrator/orchestrator.go`, `cluster-autoscaler/core/podlistprocessor/`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from attrs import frozen

from reconverge.model.likeness import pod_text
from reconverge.model.loop import Plan
from reconverge.model.loops.cluster_autoscaler.drainability import is_daemon
from reconverge.model.loops.cluster_autoscaler.estimator import Option, estimate
from reconverge.model.loops.cluster_autoscaler.memory import AutoscalerMemory
from reconverge.model.loops.cluster_autoscaler.options import RANDOM, AutoscalerOptions
from reconverge.model.loops.cluster_autoscaler.simulation import Simulation, Snapshot
from reconverge.model.loops.cluster_autoscaler.templates import Template, templates
from reconverge.model.loops.cluster_autoscaler.view import View
from reconverge.model.loops.node_group.actions import ResizeGroup
from reconverge.model.node_groups import NodeGroup
from reconverge.model.objects import Pod
from reconverge.model.value import Seconds

Plans = Sequence[Plan[AutoscalerMemory]]


@frozen
class Help:
    """The pods that nodes are wanted for, the snapshot without them, and the template of each group."""

    pods: tuple[Pod, ...]
    snapshot: Snapshot
    shapes: dict[str, list[Template]]


class ScaleUpRules:
    """The half of the autoscaler that adds nodes. Each rule is a method of its own."""

    options: AutoscalerOptions
    simulation: Simulation

    # Pods ----------------------------------------------------------------------------------------------------

    def is_pending(self, pod: Pod) -> bool:
        """Whether the scheduler has said of a pod that it fits nowhere."""
        return pod.unscheduled is not None and pod.deletion_at is None and not pod.spec.scheduling_gates

    def is_helped(self, pod: Pod) -> bool:
        """Whether a new node is wanted for a pending pod: not for daemons, not for what may be expended."""
        return not is_daemon(pod) and pod.spec.priority >= self.options.cutoff

    def leaving(self, view: View) -> Iterator[Pod]:
        """Pods on nodes that are being drained, which will want another place."""
        for name in sorted(view.memory.deletions):
            if view.memory.deletions[name].drains:
                for pod in view.store.pods_on(name):
                    if not pod.terminal and pod.deletion_at is None and pod.owner is not None and not is_daemon(pod):
                        yield pod

    def help(self, view: View) -> Help:
        """The pods that fit neither where nodes are nor where they will be; and the cluster as it will be then."""
        shapes = {name: templates(view, group) for name, group in view.groups.items()}
        snapshot = self.snapshot(view)
        wanted = [pod for pod in view.store.unbound_pods() if self.is_pending(pod) and self.is_helped(pod)]
        # What waits for the victims of a preemption has its place already.
        for pod in wanted:
            if pod.nominated_node is not None and view.store.node(pod.nominated_node) is not None:
                snapshot = snapshot.with_pod(pod, pod.nominated_node)
        waiting = [pod for pod in wanted if pod.nominated_node is None]
        moving = list(self.leaving(view))
        snapshot = self.with_upcoming(view, snapshot.without_pods(moving), shapes)
        nodes = snapshot.ordered(snapshot.store.table("Node").objects)
        ordered = sorted([*waiting, *moving], key=lambda pod: _turn(pod, view.now))
        snapshot, left = snapshot.placed(ordered, nodes)
        return Help(tuple(left), snapshot, shapes)

    def snapshot(self, view: View) -> Snapshot:
        """The cluster without pods that may be expended, and without nodes that are still starting."""
        snapshot = Snapshot(self.simulation, view.store, view.now, view.reading.rules)
        expendable = [
            pod
            for pod in view.store.table("Pod").objects.values()
            if pod.node and pod.spec.priority < self.options.cutoff
        ]
        snapshot = snapshot.without_pods(expendable)
        for name in chain.from_iterable(each.starting for each in view.readiness.values()):
            snapshot = snapshot.without_node(name)
        return snapshot

    def with_upcoming(self, view: View, snapshot: Snapshot, shapes: dict[str, list[Template]]) -> Snapshot:
        """The snapshot with a template node for each node that is still to come."""
        for name, group in view.groups.items():
            for number in range(view.upcoming(group)):
                snapshot = snapshot.with_node(*shapes[name][0].fresh(f"upcoming-{name}-{number}"))
        return snapshot

    def too_new(self, view: View, pods: Iterable[Pod]) -> bool:
        """Whether even the oldest pod is so new that more are to be expected (allPodsAreNew)."""
        return min(pod.created_at for pod in pods) + self.options.pod_age > view.now

    # Groups --------------------------------------------------------------------------------------------------

    def may_grow(self, view: View, group: NodeGroup) -> bool:
        """Whether a group can be made larger now: below its maximum, healthy, and not backed off."""
        return group.desired < group.maximum and view.group_healthy(group) and not self.backed_off(view, group)

    def backed_off(self, view: View, group: NodeGroup) -> bool:
        """Whether a group has failed to grow a short while ago."""
        backoff = view.memory.backoffs.get(group.name)
        return backoff is not None and backoff.until > view.now

    def most(self, view: View, group: NodeGroup) -> int:
        """By how many nodes a group may grow."""
        most = group.maximum - group.desired
        if self.options.nodes_total:
            to_come = sum(view.upcoming(each) for each in view.groups.values())
            most = min(most, self.options.nodes_total - len(view.nodes) - to_come)
        return max(0, most)

    def options_of(self, view: View, wanted: Help, choice: dict[str, Template]) -> list[Option]:
        """What each group could do for the pods."""
        found = []
        for name, group in view.groups.items():
            if self.may_grow(view, group):
                found.append(estimate(wanted.snapshot, wanted.pods, choice[name], name, self.most(view, group)))
        return [option for option in found if option is not None]

    def best(self, view: View, options: Sequence[Option]) -> list[Option]:
        """The options that the expander may choose; chance decides between several."""
        if self.options.expands(view.reading.rules) == RANDOM:
            return list(options)
        least = min((option.waste for option in options), default=0)
        return [option for option in options if option.waste == least]

    def choices(self, view: View, wanted: Help) -> list[Option]:
        """All options that may be chosen, each outcome once: for any template that a group may be judged by."""
        first = {name: shapes[0] for name, shapes in wanted.shapes.items()}
        several = [first, *({**first, name: other} for name, shapes in wanted.shapes.items() for other in shapes[1:])]
        outcomes: dict[tuple[str, int], Option] = {}
        for choice in several:
            for option in self.best(view, self.options_of(view, wanted, choice)):
                outcomes.setdefault((option.group, option.count), option)
        return list(outcomes.values())

    # The plans -----------------------------------------------------------------------------------------------

    def grow(self, view: View, memory: AutoscalerMemory, wanted: Help) -> Plans:
        """One group is made larger; empty if none can help."""
        return [self._grow(view, memory, option) for option in self.choices(view, wanted)]

    def _grow(self, view: View, memory: AutoscalerMemory, option: Option) -> Plan[AutoscalerMemory]:
        size = view.groups[option.group].desired + option.count
        count = len(option.pods)
        reason = f"{count} pending pod{'s' if count > 1 else ''} would fit on {option.count} more"
        memory = memory.with_(
            scaled_up_at=view.now, scale_ups=memory.scale_ups.set(option.group, view.now + self.options.provision)
        )
        return Plan(memory, (ResizeGroup(option.group, size, reason),), choice=option.group)

    def help_changes_at(self, view: View, wanted: Help) -> Iterator[Seconds]:
        """When the answer to pods that no group can help may be another one by itself."""
        if wanted.pods and self.too_new(view, wanted.pods):
            yield min(pod.created_at for pod in wanted.pods) + self.options.pod_age
        for group in view.groups.values():
            if wanted.pods and self.backed_off(view, group):
                yield view.memory.backoffs[group.name].until


def _turn(pod: Pod, now: Seconds) -> tuple[int, Seconds, str, str]:
    """Higher priority first, then the older, then by what the pods are."""
    return (-pod.spec.priority, pod.created_at, pod_text(pod, now), pod.key)
