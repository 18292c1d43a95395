"""Pod specs, pod templates and pods.

Source: `pkg/apis/core/types.go`, `pkg/apis/core/v1/defaults.go`, `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

import hashlib
import json
import math
from fractions import Fraction
from typing import Any

from reconverge.loading.decoders.behaviour import behaviour, own_behaviours
from reconverge.loading.decoders.containers import containers
from reconverge.loading.decoders.meta import METADATA, metadata, read_annotations
from reconverge.loading.decoders.placement import affinity, spread, tolerations
from reconverge.loading.decoders.registry import Decoder
from reconverge.loading.decoders.resources import REQUIREMENTS, amounts, resources
from reconverge.loading.fields import Fields
from reconverge.loading.schema import schema
from reconverge.model.labels import Labels
from reconverge.model.objects import Container, Pod, PodSpec, PodTemplate
from reconverge.model.requests import effective

POD = schema("Pod", read="apiVersion kind metadata spec status")
POD_SPEC = schema(
    "pod spec",
    read="containers initContainers overhead resources nodeName nodeSelector affinity tolerations "
    "topologySpreadConstraints priorityClassName priority preemptionPolicy terminationGracePeriodSeconds "
    "restartPolicy schedulerName schedulingGates hostNetwork volumes activeDeadlineSeconds",
    ignored="serviceAccountName serviceAccount automountServiceAccountToken securityContext imagePullSecrets hostname "
    "subdomain hostAliases dnsPolicy dnsConfig enableServiceLinks hostIPC hostPID hostUsers shareProcessNamespace "
    "setHostnameAsFQDN hostnameOverride os ephemeralContainers",
    unsupported="readinessGates resourceClaims runtimeClassName schedulingGroup workloadRef",
)
_TEMPLATE = schema("pod template", read="metadata spec")
_GATE = schema("scheduling gate", read="name")
_STATUS = schema("pod status", open_=True)

_VOLUME_KINDS = (
    "awsElasticBlockStore azureDisk azureFile cephfs cinder configMap csi downwardAPI emptyDir fc flexVolume "
    "flocker gcePersistentDisk gitRepo glusterfs hostPath image iscsi nfs persistentVolumeClaim photonPersistentDisk "
    "portworxVolume projected quobyte rbd scaleIO secret storageos vsphereVolume"
)
_QUIET_VOLUMES = frozenset({"configMap", "downwardAPI", "image", "projected", "secret"})
"""Volumes that constrain neither where a pod may run nor whether it may be moved."""
_VOLUME = schema("volume", read=f"name {_VOLUME_KINDS}", unsupported="ephemeral")
_CLAIM = schema("claim", read="claimName", ignored="readOnly")

POD_TEMPLATE_HASH = "pod-template-hash"
RESTART_POLICIES = ("Always", "OnFailure", "Never")


def pod_spec(fields: Fields, meta: Fields, annotations: Labels, as_template: bool = True) -> PodSpec:
    """A pod spec with its effective request. `as_template` keeps nodeName in it: the author's choice of a node."""
    host_network = fields.flag("hostNetwork")
    main = containers(fields, "containers", host_network)
    if not main:
        raise fields.error("must have at least one container", "containers")
    volumes, claims = _volumes(fields)
    preemption = ("PreemptLowerPriority", "Never")
    spec = PodSpec(
        containers=main,
        init_containers=containers(fields, "initContainers", host_network, main),
        overhead=resources(amounts(fields, "overhead")),
        pod_requests=_pod_requests(fields, main),
        node_name=(fields.text("nodeName") or None) if as_template else None,
        node_selector=fields.labels("nodeSelector"),
        affinity=affinity(fields),
        tolerations=tolerations(fields),
        spread=spread(fields),
        priority_class=fields.text("priorityClassName"),
        priority=fields.integer("priority", 0, least=None),
        preemption_policy=fields.choice("preemptionPolicy", preemption, default=preemption[0]),
        termination_grace=fields.integer("terminationGracePeriodSeconds", 30),
        restart_policy=fields.choice("restartPolicy", RESTART_POLICIES, default="Always"),
        scheduler_name=fields.text("schedulerName") or "default-scheduler",
        scheduling_gates=tuple(each.required_text("name") for each in fields.children("schedulingGates", _GATE)),
        host_network=host_network,
        volumes=volumes,
        claims=claims,
        behaviour=behaviour(meta, annotations),
        active_deadline=fields.optional_integer("activeDeadlineSeconds", least=1),
    )
    spec = own_behaviours(spec, meta, annotations)
    return spec.with_(requests=effective(spec))


