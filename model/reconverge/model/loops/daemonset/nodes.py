"""Which nodes are a DaemonSet's, and which of its pods belong to which.

Source: `pkg/controller/daemon/daemon_controller.go` (NodeShouldRunDaemonPod, getNodesToDaemonPods).
"""

from __future__ import annotations

from functools import lru_cache

from attrs import frozen

from reconverge.model.daemon_pods import daemon_spec, target_node
from reconverge.model.labels import Labels, label
from reconverge.model.objects import DaemonSet, Node, Pod, PodSpec, Taint
from reconverge.model.objects.node import NO_EXECUTE, NO_SCHEDULE
from reconverge.model.objects.revision import REVISION_HASH
from reconverge.model.value import Seconds

MOST_KEPT = 65536


def fits(ds: DaemonSet, node: Node) -> tuple[bool, bool]:
    """(a pod should run on the node, one that is there may go on running); resources are not looked at."""
    return _fits(ds.template.spec, node.name, node.labels, node.taints)


@lru_cache(maxsize=MOST_KEPT)
def _fits(template: PodSpec, name: str, labels: Labels, taints: tuple[Taint, ...]) -> tuple[bool, bool]:
    if template.node_name not in (None, name) or not _selected(template, name, labels):
        return False, False
    tolerations = daemon_spec(template).tolerations
    untolerated = {taint.effect for taint in taints if not any(each.tolerates(taint) for each in tolerations)}
    return not untolerated & {NO_SCHEDULE, NO_EXECUTE}, NO_EXECUTE not in untolerated


def _selected(template: PodSpec, name: str, labels: Labels) -> bool:
    if not set(template.node_selector) <= set(labels):
        return False
    required = template.affinity.node_required
    return required is None or any(term.matches(labels, name) for term in required)


def by_node(pods: list[Pod]) -> dict[str, list[Pod]]:
    """Pods by the node they are on or for, oldest first, those with a node before those without.

    Pods that are finished and being deleted are left out: nothing is to be done about them.
    """
    found: dict[str, list[Pod]] = {}
    for pod in sorted(pods, key=oldest_first):
        node = target_node(pod)
        if node is not None and not (pod.terminal and pod.deletion_at is not None):
            found.setdefault(node, []).append(pod)
    return found


def oldest_first(pod: Pod) -> tuple[bool, Seconds, int]:
    """The order in which one of several pods on a node is kept (podByCreationTimestampAndPhase)."""
    return pod.node is None, pod.created_at, pod.uid


@frozen
class Pair:
    """The pods on a node that stay: at most one of the present revision and one of an older one."""

    new: Pod | None
    old: Pod | None


def pair(pods: list[Pod], hash_: str) -> Pair | None:
    """The pair among a node's pods, Terminating ones not counted; None if there are more (findUpdatedPodsOnNode)."""
    staying = [pod for pod in pods if pod.deletion_at is None]
    new = [pod for pod in staying if updated(pod, hash_)]
    old = [pod for pod in staying if not updated(pod, hash_)]
    if len(new) > 1 or len(old) > 1:
        return None
    return Pair(new[0] if new else None, old[0] if old else None)


def updated(pod: Pod, hash_: str) -> bool:
    """Whether a pod is of the present revision (IsPodUpdated)."""
    return label(pod.labels, REVISION_HASH) == hash_
