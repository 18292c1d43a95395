"""Recognising clusters that are the same up to the names of interchangeable things.

References form a tree (a pod hangs under its node, its owner is named by a workload that has a stable name), so
sorting from the leaves up gives an exact canonical form: no permutations are tried. Times are relative to now, uids
and resource versions are left out, and what control loops remember of an object is part of it.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from attrs import fields

from reconverge.model import canonical_machines as machines
from reconverge.model import canonical_proxies as proxies
from reconverge.model import canonical_volumes as volumes
from reconverge.model import canonical_workloads as workloads
from reconverge.model.canonical_workloads import ranked_labels, revision_ranks
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane
from reconverge.model.control_plane_health import HEALTHY
from reconverge.model.daemon_pods import only_node, unpinned
from reconverge.model.likeness import At, age, labels_without_hostname, node_likeness
from reconverge.model.local_pods import LocalPod
from reconverge.model.machines import Machine
from reconverge.model.node_groups import NodeGroup, number_of
from reconverge.model.objects import (
    ApiObject,
    Condition,
    ControllerRevision,
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    Pod,
    PodDisruptionBudget,
    PodSpec,
    ReplicaSet,
    StatefulSet,
)
from reconverge.model.objects.node import HOSTNAME
from reconverge.model.store import Store
from reconverge.model.value import Seconds

Marks = dict[tuple[str, str], list[Any]]
"""What others know of an object, by (kind, key)."""


def fingerprint(plane: ControlPlane, cluster: Cluster, *, symmetry: bool = True, finished: bool = True) -> bytes:
    """Sixteen bytes that are equal for clusters that are the same up to renaming.

    With `symmetry` False nodes keep their names. With `finished` False pods that are only left over are not looked
    at, so that pods that pile up do not hide that everything else repeats.
    """
    form = _Form(plane, cluster, symmetry, finished).whole()
    return blake2b(repr(form).encode(), digest_size=16).digest()


def node_classes(plane: ControlPlane, cluster: Cluster) -> dict[str, str]:
    """For each node and machine its content: nodes of equal content are interchangeable."""
    form = _Form(plane, cluster, True, True)
    return {name: form.text(form.node(name)) for name in form.node_names()}


def pod_classes(plane: ControlPlane, cluster: Cluster) -> dict[str, str]:
    """For each pod its content with that of its node: pods of equal content are interchangeable."""
    form = _Form(plane, cluster, True, True)
    nodes = {name: form.text(form.node(name)) for name in form.node_names()}
    return {
        pod.key: form.text((form.pod(pod), nodes.get(pod.node or "", "")))
        for pod in cluster.store.table("Pod").objects.values()
    }


def left_over(pod: Pod, now: Seconds) -> bool:
    """Whether nothing will come of a pod any more: it has finished, or should long be gone and nobody confirms it."""
    return pod.terminal or (pod.deletion_at is not None and pod.deletion_at <= now)


@lru_cache(maxsize=4096)
def named_nodes(spec: PodSpec) -> frozenset[str]:
    """Names of nodes that a pod spec mentions: those are not interchangeable with others."""
    names = {value for key, value in spec.node_selector if key == HOSTNAME}
    if spec.node_name is not None:
        names.add(spec.node_name)
    terms = list(spec.affinity.node_required or ()) + [each.term for each in spec.affinity.node_preferred]
    for term in terms:
        for requirement in (*term.expressions, *term.fields):
            if requirement.key in (HOSTNAME, "metadata.name"):
                names.update(requirement.values)
    return frozenset(names)


@lru_cache(maxsize=65536)
def _digest(value: Any) -> str:
    return blake2b(repr(value).encode(), digest_size=6).hexdigest()


def _templates(store: Store) -> set[PodSpec]:
    specs: set[PodSpec] = set()
    for table in store.tables.values():
        if table.kind == "Pod":
            specs.update(pod.spec for pod in table.objects.values() if only_node(pod.spec) is None)
        else:
            specs.update(each.template.spec for each in table.objects.values() if hasattr(each, "template"))
    return specs


class _Form:
    """The canonical form of one cluster, built from the leaves up."""

    def __init__(self, plane: ControlPlane, cluster: Cluster, symmetry: bool, finished: bool) -> None:
        self.plane = plane
        self.cluster = cluster
        self.store = cluster.store
        self.now = cluster.now
        self.finished = finished
        self.symmetry = symmetry
        self.proxies = proxies.standings(plane, cluster)
        self.distinguished: set[str] = set()
        if symmetry:
            for spec in _templates(cluster.store):
                self.distinguished |= named_nodes(spec)
            self.distinguished |= self._concealed()
            self.distinguished |= volumes.named_nodes(cluster.store)
        self.sets: dict[str, str] = {}
        self.jobs, ranks = workloads.scheduled_jobs(cluster.store)
        self.ranks = {**revision_ranks(cluster.store), **ranks}
        self.bound_for = self._bound_for()
        self._name_replica_sets()
        self.marks: Marks = defaultdict(list)
        self._collect_marks()

    # Naming --------------------------------------------------------------------------------------------------

    def _name_replica_sets(self) -> None:
        """ReplicaSets by their deployment and the rank of their revision: their real names carry hashes."""
        by_owner: dict[str, list[ReplicaSet]] = defaultdict(list)
        for rs in self.store.table("ReplicaSet").objects.values():
            owner = f"{rs.namespace}/{rs.owner.name}" if rs.owner is not None else ""
            by_owner[owner].append(rs)
        for owner, sets in by_owner.items():
            ordered = sorted(sets, key=lambda rs: (rs.deployment_revision, rs.created_at, rs.name))
            for rank, rs in enumerate(ordered):
                self.sets[rs.key] = f"{owner}~{rank}" if owner else rs.key

    def _concealed(self) -> set[str]:
        """Nodes that are Ready and alike by the API though their machines differ: what nobody has noticed yet.

        Control loops take such nodes in the order of their names, so which name has which machine matters.
        """
        known = self.cluster.machines.by_name
        facts = {name: (*machines.unseen(each), self.proxies.get(name)) for name, each in known.items()}
        if len(set(facts.values())) < 2:
            return set()
        alike: dict[str, list[str]] = defaultdict(list)
        for node in self.store.table("Node").objects.values():
            if node.ready == "True":
                alike[node_likeness(self.store, node, self.now)].append(node.name)
        return {name for names in alike.values() if len({facts.get(each) for each in names}) > 1 for name in names}

    def _bound_for(self) -> dict[str, list[Pod]]:
        """Pods that no node has been chosen for though only one will do, by that node."""
        found: dict[str, list[Pod]] = defaultdict(list)
        for pod in self.store.unbound_pods():
            node = only_node(pod.spec)
            if node is not None:
                found[node].append(pod)
        return found

    def spec(self, spec: PodSpec) -> str:
        """A pod's spec; the name of the only node that it may run on is told by where the pod is listed."""
        return _digest(spec if only_node(spec) is None else unpinned(spec))

    def labels(self, pod: Pod) -> Any:
        """A pod's labels without the names of revisions."""
        if pod.owner is None:
            return pod.labels
        return _digest(ranked_labels(_without_hash(pod.labels), pod.owner.uid, self.ranks))

    def text(self, value: Any) -> str:
        """A value as text, so that any two can be ordered."""
        return repr(value)

    def relative(self, value: Any) -> Any:
        """A value of a memory with its moments relative to now."""
        if isinstance(value, At):
            return ("at", age(value.time, self.now))
        if isinstance(value, (tuple, list)):
            return tuple(self.relative(each) for each in value)
        if isinstance(value, (frozenset, set)):
            return tuple(sorted(map(repr, value)))
        return value

    # What others know ----------------------------------------------------------------------------------------

    def _collect_marks(self) -> None:
        for name in self.plane.names:
            state = self.cluster.loops.get(name)
            if state is None:
                continue
            loop = self.plane.by_name[name]
            for kind, key, value in loop.marks(state.memory, self.plane.reading(loop, self.cluster)):
                self.marks[(kind, key)].append((name, self.relative(value)))
            for key in state.queue:
                self._mark_key(key, (name, "woken"))
            for place, key in enumerate(state.serving):
                self._mark_key(key, (name, "serving", place))
            for key, due in state.timers.items():
                self._mark_key(key, (name, "timer", age(due, self.now)))
            for key in state.parked:
                self._mark_key(key, (name, "parked"))
            for key, kind in state.unseen:
                self._mark_key(key, (name, "unseen", kind))
            if state.paused:
                self.marks[("", "")].append((name, "paused"))
            if state.in_flight is not None:
                self.marks[("", "")].append((name, "in flight", repr(state.in_flight)))
            for kind, table in sorted(state.stalled.items()):
                back = state.back_at.get(kind)
                left = None if back is None else age(back, self.now)
                self.marks[("", "")].append((name, "stalled", kind, repr(sorted(table.objects.items())), left))
        self._mark_from_objects()

    def _mark_key(self, key: str, value: Any) -> None:
        node, bar, rest = key.partition("|")
        if bar:
            self.marks[("Pod", rest) if rest in self.store.table("Pod").objects else ("Node", node)].append(value)
        elif key in self.store.table("Pod").objects:
            self.marks[("Pod", key)].append(value)
        elif key in self.cluster.machines.by_name or key in self.store.table("Node").objects:
            self.marks[("Node", key)].append(value)
        else:
            self.marks[("", "")].append((self.sets.get(key) or self.jobs.get(key, key), value))

    def _mark_from_objects(self) -> None:
        for budget in self.store.table("PodDisruptionBudget").objects.values():
            for name, since in budget.status.disrupted_pods:
                key = f"{budget.namespace}/{name}"
                self.marks[("Pod", key)].append(("disrupted", budget.key, age(since, self.now)))
        for pod in self.store.table("Pod").objects.values():
            if pod.nominated_node is not None:
                self.marks[("Node", pod.nominated_node)].append(("nominated", self.owner(pod), pod.phase))
        for node, value in volumes.on_nodes(self.store):
            self.marks[("Node", node)].append(value)
        for place, value in proxies.marks(self.cluster, self.proxies, self.pod, self.local):
            self.marks[place].append(value)

    def known(self, kind: str, key: str) -> tuple[str, ...]:
        """The marks on an object, sorted."""
        found = self.marks.get((kind, key))
        return tuple(sorted(map(repr, found))) if found else ()

    # Objects -------------------------------------------------------------------------------------------------

    def owner(self, pod: Pod) -> str:
        """The pod's owner by its canonical name, or the pod's own name if it has none or a stable one."""
        if pod.owner is None or pod.owner.kind == "StatefulSet":
            return pod.key
        key = f"{pod.namespace}/{pod.owner.name}"
        names = self.jobs if pod.owner.kind == "Job" else self.sets
        return f"{pod.owner.kind} {names.get(key, key)}"

    def pod(self, pod: Pod) -> tuple[Any, ...]:
        """A pod without its name, uid and node."""
        return (
            self.owner(pod),
            self.spec(pod.spec),
            self.labels(pod),
            _digest(workloads.annotations_of(pod)),
            pod.phase,
            pod.reason,
            pod.ready,
            age(pod.ready_since, self.now) if pod.ready else "",
            age(pod.created_at, self.now),
            pod.started_at is not None,
            pod.restarts > 0,
            pod.restarts_in_all if pod.owner is not None and pod.owner.kind == "Job" else "",
            pod.sidecar_restarts > 0,
            pod.waiting,
            None if pod.deletion_at is None else age(pod.deletion_at, self.now),
            pod.disruption_target,
            pod.unscheduled,
            pod.nominated_node is not None,
            pod.finalizers,
            # How its containers ended matters to who still has to count it.
            pod.exit_codes if pod.finalizers else (),
            self.known("Pod", pod.key),
        )

    def local(self, local: LocalPod) -> tuple[Any, ...]:
        """A pod on a machine, without the API's side."""
        return machines.local_pod(local, self.now)

    def node(self, name: str) -> tuple[Any, ...]:
        """A node with its machine, the pods on it, and what is known of it; its name only if it matters."""
        node = self.store.node(name)
        lease = self.store.lease(name)
        machine = self.cluster.machines.get(name)
        api = None
        if node is not None:
            api = (
                labels_without_hostname(node.labels), _digest(node.allocatable), node.ready, node.ready_reason,
                sorted(node.pressure), node.unschedulable, tuple(sorted(map(repr, node.taints))),
            )  # fmt: skip
        heartbeat = None if lease is None else lease.renewed_at is None or age(lease.renewed_at, self.now)
        return (
            name if not self.symmetry or name in self.distinguished else "",
            api,
            heartbeat,
            machines.machine(machine, self.cluster, self.proxies.get(name, ("",))[0]),
            self.pods_at(name, machine),
            self.known("Node", name),
        )

    def group(self, group: NodeGroup) -> tuple[Any, ...]:
        """A node group; the number that its next instance gets matters only where a node's name does."""
        named = not self.symmetry or any(number_of(group.name, name) is not None for name in self.distinguished)
        return (_digest(group.with_(launched=0, desired=0)), group.desired, group.launched if named else None)

    def pods_at(self, name: str, machine: Machine | None) -> tuple[str, ...]:
        """The pods bound to a node with what runs of them, and what runs without an object, sorted."""
        pods = []
        left = dict(machine.pods) if machine is not None else {}
        for pod in self.store.pods_on(name):
            local = left.pop(pod.uid, None)
            if not self.finished and left_over(pod, self.now):
                continue
            pods.append(repr((self.pod(pod), self.local(local) if local is not None else None)))
        pods.extend(repr(("bound for here", self.pod(pod))) for pod in self.bound_for.get(name, ()))
        pods.extend(
            repr(
                (
                    "no object",
                    self.spec(local.spec),
                    self.local(local),
                    self.known("Local", str(local.uid)),
                )
            )
            for local in left.values()
        )
        return tuple(sorted(pods))

    def node_names(self) -> list[str]:
        """Every node and machine."""
        return sorted({*self.store.table("Node").objects, *self.cluster.machines.by_name})

    def whole(self) -> tuple[Any, ...]:
        """The whole cluster."""
        unbound = sorted(
            repr(self.pod(pod))
            for pod in self.store.table("Pod").objects.values()
            if pod.node is None and (self.finished if pod.terminal else only_node(pod.spec) is None)
        )
        names = self.node_names()
        # Pods bound to a node that is neither in the API nor a machine: left over after a deletion.
        bound = {pod.node for pod in self.store.table("Pod").objects.values() if pod.node}
        stray = sorted({*bound, *self.bound_for} - set(names))
        groups = self.cluster.machines.groups
        return (
            sorted(repr(self.node(name)) for name in (*names, *stray)),
            unbound,
            sorted(repr(self.object(each)) for each in self._others()),
            self.known("", ""),
            sorted(self.cluster.machines.zones_down),
            self.cluster.machines.registry.answers,
            sorted(self.cluster.machines.load.items()),
            [self.group(groups[name]) for name in sorted(groups)],
            self.control_plane(),
            self.plane.names[self.cluster.turn] if self.at_work() else "",
        )

    def at_work(self) -> bool:
        """Whether there is something to do now, so that it matters whose turn it is."""
        return any(state.busy and not state.paused for state in self.cluster.loops.values())

    def control_plane(self) -> tuple[Any, ...]:
        """Etcd's members, the elections that go on, and what of the past somebody may see again."""
        health = self.cluster.machines.control_plane
        if health == HEALTHY:
            return ()
        lost = None if health.lost_at is None else age(health.lost_at, self.now)
        elections = [(process, age(at, self.now)) for process, at in health.elections]
        uids = {pod.uid for pod in self.store.table("Pod").objects.values()} if health.past else set()
        past = [
            sorted((pod.key, pod.uid in uids, pod.node or "", pod.phase) for pod in store.table("Pod").objects.values())
            for store in health.past
        ]
        return (health.members, health.up, lost, elections, past)

    def _others(self) -> list[ApiObject]:
        kinds = [kind for kind in sorted(self.store.tables) if kind not in _ELSEWHERE]
        return [each for kind in kinds for each in self.store.all(kind)]

    def object(self, each: ApiObject) -> Any:
        """An object that has a stable name."""
        if isinstance(each, Deployment):
            return self.deployment(each)
        if isinstance(each, ReplicaSet):
            return self.replica_set(each)
        if isinstance(each, PodDisruptionBudget):
            status = each.status.with_(disrupted_pods=(), observed_generation=0)
            outdated = each.status.observed_generation < each.generation
            return (
                each.key,
                each.min_available,
                each.max_unavailable,
                status,
                outdated,
                self.known(each.kind, each.key),
            )
        known = self.known(each.kind, each.key)
        if isinstance(each, StatefulSet):
            return (*workloads.stateful_set(each, self.ranks, _digest), known)
        if isinstance(each, DaemonSet):
            return (*workloads.daemon_set(each, _digest), known)
        if isinstance(each, ControllerRevision):
            return workloads.revision(each, self.store, self.ranks, _digest)
        if isinstance(each, Job):
            return (*workloads.job(each, self.jobs.get(each.key, each.key), self.now, _digest), known)
        if isinstance(each, CronJob):
            return (*workloads.cron_job(each, self.jobs, _digest), known)
        names = [field.name for field in fields(type(each)) if field.name not in _UNLIKE]
        return (
            each.kind,
            each.key,
            [self.plain(getattr(each, name)) for name in names],
            self.known(each.kind, each.key),
        )

    def plain(self, value: Any) -> Any:
        """A field's value; conditions without their times."""
        return value

    def deployment(self, each: Deployment) -> Any:
        """A Deployment by its settings, its template's content, and its status."""
        status = each.status
        return (
            each.key, each.replicas, each.paused, each.strategy, each.max_surge, each.max_unavailable, each.min_ready,
            _digest(each.template.spec), status.replicas, status.updated, status.ready, status.available,
            status.observed_generation < each.generation, self.conditions(status.conditions),
            [self.sets[rs.key] for rs in self._sets_of(each) if rs.template.digest == each.template.digest],
            self.known("Deployment", each.key),
        )  # fmt: skip

    def _sets_of(self, each: Deployment) -> list[ReplicaSet]:
        return self.store.replica_sets_of(each.uid)

    def replica_set(self, each: ReplicaSet) -> Any:
        """A ReplicaSet by its canonical name and what it wants and reports."""
        status = each.status
        return (
            self.sets[each.key], each.replicas, each.min_ready, _digest(each.template.spec), status.replicas,
            status.ready, status.available, each.desired_replicas, each.max_replicas,
            status.observed_generation < each.generation, self.known("ReplicaSet", each.key),
        )  # fmt: skip

    def conditions(self, conditions: tuple[Condition, ...]) -> Any:
        """Conditions with the age of a deadline that still runs."""
        return sorted(
            (each.type, each.status, each.reason,
             age(each.updated_at, self.now) if each.reason in _RUNNING_DEADLINES else "")
            for each in conditions
        )  # fmt: skip


_RUNNING_DEADLINES = ("NewReplicaSetCreated", "FoundNewReplicaSet", "ReplicaSetUpdated", "DeploymentResumed")
_UNLIKE = frozenset({"uid", "revision", "generation", "created_at", "owner", "selected_node"})
_ELSEWHERE = frozenset({"Pod", "Node", "Lease", "EndpointSlice", "VolumeAttachment"})
"""Kinds whose objects are told of where they belong."""


@lru_cache(maxsize=4096)
def _without_hash(labels: Any) -> Any:
    return tuple(pair for pair in labels if pair[0] != "pod-template-hash")
