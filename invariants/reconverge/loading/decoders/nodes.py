"""Node.

Source: `pkg/apis/core/types.go`, `pkg/kubelet/nodestatus/setters.go`, `pkg/kubelet/kubelet_node_status.go`.
"""

from __future__ import annotations

import math

from reconverge.loading.decoders.meta import metadata
from reconverge.loading.decoders.placement import EFFECTS
from reconverge.loading.decoders.registry import Decoder
from reconverge.loading.decoders.resources import amounts, resources
from reconverge.loading.fields import Fields
from reconverge.loading.schema import schema
from reconverge.model.labels import label, with_label
from reconverge.model.objects import Node, Taint
from reconverge.model.objects.node import HOSTNAME
from reconverge.model.resources import Capacity

NODE = schema("Node", read="apiVersion kind metadata spec status")
_SPEC = schema(
    "node spec",
    read="taints unschedulable",
    ignored="podCIDR podCIDRs providerID externalID configSource",
)
_TAINT = schema("taint", read="key value effect", ignored="timeAdded")
_STATUS = schema("node status", open_=True)
_PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")
DEFAULT_PODS = 110
"""The kubelet's maxPods, for a node that does not say."""


def decode_node(top: Fields) -> Node:
    """A Node: what it can hold, its taints and conditions. Without conditions it is ready.

    A hostname label is added where there is none, because every kubelet labels its node with it.
    """
    meta = metadata(top, namespaced=False)
    if label(meta["labels"], HOSTNAME) is None:
        meta["labels"] = with_label(meta["labels"], HOSTNAME, meta["name"])
    spec, status = top.child("spec", _SPEC), top.child("status", _STATUS)
    conditions = {each.text("type"): each for each in status.children("conditions")}
    ready = conditions.get("Ready")
    return Node(
        **meta,
        allocatable=_allocatable(status),
        ready=ready.choice("status", ("True", "False", "Unknown")) if ready is not None else "True",
        ready_reason=ready.text("reason") if ready is not None else "KubeletReady",
        pressure=frozenset(name for name in _PRESSURES if name in conditions and _holds(conditions[name])),
        unschedulable=spec.flag("unschedulable"),
        taints=taints(spec),
    )


def _holds(condition: Fields) -> bool:
    return condition.text("status") == "True"


def _allocatable(status: Fields) -> Capacity:
    for key in ("allocatable", "capacity"):
        if key in status:
            return capacity(status, key)
    raise status.error("has neither allocatable nor capacity, so nothing fits on this node")


def capacity(fields: Fields, key: str) -> Capacity:
    """The resource list at a key as what a node can hold; 110 pods where it does not say."""
    given = amounts(fields, key)
    for name in ("cpu", "memory"):
        if name not in given:
            raise fields.child(key).error("is required", name)
    return Capacity(resources(given), math.ceil(given["pods"]) if "pods" in given else DEFAULT_PODS)


def taints(fields: Fields) -> tuple[Taint, ...]:
    """The taints at `taints`."""
    return tuple(
        Taint(each.required_text("key"), each.choice("effect", EFFECTS), each.text("value"))
        for each in fields.children("taints", _TAINT)
    )


DECODERS = (Decoder("Node", ("v1",), NODE, decode_node),)
