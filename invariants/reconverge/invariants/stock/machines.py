"""What machines really run and hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from reconverge.invariants.kinds import Violation, invariant
from reconverge.invariants.situation import Situation, Step
from reconverge.invariants.stock.facts import owning_deployment, owning_set
from reconverge.invariants.stock.oracle import ports_clash
from reconverge.model.cluster import Cluster
from reconverge.model.labels import label
from reconverge.model.local_pods import LocalPod
from reconverge.model.loop import MACHINES
from reconverge.model.loops.kubelet.actions import Locally
from reconverge.model.machines import Machine
from reconverge.model.objects import DaemonSet, Deployment, Node, Pod
from reconverge.model.objects.job import JOB_INDEX
from reconverge.model.resources import total
from reconverge.model.store import Change, Store

GENERATED = frozenset({"ReplicaSet", "DaemonSet"})
"""Owners whose pods get a name of their own each, so that no two incarnations share one."""


@invariant(
    "pod-on-one-node",
    "on_step",
    family="law",
    statement="A pod is bound once, and no pod, name, Job index, DaemonSet on a node or singleton of Recreate runs "
    "twice at one time.",
    why="Two live copies of one identity write to the same data.",
    remedy="Never force-delete a pod before its machine is known to be off; fence the machine first.",
    source="documentation of StatefulSets (at most one), force deletion; pkg/registry/core/pod/storage/storage.go",
    watches=(
        "Pod",
        MACHINES,
    ),
)
def pod_on_one_node(step: Step, _: None) -> Iterable[Violation]:
    """Counts processes, of Terminating pods and on cut-off machines, too."""
    action = step.action
    if type(action) is Locally:
        if action.pod.state != "running":
            return ()
        machine = step.before.cluster.machines.get(action.node)
        known = machine.pods.get(action.pod.uid) if machine is not None else None
        return () if known is not None and known.alive else _second(step.after.cluster, action.node, action.pod)
    return [_moved(change) for change in step.changes if change.kind == "Pod" and _is_moved(change)]


def _is_moved(change: Change) -> bool:
    before, after = change.before, change.after
    return (
        before is not None
        and after is not None
        and before.node is not None
        and before.node != after.node
        and before.uid == after.uid
    )


def _moved(change: Change) -> Violation:
    pod: Pod = change.before
    message = f"{pod.reference} was bound to {pod.node} and is now bound to {change.after.node}"
    return Violation(pod.reference, message, {"from": pod.node, "to": change.after.node})


def _second(cluster: Cluster, node: str, started: LocalPod) -> list[Violation]:
    pod = cluster.store.pod(started.key)
    own = pod is not None and pod.uid == started.uid and pod.node == node
    if own and pod is not None and pod.owner is not None and pod.owner.kind in GENERATED:
        others: Iterator[tuple[str, LocalPod]] = chain(_older_revisions(cluster, pod), _same_daemon(cluster, pod))
    else:
        others = _same_name(cluster, started)
    of_index = _same_index(cluster, pod) if own and pod is not None and pod.owner and pod.owner.kind == "Job" else []
    found = [each for each in (*others, *of_index) if (each[0], each[1].uid) != (node, started.uid)]
    return [_runs_twice(node, started, *each) for each in found[:1]]


def _runs_twice(node: str, started: LocalPod, where: str, other: LocalPod) -> Violation:
    name = started.key.removeprefix("default/")
    same = "it" if other.key == started.key else f"pod/{other.key.removeprefix('default/')}, which it replaces,"
    message = f"pod/{name} starts on {node} while {same} still runs on {where}"
    return Violation(f"pod/{name}", message, {"started_on": node, "runs_on": where})


def _running(cluster: Cluster) -> Iterator[tuple[str, LocalPod]]:
    machines = cluster.machines.by_name
    for name in sorted(machines):
        machine = machines[name]
        if machine.powered:
            yield from ((name, pod) for pod in machine.pods.values() if pod.alive)


def _same_name(cluster: Cluster, started: LocalPod) -> Iterator[tuple[str, LocalPod]]:
    return (each for each in _running(cluster) if each[1].key == started.key)


def _index(pod: Pod) -> str | None:
    return label(pod.annotations, JOB_INDEX) or label(pod.labels, JOB_INDEX)


def _same_index(cluster: Cluster, pod: Pod) -> list[tuple[str, LocalPod]]:
    """Other processes of a Job's index, also those on cut-off machines whose objects are gone: their names tell it."""
    index, owner = _index(pod), pod.owner
    if index is None or owner is None:
        return []
    prefix = f"{pod.namespace}/{owner.name}-{index}-"
    others = {each.uid for each in cluster.store.pods_of(owner.uid) if _index(each) == index}
    return [each for each in _running(cluster) if each[1].uid in others or each[1].key.startswith(prefix)]


