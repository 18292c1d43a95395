"""Pods by ordinal: names, identity, health.

Source: `pkg/controller/statefulset/stateful_set_utils.go`.
"""

from __future__ import annotations

from reconverge.model.labels import Labels, labels_of
from reconverge.model.objects import ControllerRevision, Pod, PodSpec, StatefulSet
from reconverge.model.objects.revision import REVISION_HASH
from reconverge.model.objects.statefulset import POD_INDEX, POD_NAME
from reconverge.model.objects.storage import PersistentVolumeClaim
from reconverge.model.rules import Rules
from reconverge.model.value import Seconds


def parent_and_ordinal(name: str) -> tuple[str, int]:
    """What a pod's name says: (StatefulSet, ordinal); ordinal -1 where it is none."""
    parent, dash, text = name.rpartition("-")
    return (parent, int(text)) if dash and text.isdecimal() else ("", -1)


def ordinal(pod: Pod) -> int:
    """The pod's ordinal; -1 where its name has none."""
    return parent_and_ordinal(pod.name)[1]


def identity(pod: Pod) -> Labels:
    """The labels that name the pod and its place."""
    return labels_of({POD_NAME: pod.name, POD_INDEX: str(ordinal(pod))})


def new_pod(sts: StatefulSet, revision: ControllerRevision, number: int) -> Pod:
    """The pod of an ordinal, as a revision's template has it (newStatefulSetPod, setPodRevision)."""
    template = revision.template
    name = f"{sts.name}-{number}"
    labels = {**dict(template.labels), POD_NAME: name, POD_INDEX: str(number), REVISION_HASH: revision.name}
    return Pod(
        name=name,
        namespace=sts.namespace,
        labels=labels_of(labels),
        annotations=template.annotations,
        owner=sts.owner_reference(),
        spec=template.spec,
        template_digest=template.digest,
    )


def claims_of_ordinal(sts: StatefulSet, number: int) -> list[PersistentVolumeClaim]:
    """The claims of an ordinal's pod; they outlive it, since they are kept by default (getPersistentVolumeClaims)."""
    return [
        each.with_(name=f"{each.name}-{sts.name}-{number}", namespace=sts.namespace, labels=sts.selector.match_labels)
        for each in sts.claims
    ]


def with_claims(spec: PodSpec, sts: StatefulSet, number: int) -> PodSpec:
    """A pod's spec with the claims of its ordinal in place of volumes of the templates' names (updateStorage)."""
    own = tuple(each.name for each in claims_of_ordinal(sts, number))
    return spec.with_(claims=(*spec.claims, *(name for name in own if name not in spec.claims)))


def most_unavailable(sts: StatefulSet, rules: Rules) -> int | None:
    """How many pods a rolling update may take at a time (getStatefulSetMaxUnavailable); None without that rule."""
    if not rules.statefulset_max_unavailable:
        return None
    given = 1 if sts.max_unavailable is None else sts.max_unavailable
    return max(1, given if isinstance(given, int) else sts.replicas * int(given.rstrip("%")) // 100)


def running_and_ready(pod: Pod) -> bool:
    """Whether the pod runs and is ready (isRunningAndReady)."""
    return pod.phase == "Running" and pod.ready


def available(pod: Pod, sts: StatefulSet, now: Seconds) -> bool:
    """Whether it runs and has been ready for minReadySeconds (isRunningAndAvailable)."""
    return pod.phase == "Running" and pod.available(sts.min_ready, now)


def unavailable(pod: Pod, sts: StatefulSet, now: Seconds) -> bool:
    """Whether it is not ready, not long enough, or being deleted (isUnavailable)."""
    return pod.deletion_at is not None or not available(pod, sts, now)
