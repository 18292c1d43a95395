"""Which claims constrain a pod, and which volumes they can have.

Storage counts only where a StorageClass or a PersistentVolume has been described; and then only for claims that are
there themselves and whose class or volume is. Everything else is taken to be no constraint.
Source: component-helpers `storage/volume/pv_helpers.go` (FindMatchingVolume),
`pkg/scheduler/framework/plugins/volumebinding/binder.go`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from reconverge.model.objects import Node, Pod
from reconverge.model.objects.storage import (
    ATTACHMENT,
    CLAIM,
    CLASS,
    NO_PROVISIONER,
    VOLUME,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from reconverge.model.store import Store

Choice = tuple[PersistentVolumeClaim, PersistentVolume | None]
"""A claim with the volume that it gets; None: one is made for it."""


def described(store: Store) -> bool:
    """Whether anything is known of the cluster's storage."""
    return CLASS in store.tables or VOLUME in store.tables


def class_of(store: Store, claim: PersistentVolumeClaim) -> StorageClass | None:
    """The class of a claim; the default class where the claim names none.

    Source: `plugin/pkg/admission/storage/storageclass/setdefault/admission.go` (the newest default class).
    """
    if claim.storage_class is not None:
        found: StorageClass | None = store.get(CLASS, claim.storage_class)
        return found
    defaults = [each for each in store.all(CLASS) if each.default]
    return max(defaults, key=lambda each: (each.created_at, each.name), default=None)


def class_name(store: Store, claim: PersistentVolumeClaim) -> str:
    """The name of the claim's class; empty for none."""
    if claim.storage_class is not None:
        return claim.storage_class
    found = class_of(store, claim)
    return found.name if found is not None else ""


def volume_of(store: Store, claim: PersistentVolumeClaim) -> PersistentVolume | None:
    """The volume that a claim is bound to, if it is described."""
    found: PersistentVolume | None = store.get(VOLUME, claim.volume) if claim.bound else None
    return found


def claims_of(store: Store, pod: Pod) -> list[PersistentVolumeClaim]:
    """The claims of a pod that constrain it, in their order."""
    return known_claims(store, pod.namespace, pod.spec.claims) if pod.spec.claims else []


def known_claims(store: Store, namespace: str, names: Iterable[str]) -> list[PersistentVolumeClaim]:
    """Of some claims of a namespace those of which enough is known."""
    if not described(store):
        return []
    found = (store.get(CLAIM, f"{namespace}/{name}") for name in names)
    return [claim for claim in found if claim is not None and _known(store, claim)]


def _known(store: Store, claim: PersistentVolumeClaim) -> bool:
    if claim.volume:
        return store.get(VOLUME, claim.volume) is not None
    name = class_name(store, claim)
    if store.get(CLASS, name) is not None:
        return True
    return any(volume.storage_class == name for volume in store.all(VOLUME))


def may_have(store: Store, claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    """Whether a claim may be bound to a volume: one kept for it, or a free one of its class, modes and size."""
    if volume.phase != "Available" or volume.claim not in ("", claim.key):
        return False
    if claim.volume:
        return volume.name == claim.volume
    return (
        volume.storage_class == class_name(store, claim)
        and set(claim.access_modes) <= set(volume.access_modes)
        and volume.capacity >= claim.request
    )


def smallest(
    store: Store, claim: PersistentVolumeClaim, node: Node | None = None, taken: Collection[str] = ()
) -> PersistentVolume | None:
    """The smallest volume that a claim may have, usable on the node if one is given; one kept for the claim first."""
    candidates = [
        volume
        for volume in store.all(VOLUME)
        if volume.name not in taken
        and may_have(store, claim, volume)
        and (node is None or volume.reaches(node.labels, node.name))
    ]
    return min(candidates, key=lambda each: (each.claim != claim.key, each.capacity, each.name), default=None)


def provisionable(store: Store, claim: PersistentVolumeClaim, node: Node) -> bool:
    """Whether a volume can be made for the claim where the node is (checkVolumeProvisions)."""
    found = class_of(store, claim)
    if found is None or found.provisioner in ("", NO_PROVISIONER):
        return False
    return not found.zones or node.zone in found.zones


def choose(store: Store, claims: Iterable[PersistentVolumeClaim], node: Node) -> list[Choice] | None:
    """The volumes that unbound claims get if their pod goes to the node; None if it cannot go there."""
    chosen: list[Choice] = []
    taken: set[str] = set()
    for claim in claims:
        if claim.selected_node and claim.selected_node != node.name:
            return None
        volume = smallest(store, claim, node, taken)
        if volume is not None:
            taken.add(volume.name)
        elif not provisionable(store, claim, node):
            return None
        chosen.append((claim, volume))
    return chosen


def missing(store: Store, node: str, namespace: str, names: Iterable[str]) -> str:
    """Why a pod's volumes are not there on its node yet; empty if they are (WaitForAttachAndMount)."""
    for claim in known_claims(store, namespace, names):
        volume = volume_of(store, claim)
        if volume is None:
            return f"{claim.reference} is not bound"
        if not volume.exclusive:
            continue
        attachment: VolumeAttachment | None = store.get(ATTACHMENT, volume.name)
        if attachment is None:
            return f"volume {volume.name} is not attached"
        if attachment.node != node:
            return f"Multi-Attach error: volume {volume.name} is attached to {attachment.node}"
    return ""
