"""What of the input cannot be judged, because it is about pods that nothing modelled makes.

A budget, a Service or an autoscaler of such pods is no violation and does not hold either: it is said to be neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

from reconverge.loading import Document, Loaded
from reconverge.loading.made_pods import selects
from reconverge.model.labels import Labels, Selector, labels_of
from reconverge.model.objects import (
    ApiObject,
    CronJob,
    HorizontalPodAutoscaler,
    Pod,
    PodDisruptionBudget,
    Service,
    StatefulSet,
)
from reconverge.model.objects.statefulset import POD_INDEX, POD_NAME

MOST_NAMED = 3
"""How many resources one sentence names."""


def not_judged(objects: Sequence[ApiObject], loaded: Loaded) -> Iterator[str]:
    """A sentence for each resource that makes pods and is not modelled, and for what is about its pods."""
    makers = [each for each in loaded.pod_makers if not _stands_for_itself(each, objects)]
    for maker in makers:
        yield f"{_name(maker)} makes pods and is not modelled: {maker.where()}"
    pods = list(_pods(objects))
    for each in objects:
        if isinstance(each, PodDisruptionBudget | Service) and each.selector is not None:
            yield from _selection(each, each.selector, pods, makers)
        elif isinstance(each, HorizontalPodAutoscaler):
            yield from _target(each, objects, makers)


@frozen
class _Made:
    """The pods of one workload, or one pod."""

    namespace: str
    labels: Labels


def _pods(objects: Sequence[ApiObject]) -> Iterator[_Made]:
    for each in objects:
        if isinstance(each, Pod):
            yield _Made(each.namespace, each.labels)
        owner = each.job if isinstance(each, CronJob) else each
        if hasattr(owner, "template"):
            yield _Made(each.namespace, owner.template.labels)
        if isinstance(each, StatefulSet):
            # Each of its pods has labels of its own, too.
            for number in range(each.first_ordinal, each.first_ordinal + each.replicas):
                name = f"{each.name}-{number}"
                own = {**dict(each.template.labels), POD_NAME: name, POD_INDEX: str(number)}
                yield _Made(each.namespace, labels_of(own))


def _stands_for_itself(maker: Document, objects: Sequence[ApiObject]) -> bool:
    """Whether what it has made is there, too, as in a dump: then its pods are modelled."""
    return any(
        each.owner is not None and (each.owner.kind, each.owner.name) == (maker.kind, maker.name) for each in objects
    )


def _selection(
    each: PodDisruptionBudget | Service, selector: Selector, pods: Sequence[_Made], makers: Sequence[Document]
) -> Iterator[str]:
    near = [maker for maker in makers if _namespace(maker) == each.namespace]
    certain = [maker for maker in near if selects(selector, maker)]
    if any(made.namespace == each.namespace and selector.matches(made.labels) for made in pods):
        if certain and isinstance(each, PodDisruptionBudget):
            yield f"{each.reference} is judged by the modelled pods alone: pods of {_names(certain)} match it, too"
        return
    if certain:
        whose = "is" if len(certain) == 1 else "are"
        yield f"{each.reference} cannot be judged: only pods of {_names(certain)} match it, which {whose} not modelled"
        return
    possible = [maker for maker in near if selects(selector, maker) is None]
    about = f"; it may be about those of {_names(possible)}" if possible else ""
    yield f"{each.reference} cannot be judged: it matches no pod that is modelled{about}"


def _target(scaler: HorizontalPodAutoscaler, objects: Sequence[ApiObject], makers: Sequence[Document]) -> Iterator[str]:
    kind, name = scaler.target_kind, scaler.target_name
    if any((each.kind, each.namespace, each.name) == (kind, scaler.namespace, name) for each in objects):
        return
    plain = kind.partition(".")[0]
    of_makers = any((each.kind, each.name) == (plain, name) for each in makers)
    why = "is not modelled" if of_makers or "." in kind else "is not described"
    yield f"{scaler.reference} cannot be judged: it scales {plain} {name}, which {why}"


def _namespace(document: Document) -> str:
    metadata = document.value.get("metadata")
    namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
    return namespace if isinstance(namespace, str) else "default"


def _name(document: Document) -> str:
    return f"{document.kind} {document.name}"


def _names(documents: Sequence[Document]) -> str:
    named = [_name(each) for each in documents[:MOST_NAMED]]
    if len(documents) > MOST_NAMED:
        named.append(f"{len(documents) - MOST_NAMED} more")
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
