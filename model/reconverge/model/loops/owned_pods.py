"""Which pods a workload controller has, and which of its workloads a change of a pod wakes.

Source: `pkg/controller/controller_ref_manager.go`; the pod event handlers of each workload controller.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reconverge.model.action import Action, Patch
from reconverge.model.loop import Reading
from reconverge.model.loops.ownership import adoptable, owner_keys_for_orphan, releasable
from reconverge.model.objects import Pod
from reconverge.model.store import Change


def woken_by_pod(kind: str, change: Change, reading: Reading) -> tuple[str, ...]:
    """Keys of the workloads of a kind that a pod's change wakes: its owner, its former one, or whoever may adopt it."""
    before: Pod | None = change.before
    pod: Pod = change.object
    owner = pod.owner
    if owner is not None and owner.kind != kind and (before is None or before.owner is owner):
        return ()
    owners = {_owner_key(kind, pod): None} if before is None or change.after is None or _differs(before, pod) else {}
    if before is not None and before.owner != pod.owner:
        owners[_owner_key(kind, before)] = None
    if pod.owner is None and change.after is not None:
        owners.update(dict.fromkeys(owner_keys_for_orphan(reading.store, kind, pod)))
    return tuple(key for key in owners if key)


def _owner_key(kind: str, pod: Pod) -> str:
    return f"{pod.namespace}/{pod.owner.name}" if pod.owner is not None and pod.owner.kind == kind else ""


def _differs(before: Pod, after: Pod) -> bool:
    """Whether an update of a pod may matter to its workload."""
    return (
        before.phase != after.phase
        or before.ready != after.ready
        or before.ready_since != after.ready_since
        or before.deletion_at != after.deletion_at
        or before.labels != after.labels
        or before.owner != after.owner
        or before.node != after.node
        or before.restarts != after.restarts
        or before.restarts_beside != after.restarts_beside
        or before.finalizers != after.finalizers
    )


def claimed(
    reading: Reading, workload: Any, member: Callable[[Pod], bool] = lambda pod: True
) -> tuple[list[Pod], tuple[Action, ...]]:
    """The pods that are the workload's, and the writes that adopt matching orphans and release strangers.

    `member` says whether a pod may belong to it apart from its labels (by its name, for a StatefulSet).
    """
    owned = reading.store.pods_of(workload.uid)
    released = [pod for pod in owned if releasable(pod, workload.selector) or not member(pod)]
    adopted = []
    if not workload.terminating and not workload.selector.empty:
        adopted = [pod for pod in adoptable(reading.store, workload.namespace, workload.selector) if member(pod)]
    release = "its labels no longer match the selector"
    actions = [
        *(Patch("Pod", pod.key, pod.uid, (("owner", None),), release, f"releases {pod.reference}") for pod in released),
        *(
            Patch("Pod", pod.key, pod.uid, (("owner", workload.owner_reference()),),
                  "its labels match the selector", f"adopts {pod.reference}")
            for pod in adopted
        ),
    ]  # fmt: skip
    return [pod for pod in owned if pod not in released] + adopted, tuple(actions)
