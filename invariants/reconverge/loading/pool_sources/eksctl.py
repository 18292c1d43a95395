"""eksctl's ClusterConfig: each of its node groups is an auto scaling group of EC2.

Source: eksctl `pkg/apis/eksctl.io/v1alpha5/{types,defaults,validation}.go`, `pkg/cfn/builder/nodegroup.go`.
"""

from __future__ import annotations

import re
from typing import Any

from reconverge.loading.decoders.nodes import taints as listed_taints
from reconverge.loading.document import Document
from reconverge.loading.errors import Note
from reconverge.loading.fields import Fields
from reconverge.loading.instances import Instance
from reconverge.loading.pool_sources.described import INSTEAD, Described, known_machine, sizes
from reconverge.loading.pools import NodePool, managed, system_labels, taint_of_text
from reconverge.loading.schema import schema
from reconverge.model.labels import labels_of
from reconverge.model.node_groups import Subnet
from reconverge.model.objects import Taint

KIND = "ClusterConfig"
VERSIONS = ("eksctl.io/v1alpha5",)
GROUPS = ("managedNodeGroups", "nodeGroups")
DEFAULT_TYPE = "m5.large"
DEFAULT_COUNT = 2
_ZONE = re.compile(r"[a-z]{2}(-[a-z]+)+-[0-9]+[a-z]")
_OF_ALL = (
    "name instanceType availabilityZones subnets desiredCapacity minSize maxSize labels privateNetworking "
    "maxPodsPerNode taints asgSuspendProcesses amiFamily spot instanceTypes instancesDistribution instanceSelector"
)
_WITHOUT_EFFECT = (
    "additionalEncryptedVolume additionalVolumes ami asgMetricsCollection bottlerocket capacityReservation "
    "classicLoadBalancerNames clusterDNS containerRuntime cpuCredits disableIMDSv1 disablePodIMDS ebsOptimized "
    "efaEnabled enableDetailedMonitoring enclaveEnabled iam instanceMarketOptions instanceName instancePrefix "
    "launchTemplate nodeRepairConfig outpostARN overrideBootstrapCommand placement preBootstrapCommands "
    "propagateASGTags releaseVersion securityGroups ssh tags targetGroupARNs updateConfig volumeEncrypted volumeIOPS "
    "volumeKmsKeyID volumeName volumeSize volumeThroughput volumeType warmPoolConfig"
)
_GROUP = schema(
    "node group",
    read=_OF_ALL,
    ignored=_WITHOUT_EFFECT,
    unsupported="kubeletExtraConfig localZones maxInstanceLifetime spotOcean",
)


def read(document: Document) -> Described:
    """The node groups of a cluster as pools. Raises LoadError with file:line."""
    top = Fields.of(document)
    metadata = top.child("metadata")
    described = Described(cluster=metadata.required_text("name"))
    for key in GROUPS:
        for group in top.children(key, _GROUP):
            described += _Group(top, group, key == "managedNodeGroups", described.cluster).described()
    return described


