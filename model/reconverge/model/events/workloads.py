"""What operators do to workloads: scale, roll out, roll back, pause, apply, delete.

Source: kubectl `pkg/cmd/{scale,rollout,apply,delete}`, `pkg/polymorphichelpers/rollback.go`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha1
from typing import Any, ClassVar

from attrs import evolve, frozen

from reconverge.model.action import Written
from reconverge.model.cluster import Cluster
from reconverge.model.events.base import Event, Options, choices, edited
from reconverge.model.labels import with_label
from reconverge.model.loops.revisions import revisions_of
from reconverge.model.naming import resolve, workloads
from reconverge.model.objects import BEHAVIOURS, DaemonSet, Deployment, PodTemplate, StatefulSet
from reconverge.model.store import Store

HASH_LABEL = "pod-template-hash"


@frozen
class WorkloadEvent(Event):
    """An event of one workload, named `kind/name`."""

    workload: str

    voluntary = True

    def target(self, store: Store) -> Any:
        """The workload object, or None."""
        return resolve(store, self.workload)


def _names(cluster: Cluster, options: Options, *kinds: str) -> list[str]:
    every = [each.reference for each in workloads(cluster.store) if each.kind in kinds]
    return choices(options, "workload", every)


@frozen
class Scale(WorkloadEvent):
    """kubectl scale."""

    replicas: int

    name = "scale"
    summary = "a workload's replicas are changed (by default one up or one down)"

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """One up and one down, within the bounds of an autoscaler, or the counts given."""
        for name in _names(cluster, options, "Deployment", "ReplicaSet", "StatefulSet"):
            workload = resolve(cluster.store, name)
            if workload is None:
                continue
            ordinary = [workload.replicas + 1, max(0, workload.replicas - 1)]
            for replicas in choices(options, "replicas", within_autoscaler(cluster.store, workload, ordinary)):
                event = cls(name, replicas)
                if event.enabled(cluster):
                    yield event

    def enabled(self, cluster: Cluster) -> bool:
        """The workload is there with another count."""
        workload = self.target(cluster.store)
        return workload is not None and hasattr(workload, "replicas") and workload.replicas != self.replicas

    def apply(self, cluster: Cluster) -> Written:
        """spec.replicas."""
        return edited(cluster, self.target(cluster.store), replicas=self.replicas)

    def describe(self) -> str:
        """deployment/web is scaled to 4."""
        return f"{self.workload} is scaled to {self.replicas}"


def within_autoscaler(store: Store, workload: Any, counts: list[int]) -> list[int]:
    """The counts that an autoscaler of the workload allows: on an ordinary day nobody scales out of its bounds."""
    for each in store.in_namespace("HorizontalPodAutoscaler", workload.namespace):
        if each.target_kind == workload.kind and each.target == workload.key:
            counts = [count for count in counts if each.minimum <= count <= each.maximum]
    return counts


def next_template(workload: Any, behaviour: str, template: PodTemplate | None = None) -> PodTemplate:
    """A new template of a workload: other content, and pods that behave as told ("" for as before)."""
    before: PodTemplate = template if template is not None else workload.template
    kind = behaviour or before.spec.behaviour.kind
    spec = before.spec.with_(behaviour=evolve(before.spec.behaviour, kind=kind))
    content = f"{before.digest}/{workload.generation}/{kind}"
    return before.with_(spec=spec, digest=sha1(content.encode()).hexdigest()[:10])


@frozen
class RollOut(WorkloadEvent):
    """A new pod template. `behaviour` is ready, never-ready, crashes, no-image ...: what its pods turn out to do.

    `template` is the new template where a scenario sets fields of it; else only its content's identity changes.
    """

    behaviour: str = "ready"
    template: PodTemplate | None = None
    changes: tuple[tuple[str, object], ...] = ()
    """The fields that the template was made by setting, by path: a scenario's `set`."""

    name = "rollout"
    allowed: ClassVar[Mapping[str, tuple[str, ...]]] = {"behaviour": tuple(BEHAVIOURS)}
    summary = "a workload's pod template is changed (ready by default, or never-ready, crashes, no-image)"

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """A good template for each workload, or the behaviours given."""
        for name in _names(cluster, options, "Deployment", "StatefulSet", "DaemonSet"):
            for behaviour in choices(options, "behaviour", ["ready"]):
                event = cls(name, behaviour, options.get("template"), options.get("changes", ()))
                if event.enabled(cluster):
                    yield event

    def enabled(self, cluster: Cluster) -> bool:
        """The workload is there."""
        return self.target(cluster.store) is not None

    def apply(self, cluster: Cluster) -> Written:
        """spec.template."""
        workload = self.target(cluster.store)
        return edited(cluster, workload, template=next_template(workload, self.behaviour, self.template))

    def arguments(self) -> dict[str, Any]:
        """The template is made of what is set, so that is what is written."""
        known = {name: value for name, value in super().arguments().items() if name not in ("template", "changes")}
        return {**known, "set": dict(self.changes)} if self.changes else known

    def describe(self) -> str:
        """Rollout of deployment/web."""
        kind = {
            "ready": "",
            "never-ready": " to a template that never gets ready",
            "crashes": " to a template that crashes",
            "no-image": " to a template whose image cannot be pulled",
            "hangs": " to a template that hangs after a while",
            "out-of-memory": " to a template that exceeds its memory limit",
        }.get(self.behaviour, f" ({self.behaviour})")
        return f"rollout of {self.workload}{kind}"


