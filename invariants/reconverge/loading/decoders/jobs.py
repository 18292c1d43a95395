"""Jobs.

Source: `pkg/apis/batch/validation/validation.go`, `pkg/apis/batch/v1/defaults.go`.
"""

from __future__ import annotations

from typing import Any

from reconverge.loading.decoders.job_policies import indexes, job_policies
from reconverge.loading.decoders.meta import metadata, selector
from reconverge.loading.decoders.pods import pod_template
from reconverge.loading.decoders.registry import Decoder
from reconverge.loading.decoders.workloads import conditions
from reconverge.loading.fields import Fields
from reconverge.loading.schema import schema
from reconverge.model.labels import Selector
from reconverge.model.objects import Job, JobStatus, PodTemplate

JOB = schema("Job", read="apiVersion kind metadata spec status")
JOB_SPEC = schema(
    "job spec",
    read="parallelism completions backoffLimit activeDeadlineSeconds suspend podReplacementPolicy selector "
    "manualSelector template ttlSecondsAfterFinished completionMode podFailurePolicy successPolicy "
    "backoffLimitPerIndex maxFailedIndexes",
    ignored="managedBy",
)
_STATUS = schema("status", open_=True)

NO_LIMIT = 2**31 - 1
MODES = ("NonIndexed", "Indexed")


def decode_job(top: Fields) -> Job:
    """A Job with its defaults, and its status if the document has one."""
    return Job(**metadata(top), **job_spec(top.child("spec", JOB_SPEC)), status=_job_status(top))


def job_spec(spec: Fields) -> dict[str, Any]:
    """What a Job asks for, as constructor arguments. Raises LoadError for what the API server refuses."""
    template = _ending(spec, pod_template(spec))
    parallelism, completions = spec.optional_integer("parallelism"), spec.optional_integer("completions")
    if parallelism is None and completions is None:
        completions = 1
    indexed = spec.choice("completionMode", MODES, default=MODES[0]) == "Indexed"
    if indexed and completions is None:
        raise spec.error("is required for completionMode Indexed", "completions")
    given = selector(spec, "selector")
    manual = spec.flag("manualSelector")
    if manual and (given is None or given.empty):
        raise spec.error("is required with manualSelector", "selector")
    policies = job_policies(spec, template, indexed, completions)
    per_index = policies["limit_per_index"] is not None
    return {
        **policies,
        "indexed": indexed,
        "parallelism": 1 if parallelism is None else parallelism,
        "completions": completions,
        "backoff_limit": spec.integer("backoffLimit", NO_LIMIT if per_index else 6),
        "active_deadline": spec.optional_integer("activeDeadlineSeconds"),
        "suspend": spec.flag("suspend"),
        "selector": given if manual and given is not None else Selector(),
        "template": template,
        "ttl_after_finished": spec.optional_integer("ttlSecondsAfterFinished"),
    }


def _ending(spec: Fields, template: PodTemplate) -> PodTemplate:
    """The template, whose pods must be allowed to end. Source: validatePodTemplateSpec of batch."""
    where = spec.child("template").child("spec")
    if template.spec.restart_policy == "Always":
        written = "" if "restartPolicy" in where else " (it is Always where it is not given)"
        raise where.error(f"must be OnFailure or Never for a Job{written}", "restartPolicy")
    return template


def _job_status(top: Fields) -> JobStatus:
    status, dump = top.child("status", _STATUS), top.reader.dump
    uncounted = status.child("uncountedTerminatedPods")
    return JobStatus(
        active=status.integer("active", 0),
        ready=status.integer("ready", 0),
        terminating=status.integer("terminating", 0),
        succeeded=status.integer("succeeded", 0),
        failed=status.integer("failed", 0),
        uncounted_succeeded=frozenset(dump.uid(each) for each in uncounted.texts("succeeded")),
        uncounted_failed=frozenset(dump.uid(each) for each in uncounted.texts("failed")),
        started_at=dump.seconds(status.raw("startTime")),
        completed_at=dump.seconds(status.raw("completionTime")),
        conditions=conditions(status),
        completed_indexes=indexes(status, "completedIndexes"),
        failed_indexes=indexes(status, "failedIndexes"),
    )


DECODERS = (Decoder("Job", ("batch/v1",), JOB, decode_job, template=("spec", "template")),)
