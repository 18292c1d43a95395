"""Where the volumes of a pod let it run, as documented: a bound volume stays where it is, and its pod goes there.

Source: the documentation of persistent volumes (node affinity) and storage classes (volume binding mode).
"""

from __future__ import annotations

from collections.abc import Iterator

from reconverge.invariants.stock.selection import Refusal
from reconverge.model.labels import label
from reconverge.model.objects import Node, Pod
from reconverge.model.objects.node import ZONE
from reconverge.model.objects.storage import CLAIM, ONE_POD, VOLUME, PersistentVolume, PersistentVolumeClaim
from reconverge.model.store import Store


def volume_refusals(store: Store, pod: Pod, node: Node) -> Iterator[Refusal]:
    """Whether the volumes that the pod's claims are bound to can be used on the node."""
    for claim in _claims(store, pod):
        volume = _volume(store, claim)
        if claim is not None and volume is not None and not (_reaches(volume, node) and _same_zone(volume, node)):
            yield Refusal("volume", f"is not where {volume.reference} of {claim.reference} can be used")


def volumes_decide(store: Store, pod: Pod) -> bool:
    """Whether more than the place of bound volumes decides: one is unknown, still to be found, or for a single pod."""
    return any(
        claim is None or _volume(store, claim) is None or ONE_POD in claim.access_modes for claim in _claims(store, pod)
    )


def _claims(store: Store, pod: Pod) -> list[PersistentVolumeClaim | None]:
    return [store.get(CLAIM, f"{pod.namespace}/{name}") for name in pod.spec.claims]


def _volume(store: Store, claim: PersistentVolumeClaim | None) -> PersistentVolume | None:
    return store.get(VOLUME, claim.volume) if claim is not None and claim.phase == "Bound" else None


def _reaches(volume: PersistentVolume, node: Node) -> bool:
    return volume.affinity is None or any(term.matches(node.labels, node.name) for term in volume.affinity)


def _same_zone(volume: PersistentVolume, node: Node) -> bool:
    """By the zone labels that disks had before they had node affinity; several zones are joined by two underscores."""
    zones, place = label(volume.labels, ZONE), label(node.labels, ZONE)
    return not zones or place is None or place in zones.split("__")
