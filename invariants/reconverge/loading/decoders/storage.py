"""StorageClass, PersistentVolume, PersistentVolumeClaim and VolumeAttachment.

Source: `pkg/apis/core/types.go`, `pkg/apis/core/validation/validation.go`, `pkg/apis/storage/types.go`,
`pkg/apis/storage/v1/defaults.go`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from reconverge.loading.accounting import Accounting, UnsupportedField
from reconverge.loading.decoders.meta import OPERATORS, metadata, requirements
from reconverge.loading.decoders.registry import Decoder
from reconverge.loading.document import Document
from reconverge.loading.fields import Fields
from reconverge.loading.schema import schema
from reconverge.model.labels import label
from reconverge.model.objects import ApiObject, NodeSelectorTerm
from reconverge.model.objects.node import ZONE
from reconverge.model.objects.storage import (
    CLAIM,
    CLASS,
    VOLUME,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)

_DISKS = "awsElasticBlockStore azureDisk cinder csi fc gcePersistentDisk iscsi photonPersistentDisk rbd vsphereVolume"
_OTHER_SOURCES = (
    "azureFile cephfs flexVolume flocker glusterfs hostPath local nfs portworxVolume quobyte scaleIO storageos"
)
_FILE_DRIVERS = ("efs", "nfs", "filestore", "file.csi", "cephfs", "smb", "hostpath")
STORAGE_CLASS = schema(
    "StorageClass",
    read="apiVersion kind metadata provisioner reclaimPolicy volumeBindingMode allowedTopologies",
    ignored="parameters mountOptions allowVolumeExpansion",
)
_TOPOLOGY = schema("topology", read="matchLabelExpressions")
_EXPRESSION = schema("topology expression", read="key values")
PERSISTENT_VOLUME = schema("PersistentVolume", read="apiVersion kind metadata spec status")
_VOLUME_SPEC = schema(
    "volume",
    read=f"capacity accessModes storageClassName persistentVolumeReclaimPolicy claimRef nodeAffinity {_DISKS} "
    f"{_OTHER_SOURCES}",
    ignored="mountOptions volumeMode volumeAttributesClassName",
)
_AFFINITY = schema("volume node affinity", read="required")
_SELECTOR = schema("node selector", read="nodeSelectorTerms")
_TERM = schema("node selector term", read="matchExpressions matchFields")
PERSISTENT_VOLUME_CLAIM = schema("PersistentVolumeClaim", read="apiVersion kind metadata spec status")
_CLAIM_SPEC = schema(
    "claim spec",
    read="accessModes resources storageClassName volumeName",
    ignored="volumeMode volumeAttributesClassName dataSource dataSourceRef",
    unsupported="selector",
)
_RESOURCES = schema("claim resources", read="requests", ignored="limits")
VOLUME_ATTACHMENT = schema("VolumeAttachment", read="apiVersion kind metadata spec", ignored="status")
_ATTACHMENT_SPEC = schema("attachment spec", read="nodeName source", ignored="attacher")
_STATUS = schema("status", open_=True)

MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
BINDING_MODES = ("Immediate", "WaitForFirstConsumer")
POLICIES = ("Retain", "Delete", "Recycle")
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
_OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
_CLAIM_OBJECT = f"{CLAIM.lower()}/"
_ZONE_KEYS = (ZONE, "failure-domain.beta.kubernetes.io/zone")


def decode_class(top: Fields) -> StorageClass:
    """A StorageClass; of its topologies the zones count, under any key that ends in "zone"."""
    meta = metadata(top, namespaced=False)
    zones = {
        value
        for term in top.children("allowedTopologies", _TOPOLOGY)
        for each in term.children("matchLabelExpressions", _EXPRESSION)
        if each.required_text("key") in _ZONE_KEYS or each.required_text("key").endswith("/zone")
        for value in each.texts("values")
    }
    return StorageClass(
        **meta,
        provisioner=top.required_text("provisioner"),
        binding_mode=top.choice("volumeBindingMode", BINDING_MODES, default=BINDING_MODES[0]),
        reclaim_policy=top.choice("reclaimPolicy", POLICIES[:2], default=POLICIES[1]),
        zones=tuple(sorted(zones)),
        default=label(meta["annotations"], DEFAULT_CLASS) == "true",
    )


def decode_volume(top: Fields) -> PersistentVolume:
    """A PersistentVolume. One whose claim has bound it in the dump stays bound."""
    meta = metadata(top, namespaced=False)
    spec = top.child("spec", _VOLUME_SPEC)
    reference = spec.child("claimRef")
    space, name = reference.text("namespace") or "default", reference.text("name")
    phase = top.child("status", _STATUS).text("phase")
    csi = spec.child("csi").text("driver")
    is_disk = any(source in spec for source in _DISKS.split()) and not any(word in csi for word in _FILE_DRIVERS)
    return PersistentVolume(
        **meta,
        capacity=_storage(spec, "capacity"),
        access_modes=_modes(spec),
        storage_class=spec.text("storageClassName"),
        reclaim_policy=spec.choice("persistentVolumeReclaimPolicy", POLICIES, default=POLICIES[0]),
        affinity=_affinity(spec),
        attachable=is_disk,
        claim=f"{space}/{name}" if name else "",
        phase=phase if phase in ("Bound", "Released") else "Available",
    )


def _affinity(spec: Fields) -> tuple[NodeSelectorTerm, ...] | None:
    if "nodeAffinity" not in spec:
        return None
    selector = spec.child("nodeAffinity", _AFFINITY).child("required", _SELECTOR)
    return tuple(
        NodeSelectorTerm(
            expressions=requirements(each, "matchExpressions", (*OPERATORS, "Gt", "Lt")),
            fields=requirements(each, "matchFields", ("In", "NotIn")),
        )
        for each in selector.children("nodeSelectorTerms", _TERM)
    )


def decode_claim(top: Fields) -> PersistentVolumeClaim:
    """A PersistentVolumeClaim, as written or as a dump has it."""
    meta = metadata(top)
    phase = top.child("status", _STATUS).text("phase")
    return PersistentVolumeClaim(
        **meta,
        **_claim_spec(top.child("spec", _CLAIM_SPEC), label(meta["annotations"], _OLD_CLASS)),
        phase="Bound" if phase == "Bound" else "Pending",
        selected_node=label(meta["annotations"], SELECTED_NODE) or "",
    )


def _claim_spec(spec: Fields, old_class: str | None = None) -> dict[str, Any]:
    named = spec.text("storageClassName") if spec.raw("storageClassName") is not None else old_class
    return {
        "request": _storage(spec.child("resources", _RESOURCES), "requests"),
        "access_modes": _modes(spec),
        "storage_class": named,
        "volume": spec.text("volumeName"),
    }


def claim_template(fields: Fields) -> PersistentVolumeClaim:
    """One of a StatefulSet's volumeClaimTemplates, under the name that it has there."""
    name = fields.child("metadata").required_text("name")
    return PersistentVolumeClaim(name=name, **_claim_spec(fields.child("spec")))