def _older_revisions(cluster: Cluster, pod: Pod) -> Iterator[tuple[str, LocalPod]]:
    """What still runs of the other ReplicaSets of a Recreate Deployment: it promises that nothing does."""
    rs = owning_set(cluster.store, pod)
    deployment = owning_deployment(cluster.store, rs) if rs is not None else None
    if rs is None or deployment is None or deployment.strategy != "Recreate":
        return
    names = _other_sets(cluster.store, deployment, rs.key)
    for where, local in _running(cluster):
        if local.key.rpartition("-")[0] in names:
            yield where, local


def _same_daemon(cluster: Cluster, pod: Pod) -> Iterator[tuple[str, LocalPod]]:
    """What else of its DaemonSet runs on the pod's node, also if its object is gone; none for one with maxSurge."""
    owner, machine = pod.owner, cluster.machines.get(pod.node or "")
    if owner is None or owner.kind != "DaemonSet" or machine is None or not machine.powered:
        return
    ds: DaemonSet | None = cluster.store.get("DaemonSet", f"{pod.namespace}/{owner.name}")
    if ds is None or ds.uid != owner.uid or ds.max_surge not in (0, "0%"):
        return
    known = {each.uid for each in cluster.store.pods_of(ds.uid)}
    for uid in sorted(machine.pods):
        local = machine.pods[uid]
        gone = cluster.store.pod(local.key) is None and local.key.rpartition("-")[0] == ds.key
        if local.alive and (uid in known or gone):
            yield machine.name, local


def _other_sets(store: Store, deployment: Deployment, own: str) -> frozenset[str]:
    return frozenset(rs.key for rs in store.replica_sets_of(deployment.uid) if rs.key != own)


def _machines_and_nodes(situation: Situation, change: Change) -> Iterable[str]:
    """Machines and Nodes have one name; pods of the API do not count here."""
    return (change.key,) if change.kind in (MACHINES, "Node") else ()


@invariant(
    "requests-within-capacity",
    "always",
    for_each="Node",
    family="law",
    statement="What a kubelet has admitted never exceeds its node's allocatable: cpu, memory, pods, ports, extended.",
    why="An overcommitted node starves or kills pods that were promised their share.",
    remedy="See which admission let the pod in.",
    source="pkg/kubelet/lifecycle/predicate.go; documentation of node allocatable",
    touched_by=_machines_and_nodes,
    watches=(
        MACHINES,
        "Node",
    ),
)
def requests_within_capacity(situation: Situation, node: Node) -> Iterable[Violation]:
    """Sums what the machine's pods hold that the present kubelet has admitted and that have not stopped."""
    machine = situation.cluster.machines.get(node.name)
    if machine is None or not machine.pods:
        return ()
    held = [pod for pod in machine.pods.values() if pod.state != "stopped" and pod.checked]
    return list(_exceeded(node, machine, held))


def _exceeded(node: Node, machine: Machine, held: list[LocalPod]) -> Iterator[Violation]:
    if len(held) > node.allocatable.pods:
        yield _too_much(node, "pods", len(held), node.allocatable.pods)
    for name, amount in total(pod.spec.requests for pod in held).amounts():
        most = node.allocatable.resources.amount(name)
        if amount > most:
            yield _too_much(node, name, amount, most)
    taken: list[tuple[str, str, int]] = []
    for pod in sorted(held, key=lambda each: each.uid):
        for port in [port for container in pod.spec.containers for port in container.host_ports]:
            if any(ports_clash(port, other) for other in taken):
                message = f"{node.reference} has given host port {port[2]}/{port[1]} to two pods"
                yield Violation(node.reference, message, {"port": port[2], "pod": pod.key})
            taken.append(port)


def _too_much(node: Node, name: str, amount: int, most: int) -> Violation:
    message = f"{node.reference} has admitted {amount} {name}, and has {most}"
    return Violation(node.reference, message, {"resource": name, "admitted": amount, "allocatable": most})
