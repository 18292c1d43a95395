"""Times that must pass before a loop may take a pod: tolerationSeconds of a taint, the quarantine of a lost node.

Neither the moment at which a taint came nor the one at which a Node went is kept anywhere. What is known are moments
before which it cannot have been; what is judged here is wrong whenever it really was.
Source: `pkg/controller/tainteviction/taint_eviction.go`, `pkg/controller/podgc/gc_controller.go` (gcOrphaned).
"""

from __future__ import annotations

from reconverge.invariants.situation import Step
from reconverge.invariants.stock.facts import untolerated
from reconverge.model.events import TaintAdded, TaintRemoved
from reconverge.model.objects import Node, Pod
from reconverge.model.objects.node import NO_EXECUTE, NOT_READY, UNREACHABLE
from reconverge.model.value import Seconds

OF_HEALTH = frozenset({NOT_READY, UNREACHABLE})
MAY_REVIVE = frozenset(
    {"node-recover", "node-reboot", "kubelet-restart", "zone-recover", "control-plane-cut", "etcd-member-back"}
)
"""Events after which a node's last heartbeat may be younger than the taint for its silence."""


def too_soon(step: Step, pod: Pod, node: Node) -> str:
    """What is wrong with the time of an eviction by a taint that is tolerated for a while; empty if it may be right."""
    taints = tuple(taint for taint in node.taints if taint.effect == NO_EXECUTE)
    if untolerated(pod, taints) is not None:
        return ""
    # An eviction that was planned for one taint stands for the next: the shortest time of any toleration counts.
    limits = [max(each.seconds, 0) for each in pod.spec.tolerations if each.seconds is not None]
    since = _earliest_taint(step, pod, node)
    now = step.before.cluster.now
    if since is None or not limits or now >= since + min(limits):
        return ""
    names = ", ".join(str(taint) for taint in taints)
    return f"{node.name} has had {names} for {now - since:g} s at most, and it tolerates that for {min(limits):g} s"


def _earliest_taint(step: Step, pod: Pod, node: Node) -> Seconds | None:
    """A moment before which no eviction of the pod from the node was planned; None if one may always have been."""
    start = step.before.start
    if start is None:
        return None
    before = start.store.node(node.name)
    if before is not None and any(taint.effect == NO_EXECUTE for taint in before.taints):
        return None
    lease = step.before.store.lease(node.name)
    moments = [start.now, pod.created_at]
    silent = lease is not None and lease.renewed_at is not None and node.ready == "Unknown"
    if silent and before is not None and before.uid == node.uid and _only_silence(step, node):
        assert lease is not None
        assert lease.renewed_at is not None
        moments.append(lease.renewed_at + step.before.cluster.rules.node_monitor_grace)
    return max(moments)


def _only_silence(step: Step, node: Node) -> bool:
    """Whether the node was heard from until it fell silent once, and its taints can be of nothing else."""
    if any(taint.effect == NO_EXECUTE and taint.key not in OF_HEALTH for taint in node.taints):
        return False
    return not any(
        isinstance(event, TaintAdded | TaintRemoved) or event.name in MAY_REVIVE or hasattr(event, "loop")
        for event in step.before.events
    )


def in_quarantine(step: Step, pod: Pod) -> str:
    """What is wrong with the time at which a pod of a lost Node is collected; empty if it may be right.

    A Node that was there at the start has not been gone for longer than since then.
    """
    start = step.before.start
    if start is None or pod.node is None or start.store.node(pod.node) is None:
        return ""
    gone, least = step.before.cluster.now - start.now, step.before.cluster.rules.gc_quarantine
    if gone >= least:
        return ""
    return (
        f"the Node object {pod.node} has been gone for {gone:g} s at most, and its pods are left alone for {least:g} s"
    )
