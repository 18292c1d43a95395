"""Nodes from a few words, `3x4cpu,16Gi@a,b,c` or `3xm5.large@a,b`, and from the pools of a scenario file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from attrs import evolve, frozen

from reconverge.loading.decoders.nodes import DEFAULT_PODS, capacity, taints
from reconverge.loading.document import Document
from reconverge.loading.errors import LoadError, quoted_nearest
from reconverge.loading.fields import Fields
from reconverge.loading.instances import EKS, Instance, instance
from reconverge.loading.quantity import BadQuantity, milli, whole
from reconverge.loading.schema import schema
from reconverge.model.labels import labels_of
from reconverge.model.node_groups import BEST_EFFORT, BOOT, ONLY, NodeGroup, Subnet
from reconverge.model.objects import Node, Taint
from reconverge.model.objects.node import HOSTNAME, ZONE
from reconverge.model.resources import Capacity, Resources

_POOL = schema(
    "node pool",
    read="name count min max zones allocatable instanceType labels taints managed boot rebalance balance replacesDead "
    "subnets",
)
_OF_GROUPS = ("boot", "rebalance", "balance", "replacesDead", "subnets")
"""What says how the cloud manages a pool's machines."""
_SUBNET = schema("subnet", read="name zone addresses")
_WORDS = re.compile(r"(?:([a-z][-a-z0-9]*)=)?([0-9]+)x([^@]+)(?:@(.+))?")
_POOL_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_PART = re.compile(r"([0-9.]+)(cpus?|cores?|m|pods?)|(.+)")
EXAMPLE = "3x4cpu,16Gi@a,b,c or 3xm5.large@a,b,c"


@frozen
class NodePool:
    """Equal nodes, spread over zones in turn. `minimum` and `maximum` are what an autoscaler may make of it.

    `group` is the node group of a pool that the cloud manages: one whose size may change, or that says `managed: true`.
    """

    name: str
    count: int
    minimum: int
    maximum: int
    zones: tuple[str, ...]
    allocatable: Capacity
    labels: tuple[tuple[str, str], ...] = ()
    taints: tuple[Taint, ...] = ()
    group: NodeGroup | None = None

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes that the pool has at the start, `<pool>-1` first."""
        return tuple(self.node(number) for number in range(1, self.count + 1))

    def node(self, number: int) -> Node:
        """The node `<pool>-<number>`, counted from 1, as its kubelet and cloud would register it."""
        name = f"{self.name}-{number}"
        labels = {HOSTNAME: name}
        if self.zones:
            zone = self.zones[(number - 1) % len(self.zones)]
            labels |= {ZONE: zone, "failure-domain.beta.kubernetes.io/zone": zone}
        return Node(
            name=name,
            allocatable=self.allocatable,
            labels=labels_of({**labels, **dict(self.labels)}),
            taints=self.taints,
        )


def system_labels(machine: Instance | None) -> dict[str, str]:
    """What a kubelet says of its machine; old manifests still select by the `beta` names."""
    arch = machine.arch if machine is not None else "amd64"
    labels = {"kubernetes.io/os": "linux", "kubernetes.io/arch": arch}
    labels |= {"beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": arch}
    if machine is not None:
        labels |= {"node.kubernetes.io/instance-type": machine.name, "beta.kubernetes.io/instance-type": machine.name}
    return labels


def node_pool(given: Mapping[str, Any] | Fields) -> NodePool:
    """A pool from one entry of a scenario's `nodePools`. Raises LoadError, with file:line where it has one."""
    if isinstance(given, Fields):
        fields = Fields(given.reader, given.path, given.value, _POOL)
    else:
        fields = Fields.of(Document("NodePool", "", dict(given)), _POOL)
    name = fields.required_text("name")
    if not _POOL_NAME.fullmatch(name):
        raise fields.error(f'"{name}" must be lower-case letters, digits and "-"', "name")
    count = fields.integer("count", fields.integer("min", 1))
    minimum, maximum = fields.integer("min", count), fields.integer("max", count)
    if not minimum <= count <= maximum:
        raise fields.error(f"must be between min ({minimum}) and max ({maximum}), not {count}", "count")
    machine = _machine(fields)
    pool = NodePool(
        name=name,
        count=count,
        minimum=minimum,
        maximum=maximum,
        zones=fields.texts("zones"),
        allocatable=_allocatable(fields, machine),
        labels=labels_of({**system_labels(machine), **dict(fields.labels("labels"))}),
        taints=_taints(fields),
    )
    return _with_group(fields, pool)


