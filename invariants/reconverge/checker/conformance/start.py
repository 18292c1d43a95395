"""The cluster with which a recording begins: its nodes, at rest, under the rules that its settings make."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from reconverge.checker.conformance.recording import Recording, RecordingError
from reconverge.loading import Document, decode
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane
from reconverge.model.objects import ApiObject, Node
from reconverge.model.quiet import at_rest
from reconverge.model.rules import KubeletTimings, Rules
from reconverge.model.standard import cluster_of
from reconverge.model.value import Seconds

BEHAVIOUR = {"sim/behaviour": "reconverge/behaviour", "sim/run-seconds": "reconverge/exits-after"}
"""Annotations that tell the simulated kubelet what a pod does, and the model's names for them."""
TEMPLATES = {
    "Pod": (),
    "Deployment": ("spec", "template"),
    "ReplicaSet": ("spec", "template"),
    "StatefulSet": ("spec", "template"),
    "DaemonSet": ("spec", "template"),
    "Job": ("spec", "template"),
}
"""Where each kind has its pod template."""

_DURATION = re.compile(r"([0-9.]+)(ms|s|m|h)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def start_cluster(recording: Recording, plane: ControlPlane) -> Cluster:
    """The cluster at second 0: the initial nodes are ready, nothing else exists, and all loops are at rest."""
    nodes = map(read_object, _initial(recording))
    return at_rest(plane, plane.start(cluster_of(nodes, rules_of(recording))))


def _initial(recording: Recording) -> list[Mapping[str, Any]]:
    found = {each["metadata"]["name"]: each for each in recording.objects if each["kind"] == "Node"}
    missing = [name for name in recording.initial_nodes if name not in found]
    if missing:
        raise RecordingError(f"{recording.name}: no manifest of node {missing[0]}")
    return [found[name] for name in recording.initial_nodes]


def rules_of(recording: Recording) -> Rules:
    """The rules of the version, with the timers that the recording's flags and simulated kubelets set."""
    version = ".".join(recording.kubernetes.removeprefix("v").split(".")[:2])
    try:
        rules = Rules.for_version(version)
    except ValueError as error:
        raise RecordingError(f"{recording.name}: {error}") from None
    flags, told = recording.flags, recording.kubelet
    usual = rules.kubelet
    kubelet = KubeletTimings(
        admission=told.get("admission_delay", usual.admission),
        start=told.get("start_delay", usual.start),
        stop=told.get("stop_delay", usual.stop),
        stop_not_started=told.get("stop_delay_not_started", usual.stop_not_started),
        ready_late=told.get("not_ready_first_delay", usual.ready_late),
        node_ready=told.get("node_ready_delay", usual.node_ready),
        crash_backoff_first=told.get("crash_backoff", usual.crash_backoff_first),
    )
    return rules.with_(
        node_monitor_period=seconds(flags.get("node-monitor-period"), rules.node_monitor_period),
        node_monitor_grace=seconds(flags.get("node-monitor-grace-period"), rules.node_monitor_grace),
        default_toleration=seconds(flags.get("default-unreachable-toleration-seconds"), rules.default_toleration),
        eviction_rate=float(flags.get("node-eviction-rate", rules.eviction_rate)),
        unhealthy_zone_threshold=float(flags.get("unhealthy-zone-threshold", rules.unhealthy_zone_threshold)),
        # When the collector looks is not recorded, only that it does every 20 s: here it looks as early as it may.
        gc_period=0.5,
        kubelet=kubelet,
    )


def seconds(text: str | None, otherwise: Seconds) -> Seconds:
    """A duration as flags have it, such as `500ms` or `1m30s`; a plain number is seconds."""
    if text is None:
        return otherwise
    parts = _DURATION.findall(text)
    return sum(float(number) * _UNITS[unit] for number, unit in parts) if parts else float(text)


def read_object(manifest: Mapping[str, Any]) -> ApiObject:
    """The model's object of a manifest; what its pods do is read from the `sim/` annotations."""
    kind = str(manifest.get("kind", ""))
    value = _with_behaviour(manifest, TEMPLATES[kind]) if kind in TEMPLATES else dict(manifest)
    found = decode(Document(kind, str(manifest.get("apiVersion", "")), value))
    return found.with_(created_at=0) if isinstance(found, Node) else found


def _with_behaviour(manifest: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    if path:
        inner = manifest.get(path[0]) or {}
        return {**manifest, path[0]: _with_behaviour(inner, path[1:])}
    metadata = dict(manifest.get("metadata") or {})
    told = metadata.get("annotations") or {}
    if any(name in told for name in BEHAVIOUR):
        metadata["annotations"] = {BEHAVIOUR.get(name, name): value for name, value in told.items()}
    return {**manifest, "metadata": metadata}
