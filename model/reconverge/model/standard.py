"""The standard control plane, and a cluster made of objects and machines with it running."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reconverge.model.admission import admit_pod
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane
from reconverge.model.load import with_start_loads
from reconverge.model.local_pods import LocalPod, admitted_pod, running_pod
from reconverge.model.loop import ControlLoop
from reconverge.model.loops.attach_detach import AttachDetachController
from reconverge.model.loops.cloud_node import CloudNodeController
from reconverge.model.loops.cronjob import CronJobController
from reconverge.model.loops.daemonset import DaemonSetController
from reconverge.model.loops.deployment import DeploymentController
from reconverge.model.loops.disruption import DisruptionController
from reconverge.model.loops.drain import DrainLoop
from reconverge.model.loops.endpoints import EndpointsController
from reconverge.model.loops.garbage_collector import GarbageCollector
from reconverge.model.loops.horizontal_autoscaler import HorizontalAutoscaler
from reconverge.model.loops.job import JobController
from reconverge.model.loops.kubelet import Kubelet
from reconverge.model.loops.node_lifecycle import NodeLifecycleController
from reconverge.model.loops.persistent_volume import PersistentVolumeController
from reconverge.model.loops.pod_gc import PodGarbageCollector
from reconverge.model.loops.pvc_protection import ClaimProtection
from reconverge.model.loops.replicaset import ReplicaSetController
from reconverge.model.loops.scheduler import Scheduler
from reconverge.model.loops.statefulset import StatefulSetController
from reconverge.model.loops.taint_eviction import TaintEvictionController
from reconverge.model.machines import Machine, Machines
from reconverge.model.node_groups import NodeGroup, joined_groups
from reconverge.model.objects import ApiObject, Lease, Node, Pod
from reconverge.model.objects.storage import CLASS, VOLUME
from reconverge.model.persistent import Map
from reconverge.model.rules import Rules
from reconverge.model.store import EMPTY_STORE, Store


def standard_control_plane() -> ControlPlane:
    """All control loops of a cluster, in the order in which they take their turns by default."""
    return ControlPlane(
        [
            Kubelet(),
            NodeLifecycleController(),
            TaintEvictionController(),
            CloudNodeController(),
            DeploymentController(),
            ReplicaSetController(),
            HorizontalAutoscaler(),
            DaemonSetController(),
            JobController(),
            EndpointsController(),
            DisruptionController(),
            # After budgets are computed: a pod made again under its old name must not be taken for the evicted one.
            StatefulSetController(),
            Scheduler(),
            PodGarbageCollector(),
            GarbageCollector(),
            DrainLoop(),
        ]
    )


def storage_loops(objects: Iterable[ApiObject]) -> tuple[ControlLoop[Any], ...]:
    """The loops of volumes, for a cluster of whose storage something is described; none for others."""
    kinds = {each.kind for each in objects}
    if CLASS not in kinds and VOLUME not in kinds:
        return ()
    return PersistentVolumeController(), AttachDetachController(), ClaimProtection()


def cronjob_loops(objects: Iterable[ApiObject]) -> tuple[ControlLoop[Any], ...]:
    """The loop of CronJobs, for a cluster in which there is one, or in which one may come; none for others."""
    return (CronJobController(),) if any(each.kind == "CronJob" for each in objects) else ()


def loops_of_kinds() -> tuple[ControlLoop[Any], ...]:
    """The loops that run beside the standard ones where there are objects of some kind."""
    return PersistentVolumeController(), AttachDetachController(), ClaimProtection(), CronJobController()


def cluster_of(objects: Iterable[ApiObject], rules: Rules | None = None, groups: Iterable[NodeGroup] = ()) -> Cluster:
    """A cluster in which the objects exist as they are and every Node has a living machine; no loop has started.

    Pods that are bound and run or are ready also run on their machines. Objects keep the uids they have; those
    without one (0) are given one. Machines named `<group>-<number>` are instances of that node group.
    """
    rules = rules if rules is not None else Rules()
    given = list(objects)
    store = Store(EMPTY_STORE.tables, next_uid=max((each.uid for each in given), default=0) + 1)
    for each in sorted(given, key=lambda each: isinstance(each, Pod)):
        new = admit_pod(store, each, rules) if isinstance(each, Pod) else each
        store, _ = store.put(new)
        if isinstance(new, Node) and store.lease(new.name) is None:
            silent = None if new.ready != "Unknown" else -rules.node_monitor_grace
            store, _ = store.put(Lease(name=new.name, renewed_at=silent))
    machines = Machines(Map({node.name: _machine_of(store, node) for node in store.nodes()}))
    machines = with_start_loads(store, machines)
    return Cluster(store, joined_groups(machines, groups), {}, 0, rules)


def _machine_of(store: Store, node: Node) -> Machine:
    """A machine for a Node. One that the API says nothing has been heard of for a while is taken to be down."""
    lost = node.ready == "Unknown"
    taints = tuple(taint for taint in node.taints if not taint.key.startswith("node.kubernetes.io/"))
    registered = node.with_(uid=0, ready="False", ready_reason="KubeletNotReady", taints=taints)
    pods = {pod.uid: _local(pod, lost) for pod in store.pods_on(node.name) if _taken_in(pod)}
    return Machine(node.name, node.zone, powered=not lost, pods=Map(pods), registers=registered)


def _taken_in(pod: Pod) -> bool:
    """Whether a kubelet holds a bound pod: not one that has ended, nor one whose binding it has not answered yet."""
    return not pod.terminal and (pod.phase != "Pending" or pod.started_at is not None)


def _local(pod: Pod, lost: bool) -> LocalPod:
    """What the machine of a bound pod holds, as far as the pod's status tells."""
    since = pod.ready_since if pod.ready else pod.created_at
    if pod.phase == "Pending":
        return admitted_pod(pod.key, pod.uid, pod.spec, since, pod.restarts)
    local = running_pod(pod.key, pod.uid, pod.spec, since, ready=pod.ready, restarts=pod.restarts)
    if lost or pod.waiting == "CrashLoopBackOff":
        ended = tuple(each.with_(state="exited") for each in local.containers)
        return local.with_containers(ended).with_(ready=False)
    return local
