"""The indexes of an Indexed Job: who works at which, which are done, which come next.

Source: `pkg/controller/job/indexed_job_utils.go`, `pkg/controller/job/success_policy.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from reconverge.model.labels import Labels, label, labels_of
from reconverge.model.objects import Pod
from reconverge.model.objects.job import INDEX_FAILURES, INDEX_IGNORED, JOB_INDEX, Job, SuccessRule

Indexes = tuple[int, ...]
"""In order, each once."""


def index_of(pod: Pod) -> int | None:
    """The completion index in the pod's annotations; None if there is none or it is no number."""
    return _number(label(pod.annotations, JOB_INDEX))


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdecimal() else None


def is_valid(job: Job, pod: Pod) -> bool:
    """Whether a pod counts for the Job: of an Indexed one, whether it has an index below completions."""
    if not job.indexed:
        return True
    index = index_of(pod)
    return index is not None and index < (job.completions or 0)


def merged(job: Job, before: Indexes, pods: Iterable[Pod]) -> Indexes:
    """The indexes from before, and those of some pods; none beyond completions."""
    found = {*before, *(index for pod in pods if (index := index_of(pod)) is not None)}
    return tuple(sorted(index for index in found if index < (job.completions or 0)))


def first_pending(job: Job, taken: set[int], count: int) -> Indexes:
    """The lowest indexes, `count` at most, that are not taken (firstPendingIndexes)."""
    found: list[int] = []
    for index in range(job.completions or 0):
        if len(found) == count:
            break
        if index not in taken:
            found.append(index)
    return tuple(found)


def repeated(job: Job, active: list[Pod], in_order: Callable[[list[Pod]], list[Pod]]) -> tuple[list[Pod], list[Pod]]:
    """Active pods that may not stay, and those that may: one per index, and none without a valid one.

    `in_order` puts the pods of one index in the order in which they are given up
    (appendDuplicatedIndexPodsForRemoval).
    """
    of_index: dict[int, list[Pod]] = {}
    gone = [pod for pod in active if not is_valid(job, pod)]
    for pod in active:
        index = index_of(pod)
        if index is not None and is_valid(job, pod):
            of_index.setdefault(index, []).append(pod)
    left = []
    for index in sorted(of_index):
        *more, last = in_order(of_index[index])
        gone += more
        left.append(last)
    return gone, left


def failures(pod: Pod) -> tuple[int, int]:
    """How many pods of its index have failed before it: (counted, ignored by the failure policy)."""
    counts = (_number(label(pod.annotations, name)) for name in (INDEX_FAILURES, INDEX_IGNORED))
    counted, ignored = (each or 0 for each in counts)
    return counted, ignored


def with_index(pairs: Labels, index: int) -> Labels:
    """Labels or annotations with the completion index."""
    return labels_of({**dict(pairs), JOB_INDEX: str(index)})


def with_failures(annotations: Labels, counted: int, ignored: int) -> Labels:
    """Annotations with the failures of the index so far (addIndexFailureCountAnnotation)."""
    more = {INDEX_FAILURES: str(counted), **({INDEX_IGNORED: str(ignored)} if ignored else {})}
    return labels_of({**dict(annotations), **more})


def success_rule(rules: tuple[SuccessRule, ...], succeeded: Indexes) -> bool:
    """Whether a rule of the successPolicy is met (matchSuccessPolicy)."""
    return bool(succeeded) and any(_is_met(rule, succeeded) for rule in rules)


def _is_met(rule: SuccessRule, succeeded: Indexes) -> bool:
    if rule.indexes is None:
        return rule.count is not None and len(succeeded) >= rule.count
    done = len(set(rule.indexes).intersection(succeeded))
    return bool(rule.indexes) and (done == len(rule.indexes) or (rule.count is not None and done >= rule.count))
