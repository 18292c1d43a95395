"""A GitOps controller: makes objects again what their manifests say, every few minutes, for ever.

It is a second writer of whatever the manifests say, beside the controllers of the cluster.
Source: Argo CD, automated sync with self-healing; Flux, kustomize-controller.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from attrs import frozen

from reconverge.model.action import Action, Written
from reconverge.model.cluster import Cluster
from reconverge.model.events.objects import applied
from reconverge.model.likeness import At
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.naming import KINDS
from reconverge.model.objects import ApiObject
from reconverge.model.store import Change
from reconverge.model.value import Seconds

ALL = "manifests"
"""The one key: a sync looks at every manifest."""
DEFAULT_PERIOD: Seconds = 180


@frozen
class Manifest:
    """An object as its manifest says it; `leaving` are the fields that it says nothing of, such as replicas."""

    object: ApiObject
    leaving: frozenset[str] = frozenset()


@frozen
class Apply(Action):
    """An apply of one manifest."""

    manifest: Manifest
    reason: str = ""

    def apply(self, cluster: Cluster) -> Written:
        """The object is created, or its spec set to what the manifest says."""
        return applied(cluster, self.manifest.object, self.manifest.leaving)

    def describe(self) -> str:
        """Names the object."""
        return f"applies {self.manifest.object.reference}"


class GitOps(ControlLoop[Seconds | None]):
    """Applies every manifest whose object is not as it says, `every` seconds after that has begun.

    A sync that finds everything in order writes nothing, so those are left out. The memory is the time of the next.
    """

    name = "gitops"
    watches = frozenset(KINDS) - {"Pod", "Node"}
    source = "argoproj/gitops-engine pkg/sync/sync_context.go"

    def __init__(self, manifests: Iterable[Manifest], every: Seconds = DEFAULT_PERIOD) -> None:
        self.manifests = tuple(manifests)
        self.every = every
        self._known = frozenset((each.object.kind, each.object.key) for each in self.manifests)

    def relist(self, reading: Reading) -> Iterable[str]:
        """All manifests."""
        return (ALL,)

    def observe(self, memory: Seconds | None, change: Change, reading: Reading) -> tuple[Seconds | None, Iterable[str]]:
        """Wakes when an object with a manifest changes."""
        return memory, (ALL,) if (change.kind, change.key) in self._known else ()

    def sync(self, reading: Reading, memory: Seconds | None, key: str) -> Sequence[Plan[Seconds | None]]:
        """Applies what differs, when it is time."""
        differing = [each for each in self.manifests if self.differs(reading, each)]
        if not differing:
            return (Plan(None),)
        due = memory if memory is not None else reading.now + self.every
        if reading.now < due:
            return (Plan(due, requeue_at=due),)
        actions = tuple(Apply(each, "it is not as its manifest says") for each in differing)
        return (Plan(None, actions),)

    def differs(self, reading: Reading, manifest: Manifest) -> bool:
        """Whether an apply of the manifest would change anything."""
        return bool(applied(Cluster(reading.store), manifest.object, manifest.leaving)[1])

    def marks(self, memory: Seconds | None, reading: Reading) -> Iterable[tuple[str, str, Any]]:
        """When the next sync is due."""
        if memory is not None:
            yield "", "", At(memory)