class _Group:
    """One node group, while it is read."""

    def __init__(self, top: Fields, fields: Fields, is_managed: bool, cluster: str) -> None:
        self.top = top
        self.fields = fields
        self.is_managed = is_managed
        self.cluster = cluster
        self.remarks: list[Note] = []

    def described(self) -> Described:
        """The pool, and what was assumed of it."""
        fields = self.fields
        name = fields.required_text("name")
        machine = self._machine()
        minimum, maximum, count = self._sizes()
        subnets = self._subnets()
        pool = NodePool(
            name=name,
            count=count,
            minimum=minimum,
            maximum=maximum,
            zones=tuple(dict.fromkeys(subnet.zone for subnet in subnets)),
            allocatable=machine.allocatable(fields.optional_integer("maxPodsPerNode", least=1)),
            labels=labels_of({**self._own_labels(machine), **dict(fields.labels("labels"))}),
            taints=self._taints(),
        )
        balanced = "AZRebalance" not in fields.texts("asgSuspendProcesses")
        # An auto scaling group evens out zones unless told not to, and EC2's health check finds dead machines.
        pool = managed(pool, subnets=subnets, rebalance=balanced and len(pool.zones) > 1, replaces_dead=True)
        return Described((pool,), tuple(self.remarks))

    def _remark(self, message: str, key: str = "name") -> None:
        self.remarks.append(Note(f"{self.fields.text('name')}: {message}", self.fields.where(key)))

    def _machine(self) -> Instance:
        """Its machine type; of several the first, which is what the pool's capacity is judged by."""
        fields = self.fields
        name = fields.text("instanceType")
        if name and name != "mixed":
            return known_machine(fields, "instanceType", name)
        for level, key in ((fields, "instanceTypes"), (fields.child("instancesDistribution"), "instanceTypes")):
            names = level.texts(key)
            if len(names) > 1:
                self._remark(f"{names[0]} stands for all of its {len(names)} machine types", "name")
            if names:
                return known_machine(level, key, names[0])
        if "instanceSelector" in fields:
            raise fields.error(f"does not say which machine type; {INSTEAD}", "instanceSelector")
        return known_machine(fields, "instanceType", DEFAULT_TYPE)

    def _sizes(self) -> tuple[int, int, int]:
        """(least, most, now): what is not given follows from what is, and is two if nothing is."""
        fields = self.fields
        least, most = fields.optional_integer("minSize"), fields.optional_integer("maxSize")
        count = fields.optional_integer("desiredCapacity")
        sizes(fields, ("minSize", "maxSize", "desiredCapacity"), least, most, count)
        if least is None:
            least = count if count is not None else DEFAULT_COUNT if most is None else min(DEFAULT_COUNT, most)
        if most is None:
            most = count if count is not None else least
        return least, most, count if count is not None else least

    def _subnets(self) -> tuple[Subnet, ...]:
        """One subnet for each zone that is named, or those of the network that it is put in."""
        fields, top = self.fields, self.top
        zones = fields.texts("availabilityZones")
        if zones:
            return _one_in_each(zones)
        public, private = (_network(top, kind) for kind in ("public", "private"))
        names = fields.texts("subnets")
        if names:
            known = {**public, **private}
            return tuple(self._subnet(name, known.get(name, {})) for name in names)
        own = private if fields.flag("privateNetworking") else public
        if own:
            return tuple(self._subnet(name, own[name]) for name in own)
        zones = top.texts("availabilityZones")
        if not zones:
            region = top.child("metadata").text("region") or "zone"
            zones = tuple(f"{region}{letter}" for letter in "abc")
            self._remark(f"no availabilityZones are named, and eksctl chooses three; {', '.join(zones)} are assumed")
        return _one_in_each(zones)

    def _subnet(self, name: str, facts: dict[str, Any]) -> Subnet:
        zone = facts.get("az") if isinstance(facts.get("az"), str) else name if _ZONE.fullmatch(name) else ""
        if not zone:
            self._remark(f"the zone of subnet {name} is not said (az); a zone of its own is assumed")
        return Subnet(name, zone or name)

    def _own_labels(self, machine: Instance) -> dict[str, str]:
        """What eksctl and the kubelet say of a node."""
        fields, name = self.fields, self.fields.text("name")
        labels = system_labels(machine)
        if fields.text("amiFamily").startswith("Windows"):
            labels |= {"kubernetes.io/os": "windows", "beta.kubernetes.io/os": "windows"}
        labels |= {"alpha.eksctl.io/cluster-name": self.cluster, "alpha.eksctl.io/nodegroup-name": name}
        region = self.top.child("metadata").text("region")
        if region:
            labels["topology.kubernetes.io/region"] = region
        if self.is_managed:
            labels["eks.amazonaws.com/nodegroup"] = name
            labels["eks.amazonaws.com/capacityType"] = "SPOT" if fields.flag("spot") else "ON_DEMAND"
        return labels

    def _taints(self) -> tuple[Taint, ...]:
        """A list of taints, or the older mapping `key: "value:NoSchedule"`."""
        raw = self.fields.raw("taints")
        if not isinstance(raw, dict):
            return listed_taints(self.fields)
        written = self.fields.pairs("taints")
        return tuple(taint_of_text(self.fields, f"{key}={written[key]}") for key in written)


def _one_in_each(zones: tuple[str, ...]) -> tuple[Subnet, ...]:
    return tuple(Subnet(f"subnet-{zone}", zone) for zone in zones)


def _network(top: Fields, kind: str) -> dict[str, dict[str, Any]]:
    """The subnets of the cluster's network that are public or private, by name."""
    level = top.child("vpc").child("subnets").child(kind)
    return {name: level.child(name).value for name in level.value}
