"""StorageClass, PersistentVolume, PersistentVolumeClaim and VolumeAttachment.

Source: `pkg/apis/core/types.go`, `pkg/apis/storage/types.go`, `pkg/apis/storage/v1/defaults.go` (Delete, Immediate),
`pkg/volume/util/util.go` (access modes).
"""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen

from reconverge.model.labels import Labels
from reconverge.model.objects.meta import ApiObject
from reconverge.model.objects.placement import NodeSelectorTerm

CLASS = "StorageClass"
VOLUME = "PersistentVolume"
CLAIM = "PersistentVolumeClaim"
ATTACHMENT = "VolumeAttachment"

SHARED_MODES = frozenset({"ReadWriteMany", "ReadOnlyMany"})
ONE_POD = "ReadWriteOncePod"
NO_PROVISIONER = "kubernetes.io/no-provisioner"

_OF_NODE = ("local", "hostpath", "host-path", "topolvm", "lvm")
_OF_FILES = ("efs", "nfs", "filestore", "file.csi", "azure-file", "cephfs", "smb")


@frozen(kw_only=True)
class StorageClass(ApiObject):
    """How volumes for claims are made. `zones` are those of allowedTopologies; empty: every zone."""

    kind: ClassVar[str] = CLASS
    namespaced: ClassVar[bool] = False

    provisioner: str = ""
    binding_mode: str = "Immediate"
    reclaim_policy: str = "Delete"
    zones: tuple[str, ...] = ()
    default: bool = False

    @property
    def delays(self) -> bool:
        """Whether a claim waits until a node has been chosen for its first pod (WaitForFirstConsumer)."""
        return self.binding_mode == "WaitForFirstConsumer"

    @property
    def reach(self) -> str:
        """From where its volumes can be used, by the provisioner's name: a `zone` (disks), `node` or `anywhere`."""
        if any(word in self.provisioner for word in _OF_NODE):
            return "node"
        return "anywhere" if any(word in self.provisioner for word in _OF_FILES) else "zone"


@frozen(kw_only=True)
class PersistentVolume(ApiObject):
    """A volume. `claim` is the key of the claim that it is kept for or bound to, empty for none."""

    kind: ClassVar[str] = VOLUME
    namespaced: ClassVar[bool] = False

    capacity: int = 0
    """In bytes."""
    access_modes: tuple[str, ...] = ("ReadWriteOnce",)
    storage_class: str = ""
    reclaim_policy: str = "Retain"
    affinity: tuple[NodeSelectorTerm, ...] | None = None
    """Terms of which a node must satisfy one; None: every node will do."""
    attachable: bool = True
    """Whether it has to be attached to a node before use, as disks are; network file systems and local ones are not."""
    claim: str = ""
    phase: str = "Available"
    """Available, Bound or Released."""

    @property
    def exclusive(self) -> bool:
        """Whether it can be attached to one node at a time only."""
        return self.attachable and not SHARED_MODES & set(self.access_modes)

    def reaches(self, labels: Labels, node: str) -> bool:
        """Whether its node affinity lets it be used on a node."""
        return self.affinity is None or any(term.matches(labels, node) for term in self.affinity)


@frozen(kw_only=True)
class PersistentVolumeClaim(ApiObject):
    """A request for a volume. `storage_class` None leaves the choice to the cluster's default class."""

    kind: ClassVar[str] = CLAIM

    request: int = 0
    """In bytes."""
    access_modes: tuple[str, ...] = ("ReadWriteOnce",)
    storage_class: str | None = None
    volume: str = ""
    """spec.volumeName: written by its author, or when it is bound."""
    phase: str = "Pending"
    selected_node: str = ""
    """The node that the scheduler has chosen for the first pod (annotation volume.kubernetes.io/selected-node)."""

    @property
    def bound(self) -> bool:
        """Whether it has its volume."""
        return self.phase == "Bound"


@frozen(kw_only=True)
class VolumeAttachment(ApiObject):
    """That a volume which only one node can have at a time is attached to it. It has the volume's name."""

    kind: ClassVar[str] = ATTACHMENT
    namespaced: ClassVar[bool] = False

    node: str = ""
