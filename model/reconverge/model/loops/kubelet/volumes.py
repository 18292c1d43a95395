"""What the kubelet waits for before it starts a pod with claims.

Source: `pkg/kubelet/volumemanager/volume_manager.go` (WaitForAttachAndMount).
"""

from __future__ import annotations

from reconverge.model.action import Patch
from reconverge.model.local_pods import LocalPod
from reconverge.model.loop import Reading
from reconverge.model.objects import Pod
from reconverge.model.objects.storage import ATTACHMENT, CLAIM
from reconverge.model.store import Change
from reconverge.model.volumes import known_claims, missing

VOLUME_KINDS = frozenset({ATTACHMENT, CLAIM})
CREATING = "ContainerCreating"


def waits_for(reading: Reading, node: str, local: LocalPod, cut_off: bool = False) -> str:
    """Why the volumes of an admitted pod are not there yet; empty if they are. One that is cut off cannot tell."""
    namespace = local.key.partition("/")[0]
    if cut_off:
        return "does not hear of its volumes" if known_claims(reading.store, namespace, local.spec.claims) else ""
    return missing(reading.store, node, namespace, local.spec.claims)


def waiting(reading: Reading, pod: Pod | None, why: str) -> Patch | None:
    """The report that a pod waits for its volumes, if it says something new and can be made."""
    if pod is None:
        return None
    wanted = {"started_at": pod.started_at if pod.started_at is not None else reading.now, "waiting": CREATING}
    fields = tuple((name, value) for name, value in wanted.items() if getattr(pod, name) != value)
    if not fields:
        return None
    return Patch("Pod", pod.key, pod.uid, fields, why, f"reports {pod.reference} {CREATING}")


def woken_by(change: Change, reading: Reading) -> list[tuple[str, str]]:
    """(node, pod) that an attachment or a claim is about."""
    store, each = reading.store, change.object
    if change.kind == ATTACHMENT:
        return [(each.node, pod.key) for pod in store.pods_on(each.node) if pod.spec.claims and pod.phase == "Pending"]
    return [
        (pod.node, pod.key)
        for pod in store.all("Pod")
        if pod.node is not None and pod.phase == "Pending" and pod.namespace == each.namespace
        if each.name in pod.spec.claims
    ]
