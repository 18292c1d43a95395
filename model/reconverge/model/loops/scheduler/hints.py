"""Which events may help which rejected pods: when the scheduler looks at an unschedulable pod again.

Wakes rather too often than too rarely; but only events that other actors cause wake a pod, never the writes of its
own unsuccessful cycle, and a rejected pod's status wakes no other.
Source: EventsToRegister of each plugin in `pkg/scheduler/framework/plugins/`, `pkg/scheduler/eventhandlers.go`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from reconverge.model.loops.scheduler.memory import Rejection, SchedulerMemory
from reconverge.model.loops.scheduler.plugin import Filter
from reconverge.model.loops.scheduler.plugins.inter_pod_affinity import required_terms
from reconverge.model.loops.scheduler.plugins.pod_topology_spread import constraints_of
from reconverge.model.objects import Node, Pod
from reconverge.model.store import Change, Store

SPREAD = "PodTopologySpread"
AFFINITY = "InterPodAffinity"


class Event(Enum):
    """A change, as far as it can help a pod that has been rejected."""

    NOTHING = "nothing"
    NODE = "a node came or changed"
    NODE_GONE = "a node went"
    FREED = "a pod left a node, or gave up one that it waited for"
    BOUND = "a pod came to a node"
    RELABELLED = "labels of a pod on a node changed"
    VOLUME = "a claim, a volume or a storage class came or changed"


def node_event(change: Change) -> Event:
    """What a change of a Node object is. Readiness is not looked at: it shows in the taints."""
    before: Node | None = change.before
    after: Node | None = change.after
    if after is None:
        return Event.NODE_GONE
    if (
        before is None
        or before.taints != after.taints
        or before.unschedulable != after.unschedulable
        or before.labels != after.labels
        or (before.allocatable is not after.allocatable and before.allocatable != after.allocatable)
    ):
        return Event.NODE
    return Event.NOTHING


def pod_event(change: Change) -> Event:
    """What a change of a pod is to the other pods."""
    before: Pod | None = change.before
    after: Pod | None = change.after
    was_on = before is not None and before.node is not None and not before.terminal
    is_on = after is not None and after.node is not None and not after.terminal
    if was_on and not is_on:
        return Event.FREED
    if before is not None and after is not None and is_on and before.uid != after.uid:
        # A watch that has caught up tells of a pod's end and of the next of its name in one; the end helps more pods.
        return Event.FREED
    if is_on and not was_on:
        return Event.BOUND
    if was_on and before is not None and after is not None and before.labels != after.labels:
        return Event.RELABELLED
    return Event.NOTHING


def woken(
    memory: SchedulerMemory, store: Store, filters: Sequence[Filter], event: Event, pod: Pod | None
) -> Iterator[str]:
    """Keys of the rejected pods that an event may help, ordered. `pod` is the one that the event is about."""
    if event is Event.NOTHING or not memory.rejected:
        return
    node_only = frozenset(each.name for each in filters if each.node_only)
    for key in sorted(memory.rejected):
        if _helps(key, memory.rejected[key], store, node_only, event, pod):
            yield key


def _helps(
    key: str, rejection: Rejection, store: Store, node_only: frozenset[str], event: Event, pod: Pod | None
) -> bool:
    plugins = rejection.plugins
    match event:
        case Event.NODE:
            return True
        case Event.NODE_GONE:
            # A domain less can raise the smallest count.
            return SPREAD in plugins
        case Event.FREED:
            return any(plugin not in node_only for plugin in plugins)
        case Event.RELABELLED:
            return SPREAD in plugins or AFFINITY in plugins
        case Event.VOLUME:
            return any(plugin.startswith("Volume") for plugin in plugins)
        case Event.BOUND:
            waiting = store.pod(key)
            return waiting is not None and pod is not None and _wanted(waiting, plugins, pod)
        case _:
            return False


def _wanted(waiting: Pod, plugins: tuple[str, ...], pod: Pod) -> bool:
    """Whether a pod that came to a node can help by being there: as company, or by raising the smallest count."""
    if AFFINITY in plugins and any(term.matches(pod) for term in required_terms(waiting)):
        return True
    return (
        SPREAD in plugins
        and waiting.namespace == pod.namespace
        and any(each.selects(pod) for each in constraints_of(waiting.spec.spread, waiting.labels, hard=True))
    )
