"""Which pods of a node a drain evicts, and which stop it before it begins.

Source: kubectl `pkg/drain/filters.go`.
"""

from __future__ import annotations

from reconverge.model.labels import label
from reconverge.model.loops.drain.memory import DrainOptions
from reconverge.model.objects import Pod
from reconverge.model.objects.pod import MIRROR
from reconverge.model.store import Store

DAEMON_SET_POD = "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
LOCAL_STORAGE = "Pods with local storage (use --delete-emptydir-data to override)"
UNMANAGED = "cannot delete Pods that declare no controller (use --force to override)"


class DrainFilters:
    """The rules of what a drain does with each pod, one method each."""

    def filter_error(self, store: Store, pod: Pod, options: DrainOptions) -> str:
        """Why a pod stops the drain of its node before anything is evicted; empty if it does not (makeFilters)."""
        if self.of_daemon_set(pod):
            if not self.daemon_set_gone(store, pod):
                return "" if options.ignore_daemonsets else DAEMON_SET_POD
            if not options.force:
                return f'daemonsets.apps "{pod.owner.name if pod.owner else ""}" not found'
        if label(pod.annotations, MIRROR) is not None or pod.terminal:
            return ""
        if "emptyDir" in pod.spec.volumes and not options.delete_emptydir_data:
            return LOCAL_STORAGE
        return UNMANAGED if pod.owner is None and not options.force else ""

    def to_evict(self, store: Store, pod: Pod) -> bool:
        """Whether a pod that passed the filters is evicted: not a mirror pod, not one of an existing DaemonSet."""
        if label(pod.annotations, MIRROR) is not None:
            return False
        return not self.of_daemon_set(pod) or self.daemon_set_gone(store, pod)

    def of_daemon_set(self, pod: Pod) -> bool:
        """Whether a DaemonSet controls the pod; a finished one is like any other pod (daemonSetFilter)."""
        return pod.owner is not None and pod.owner.kind == "DaemonSet" and not pod.terminal

    def daemon_set_gone(self, store: Store, pod: Pod) -> bool:
        """Whether the pod's DaemonSet has been deleted. Where the store has never held one, it counts as there."""
        owner = pod.owner
        if owner is None or "DaemonSet" not in store.tables:
            return False
        return store.get("DaemonSet", f"{pod.namespace}/{owner.name}") is None


def filter_message(errors: dict[str, list[str]]) -> str:
    """All refusals with the pods that they are about, as kubectl prints them."""
    parts = []
    for refusal, keys in sorted(errors.items()):
        text = refusal if refusal.startswith("cannot delete") else f"cannot delete {refusal}"
        parts.append(f"{text}: {', '.join(sorted(keys))}")
    return "; ".join(parts)
