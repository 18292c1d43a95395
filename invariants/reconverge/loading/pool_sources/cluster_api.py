"""Cluster API's MachineDeployment and MachinePool: a number of equal machines, which the autoscaler may change.

Source: cluster-api `api/core/v1beta2/machinedeployment_types.go`,
`docs/book/src/reference/api/metadata-propagation.md`; autoscaler
`cluster-autoscaler/cloudprovider/clusterapi/{clusterapi_utils,clusterapi_unstructured}.go`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from reconverge.loading.decoders.nodes import DEFAULT_PODS, capacity
from reconverge.loading.decoders.nodes import taints as listed_taints
from reconverge.loading.document import Document
from reconverge.loading.errors import Note, quoted_nearest
from reconverge.loading.fields import Fields
from reconverge.loading.instances import GPU, Instance
from reconverge.loading.pool_sources.described import INSTEAD, Described, known_machine, sizes
from reconverge.loading.pools import NodePool, managed, system_labels, taint_of_text
from reconverge.model.labels import labels_of
from reconverge.model.objects import Taint
from reconverge.model.resources import Capacity, Resources

VERSIONS = ("cluster.x-k8s.io/v1beta2", "cluster.x-k8s.io/v1beta1")
AUTOSCALER = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-"
MIN_SIZE, MAX_SIZE = f"{AUTOSCALER}min-size", f"{AUTOSCALER}max-size"
CAPACITY = "capacity.cluster-autoscaler.kubernetes.io/"
_CAPACITIES = ("cpu", "memory", "ephemeral-disk", "maxPods", "gpu-type", "gpu-count", "labels", "taints")
_NOT_READ = ("dra-driver", "csi-driver")
_TYPES = (
    ("spec", "template", "spec", "instanceType"),
    ("spec", "template", "spec", "vmSize"),
    ("spec", "awsLaunchTemplate", "instanceType"),
    ("spec", "template", "vmSize"),
    ("spec", "instanceType"),
)
"""Where infrastructure providers keep the machine type: AWS and Google, Azure, and their machine pools."""
_SYNCED = ("node-restriction.kubernetes.io", "node.cluster.x-k8s.io")


def read(document: Document, others: Iterable[Document] = ()) -> Described:
    """The machines as one pool; `others` may hold the templates that it refers to. Raises LoadError with file:line."""
    return _Machines(document, others).described()


class _Machines:
    """One MachineDeployment or MachinePool, while it is read."""

    def __init__(self, document: Document, others: Iterable[Document]) -> None:
        self.top = Fields.of(document)
        self.metadata = self.top.child("metadata")
        self.annotations = self.metadata.child("annotations")
        self.spec = self.top.child("spec")
        self.template = self.spec.child("template")
        self.machine_spec = self.template.child("spec")
        self.others = list(others)
        self.remarks: list[Note] = []

    def described(self) -> Described:
        """The pool, and what was assumed of it."""
        self._require_known_annotations()
        minimum, maximum, count = self._sizes()
        allocatable, machine = self._capacity()
        registration = self._registration()
        labels = {**system_labels(machine), **_kubelet_labels(registration), **self._machine_labels()}
        labels |= dict(_pairs(self.annotations, f"{CAPACITY}labels"))
        pool = NodePool(
            name=self.metadata.required_text("name"),
            count=count,
            minimum=minimum,
            maximum=maximum,
            zones=self._zones(),
            allocatable=allocatable,
            labels=labels_of(labels),
            taints=self._taints(registration),
        )
        return Described((managed(pool),), tuple(self.remarks), self.spec.required_text("clusterName"))

    def _require_known_annotations(self) -> None:
        known = {MIN_SIZE, MAX_SIZE, *(f"{CAPACITY}{name}" for name in (*_CAPACITIES, *_NOT_READ))}
        for key in self.annotations.value:
            if key.startswith((AUTOSCALER, CAPACITY)) and key not in known:
                raise self.annotations.error("is no annotation of the autoscaler", key, quoted_nearest(key, known))

    def _sizes(self) -> tuple[int, int, int]:
        """(least, most, now). Without both annotations nobody changes the number of machines."""
        least, most = (_whole(self.annotations, key) for key in (MIN_SIZE, MAX_SIZE))
        count = self.spec.optional_integer("replicas")
        sizes(self.metadata, (MIN_SIZE, MAX_SIZE, "spec.replicas"), least, most, count)
        if least is None or most is None:
            count = 1 if count is None else count
            return count, count, count
        return least, most, least if count is None else count

    def _capacity(self) -> tuple[Capacity, Instance | None]:
        """What one node can hold: what the annotations say, else what the template of its machine says."""
        given = self.annotations
        named = [name for name in ("cpu", "memory") if f"{CAPACITY}{name}" in given]
        if len(named) == 1:
            missing = "memory" if named == ["cpu"] else "cpu"
            raise given.error("is required beside the other capacity", f"{CAPACITY}{missing}")
        if named:
            cpu, memory = (given.quantity(f"{CAPACITY}{name}") for name in ("cpu", "memory"))
            disk = given.quantity(f"{CAPACITY}ephemeral-disk") if f"{CAPACITY}ephemeral-disk" in given else 0
            pods = _whole(given, f"{CAPACITY}maxPods")
            held = Resources(math.ceil(cpu * 1000), math.ceil(memory), math.ceil(disk), self._devices())
            return Capacity(held, DEFAULT_PODS if pods is None else pods), None
        return self._capacity_of_template()

    def _devices(self) -> tuple[tuple[str, int], ...]:
        count = _whole(self.annotations, f"{CAPACITY}gpu-count")
        return ((self.annotations.text(f"{CAPACITY}gpu-type") or GPU, count),) if count else ()

    def _capacity_of_template(self) -> tuple[Capacity, Instance | None]:
        template = self._referred(self.machine_spec.child("infrastructureRef"))
        if template is None:
            reference = self.machine_spec.child("infrastructureRef").text("name")
            missing = f"{CAPACITY}cpu and {CAPACITY}memory"
            raise self.metadata.error(
                f"does not say what a node holds: annotate it with {missing}, name the file of its machine template"
                f"{f' {reference}' if reference else ''} as well, or {INSTEAD}",
                "annotations" if "annotations" in self.metadata else "name",
            )
        pods = _whole(self.annotations, f"{CAPACITY}maxPods")
        status = template.child("status").child("capacity")
        if "cpu" in status and "memory" in status:
            held = capacity(template.child("status"), "capacity")
            return Capacity(held.resources, held.pods if pods is None else pods), None
        for path in _TYPES:
            level = template
            for step in path[:-1]:
                level = level.child(step)
            if path[-1] in level:
                machine = known_machine(level, path[-1], level.text(path[-1]))
                return machine.allocatable(pods), machine
        raise template.error(f"says no machine type that can be read; annotate {self.metadata.text('name')} with "
                             f"{CAPACITY}cpu and {CAPACITY}memory, or {INSTEAD}", "spec")  # fmt: skip

    def _referred(self, reference: Fields) -> Fields | None:
        """The object that a reference names, if it is among what was read."""
        kind, name = reference.text("kind"), reference.text("name")
        found = next((each for each in self.others if name and each.kind == kind and each.name == name), None)
        return Fields.of(found) if found is not None else None

    def _zones(self) -> tuple[str, ...]:
        own = self.machine_spec.text("failureDomain")
        return (own,) if own else self.spec.texts("failureDomains")

    def _registration(self) -> Fields:
        """How the kubelet registers its node, where kubeadm's template says so."""
        template = self._referred(self.machine_spec.child("bootstrap").child("configRef"))
        if template is None:
            return Fields(self.top.reader, (), {}, self.top.schema)
        spec = template.child("spec")
        spec = spec.child("template").child("spec") if "template" in spec else spec
        return spec.child("joinConfiguration").child("nodeRegistration")

    def _machine_labels(self) -> dict[str, str]:
        """The labels of its machines that Cluster API copies to their nodes; it leaves all others where they are."""
        labels = dict(self.template.child("metadata").labels("labels"))
        copied = {key: labels[key] for key in labels if _reaches_nodes(key)}
        kept = [key for key in labels if key not in copied and not key.startswith("cluster.x-k8s.io/")]
        if kept:
            name = self.metadata.text("name")
            message = f"{name}: machine labels that Cluster API does not copy to nodes: {', '.join(sorted(kept))}"
            self.remarks.append(Note(message, self.template.child("metadata").where("labels")))
        return copied

    def _taints(self, registration: Fields) -> tuple[Taint, ...]:
        found = [*listed_taints(registration)]
        found += [
            Taint(each.required_text("key"), each.text("effect"), each.text("value"))
            for each in self.machine_spec.children("taints")
        ]
        key = f"{CAPACITY}taints"
        words = [word.strip() for word in self.annotations.text(key).split(",") if word.strip()]
        found += [taint_of_text(self.annotations, word, key) for word in words]
        return tuple(dict.fromkeys(found))