@frozen
class RollBack(WorkloadEvent):
    """kubectl rollout undo."""

    name = "rollback"
    summary = "a workload goes back to its previous pod template"

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """Each workload that has a previous template."""
        for name in _names(cluster, options, "Deployment", "StatefulSet", "DaemonSet"):
            event = cls(name)
            if event.enabled(cluster):
                yield event

    def previous(self, store: Store) -> PodTemplate | None:
        """The template of the revision before the present one, or None."""
        workload = self.target(store)
        if isinstance(workload, (StatefulSet, DaemonSet)):
            revisions = revisions_of(store, workload)
            others = [each.template for each in revisions if each.template.digest != workload.template.digest]
            return others[-1] if others else None
        if not isinstance(workload, Deployment):
            return None
        sets = [rs for rs in store.replica_sets_of(workload.uid) if rs.template.digest != workload.template.digest]
        if not sets:
            return None
        template = max(sets, key=lambda rs: rs.deployment_revision).template
        return template.with_(labels=with_label(template.labels, HASH_LABEL, None))

    def enabled(self, cluster: Cluster) -> bool:
        """There is a previous template."""
        return self.previous(cluster.store) is not None

    def apply(self, cluster: Cluster) -> Written:
        """spec.template."""
        return edited(cluster, self.target(cluster.store), template=self.previous(cluster.store))

    def describe(self) -> str:
        """Rollback of deployment/web."""
        return f"rollback of {self.workload}"


@frozen
class RolloutPauses(WorkloadEvent):
    """kubectl rollout pause."""

    name = "pause-rollout"
    summary = "a Deployment's rollout is paused"

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """Each Deployment that is not paused."""
        for name in _names(cluster, options, "Deployment"):
            event = cls(name)
            if event.enabled(cluster):
                yield event

    def enabled(self, cluster: Cluster) -> bool:
        """It is not paused."""
        workload = self.target(cluster.store)
        return isinstance(workload, Deployment) and not workload.paused

    def apply(self, cluster: Cluster) -> Written:
        """spec.paused := true."""
        return edited(cluster, self.target(cluster.store), paused=True)

    def describe(self) -> str:
        """Rollout of deployment/web is paused."""
        return f"rollout of {self.workload} is paused"


@frozen
class RolloutResumes(WorkloadEvent):
    """kubectl rollout resume."""

    name = "resume-rollout"
    summary = "a Deployment's paused rollout goes on"

    @classmethod
    def candidates(cls, cluster: Cluster, options: Options) -> Iterator[Event]:
        """Each Deployment that is paused."""
        for name in _names(cluster, options, "Deployment"):
            event = cls(name)
            if event.enabled(cluster):
                yield event

    def enabled(self, cluster: Cluster) -> bool:
        """It is paused."""
        workload = self.target(cluster.store)
        return isinstance(workload, Deployment) and workload.paused

    def apply(self, cluster: Cluster) -> Written:
        """spec.paused := false."""
        return edited(cluster, self.target(cluster.store), paused=False)

    def describe(self) -> str:
        """Rollout of deployment/web is resumed."""
        return f"rollout of {self.workload} is resumed"
