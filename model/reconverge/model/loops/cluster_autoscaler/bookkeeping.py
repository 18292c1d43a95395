"""What the autoscaler keeps of its groups: scale-ups that are under way, failures, instances without a node.

Source: autoscaler `cluster-autoscaler/clusterstate/clusterstate.go` (updateScaleRequests, updateUnregisteredNodes,
updateIncorrectNodeGroupSizes), `cluster-autoscaler/utils/backoff/exponential_backoff.go`,
`cluster-autoscaler/core/static_autoscaler.go` (fixNodeGroupSize, removeOldUnregisteredNodes).
"""

from __future__ import annotations

from collections.abc import Iterator

from reconverge.model.action import Action
from reconverge.model.likeness import At
from reconverge.model.loops.cluster_autoscaler.memory import AutoscalerMemory, Backoff, Mismatch
from reconverge.model.loops.cluster_autoscaler.view import View
from reconverge.model.loops.node_group.actions import ResizeGroup, TerminateInstance
from reconverge.model.node_groups import NodeGroup, instances
from reconverge.model.persistent import Map
from reconverge.model.value import Seconds

MOMENT: Seconds = 0.001
"""What has to have passed is looked at just after."""


def updated(view: View) -> AutoscalerMemory:
    """The memory after a look at all groups."""
    memory = view.memory
    unregistered = {
        name: memory.unregistered.get(name, view.now)
        for each in view.readiness.values()
        for name in (*each.unregistered, *each.overdue)
    }
    sizes = {name: _mismatch(view, group) for name, group in view.groups.items()}
    memory = memory.with_(
        unregistered=Map(unregistered),
        sizes=Map({name: size for name, size in sizes.items() if size is not None}),
        unneeded=Map({name: at for name, at in memory.unneeded.items() if view.store.node(name) is not None}),
    )
    for name in sorted(memory.scale_ups):
        memory = _of_scale_up(view, memory, name)
    return memory


def _of_scale_up(view: View, memory: AutoscalerMemory, name: str) -> AutoscalerMemory:
    """A scale-up ends well when nothing is upcoming any more, and badly when its time is over."""
    group = view.groups.get(name)
    if group is None or not view.upcoming(group):
        return memory.with_(scale_ups=memory.scale_ups.delete(name), backoffs=memory.backoffs.discard(name))
    if memory.scale_ups[name] >= view.now:
        return memory
    failed = memory.backoffs.set(name, backed_off(view, memory.backoffs.get(name)))
    return memory.with_(scale_ups=memory.scale_ups.delete(name), backoffs=failed)


def backed_off(view: View, before: Backoff | None) -> Backoff:
    """The back-off of a group that has failed now: doubled each time, unless the last failure is long ago."""
    options = view.options
    if before is None or before.failed_at + options.backoff_reset < view.now:
        length = options.backoff_first
    else:
        length = min(before.length * 2, options.backoff_most)
    return Backoff(view.now + length, length, view.now)


def _mismatch(view: View, group: NodeGroup) -> Mismatch | None:
    """A difference between the instances of a group and its size; an old one keeps its beginning."""
    current = len(instances(view.machines, group.name))
    if current == group.desired:
        return None
    before = view.memory.sizes.get(group.name)
    if before is not None and (before.current, before.expected) == (current, group.desired):
        return before
    return Mismatch(current, group.desired, view.now)


def overdue(view: View) -> list[Action]:
    """Instances that have no node after fifteen minutes are deleted, as far as the group's minimum allows."""
    actions: list[Action] = []
    for name, group in view.groups.items():
        late = view.readiness[name].overdue[: max(0, group.desired - group.minimum)]
        actions += [TerminateInstance(each, "it has not become a node in time", shrinks=True) for each in late]
    return actions


def sizes_put_right(view: View) -> list[Action]:
    """A group that has had fewer instances than its size for fifteen minutes is made that small."""
    actions: list[Action] = []
    for name in sorted(view.memory.sizes):
        size, group = view.memory.sizes[name], view.groups[name]
        if size.since + view.options.provision < view.now and group.minimum <= size.current < size.expected:
            reason = f"only {size.current} of {size.expected} instances have come"
            actions.append(ResizeGroup(name, size.current, reason))
    return actions


def changes_at(view: View) -> Iterator[Seconds]:
    """When something in all this is due by itself."""
    memory, options = view.memory, view.options
    for at in memory.scale_ups.values():
        yield at + MOMENT
    for since in memory.unregistered.values():
        yield since + options.provision + MOMENT
    for size in memory.sizes.values():
        yield size.since + options.provision + MOMENT
    for each in view.readiness.values():
        for name in each.starting:
            node = view.store.node(name)
            if node is not None:
                yield node.created_at + options.startup


def starts_until(view: View, name: str) -> At | None:
    """Until when a node that is not ready counts as starting, in a form for marks."""
    node = view.store.node(name)
    return None if node is None else At(node.created_at + view.options.startup)
