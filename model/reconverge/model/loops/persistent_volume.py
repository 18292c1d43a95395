"""The persistent-volume controller, and the provisioners behind it.

Source: `pkg/controller/volume/persistentvolume/pv_controller.go`, sig-storage-lib-external-provisioner
`controller/controller.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from reconverge.model.action import Action, Create, Delete, Patch, Update
from reconverge.model.labels import Requirement
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.objects import Node, NodeSelectorTerm
from reconverge.model.objects.node import HOSTNAME, ZONE
from reconverge.model.objects.storage import (
    CLAIM,
    CLASS,
    NO_PROVISIONER,
    VOLUME,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from reconverge.model.store import Change, Store
from reconverge.model.volumes import class_of, smallest

Plans = Sequence[Plan[None]]
Terms = tuple[NodeSelectorTerm, ...] | None


class PersistentVolumeController(ControlLoop[None]):
    """Binds claims to volumes and makes volumes for them; runs where StorageClasses or volumes are described.

    Keys are those of claims, `namespace/name`, and names of volumes.
    """

    name: ClassVar[str] = "persistent-volume"
    watches: ClassVar[frozenset[str]] = frozenset({CLAIM, VOLUME, CLASS})
    idle_without: ClassVar[str] = CLAIM
    source: ClassVar[str] = "pkg/controller/volume/persistentvolume/pv_controller.go"

    def relist(self, reading: Reading) -> Iterable[str]:
        """All claims that are not bound, and all volumes that are."""
        yield from _unbound(reading.store)
        yield from (each.name for each in reading.store.all(VOLUME) if each.claim)

    def observe(self, memory: None, change: Change, reading: Reading) -> tuple[None, Iterable[str]]:
        """A claim wakes itself, the end of one its volume; a new volume or class all claims that are not bound."""
        if change.kind == CLAIM:
            if change.after is None:
                return None, (change.before.volume,) if change.before.volume else ()
            return None, () if change.after.bound else (change.key,)
        if change.kind == CLASS or change.before is None or change.before.phase != change.object.phase:
            return None, _unbound(reading.store)
        claim = change.object.claim
        return None, (claim,) if claim and claim != change.before.claim else ()

    def sync(self, reading: Reading, memory: None, key: str) -> Plans:
        """One pass for a claim or for a volume; the zone of a volume that no pod asks for yet is chance."""
        store = reading.store
        if "/" not in key:
            return (self.reclaim(store, store.get(VOLUME, key)),)
        claim: PersistentVolumeClaim | None = store.get(CLAIM, key)
        if claim is None or claim.bound or claim.terminating:
            return (Plan(None),)
        found = class_of(store, claim)
        kept = next((each for each in store.all(VOLUME) if each.claim == key and each.phase == "Available"), None)
        if kept is not None:
            return (self.bind(claim, kept),)
        if found is not None and found.delays and not claim.volume:
            return (self.delayed(store, claim, found),)
        volume = smallest(store, claim)
        if volume is not None:
            return (self.bind(claim, volume),)
        if claim.volume or found is None or found.provisioner in ("", NO_PROVISIONER):
            return (Plan(None, note="no persistent volume is available for it"),)
        return [self.provision(store, claim, found, terms, zone) for zone, terms in self.places(store, found)]

    def delayed(self, store: Store, claim: PersistentVolumeClaim, found: StorageClass) -> Plan[None]:
        """A claim whose volume is made where its first pod goes (WaitForFirstConsumer)."""
        if not claim.selected_node:
            return Plan(None, note="waits for the first pod that uses it to be scheduled")
        node = store.node(claim.selected_node)
        if node is None:
            fields = (("selected_node", ""),)
            verb = f"gives up the node selected for {claim.reference}"
            return Plan(None, (Patch(CLAIM, claim.key, claim.uid, fields, "the node is gone", verb),))
        if found.provisioner in ("", NO_PROVISIONER):
            return Plan(None, note="no persistent volume is available for it")
        return self.provision(store, claim, found, self.topology(found, node), "")

    def topology(self, found: StorageClass, node: Node) -> Terms:
        """From where a volume can be used that is made for a node: its zone, the node alone, or anywhere."""
        if found.reach == "node":
            return _only(HOSTNAME, node.name)
        return _only(ZONE, node.zone) if found.reach == "zone" and node.zone else None

    def places(self, store: Store, found: StorageClass) -> list[tuple[str, Terms]]:
        """Where a volume may be made that no pod asks for yet: any zone that has nodes, whatever pod will use it.

        Source: sig-storage `external-provisioner/pkg/controller/topology.go` (GenerateAccessibilityRequirements).
        """
        if found.reach == "node":
            return [(node.name, _only(HOSTNAME, node.name)) for node in store.nodes()] or [("", None)]
        zones = sorted({node.zone for node in store.nodes() if node.zone})
        allowed = [zone for zone in zones if not found.zones or zone in found.zones]
        if found.reach == "anywhere" or not (allowed or found.zones):
            return [("", None)]
        return [(zone, _only(ZONE, zone)) for zone in allowed or found.zones]

    def provision(
        self, store: Store, claim: PersistentVolumeClaim, found: StorageClass, terms: Terms, choice: str
    ) -> Plan[None]:
        """Makes a volume and binds the claim to it. Upstream its name has the claim's uid."""
        name = _free_name(store, claim)
        volume = PersistentVolume(
            name=name,
            capacity=claim.request,
            access_modes=claim.access_modes,
            storage_class=found.name,
            reclaim_policy=found.reclaim_policy,
            affinity=terms,
            attachable=found.reach == "zone",
            claim=claim.key,
            phase="Bound",
        )
        where = f" in {choice}" if choice else ""
        make = Create(volume, f"for {claim.reference}{where}")
        return Plan(None, (make, _bound(claim, name)), choice=choice)

    def bind(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> Plan[None]:
        """Binds claim and volume to each other: first the volume, then the claim."""
        after = volume.with_(claim=claim.key, phase="Bound")
        take = Update(volume, after, f"for {claim.reference}", f"binds {volume.reference}")
        return Plan(None, (take, _bound(claim, volume.name)))

    def reclaim(self, store: Store, volume: PersistentVolume | None) -> Plan[None]:
        """What becomes of a volume whose claim is gone: it is deleted, or kept and never bound again."""
        if volume is None or volume.phase != "Bound" or store.get(CLAIM, volume.claim) is not None:
            return Plan(None)
        if volume.reclaim_policy == "Delete":
            return Plan(None, (Delete(VOLUME, volume.key, volume.uid, "its claim is gone"),))
        fields = (("phase", "Released"),)
        verb = f"releases {volume.reference}"
        return Plan(None, (Patch(VOLUME, volume.key, volume.uid, fields, "its claim is gone", verb),))


def _bound(claim: PersistentVolumeClaim, volume: str) -> Action:
    fields = (("volume", volume), ("phase", "Bound"))
    return Patch(CLAIM, claim.key, claim.uid, fields, f"to volume {volume}", f"binds {claim.reference}")


def _only(label: str, value: str) -> Terms:
    return (NodeSelectorTerm((Requirement(label, "In", (value,)),)),)


def _unbound(store: Store) -> list[str]:
    return [each.key for each in store.all(CLAIM) if not each.bound]


def _free_name(store: Store, claim: PersistentVolumeClaim) -> str:
    space = "" if claim.namespace == "default" else f"{claim.namespace}-"
    name = plain = f"pvc-{space}{claim.name}"
    number = 1
    while store.get(VOLUME, name) is not None:
        number += 1
        name = f"{plain}-{number}"
    return name
