"""Which pods a descheduler may evict.

Source: the descheduler's `pkg/framework/plugins/defaultevictor/defaultevictor.go`.
"""

from __future__ import annotations

from reconverge.model.labels import label
from reconverge.model.loops.descheduler.policy import LOWEST_CRITICAL_PRIORITY, EvictorSettings
from reconverge.model.objects import Pod
from reconverge.model.objects.pod import MIRROR

EVICT = "descheduler.alpha.kubernetes.io/evict"
"""With this annotation a pod may go whatever the settings say."""


class Evictor:
    """The rules, one method each."""

    def __init__(self, settings: EvictorSettings) -> None:
        self.settings = settings

    def may_evict(self, pod: Pod) -> bool:
        """Whether the pod may be evicted at all."""
        if pod.terminal or pod.deletion_at is not None or self.part_of_the_node(pod):
            return False
        if label(pod.annotations, EVICT) is not None:
            return True
        return not (self.critical(pod) or self.local(pod) or self.bare(pod))

    def part_of_the_node(self, pod: Pod) -> bool:
        """Whether the pod belongs to its node: a DaemonSet's or a mirror pod."""
        of_daemon_set = pod.owner is not None and pod.owner.kind == "DaemonSet"
        return of_daemon_set or label(pod.annotations, MIRROR) is not None

    def critical(self, pod: Pod) -> bool:
        """Whether its priority protects the pod."""
        if self.settings.system_critical:
            return False
        most = self.settings.priority_below
        return pod.spec.priority >= (LOWEST_CRITICAL_PRIORITY if most is None else most)

    def local(self, pod: Pod) -> bool:
        """Whether the pod would lose local storage."""
        return not self.settings.local_storage and bool({"emptyDir", "hostPath"} & set(pod.spec.volumes))

    def bare(self, pod: Pod) -> bool:
        """Whether nobody would make the pod again."""
        return pod.owner is None and not self.settings.bare_pods
