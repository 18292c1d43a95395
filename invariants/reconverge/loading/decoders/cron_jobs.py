"""CronJobs, with their schedule and the calendar that it is of.

Second 0 of the cluster is the newest moment of a dump; where no times are given it is Monday, 2024-01-01 00:00 UTC.
Source: `pkg/apis/batch/validation/validation.go` (validateCronJobSpec), `pkg/apis/batch/v1/defaults.go`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from reconverge.loading.decoders.jobs import JOB_SPEC, job_spec
from reconverge.loading.decoders.meta import METADATA, metadata
from reconverge.loading.decoders.registry import Decoder
from reconverge.loading.errors import quoted_nearest
from reconverge.loading.fields import Fields
from reconverge.loading.schema import schema
from reconverge.model.labels import Labels, label
from reconverge.model.objects import ApiObject, Behaviour, CronJob, CronJobStatus, Job, Pod, PodSpec, PodTemplate
from reconverge.model.schedule import EPOCH, Schedule, parsed_schedule

CRON_JOB = schema("CronJob", read="apiVersion kind metadata spec status")
_SPEC = schema(
    "cron job spec",
    read="schedule timeZone concurrencyPolicy suspend jobTemplate startingDeadlineSeconds successfulJobsHistoryLimit "
    "failedJobsHistoryLimit",
)
_JOB_TEMPLATE = schema("job template", read="metadata spec")
_STATUS = schema("status", open_=True)

CONCURRENCY = ("Allow", "Forbid", "Replace")
BEHAVIOUR = "reconverge/behaviour"
LONGEST_NAME = 52
"""Most letters of a CronJob's name: the minute is put behind it."""


def decode_cron_job(top: Fields) -> CronJob:
    """A CronJob with its defaults, and its status if the document has one."""
    meta = metadata(top)
    if len(meta["name"]) > LONGEST_NAME:
        raise top.child("metadata").error(f"must have at most {LONGEST_NAME} letters for a CronJob", "name")
    spec = top.child("spec", _SPEC)
    level = spec.child("jobTemplate", _JOB_TEMPLATE)
    own = level.child("metadata", METADATA)
    newest = top.reader.dump.newest
    origin = EPOCH if newest is None else int(newest)
    asked = job_spec(level.child("spec", JOB_SPEC))
    template: PodTemplate = asked["template"]
    asked["template"] = template.with_(spec=_ending(template.spec, template.annotations))
    job = Job(name="", namespace=meta["namespace"], labels=own.labels("labels"), **asked)
    return CronJob(
        **meta,
        schedule=_schedule(spec),
        written=spec.text("schedule"),
        origin=origin,
        offset=_offset(spec, origin),
        concurrency=spec.choice("concurrencyPolicy", CONCURRENCY, default=CONCURRENCY[0]),
        suspend=spec.flag("suspend"),
        starting_deadline=spec.optional_integer("startingDeadlineSeconds"),
        successful_history=spec.integer("successfulJobsHistoryLimit", 3),
        failed_history=spec.integer("failedJobsHistoryLimit", 1),
        job=job,
        status=_status(top),
    )


def _ending(spec: PodSpec, annotations: Labels) -> PodSpec:
    """The spec of a pod that ends well, unless its annotations say how it behaves.

    Pods that run for ever, as those of other workloads do by default, would be more with every run.
    """
    if label(annotations, BEHAVIOUR) is not None:
        return spec
    told = spec.behaviour
    return spec.with_(behaviour=Behaviour("exit-0", told.serves_after, told.stops_after, told.exits_after))


def with_ending_pods(objects: tuple[ApiObject, ...]) -> tuple[ApiObject, ...]:
    """The objects of a dump, with those Jobs and pods that CronJobs have made ending as their next ones will."""
    jobs = {each.uid for each in objects if isinstance(each, Job) and _is_made_by(each, "CronJob")}
    return tuple(_with_end(each, jobs) for each in objects) if jobs else objects


def _is_made_by(each: ApiObject, kind: str) -> bool:
    return each.owner is not None and each.owner.kind == kind


def _with_end(each: ApiObject, jobs: set[int]) -> ApiObject:
    if isinstance(each, Job) and each.uid in jobs:
        template = each.template
        return each.with_(template=template.with_(spec=_ending(template.spec, template.annotations)))
    if isinstance(each, Pod) and each.owner is not None and each.owner.kind == "Job" and each.owner.uid in jobs:
        return each.with_(spec=_ending(each.spec, each.annotations))
    return each


def _schedule(spec: Fields) -> Schedule:
    try:
        return parsed_schedule(spec.required_text("schedule"))
    except ValueError as error:
        raise spec.error(str(error), "schedule") from None


def _offset(spec: Fields, origin: int) -> int:
    """How far the time zone is ahead of UTC at the cluster's second 0, in seconds; it is taken to stay so."""
    name = spec.text("timeZone")
    if not name:
        return 0
    known = available_timezones()
    if name not in known:
        if not known:
            spec.unsupported("timeZone")
            return 0
        raise spec.error(f'must be a time zone such as Europe/Paris, not "{name}"', "timeZone",
                         quoted_nearest(name, sorted(known)))  # fmt: skip
    ahead: Any = datetime.fromtimestamp(origin, UTC).astimezone(ZoneInfo(name)).utcoffset()
    return int(ahead.total_seconds())


def _status(top: Fields) -> CronJobStatus:
    status, dump = top.child("status", _STATUS), top.reader.dump
    return CronJobStatus(
        active=tuple(each.required_text("name") for each in status.children("active")),
        last_scheduled_at=dump.seconds(status.raw("lastScheduleTime")),
        last_succeeded_at=dump.seconds(status.raw("lastSuccessfulTime")),
    )


DECODERS = (
    Decoder(
        "CronJob",
        ("batch/v1", "batch/v1beta1", "batch/v2alpha1"),
        CRON_JOB,
        decode_cron_job,
        template=("spec", "jobTemplate", "spec", "template"),
    ),
)
