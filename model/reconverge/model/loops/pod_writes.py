"""Writes of pods by workload controllers, with the refusals that those take for success.

A pod is deleted by its name alone: with an old view the pod that has the name now may be another one. Where the API
says that the pod is gone, or there already, upstream either ignores it or tries again at growing intervals; here the
pass goes on, and the watch that brings the news wakes the key.
Source: `pkg/controller/statefulset/stateful_pod_control.go`, `pkg/controller/controller_utils.go` (RealPodControl).
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.action import Action, Create, DeletePod, Written, stored
from reconverge.model.cluster import Cluster


@frozen
class DeletePodNamed(DeletePod):
    """DELETE of the pod that has the name now. Nothing happens if there is none."""

    def apply(self, cluster: Cluster) -> Written:
        """No uid precondition."""
        pod = cluster.store.pod(self.key)
        if pod is None:
            return cluster, ()
        return DeletePod(self.key, pod.uid, self.grace, self.reason, self.disruption_target).apply(cluster)


@frozen
class CreateNamed(Create):
    """Creation of an object with a fixed name. Nothing happens if the name is taken."""

    def apply(self, cluster: Cluster) -> Written:
        """AlreadyExists is no failure of the pass."""
        if cluster.store.get(self.object.kind, self.object.key) is not None:
            return cluster, ()
        return Create.apply(self, cluster)


@frozen
class RemoveFinalizer(Action):
    """Takes a finalizer from a pod. Nothing happens if the pod, or the finalizer, is gone."""

    key: str
    uid: int
    finalizer: str
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """A pod whose deletion waits for this alone goes with it."""
        pod = cluster.store.pod(self.key)
        if pod is None or pod.uid != self.uid or self.finalizer not in pod.finalizers:
            return cluster, ()
        left = tuple(each for each in pod.finalizers if each != self.finalizer)
        store, change = stored(cluster.store, pod.with_(finalizers=left))
        return cluster.with_(store=store), (change,)

    def describe(self) -> str:
        """Names pod and finalizer."""
        return f"removes finalizer {self.finalizer.rpartition('/')[2]} of pod/{self.key.removeprefix('default/')}"
