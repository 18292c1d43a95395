"""Writes of pods by workload controllers, with the refusals that those take for success.

A pod is deleted by its name alone: with an old view the pod that has the name now may be another one. Where the API
says that the pod is gone, or there already, upstream either ignores it or tries again at growing intervals; here the
pass goes on, and the watch that brings the news wakes the key.
Source: `pkg/controller/statefulset/stateful_pod_control.go`, `pkg/controller/controller_utils.go` (RealPodControl).
"""

from __future__ import annotations

from attrs import frozen

from reconverge.model.action import Create, DeletePod, Written
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
