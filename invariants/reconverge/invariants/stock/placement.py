"""Where pods are put: what a binding must satisfy, and what a kubelet and a tidying loop must not undo."""

from __future__ import annotations

from collections.abc import Iterable

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Step
from reconverge.invariants.stock.facts import removals, undisturbed, untolerated
from reconverge.invariants.stock.node_groups import homeless
from reconverge.invariants.stock.oracle import Oracle
from reconverge.invariants.stock.selection import Refusal, selection_refusals
from reconverge.model.action import Bind, Patch
from reconverge.model.loops.cluster_autoscaler.writes import MarkToBeDeleted
from reconverge.model.loops.kubelet.actions import FromNode
from reconverge.model.objects import Node, Pod
from reconverge.model.objects.node import NO_EXECUTE
from reconverge.model.store import Store

BY_BINDINGS = frozenset({"capacity", "ports", "anti-affinity"})
"""What only another binding can have broken since the scheduler looked: no excuse even for an interrupted pass."""
OWN_REASONS = ("OutOf", "NodeAffinity", "NodePorts", "TaintToleration")
"""A kubelet's reasons for a rejection that are the scheduler's rules, too."""
TIDYING = frozenset({"descheduler", "cluster-autoscaler"})
"""Loops that remove pods only to have them elsewhere."""


@invariant(
    "placement-honoured",
    "on_step",
    family="law",
    statement="A binding satisfies node selector, required affinity, taints, hard spread, host ports and capacity as "
    "the store stands at that moment.",
    why="Nothing corrects a placement later: what is wrong when a pod is bound stays wrong until the pod goes.",
    remedy="Let one scheduler with a view that has caught up place the pods; see what its view lacked.",
    source="pkg/scheduler/framework/plugins/; pkg/registry/core/pod/storage/storage.go (binding checks none of it)",
    watches=("Pod",),
)
def placement_honoured(step: Step, _: None) -> Iterable[Violation]:
    """Judges the node of each binding with an oracle of its own."""
    action = step.action
    if type(action) is not Bind:
        return ()
    store = step.before.store
    pod, node = store.pod(action.key), store.node(action.node)
    if pod is None:
        return ()
    refusals = [Refusal("gone", "has no Node object")] if node is None else list(Oracle(store, pod).refusals(node))
    if refusals and not undisturbed(step):
        refusals = [each for each in refusals if each.kind in BY_BINDINGS]
    return (_misplaced(pod, action.node, refusals),) if refusals else ()


def _misplaced(pod: Pod, node: str, refusals: list[Refusal]) -> Violation:
    reasons = "; it ".join(each.text for each in refusals)
    facts = {"node": node, "broken": [each.kind for each in refusals]}
    return Violation(pod.reference, f"{pod.reference} was bound to {node}, which {reasons}", facts)


@invariant(
    "admission-agrees",
    "on_step",
    family="law",
    statement="A kubelet does not reject a pod that the scheduler placed and that fits its node as the store stands.",
    why="A rejected pod has failed for good: a bare pod is lost, a Job counts a failure, a ReplicaSet creates another.",
    remedy="Have resources released before the end of a pod is published; leave room for what the kubelet still holds.",
    source="pkg/kubelet/lifecycle/predicate.go",
    watches=("Pod",),
)
def admission_agrees(step: Step, _: None) -> Iterable[Violation]:
    """Judges rejections for reasons that the scheduler knows, too; pods that name their node were never scheduled."""
    action = step.action
    if type(action) is not FromNode or not isinstance(action.action, Patch):
        return ()
    fields = dict(action.action.fields)
    reason = str(fields.get("reason", ""))
    if action.action.kind != "Pod" or fields.get("phase") != "Failed" or not reason.startswith(OWN_REASONS):
        return ()
    store = step.before.store
    pod, node = store.pod(action.action.key), store.node(action.node)
    if pod is None or node is None or pod.spec.node_name is not None or not _admissible(store, pod, node):
        return ()
    message = (
        f"{pod.reference} was placed on {node.name} and fits there by the store, but its kubelet rejects it: "
        f"{fields.get('message') or reason}"
    )
    return (Violation(pod.reference, message, {"node": node.name, "reason": reason}),)


def _admissible(store: Store, pod: Pod, node: Node) -> bool:
    """Whether what a kubelet checks holds by the store: NoSchedule taints and neighbours are none of its business."""
    closing = tuple(taint for taint in node.taints if taint.effect == NO_EXECUTE)
    if untolerated(pod, closing) is not None or next(selection_refusals(pod, node), None) is not None:
        return False
    return next(Oracle(store, pod).room(node), None) is None


@invariant(
    "removal-has-room",
    "on_step",
    family="objective",
    statement="A pod is removed to tidy up, or its whole node, only if what ran there fits on other nodes.",
    why="A pod that was evicted for a better place and finds none is down for nothing.",
    remedy="Let the tool that evicts simulate the scheduler's own rules (node fit), or mark the pod as one that stays.",
    source="the descheduler's nodeFit; cluster-autoscaler/simulator/",
    watches=(
        "Pod",
        "Node",
    ),
)
def removal_has_room(step: Step, _: None) -> Iterable[Violation]:
    """Judges what the descheduler and the cluster autoscaler remove."""
    if step.actor not in TIDYING:
        return ()
    store = step.before.store
    if isinstance(step.action, MarkToBeDeleted):
        return _crowded_out(store, step.action.node)
    found = []
    for change in removals(step):
        pod: Pod = change.before
        if pod.node is None or pod.terminal or (pod.owner is not None and pod.owner.kind == "DaemonSet"):
            continue
        oracle = Oracle(store, pod)
        others = [node for node in store.nodes() if node.name != pod.node]
        if not any(oracle.fits(node) for node in others):
            message = (
                f"{step.actor} removes {pod.reference} from {pod.node}, and none of {len(others)} other nodes fits it"
            )
            found.append(Violation(pod.reference, message, {"node": pod.node, "other_nodes": len(others)}))
    return found


def _crowded_out(store: Store, node: str) -> list[Violation]:
    """Judges the removal of a whole node when it begins: its pods need places all at once."""
    left = homeless(store, node)
    if not left:
        return []
    names = [pod.reference for pod in left]
    message = f"cluster-autoscaler removes node/{node}, and no other node has a place for {', '.join(names)}"
    return [Violation(f"node/{node}", message, {"pods": names})]
