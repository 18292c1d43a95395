"""Whether nodes come and go as they should: none stays that nobody needs, none goes with what runs on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Quiet, Situation, Step
from reconverge.invariants.stock.facts import count
from reconverge.invariants.stock.oracle import Oracle
from reconverge.model.cluster import Cluster
from reconverge.model.labels import label
from reconverge.model.local_pods import LocalPod
from reconverge.model.loop import MACHINES
from reconverge.model.loops.cluster_autoscaler import AutoscalerOptions
from reconverge.model.loops.cluster_autoscaler.drainability import BLOCK, Case, is_daemon, refuses, verdict
from reconverge.model.loops.cluster_autoscaler.scale_down import DISABLED, utilisation
from reconverge.model.machines import Machine
from reconverge.model.node_groups import NodeGroup
from reconverge.model.objects import Node, Pod
from reconverge.model.objects.pod import MIRROR
from reconverge.model.resources import total
from reconverge.model.store import Store

TAKERS = frozenset({"node-group", "cluster-autoscaler", "upgrade"})
"""Loops that take machines away on purpose."""


def group_of(cluster: Cluster, node: str) -> NodeGroup | None:
    """The node group of a node that an autoscaler looks after, if it has one."""
    machine = cluster.machines.get(node)
    group = cluster.machines.group(machine.group) if machine is not None and machine.exists else None
    return group if group is not None and group.scales and "cluster-autoscaler" in cluster.loops else None


def movers(store: Store, node: str) -> list[Pod]:
    """The pods of a node that would have to go elsewhere with it: not those that belong to it, nor those that go."""
    pods = [pod for pod in store.pods_on(node) if pod.active]
    return [pod for pod in pods if not is_daemon(pod) and label(pod.annotations, MIRROR) is None]


def homeless(store: Store, node: str) -> list[Pod]:
    """The pods of a node that the other nodes do not take together, the larger ones placed first.

    Tried with the nodes in both directions, for what is placed first may take the only place of another.
    """
    others = [each.name for each in store.nodes() if each.name != node]
    answers = [_left_over(store, node, order) for order in (others, others[::-1])]
    return min(answers, key=len)


def certainly_fits(store: Store, node: str) -> bool:
    """Whether the pods of a node find places on the others whichever node is tried first."""
    others = [each.name for each in store.nodes() if each.name != node]
    return not _left_over(store, node, others) and not _left_over(store, node, others[::-1])


def _left_over(store: Store, node: str, others: Sequence[str]) -> list[Pod]:
    pods = movers(store, node)
    pods.sort(key=lambda pod: (-pod.spec.requests.cpu, -pod.spec.requests.memory, pod.key))
    for pod in pods:
        store, _ = store.remove("Pod", pod.key)
    left = []
    for pod in pods:
        oracle = Oracle(store, pod)
        places = (each for each in map(store.node, others) if each is not None and oracle.fits(each))
        place = next(places, None)
        if place is None:
            left.append(pod)
        else:
            store, _ = store.put(pod.with_(node=place.name))
    return left


def _is_autoscaled(situation: Situation, node: Node) -> bool:
    group = group_of(situation.cluster, node.name)
    return group is not None and label(node.annotations, DISABLED) != "true"


@invariant(
    "unneeded-nodes-removed",
    "eventually",
    for_each="Node",
    statement="A node of an autoscaled group that is used little and whose pods fit elsewhere is removed in the end.",
    why="A node that nobody needs costs as much as one in use, and is easily kept for ever by a single pod.",
    remedy="Let the budget of what runs there allow a disruption, give bare pods a controller, give pods of "
    "kube-system a budget, or annotate what may be moved with safe-to-evict: true.",
    source="autoscaler/cluster-autoscaler/FAQ.md (what types of pods can prevent CA from removing a node)",
    applies=_is_autoscaled,
)
def unneeded_nodes_removed(quiet: Quiet, node: Node) -> Iterable[Violation]:
    """Says how little the node is used and what holds it up; a pod marked as not safe to evict is its owner's wish."""
    group = group_of(quiet.cluster, node.name)
    if quiet.outcome != "rest" or group is None or group.desired <= group.minimum:
        return ()
    store = quiet.store
    used = _used(store, node)
    if used > quiet.cluster.loops["cluster-autoscaler"].memory.threshold or not certainly_fits(store, node.name):
        return ()
    pods = movers(store, node.name)
    if any(refuses(pod) for pod in pods):
        return ()
    held = _held_up(quiet, node.name)
    elsewhere = f"its {count(len(pods), 'pod')} would fit elsewhere" if pods else "nothing but daemons runs on it"
    message = f"{node.reference} stays although {used:.0%} of it is requested and {elsewhere}{held}"
    facts = {"group": group.name, "size": group.desired, "minimum": group.minimum, "requested": round(used, 3)}
    return (Violation(node.reference, message, facts),)


def _used(store: Store, node: Node) -> float:
    pods = [pod for pod in store.pods_on(node.name) if not pod.terminal]
    return utilisation(total(pod.spec.requests for pod in pods), node.allocatable.resources)


def _held_up(quiet: Quiet, node: str) -> str:
    """The first pod that the autoscaler does not move, and why; empty if it moves all."""
    options = AutoscalerOptions()
    for pod in quiet.store.pods_on(node):
        if not pod.terminal:
            said = verdict(Case(quiet.store, pod, quiet.cluster.now, options, {}))
            if said.outcome == BLOCK:
                return f": {pod.reference} holds it up, {said.reason}"
    return ""


@invariant(
    "drained-before-removed",
    "on_step",
    statement="A machine that is taken away on purpose runs nothing that could have been moved before.",
    why="What still runs there dies at once: no budget is asked, no grace period is given, no endpoint is withdrawn.",
    remedy="Suspend the cloud's own rebalancing of zones, have one group per zone, or let a termination handler drain.",
    source="autoscaler/cluster-autoscaler/cloudprovider/aws/README.md (AZRebalance)",
    watches=(MACHINES,),
)
def drained_before_removed(step: Step, _: None) -> Iterable[Violation]:
    """Judges machines that cease to exist by the doing of a control loop; what a DaemonSet runs belongs to them."""
    if step.actor not in TAKERS:
        return ()
    found = []
    for change in step.changes:
        if change.kind != MACHINES or change.before is None or change.after is None:
            continue
        if change.before.exists and not change.after.exists:
            found += _killed(step, change.before)
    return found


def _killed(step: Step, machine: Machine) -> list[Violation]:
    running = [pod for uid, pod in sorted(machine.pods.items()) if pod.alive and _would_move(step.before.store, pod)]
    # What runs on a machine that is cut off nobody could have moved.
    if not machine.connected or not running:
        return []
    names = [f"pod/{pod.key.removeprefix('default/')}" for pod in running]
    message = f"{step.actor} takes machine {machine.name} away with what runs on it: {', '.join(names)}"
    return [Violation(f"node/{machine.name}", message, {"by": step.actor, "pods": names})]


def _would_move(store: Store, local: LocalPod) -> bool:
    pod = store.pod(local.key)
    return pod is None or (not is_daemon(pod) and label(pod.annotations, MIRROR) is None)