def _modes(spec: Fields) -> tuple[str, ...]:
    for mode in (found := spec.texts("accessModes")):
        if mode not in MODES:
            raise spec.error(f'has no mode "{mode}"; there are {", ".join(MODES)}', "accessModes")
    return found or MODES[:1]


def _storage(fields: Fields, key: str) -> int:
    amounts = fields.child(key)
    return math.ceil(amounts.quantity("storage")) if "storage" in amounts else 0


def decode_attachment(top: Fields) -> VolumeAttachment:
    """A VolumeAttachment, under the name of its volume."""
    meta = metadata(top, namespaced=False)
    spec = top.child("spec", _ATTACHMENT_SPEC)
    volume = spec.child("source").text("persistentVolumeName")
    return VolumeAttachment(**{**meta, "name": volume or meta["name"]}, node=spec.required_text("nodeName"))


def settled(accounting: Accounting, objects: Iterable[ApiObject], raw: Iterable[Document]) -> Accounting:
    """What is said of claims: with a StorageClass or a volume among the objects they count, otherwise they do not."""
    kinds = {each.kind for each in objects}
    if CLASS in kinds or VOLUME in kinds:
        left = tuple(each for each in accounting.unsupported if not about_claims(each))
        more = len(accounting.unsupported) - len(left)
        return Accounting(accounting.read + more, accounting.ignored, left)
    claims = tuple(
        UnsupportedField(each.where(("spec",)), "spec", f"{_CLAIM_OBJECT}{each.name}")
        for each in raw
        if each.kind == CLAIM
    )
    more_claims = tuple(each for each in claims if each not in accounting.unsupported)
    return accounting + Accounting(unsupported=more_claims) if more_claims else accounting


def about_claims(field: UnsupportedField) -> bool:
    """Whether a field that is not modelled is one of volume claims, for want of their class or volume."""
    of_claim = field.path == "spec" and field.object.startswith(_CLAIM_OBJECT)
    return of_claim or field.path.endswith("volumeClaimTemplates")


DECODERS = (
    Decoder(CLASS, ("storage.k8s.io/v1", "storage.k8s.io/v1beta1"), STORAGE_CLASS, decode_class),
    Decoder(VOLUME, ("v1",), PERSISTENT_VOLUME, decode_volume),
    Decoder(CLAIM, ("v1",), PERSISTENT_VOLUME_CLAIM, decode_claim),
    Decoder("VolumeAttachment", ("storage.k8s.io/v1", "storage.k8s.io/v1beta1"), VOLUME_ATTACHMENT, decode_attachment),
)
