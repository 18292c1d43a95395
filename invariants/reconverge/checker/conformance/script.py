"""The script of a recording as moves of the model: API requests, and what happens to machines.

An API request is a short flight of writes, like a pass of a control loop, so that other writes can fall between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from reconverge.checker.conformance.merge import merged
from reconverge.checker.conformance.names import Names
from reconverge.checker.conformance.recording import Recording, RecordingError, ScriptStep
from reconverge.checker.conformance.start import read_object
from reconverge.loading.decoders import decoder_for
from reconverge.model.action import Action, Delete, DeletePod, Written
from reconverge.model.cluster import Cluster
from reconverge.model.errors import NotFound
from reconverge.model.events import Event, NodePartitioned, NodeRecovers, PodReady, PodUnready
from reconverge.model.events.base import edited
from reconverge.model.events.objects import applied
from reconverge.model.eviction import eviction
from reconverge.model.labels import with_label
from reconverge.model.loops.drain import DrainOptions, begin_drain
from reconverge.model.machines import Machine
from reconverge.model.objects import ApiObject, Node, Taint
from reconverge.model.power import with_machine

Fields = Mapping[str, Any]


@frozen
class Apply(Action):
    """A person's tool creates an object, or sets its spec."""

    object: ApiObject
    reason: str = "script"

    def apply(self, cluster: Cluster) -> Written:
        """As kubectl apply does."""
        return applied(cluster, self.object)

    def describe(self) -> str:
        """Names the object."""
        return f"applies {self.object.reference}"


@frozen
class Edit(Action):
    """A person's tool changes fields of an object that is there. Raises NotFound."""

    kind: str
    key: str
    change: Callable[[Any], dict[str, Any]]
    """The new values of the fields to change, from the object."""
    reason: str = "script"

    def apply(self, cluster: Cluster) -> Written:
        """Whatever its version."""
        found = cluster.store.get(self.kind, self.key)
        if found is None:
            raise NotFound(f"{self.kind.lower()}/{self.key} not found")
        return edited(cluster, found, **self.change(found))

    def describe(self) -> str:
        """Names the object."""
        return f"changes {self.kind.lower()}/{self.key.removeprefix('default/')}"


Request = Callable[[Cluster, Names], tuple[Action, ...]]
Incident = Callable[[Cluster, Names], Written]


@frozen
class Stroke:
    """One step of the script as the model takes it: an API request, or an incident that the API is not told of.

    `refused` says that the recorded answer is no success, so that there is only an answer to compare. Both None: the
    step does nothing (an observation, the end of a drain).
    """

    step: ScriptStep
    request: Request | None = None
    incident: Incident | None = None
    refused: bool = False


def strokes(recording: Recording) -> list[Stroke]:
    """All steps, in order. Raises RecordingError for one that is not known."""
    reader = _Reader(recording)
    return [reader.stroke(step) for step in recording.steps]