def managed(pool: NodePool, subnets: tuple[Subnet, ...] = (), **settings: Any) -> NodePool:
    """The pool as one that the cloud manages, with the settings of its NodeGroup; without subnets one in each zone."""
    subnets = subnets or tuple(Subnet(f"subnet-{zone}", zone) for zone in pool.zones) or (Subnet("subnet"),)
    template = Node(name="", allocatable=pool.allocatable, labels=pool.labels, taints=pool.taints)
    group = NodeGroup(pool.name, pool.minimum, pool.maximum, pool.count, subnets=subnets, template=template, **settings)
    return evolve(pool, group=group)


def _with_group(fields: Fields, pool: NodePool) -> NodePool:
    """The pool with its node group if it is managed; itself if it is just machines."""
    if not fields.flag("managed", pool.minimum != pool.maximum):
        for key in _OF_GROUPS:
            if key in fields:
                raise fields.error("is for managed pools: give max above min, or managed: true", key)
        return pool
    return managed(
        pool,
        subnets=_subnets(fields, pool.zones),
        boot=fields.integer("boot", int(BOOT)),
        rebalance=fields.flag("rebalance"),
        balance=fields.choice("balance", (BEST_EFFORT, ONLY), BEST_EFFORT),
        replaces_dead=fields.flag("replacesDead"),
    )


def _subnets(fields: Fields, zones: tuple[str, ...]) -> tuple[Subnet, ...]:
    """The subnets that a pool names, each in one of its zones."""
    found = []
    for each in fields.children("subnets", _SUBNET):
        zone = each.text("zone")
        if zone and zone not in zones:
            raise each.error(f'"{zone}" is no zone of the pool', "zone", quoted_nearest(zone, zones))
        found.append(Subnet(each.required_text("name"), zone, each.optional_integer("addresses")))
    return tuple(found)


def _machine(fields: Fields) -> Instance | None:
    name = fields.text("instanceType")
    machine = instance(name) if name else None
    if name and machine is None and "allocatable" not in fields:
        raise fields.error(f'"{name}" is not a known machine type', "instanceType", quoted_nearest(name, EKS))
    return machine or (Instance(name, 0, 0, 0) if name else None)


def _allocatable(fields: Fields, machine: Instance | None) -> Capacity:
    if "allocatable" in fields:
        return capacity(fields, "allocatable")
    if machine is None:
        raise fields.error("or instanceType is required", "allocatable")
    return machine.allocatable()


def _taints(fields: Fields) -> tuple[Taint, ...]:
    """Taints as objects, or as kubectl writes them: `key=value:NoSchedule`."""
    if not all(isinstance(each, str) for each in fields.items("taints")):
        return taints(fields)
    return tuple(taint_of_text(fields, text) for text in fields.texts("taints"))


def taint_of_text(fields: Fields, text: str, key: str = "taints") -> Taint:
    """The taint `key=value:NoSchedule`, which stands at a key. Raises LoadError."""
    match = re.fullmatch(r"([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)", text)
    if match is None:
        raise fields.error(f'"{text}" is not key=value:NoSchedule|PreferNoSchedule|NoExecute', key)
    return Taint(match[1], match[3], match[2] or "")


def pool_document(pool: NodePool) -> dict[str, Any]:
    """The pool as an entry of a scenario's `nodePools`."""
    resources = pool.allocatable.resources
    allocatable: dict[str, Any] = {
        "cpu": f"{resources.cpu}m", "memory": str(resources.memory), "pods": pool.allocatable.pods,
    }  # fmt: skip
    if resources.ephemeral_storage:
        allocatable["ephemeral-storage"] = str(resources.ephemeral_storage)
    allocatable.update({resource: str(amount) for resource, amount in resources.extended})
    document = {
        "name": pool.name, "count": pool.count, "min": pool.minimum, "max": pool.maximum, "zones": list(pool.zones),
        "allocatable": allocatable, "labels": dict(pool.labels), "taints": [str(taint) for taint in pool.taints],
    }  # fmt: skip
    group = pool.group
    if group is not None:
        document |= {
            "managed": True, "boot": int(group.boot), "rebalance": group.rebalance, "balance": group.balance,
            "replacesDead": group.replaces_dead, "subnets": [_subnet_document(each) for each in group.subnets],
        }  # fmt: skip
    return document


