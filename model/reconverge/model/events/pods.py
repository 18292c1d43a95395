"""Events of single pods, named by owner and place (`deployment/web#2`).

Source: kubectl `pkg/cmd/delete`, `pkg/registry/core/pod/storage/eviction.go`, `pkg/kubelet/prober`.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from reconverge.model.action import DeletePod, Written
from reconverge.model.cluster import Cluster
from reconverge.model.events.base import Event, Options, choices, combined
from reconverge.model.eviction import eviction
from reconverge.model.local_pods import LocalPod
from reconverge.model.machines import Machine
from reconverge.model.naming import pod_named, symbol_of
from reconverge.model.objects import Pod
from reconverge.model.power import with_machine


@frozen
class PodEvent(Event):
    """An event of one pod."""

    pod: str

    def target(self, cluster: Cluster) -> Pod | None:
        """The pod object, or None."""
        return pod_named(cluster.store, self.pod)

    def local(self, cluster: Cluster) -> tuple[Machine, LocalPod] | None:
        """The pod on its machine, if it is there."""
        pod = self.target(cluster)
        machine = cluster.machines.get(pod.node) if pod is not None and pod.node is not None else None
        if pod is None or machine is None or pod.uid not in machine.pods:
            return None
        return machine, machine.pods[pod.uid]

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """One per pod where it can happen."""
        for symbol in cls.symbols(cluster, options):
            event = cls(symbol)
            if event.enabled(cluster):
                yield event

    @staticmethod
    def symbols(cluster: Cluster, options: Options) -> list[str]:
        """The pods that may be meant, by their stable names."""
        alive = (symbol_of(cluster.store, pod) for pod in cluster.store.all("Pod") if not pod.terminal)
        return choices(options, "pod", sorted(alive))


@frozen
class PodDeleted(PodEvent):
    """kubectl delete pod."""

    name = "delete-pod"
    summary = "a pod is deleted, with its grace period; budgets are not asked"
    voluntary = True

    def enabled(self, cluster: Cluster) -> bool:
        """The pod is there and not being deleted."""
        pod = self.target(cluster)
        return pod is not None and pod.deletion_at is None

    def apply(self, cluster: Cluster) -> Written:
        """A plain DELETE."""
        pod = self.target(cluster)
        assert pod is not None
        return DeletePod(pod.key, pod.uid).apply(cluster)

    def describe(self) -> str:
        """Pod deployment/web#0 is deleted."""
        return f"pod {self.pod} is deleted"


@frozen
class PodForceDeleted(PodEvent):
    """kubectl delete pod --force --grace-period=0."""

    name = "force-delete-pod"
    summary = "a pod's object is removed at once, whether its containers have stopped or not"
    voluntary = True

    def enabled(self, cluster: Cluster) -> bool:
        """The pod is there."""
        return self.target(cluster) is not None

    def apply(self, cluster: Cluster) -> Written:
        """DELETE with grace period 0."""
        pod = self.target(cluster)
        assert pod is not None
        return DeletePod(pod.key, pod.uid, 0).apply(cluster)

    def describe(self) -> str:
        """Pod deployment/web#0 is force-deleted."""
        return f"pod {self.pod} is force-deleted"


@frozen
class PodEvicted(PodEvent):
    """An operator's call of the eviction API. Raises ApiError from `apply` if a budget refuses it."""

    name = "evict"
    summary = "a pod is evicted through the API, if its disruption budget allows it"
    voluntary = True

    def enabled(self, cluster: Cluster) -> bool:
        """The pod is there and not being deleted."""
        pod = self.target(cluster)
        return pod is not None and pod.deletion_at is None

    def apply(self, cluster: Cluster) -> Written:
        """All writes of one request: the budget, the condition, the deletion."""
        pod = self.target(cluster)
        assert pod is not None
        written: Written = (cluster, ())
        for action in eviction(cluster.store, pod, cluster.rules):
            written = combined(written, action.apply(written[0]))
        return written

    def describe(self) -> str:
        """Pod deployment/web#0 is evicted."""
        return f"pod {self.pod} is evicted"


@frozen
class PodUnready(PodEvent):
    """A pod's readiness probe begins to fail."""

    name = "pod-unready"
    summary = "a pod's readiness probe begins to fail"
    failure = True
    answer = False

    def enabled(self, cluster: Cluster) -> bool:
        """It runs and the probe answers otherwise."""
        local = self.local(cluster)
        return local is not None and local[1].state == "running" and local[1].ready != self.answer

    def apply(self, cluster: Cluster) -> Written:
        """The probe's answer changes; the kubelet reports it."""
        found = self.local(cluster)
        assert found is not None
        machine, local = found
        return with_machine(cluster, machine.with_pod(local.with_(forced_ready=self.answer)))

    def describe(self) -> str:
        """Pod deployment/web#0 stops being ready."""
        return f"pod {self.pod} stops being ready"


@frozen
class PodReady(PodUnready):
    """A pod's readiness probe begins to succeed."""

    name = "pod-ready"
    summary = "a pod's readiness probe begins to succeed"
    failure = False
    answer = True

    def describe(self) -> str:
        """Pod deployment/web#0 becomes ready."""
        return f"pod {self.pod} becomes ready"
