"""What every API object has: identity, owner, version.

Source: apimachinery `pkg/apis/meta/v1/types.go` (ObjectMeta, OwnerReference).
"""

from __future__ import annotations

from typing import ClassVar

from attrs import field, frozen

from reconverge.model.labels import Labels
from reconverge.model.value import Seconds, Value


@frozen
class OwnerReference:
    """The controlling owner of an object, by uid; the name is for people."""

    kind: str
    name: str
    uid: int


@frozen(kw_only=True)
class ApiObject(Value):
    """The metadata of an object in the API.

    `uid` is given by the store at creation, one per incarnation. `revision` is the object's resourceVersion: the
    store's revision at its last write. `generation` counts changes of the spec.
    """

    kind: ClassVar[str] = ""
    namespaced: ClassVar[bool] = True

    name: str
    namespace: str = "default"
    uid: int = 0
    revision: int = field(default=0, eq=False)
    generation: int = 1
    labels: Labels = ()
    annotations: Labels = ()
    owner: OwnerReference | None = None
    created_at: Seconds = 0
    deletion_at: Seconds | None = None
    """The deadline that a graceful deletion has set (deletionTimestamp), or None."""

    @property
    def key(self) -> str:
        """`namespace/name`, or the bare name of a cluster-wide object: unique within the kind at one time."""
        return f"{self.namespace}/{self.name}" if self.namespaced else self.name

    @property
    def terminating(self) -> bool:
        """Whether deletionTimestamp is set."""
        return self.deletion_at is not None

    @property
    def reference(self) -> str:
        """How people name the object: `pod/web-1`, with the namespace unless it is `default`."""
        kind = self.kind.lower()
        if not self.namespaced or self.namespace == "default":
            return f"{kind}/{self.name}"
        return f"{kind}/{self.namespace}/{self.name}"

    def owner_reference(self) -> OwnerReference:
        """A reference to this object as the controlling owner of another."""
        return OwnerReference(self.kind, self.name, self.uid)