def _pod_requests(fields: Fields, main: tuple[Container, ...]) -> tuple[tuple[str, int], ...]:
    """Pod-level requests in the model's units.

    A pod-level limit stands in for a missing pod-level request only where no container asks for that resource.
    """
    level = fields.child("resources", REQUIREMENTS)
    requests, limits = amounts(level, "requests"), amounts(level, "limits")
    for name, limit in limits.items():
        if name not in requests and not any(each.requests.amount(name) for each in main):
            requests[name] = limit
        if requests.get(name, Fraction(0)) > limit:
            raise level.error(f"for {name} must not be more than its limit", "requests")
    return tuple(sorted((name, math.ceil(each * (1000 if name == "cpu" else 1))) for name, each in requests.items()))


def _volumes(fields: Fields) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The kinds of the volumes that matter to others, and the names of the claims."""
    kinds: set[str] = set()
    claims: list[str] = []
    for volume in fields.children("volumes", _VOLUME):
        kinds.update(key for key in volume.names() if key != "name" and key not in _QUIET_VOLUMES)
        if "persistentVolumeClaim" in volume:
            claims.append(volume.child("persistentVolumeClaim", _CLAIM).required_text("claimName"))
    return tuple(sorted(kinds)), tuple(claims)


def pod_template(fields: Fields, key: str = "template") -> PodTemplate:
    """The pod template at a key of a workload's spec."""
    level = fields.child(key, _TEMPLATE)
    meta = level.child("metadata", METADATA)
    notes = read_annotations(meta, on_template=True)
    return PodTemplate(
        labels=meta.labels("labels"),
        annotations=notes,
        spec=pod_spec(level.child("spec", POD_SPEC), meta, notes),
        digest=template_digest(level.value),
    )


def template_digest(template: dict[str, Any]) -> str:
    """Ten hexadecimal digits of the template's content.

    As the Deployment controller compares templates (`EqualIgnoreHash`), the pod-template-hash label does not count.
    """
    metadata = dict(template.get("metadata") or {})
    labels = {key: each for key, each in (metadata.get("labels") or {}).items() if key != POD_TEMPLATE_HASH}
    metadata["labels"] = labels
    content = {**template, "metadata": {key: each for key, each in metadata.items() if each not in (None, {}, "")}}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha1(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:10]


def decode_pod(document_top: Fields) -> Pod:
    """A pod: as written, or with a status as a dump has it."""
    meta = metadata(document_top)
    meta_level = document_top.child("metadata")
    spec_level = document_top.child("spec", POD_SPEC)
    dumped = bool(document_top.raw("status"))
    status = document_top.child("status", _STATUS)
    return Pod(
        **meta,
        spec=pod_spec(spec_level, meta_level, meta["annotations"], as_template=not dumped),
        node=spec_level.text("nodeName") or None,
        finalizers=meta_level.texts("finalizers"),
        grace=meta_level.optional_integer("deletionGracePeriodSeconds"),
        **_pod_status(status, document_top),
    )


def _pod_status(status: Fields, top: Fields) -> dict[str, Any]:
    dump = top.reader.dump
    conditions = {each.text("type"): each for each in status.children("conditions")}
    ready, scheduled = conditions.get("Ready"), conditions.get("PodScheduled")
    target = conditions.get("DisruptionTarget")
    containers_ = list(status.children("containerStatuses"))
    initial = list(status.children("initContainerStatuses"))
    counts = [each.integer("restartCount", 0) for each in containers_]
    codes = ((each.text("name"), _exit_code(each)) for each in containers_)
    in_all = sum((*counts, *(each.integer("restartCount", 0) for each in initial)))
    return {
        "nominated_node": status.text("nominatedNodeName") or None,
        "phase": status.choice("phase", ("Pending", "Running", "Succeeded", "Failed", "Unknown"), default="Pending"),
        "reason": status.text("reason"),
        "message": status.text("message"),
        "ready": ready is not None and ready.text("status") == "True",
        "ready_since": (dump.seconds(ready.raw("lastTransitionTime")) or 0) if ready is not None else 0,
        "started_at": dump.seconds(status.raw("startTime")),
        "restarts": max(counts, default=0),
        "restarts_beside": in_all - max(counts, default=0),
        "exit_codes": tuple((name, code) for name, code in codes if code is not None),
        "waiting": next(filter(None, (_waiting(each) for each in containers_)), ""),
        "disruption_target": target.text("reason") if target is not None and target.text("status") == "True" else "",
        "unscheduled": _unscheduled(scheduled),
    }


def _waiting(container: Fields) -> str:
    return container.child("state").child("waiting").text("reason")


def _exit_code(container: Fields) -> int | None:
    ended = container.child("state").child("terminated")
    return ended.optional_integer("exitCode", least=None)


def _unscheduled(condition: Fields | None) -> tuple[str, str] | None:
    if condition is None or condition.text("status") != "False":
        return None
    return condition.text("reason"), condition.text("message")


DECODERS = (Decoder("Pod", ("v1",), POD, decode_pod, template=()),)