def _subnet_document(subnet: Subnet) -> dict[str, Any]:
    addresses = {} if subnet.addresses is None else {"addresses": subnet.addresses}
    return {"name": subnet.name, "zone": subnet.zone, **addresses}


def parse_pools(text: str) -> tuple[NodePool, ...]:
    """Pools from words separated by spaces, each `[name=]COUNTxSHAPE[@ZONES]`. Raises LoadError.

    A shape is a machine type, or amounts that pods can have: `4cpu,16Gi`, with `58pods` if not 110. Unnamed pools
    are called node, node2 and so on.
    """
    words = text.split()
    if not words:
        raise LoadError(f"no nodes are given; write for example {EXAMPLE}", "--nodes")
    pools: list[NodePool] = []
    for word in words:
        pool = _words_pool(word, f"node{len(pools) + 1}" if pools else "node")
        if any(pool.name == other.name for other in pools):
            raise LoadError(f'two pools are called "{pool.name}"', "--nodes")
        pools.append(pool)
    return tuple(pools)


def parse_nodes(text: str) -> tuple[Node, ...]:
    """The nodes of some pools in words; see `parse_pools`. Raises LoadError."""
    return tuple(node for pool in parse_pools(text) for node in pool.nodes)


def _words_pool(word: str, default_name: str) -> NodePool:
    match = _WORDS.fullmatch(word)
    if match is None:
        raise LoadError(f'"{word}" is no description of nodes; write for example {EXAMPLE}', "--nodes")
    name, count, shape, zones = match.groups()
    machine, allocatable = _shape(shape, word)
    return NodePool(
        name=name or default_name,
        count=int(count),
        minimum=int(count),
        maximum=int(count),
        zones=_zones(zones, word),
        allocatable=allocatable,
        labels=labels_of(system_labels(machine)),
    )


def _zones(text: str | None, word: str) -> tuple[str, ...]:
    zones = tuple(text.split(",")) if text else ()
    if not all(re.fullmatch(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?", zone) for zone in zones):
        raise LoadError(f'"{text}" in "{word}" is no list of zones such as a,b,c', "--nodes")
    return zones


def _shape(text: str, word: str) -> tuple[Instance | None, Capacity]:
    """A machine type with an optional number of pods, or amounts."""
    first, *rest = text.split(",")
    machine = instance(first)
    if machine is None and not first[:1].isdigit() and not first.startswith("."):
        raise LoadError(f'"{first}" in "{word}" is not a known machine type', "--nodes", quoted_nearest(first, EKS))
    amounts: dict[str, int] = {}
    for part in rest if machine is not None else [first, *rest]:
        name, amount = _amount(part, word)
        if name in amounts or (machine is not None and name != "pods"):
            raise LoadError(f'"{part}" in "{word}" does not belong there', "--nodes")
        amounts[name] = amount
    if machine is not None:
        return machine, machine.allocatable(amounts.get("pods"))
    for name, example in (("cpu", "4cpu"), ("memory", "16Gi")):
        if name not in amounts:
            raise LoadError(f'"{word}" does not say how much {name}; add for example {example}', "--nodes")
    extended = tuple(sorted((name, each) for name, each in amounts.items() if "/" in name))
    resources = Resources(amounts["cpu"], amounts["memory"], 0, extended)
    return None, Capacity(resources, amounts.get("pods", DEFAULT_PODS))


def _amount(part: str, word: str) -> tuple[str, int]:
    """(resource, amount) of `4cpu`, `3920m`, `16Gi`, `58pods` or `nvidia.com/gpu=1`."""
    match = _PART.fullmatch(part)
    try:
        if match is not None and match[2]:
            if match[2] == "m":
                return "cpu", milli(part)
            return ("pods", whole(match[1])) if match[2].startswith("pod") else ("cpu", milli(match[1]))
        name, _, amount = part.rpartition("=")
        return (name, whole(amount)) if "/" in name else ("memory", whole(part))
    except BadQuantity as error:
        raise LoadError(f'"{part}" in "{word}" is no amount', "--nodes", error.suggestion) from None