def _reaches_nodes(key: str) -> bool:
    domain = key.partition("/")[0] if "/" in key else ""
    return key.startswith("node-role.kubernetes.io") or any(
        domain == each or domain.endswith(f".{each}") for each in _SYNCED
    )


def _kubelet_labels(registration: Fields) -> dict[str, str]:
    """The labels of `--node-labels` among the kubelet's arguments: a mapping, or a list of names and values."""
    arguments: Any = registration.raw("kubeletExtraArgs")
    if isinstance(arguments, list):
        arguments = {each.text("name"): each.text("value") for each in registration.children("kubeletExtraArgs")}
    text = arguments.get("node-labels", "") if isinstance(arguments, dict) else ""
    return dict(_split(text)) if isinstance(text, str) else {}


def _pairs(fields: Fields, key: str) -> list[tuple[str, str]]:
    """The pairs of `a=b,c=d` at a key."""
    return _split(fields.text(key))


def _split(text: str) -> list[tuple[str, str]]:
    words = [word.strip().partition("=") for word in text.split(",") if word.strip()]
    return [(key, value) for key, _, value in words]


def _whole(fields: Fields, key: str) -> int | None:
    """The whole number in an annotation, which is a string; None if it is absent."""
    text = fields.text(key)
    if not text:
        return None
    if not text.isascii() or not text.isdigit():
        raise fields.wrong(key, text, "a whole number, in quotes")
    return int(text)