class _Reader:
    """Follows the manifests as the script changes them."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.manifests = {(each["kind"], each["metadata"]["name"]): each for each in recording.objects}
        self.draining: set[str] = set()

    def stroke(self, step: ScriptStep) -> Stroke:
        if step.do == "evict":
            refused = step.get("code") != 201
            # The requests of a drain that are granted are made by the model's own drain.
            return Stroke(step, None if self.draining and not refused else _evict(step), refused=refused)
        if step.do in NOTES:
            if step.do == "drain ends":
                self.draining.discard(step.get("node"))
            return Stroke(step)
        if int(step.get("code") or 200) >= 400:
            return Stroke(step)
        if step.do == "drain":
            self.draining.add(step.get("node"))
        incident = INCIDENTS.get(step.do)
        if incident is not None:
            return Stroke(step, incident=incident(self, step))
        request = REQUESTS.get(step.do, _Reader.patch if step.get("patch") is not None else None)
        if request is None:
            known = ", ".join(sorted({*REQUESTS, *INCIDENTS, *NOTES, "evict"}))
            raise RecordingError(f'{self.recording.name}: {step}: "{step.do}" is not known; known are {known}')
        return Stroke(step, request(self, step))

    def create(self, step: ScriptStep) -> Request:
        manifest = self._manifest(step)
        if decoder_for(str(manifest.get("kind")), str(manifest.get("apiVersion"))) is None:
            return lambda cluster, names: ()
        new = read_object(manifest)
        return lambda cluster, names: (Apply(new),)

    def patch(self, step: ScriptStep) -> Request:
        kind, name, patch = step.get("kind"), step.get("name"), step.get("patch")
        if kind == "Node":
            return _patch_node(name, patch)
        if (kind, name) not in self.manifests:
            return _patch_metadata(kind, name, patch)
        manifest = merged(self.manifests[kind, name], patch)
        self.manifests[kind, name] = manifest
        new = read_object(manifest)
        return lambda cluster, names: (Apply(new),)

    def delete(self, step: ScriptStep) -> Request:
        kind, name = step.get("kind"), step.get("name")
        grace = (step.get("options") or {}).get("gracePeriodSeconds")

        def request(cluster: Cluster, names: Names) -> tuple[Action, ...]:
            found = cluster.store.get(kind, _key(kind, names.of_recording(kind, name)))
            if found is None:
                return ()
            if kind == "Pod":
                return (DeletePod(found.key, found.uid, grace, "script"),)
            return (Delete(kind, found.key, found.uid, "script"),)

        return request

    def join(self, step: ScriptStep) -> Incident:
        node = read_object(self._manifest(step, "Node", step.get("node")))
        assert isinstance(node, Node)
        machine = Machine(node.name, node.zone, registers=node.with_(ready="False"))
        return lambda cluster, names: with_machine(cluster, machine)

    def _manifest(self, step: ScriptStep, kind: str | None = None, name: str | None = None) -> Fields:
        wanted = (kind or step.get("kind"), name or step.get("name"))
        found = self.manifests.get(wanted)
        if found is None:
            raise RecordingError(f"{self.recording.name}: {step}: no manifest of {wanted[0]} {wanted[1]}")
        return found


def _key(kind: str, name: str) -> str:
    return name if kind in ("Node", "PriorityClass") else f"default/{name}"


def _cordon(reader: _Reader, step: ScriptStep) -> Request:
    wanted = step.do == "cordon"
    edit = Edit("Node", step.get("node"), lambda node: {"unschedulable": wanted})
    return lambda cluster, names: (edit,)


def _patch_node(name: str, patch: Fields) -> Request:
    """A patch of a Node: its taints (null removes all, else they are merged by key), its cordon, its labels."""
    spec, metadata = patch.get("spec") or {}, patch.get("metadata") or {}

    def change(node: Node) -> dict[str, Any]:
        changed: dict[str, Any] = _metadata(node, metadata)
        if "unschedulable" in spec:
            changed["unschedulable"] = bool(spec["unschedulable"])
        if "taints" in spec:
            new = [Taint(each["key"], each["effect"], each.get("value", "")) for each in spec["taints"] or ()]
            kept = [taint for taint in node.taints if all(taint.key != each.key for each in new)]
            changed["taints"] = (*kept, *new) if spec["taints"] else ()
        return changed

    return lambda cluster, names: (Edit("Node", name, change),)


def _metadata(found: ApiObject, metadata: Fields) -> dict[str, Any]:
    """The labels and annotations of an object with a patch of them."""
    changed = {}
    for part in ("labels", "annotations"):
        pairs = getattr(found, part)
        for key, value in (metadata.get(part) or {}).items():
            pairs = with_label(pairs, key, value)
        changed[part] = pairs
    return changed


def _patch_metadata(kind: str, name: str, patch: Fields) -> Request:
    """A patch of an object that a controller has made: its labels and annotations."""
    metadata = patch.get("metadata") or {}

    def request(cluster: Cluster, names: Names) -> tuple[Action, ...]:
        return (Edit(kind, _key(kind, names.of_recording(kind, name)), lambda found: _metadata(found, metadata)),)

    return request


def _evict(step: ScriptStep) -> Request:
    def request(cluster: Cluster, names: Names) -> tuple[Action, ...]:
        pod = cluster.store.pod(_key("Pod", names.of_recording("Pod", step.get("pod"))))
        return () if pod is None else eviction(cluster.store, pod, cluster.rules, "script")

    return request


def _event(event: Event) -> Incident:
    return lambda cluster, names: event.apply(cluster)


def _readiness(reader: _Reader, step: ScriptStep) -> Incident:
    kind = PodReady if step.get("ready") else PodUnready

    def incident(cluster: Cluster, names: Names) -> Written:
        return kind(names.of_recording("Pod", step.get("pod"))).apply(cluster)

    return incident


def _drain(reader: _Reader, step: ScriptStep) -> Incident:
    """The drain loop begins; the recorded requests between here and the end of the drain are its own."""
    node, timeout = step.get("node"), step.get("timeout")

    def incident(cluster: Cluster, names: Names) -> Written:
        state = cluster.loops["drain"]
        memory = begin_drain(state.memory, node, DrainOptions(timeout=timeout))
        state = state.with_(memory=memory, queue={**state.queue, node: None})
        return cluster.with_(loops={**cluster.loops, "drain": state}), ()

    return incident


NOTES = frozenset({"quiet", "observed", "drain ends"})
"""Steps that do nothing by themselves."""

REQUESTS: dict[str, Callable[[_Reader, ScriptStep], Request]] = {
    "create": _Reader.create,
    "delete": _Reader.delete,
    "cordon": _cordon,
    "uncordon": _cordon,
    **dict.fromkeys(
        ("patch", "scale", "change template", "pause", "resume", "taint node", "remove taint"), _Reader.patch
    ),
}

INCIDENTS: dict[str, Callable[[_Reader, ScriptStep], Incident]] = {
    "node dies (kubelet stops)": lambda reader, step: _event(NodePartitioned(step.get("node"))),
    "node comes back (kubelet starts)": lambda reader, step: _event(NodeRecovers(step.get("node"))),
    "add node": _Reader.join,
    "drain": _drain,
    "pod readiness changes": _readiness,
}
