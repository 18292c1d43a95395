"""The canonical form of StatefulSets, DaemonSets, Jobs, and of what their pods carry of names and uids.

Names of revisions carry hashes, so revisions are named by their place among their workload's. A pod that may run on
one named node only, as every pod of a DaemonSet, belongs to that node: the name in it says nothing more.
"""

from __future__ import annotations

from typing import Any

from reconverge.model.labels import Labels
from reconverge.model.likeness import age
from reconverge.model.objects import Condition, ControllerRevision, CronJob, DaemonSet, Job, Pod, StatefulSet
from reconverge.model.objects.job import FINISHED, INDEX_IGNORED, JOB_NAME, OLD_JOB_NAME
from reconverge.model.objects.revision import REVISION_HASH
from reconverge.model.store import Store
from reconverge.model.value import Seconds

_RANKED = frozenset({REVISION_HASH, JOB_NAME, OLD_JOB_NAME})
Ranks = dict[tuple[int, str], int]
"""The place of a revision among its owner's, from 0, by (uid of the owner, name or hash)."""


def revision_ranks(store: Store) -> Ranks:
    """The place of every ControllerRevision among its owner's."""
    ranks: Ranks = {}
    places: dict[int, int] = {}
    found = store.table("ControllerRevision").objects.values()
    for each in sorted(found, key=lambda each: (each.number, each.created_at, each.name)):
        if each.owner is None:
            continue
        place = places.get(each.owner.uid, 0)
        places[each.owner.uid] = place + 1
        ranks[each.owner.uid, each.name] = ranks[each.owner.uid, each.hash] = place
    return ranks


def scheduled_jobs(store: Store) -> tuple[dict[str, str], Ranks]:
    """The Jobs of CronJobs by their place among those, since their names tell the time; as names, and for labels."""
    names: dict[str, str] = {}
    ranks: Ranks = {}
    if "CronJob" not in store.tables:
        return names, ranks
    for cron in store.all("CronJob"):
        jobs = sorted(store.jobs_of(cron.uid), key=lambda job: (job.created_at, job.name))
        for place, each in enumerate(jobs):
            names[each.key] = f"{cron.key}~{place}"
            ranks[each.uid, each.name] = place
    return names, ranks


def ranked_labels(labels: Labels, owner: int, ranks: Ranks) -> Labels:
    """A pod's labels with its revision by place instead of by hash, and so the Job of a CronJob."""
    return tuple((key, str(ranks.get((owner, value), value)) if key in _RANKED else value) for key, value in labels)


def annotations_of(pod: Pod) -> Labels:
    """A pod's annotations. Failures of an index that are ignored, without a limit, count as far as a back-off grows."""
    if pod.owner is None or pod.owner.kind != "Job":
        return pod.annotations
    return tuple(
        (key, value if key != INDEX_IGNORED else min(value, "7", key=_number)) for key, value in pod.annotations
    )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() else 0


def conditions(found: tuple[Condition, ...]) -> list[tuple[str, str, str]]:
    """Conditions without their times."""
    return sorted((each.type, each.status, each.reason) for each in found)


def stateful_set(each: StatefulSet, ranks: Ranks, digest: Any) -> tuple[Any, ...]:
    """A StatefulSet by its settings, its template's content and its status."""
    status = each.status
    return (
        each.key, each.replicas, each.policy, each.strategy, each.partition, each.min_ready, each.first_ordinal,
        digest(each.template.spec), digest(each.template.labels), status.replicas, status.ready, status.available,
        status.current, status.updated, ranks.get((each.uid, status.current_revision)),
        ranks.get((each.uid, status.update_revision)), status.observed_generation < each.generation,
        each.history_limit, conditions(status.conditions),
    )  # fmt: skip


def daemon_set(each: DaemonSet, digest: Any) -> tuple[Any, ...]:
    """A DaemonSet by its settings, its template's content and its status."""
    return (
        each.key, each.strategy, each.max_surge, each.max_unavailable, each.min_ready, digest(each.template.spec),
        digest(each.template.labels), each.status.with_(observed_generation=0, conditions=()), each.history_limit,
        each.status.observed_generation < each.generation, conditions(each.status.conditions),
    )  # fmt: skip


def revision(each: ControllerRevision, store: Store, ranks: Ranks, digest: Any) -> tuple[Any, ...]:
    """A ControllerRevision by its workload and place, and whether it is the workload's present template."""
    owner = each.owner
    if owner is None:
        return (each.key, digest(each.template.spec))
    workload = store.get(owner.kind, f"{each.namespace}/{owner.name}")
    present = workload is not None and workload.template.digest == each.template.digest
    place = ranks[owner.uid, each.name]
    return (each.namespace, owner.kind, owner.name, place, digest(each.template.spec), present)


def job(each: Job, name: str, now: Seconds, digest: Any) -> tuple[Any, ...]:
    """A Job by its settings and status; which pods are not counted yet is known of those pods."""
    status = each.status
    return (
        name, each.parallelism, each.completions, each.backoff_limit, each.active_deadline, each.suspend,
        each.replacement, each.ttl_after_finished, digest(each.template.spec), _indexes(each), each.failure_policy,
        each.success_policy, status.completed_indexes, status.failed_indexes, status.active, status.ready,
        status.terminating, status.succeeded, status.failed, len(status.uncounted_succeeded),
        len(status.uncounted_failed), conditions(status.conditions),
        _age(status.started_at if each.active_deadline is not None else None, now),
        _age(_finished_at(each) if each.ttl_after_finished is not None else None, now),
    )  # fmt: skip


def cron_job(each: CronJob, names: dict[str, str], digest: Any) -> tuple[Any, ...]:
    """A CronJob by its settings and its active Jobs; when it makes the next is what its controller remembers."""
    active = sorted(names.get(f"{each.namespace}/{name}", "gone") for name in each.status.active)
    return (
        each.key, each.schedule, each.offset, each.concurrency, each.suspend, each.starting_deadline,
        each.successful_history, each.failed_history, digest(each.template.spec), digest(each.job), active,
        each.status.last_scheduled_at is None,
    )  # fmt: skip


def _finished_at(each: Job) -> Seconds | None:
    return next((one.since for one in each.status.conditions if one.type in FINISHED and one.status == "True"), None)


def _indexes(each: Job) -> tuple[int | None, ...]:
    return (each.limit_per_index, each.most_failed_indexes) if each.indexed else ()


def _age(then: Seconds | None, now: Seconds) -> Seconds | str:
    return "" if then is None else age(then, now)
