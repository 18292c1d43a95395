"""What objects *are*, apart from their names: the order in which interchangeable candidates are taken.

The default schedule takes candidates in the order of their content, and by name only between those that are alike.
By name alone, two clusters that are the same up to renaming would go different ways, and treating them as one state
would lose outcomes.
"""

from __future__ import annotations

from functools import lru_cache
from math import floor, log2
from typing import Any

from attrs import frozen

from reconverge.model.labels import Labels
from reconverge.model.objects import Node, Pod
from reconverge.model.objects.node import HOSTNAME
from reconverge.model.store import Store
from reconverge.model.value import Seconds

AGES_EXACT_UP_TO = 600
"""Ages above this many seconds matter only through the logarithmic buckets in which controllers compare them."""


@frozen
class At:
    """A moment in a loop's memory. States compare it relative to now."""

    time: Seconds


def age(then: Seconds, now: Seconds) -> Seconds | str:
    """How long ago (negative: how soon) a moment is, as far as it can matter.

    Up to ten minutes exactly, which covers all timers that look back; beyond, the logarithmic bucket of the age in
    nanoseconds by which the ReplicaSet controller compares ages (`pkg/controller/controller_utils.go`).
    """
    passed = now - then
    if passed <= AGES_EXACT_UP_TO:
        return passed
    return f"2^{floor(log2(passed * 1e9))}"


def pod_likeness(pod: Pod, now: Seconds) -> tuple[Any, ...]:
    """What a pod is, without its name, uid and node: equal for interchangeable pods of one owner."""
    return (
        pod.namespace,
        pod.owner.kind if pod.owner else "",
        pod.owner.name if pod.owner else pod.name,
        pod.template_digest,
        pod.phase,
        pod.reason,
        pod.ready,
        age(pod.ready_since, now) if pod.ready_since or pod.ready else "",
        age(pod.created_at, now),
        "" if pod.started_at is None else age(pod.started_at, now),
        pod.restarts,
        pod.restarts_beside,
        pod.waiting,
        "" if pod.deletion_at is None else age(pod.deletion_at, now),
        "" if pod.grace is None else pod.grace,
        pod.disruption_target,
        pod.unscheduled or "",
        pod.finalizers,
        pod.exit_codes,
        pod.labels,
        pod.annotations,
        pod.spec.priority,
    )


_TEXTS: dict[int, tuple[Pod, Seconds, str]] = {}
_MOST_TEXTS = 200_000


def pod_text(pod: Pod, now: Seconds) -> str:
    """`pod_likeness` as a string, so that any two can be ordered.

    Remembered by the identity of the pod, since nodes are compared again and again with the same pods on them. A cache
    only: results do not depend on it.
    """
    kept = _TEXTS.get(id(pod))
    if kept is not None and kept[0] is pod and kept[1] == now:
        return kept[2]
    if len(_TEXTS) >= _MOST_TEXTS:
        _TEXTS.clear()
    text = repr(pod_likeness(pod, now))
    _TEXTS[id(pod)] = (pod, now, text)
    return text


@lru_cache(maxsize=4096)
def labels_without_hostname(labels: Labels) -> Labels:
    """A node's labels without the one that is its name."""
    return tuple(pair for pair in labels if pair[0] != HOSTNAME)


def node_likeness(store: Store, node: Node, now: Seconds) -> str:
    """What a node is, with the pods on it, without its name. A string, so that any two can be ordered."""
    pods = sorted(pod_text(pod, now) for pod in store.pods_on(node.name))
    return repr(
        (
            labels_without_hostname(node.labels),
            node.allocatable,
            node.ready,
            node.ready_reason,
            sorted(node.pressure),
            node.unschedulable,
            node.taints,
            pods,
        )
    )
