"""Who controls a pod, and what becomes of what nobody controls any more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Quiet, Step
from reconverge.invariants.stock.facts import acts, removals
from reconverge.model import objects
from reconverge.model.cluster import Cluster
from reconverge.model.objects import Pod

OWNERS = {"replicaset": "ReplicaSet", "statefulset": "StatefulSet", "daemonset": "DaemonSet", "job": "Job"}
"""Kind that each workload loop owns pods as."""


@invariant(
    "one-controller",
    "on_step",
    family="law",
    statement="A pod has at most one controlling owner, and a workload's loop deletes only pods that it created.",
    why="Two controllers of one pod undo each other's work; a pod made by hand is lost when a controller adopts it.",
    remedy="Give each workload labels and a selector of its own, and pods made by hand labels of their own.",
    source="pkg/controller/controller_ref_manager.go; documentation of ReplicaSets (non-template pod acquisitions)",
    watches=("Pod",),
)
def one_controller(step: Step, _: None) -> Iterable[Violation]:
    """Judges deletions by workload loops, and owners that change without the pod having been released."""
    kind = OWNERS.get(step.actor)
    if kind is None:
        return ()
    found = []
    for change in removals(step):
        wrong = _not_its_own(step, kind, change.before)
        if wrong:
            found.append(Violation(change.before.reference, wrong, {"by": step.actor}))
    for change in step.changes:
        if change.kind == "Pod" and change.before is not None and change.after is not None:
            was, now = change.before.owner, change.after.owner
            if was is not None and now is not None and was.uid != now.uid:
                takes = f"{now.kind.lower()}/{now.name} takes"
                message = f"{takes} {change.object.reference} from {was.kind.lower()}/{was.name}"
                found.append(Violation(change.object.reference, message, {"from": was.name, "to": now.name}))
    return found


def _not_its_own(step: Step, kind: str, pod: Pod) -> str:
    """What is wrong with a workload loop's deletion of a pod; empty if the pod is one that it made."""
    owner = pod.owner
    if owner is None:
        return f"{step.actor} deletes {pod.reference}, which has no controller"
    if owner.kind != kind:
        return f"{step.actor} deletes {pod.reference}, which {owner.kind.lower()}/{owner.name} controls"
    state = step.before.cluster.loops.get(step.actor)
    flight = state.in_flight if state is not None else None
    if flight is not None and flight.key != f"{pod.namespace}/{owner.name}":
        by = f"{kind.lower()}/{flight.key.removeprefix('default/')}"
        return f"{by} deletes {pod.reference}, which {owner.kind.lower()}/{owner.name} controls"
    if not pod.name.startswith(f"{owner.name}-"):
        return f"{kind.lower()}/{owner.name} has adopted {pod.reference}, which it did not create, and deletes it"
    return ""


@invariant(
    "orphans-removed",
    "eventually",
    family="law",
    statement="Pods of nodes that are gone, objects of owners that are gone, and Nodes of instances that are gone do "
    "not stay, and nothing runs that the API does not know.",
    why="What nobody controls holds resources and may still write to shared data.",
    remedy="See which collector does not act: pod garbage collection, owner references, the cloud's node controller, "
    "or the kubelet.",
    source="pkg/controller/podgc/gc_controller.go; pkg/controller/garbagecollector/garbagecollector.go; "
    "cloud-provider controllers/nodelifecycle/node_lifecycle_controller.go",
)
def orphans_removed(quiet: Quiet, _: None) -> Iterable[Violation]:
    """Judges the settled state; pods with finalizers wait for somebody else."""
    if quiet.outcome != "rest":
        return ()
    cluster = quiet.cluster
    return [*_lost_pods(cluster), *_dependents(cluster), *_lost_nodes(cluster), *_processes(cluster)]


def _lost_pods(cluster: Cluster) -> Iterator[Violation]:
    """Pods of Nodes that are gone."""
    if not acts(cluster, "pod-gc"):
        return
    for pod in cluster.store.all("Pod"):
        if pod.node is not None and cluster.store.node(pod.node) is None and not pod.finalizers:
            message = f"{pod.reference} stays, and its node {pod.node} is gone"
            yield Violation(pod.reference, message, {"node": pod.node})


def _dependents(cluster: Cluster) -> Iterator[Violation]:
    """Objects whose owner is gone, with the uid that they name; owners of unknown kinds may be anywhere."""
    if not acts(cluster, "garbage-collector"):
        return
    for each in cluster.store.objects():
        owner = each.owner
        if owner is None or each.terminating or getattr(each, "finalizers", False):
            continue
        kind = getattr(objects, owner.kind, None)
        if kind is None:
            continue
        found = cluster.store.get(owner.kind, f"{each.namespace}/{owner.name}" if kind.namespaced else owner.name)
        if found is None or found.uid != owner.uid:
            name = f"{owner.kind.lower()}/{owner.name}"
            yield Violation(each.reference, f"{each.reference} stays, and its owner {name} is gone", {"owner": name})


def _lost_nodes(cluster: Cluster) -> Iterator[Violation]:
    """Nodes whose instance the cloud does not have any more, where a cloud controller looks after them."""
    if "cloud-node" not in cluster.loops or not (acts(cluster, "cloud-node") and acts(cluster, "node-lifecycle")):
        return
    for node in cluster.store.nodes():
        machine = cluster.machines.get(node.name)
        if machine is not None and not machine.exists:
            yield Violation(node.reference, f"{node.reference} stays, and its instance is gone", {"ready": node.ready})


def _processes(cluster: Cluster) -> Iterator[Violation]:
    """What machines run without an object of it, although their kubelets hear from the API and can stop it."""
    machines = cluster.machines.by_name
    for name in sorted(machines):
        machine = machines[name]
        if not (machine.connected and machine.works) or not acts(cluster, "kubelet"):
            continue
        for uid in sorted(machine.pods):
            local = machine.pods[uid]
            pod = cluster.store.pod(local.key)
            if local.alive and (pod is None or pod.uid != uid):
                reference = f"pod/{local.key.removeprefix('default/')}"
                yield Violation(reference, f"{reference} runs on {name}, and its object is gone", {"node": name})
