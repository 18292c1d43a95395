"""Node pools as eksctl and Cluster API describe them."""

from __future__ import annotations

import pytest

from reconverge.loading import LoadError, NodePool, described_pools, load_text, node_pool, pool_document
from reconverge.loading.pool_sources import Described
from reconverge.model.node_groups import Subnet
from reconverge.model.objects import Taint
from reconverge.model.resources import Capacity, Resources

MIB, GIB = 2**20, 2**30
CLUSTER = """\
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: shop, region: eu-west-1}
availabilityZones: [eu-west-1a, eu-west-1b]
"""
MACHINES = """\
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata:
  name: md-0
  annotations:
    cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size: "1"
    cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size: "5"
    capacity.cluster-autoscaler.kubernetes.io/cpu: "4"
    capacity.cluster-autoscaler.kubernetes.io/memory: 16Gi
spec:
  clusterName: shop
  replicas: 2
  template:
    spec: {clusterName: shop, failureDomain: a}
"""
REFERRING = """\
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: md-0}
spec:
  clusterName: shop
  replicas: 3
  template:
    metadata: {labels: {node-role.kubernetes.io/web: "", tier: web, cluster.x-k8s.io/cluster-name: shop}}
    spec:
      bootstrap: {configRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: md-0}}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSMachineTemplate, name: md-0}
"""
TEMPLATE = """\
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachineTemplate
metadata: {name: md-0}
spec: {template: {spec: {instanceType: m5.large}}}
"""
KUBEADM = """\
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: KubeadmConfigTemplate
metadata: {name: md-0}
spec:
  template:
    spec:
      joinConfiguration:
        nodeRegistration:
          kubeletExtraArgs: {node-labels: "disk=ssd,zone=x"}
          taints: [{key: web, effect: NoSchedule}]
"""


def described(text: str) -> Described:
    return described_pools(load_text(text, "pools.yaml").pool_documents)


def only_pool(text: str) -> NodePool:
    (pool,) = described(text).pools
    return pool


def group(text: str, key: str = "managedNodeGroups") -> str:
    return f"{CLUSTER}{key}:\n- name: web\n" + "".join(f"  {line}\n" for line in text.splitlines())


def error(text: str) -> str:
    with pytest.raises(LoadError) as caught:
        described(text)
    said = str(caught.value)
    assert said.startswith("pools.yaml:")
    assert "\n" not in said
    return said


# eksctl ------------------------------------------------------------------------------------------------------


def test_a_node_group_is_a_pool_of_machines_in_the_clusters_zones() -> None:
    pool = only_pool(group("instanceType: m5.large\nminSize: 2\nmaxSize: 5\ndesiredCapacity: 3\nlabels: {role: web}"))
    assert (pool.name, pool.minimum, pool.maximum, pool.count) == ("web", 2, 5, 3)
    assert pool.zones == ("eu-west-1a", "eu-west-1b")
    assert pool.allocatable == Capacity(Resources(1930, 6903 * MIB), 29)
    labels = dict(pool.nodes[1].labels)
    assert (labels["role"], labels["topology.kubernetes.io/zone"]) == ("web", "eu-west-1b")
    assert labels["eks.amazonaws.com/nodegroup"] == labels["alpha.eksctl.io/nodegroup-name"] == "web"
    assert labels["node.kubernetes.io/instance-type"] == "m5.large"


def test_it_is_an_auto_scaling_group_that_rebalances_and_replaces_dead_machines() -> None:
    plain = only_pool(group("instanceType: m5.large")).group
    assert plain is not None
    assert (plain.rebalance, plain.replaces_dead) == (True, True)
    told = only_pool(group("instanceType: m5.large\nasgSuspendProcesses: [AZRebalance]", "nodeGroups")).group
    assert told is not None
    assert not told.rebalance


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("", (2, 2, 2)),
        ("desiredCapacity: 4", (4, 4, 4)),
        ("minSize: 1\nmaxSize: 6", (1, 6, 1)),
        ("minSize: 3", (3, 3, 3)),
        ("desiredCapacity: 3\nmaxSize: 9", (3, 9, 3)),
    ],
)
def test_sizes_that_are_not_given_follow_from_those_that_are(text: str, sizes: tuple[int, int, int]) -> None:
    pool = only_pool(group(text))
    assert (pool.minimum, pool.maximum, pool.count) == sizes


def test_taints_are_a_list_or_a_mapping() -> None:
    listed = only_pool(group('taints: [{key: special, value: "true", effect: NoSchedule}]'))
    mapped = only_pool(group('taints: {special: "true:NoSchedule"}', "nodeGroups"))
    assert listed.taints == mapped.taints == (Taint("special", "NoSchedule", "true"),)


def test_pods_per_node_and_spot_and_windows_count() -> None:
    pool = only_pool(group("maxPodsPerNode: 110\nspot: true\ninstanceTypes: [c5.large]"))
    assert pool.allocatable.pods == 110
    assert dict(pool.labels)["eks.amazonaws.com/capacityType"] == "SPOT"
    assert dict(only_pool(group("amiFamily: WindowsServer2022FullContainer")).labels)["kubernetes.io/os"] == "windows"


def test_zones_of_a_group_or_of_its_subnets_come_before_the_clusters() -> None:
    assert only_pool(group("availabilityZones: [eu-west-1c]")).zones == ("eu-west-1c",)
    vpc = "vpc: {subnets: {private: {one: {az: eu-west-1a}, eu-west-1b: {id: subnet-2}}, public: {x: {}}}}\n"
    private = only_pool(vpc + group("privateNetworking: true"))
    assert private.group is not None
    assert private.group.subnets == (Subnet("one", "eu-west-1a"), Subnet("eu-west-1b", "eu-west-1b"))
    read = described(vpc + group("subnets: [one, x]"))
    assert read.pools[0].zones == ("eu-west-1a", "x")
    assert [each.message for each in read.remarks] == [
        "web: the zone of subnet x is not said (az); a zone of its own is assumed"
    ]


def test_what_is_assumed_is_said() -> None:
    text = group("instanceTypes: [c5.large, m5.large]").replace("availabilityZones: [eu-west-1a, eu-west-1b]\n", "")
    said = [str(each) for each in described(text).remarks]
    assert said[0] == "pools.yaml:5: web: c5.large stands for all of its 2 machine types"
    assert "eu-west-1a, eu-west-1b, eu-west-1c are assumed" in said[1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("instanceType: m5.gigantic", 'pools.yaml:7: managedNodeGroups[0].instanceType "m5.gigantic" is not a known'),
        ("instanceType: m5.lage", 'or --nodes 3x4cpu,16Gi@a,b,c or 3xm5.large@a,b,c. Did you mean "m5.large"?'),
        ("instanceSelector: {vCPUs: 2}", "does not say which machine type; describe the nodes instead: nodePools of"),
        ("minSize: 4\nmaxSize: 3", "managedNodeGroups[0] minSize (4) must not be more than maxSize (3)"),
        ("minSize: 2\ndesiredCapacity: 1", "minSize (2) must not be more than desiredCapacity (1)"),
        ("maxSize: 2\ndesiredCapacity: 3", "desiredCapacity (3) must not be more than maxSize (2)"),
        ("minSizes: 4", 'Did you mean "minSize"?'),
        ('taints: {a: "true"}', "is not key=value:NoSchedule"),
    ],
)
def test_bad_node_groups_are_refused(text: str, said: str) -> None:
    assert said in error(group(text))


def test_a_version_that_cannot_be_read_and_two_clusters_are_refused() -> None:
    assert "Did you mean" in error(group("").replace("v1alpha5", "v1alpha4"))
    other = group("").replace("shop", "bank").replace("web", "api")
    assert 'two clusters are described, "shop" and "bank"' in error(f"{group('')}---\n{other}")
    assert 'two node pools are called "web"' in error(f"{group('')}---\n{group('maxSize: 3')}")


# Cluster API -------------------------------------------------------------------------------------------------


def test_a_machine_deployment_is_a_pool_of_its_annotations() -> None:
    pool = only_pool(MACHINES)
    assert (pool.name, pool.minimum, pool.maximum, pool.count, pool.zones) == ("md-0", 1, 5, 2, ("a",))
    assert pool.allocatable == Capacity(Resources(4000, 16 * GIB), 110)
    assert pool.group is not None
    assert (pool.group.rebalance, pool.group.replaces_dead) == (False, False)


def test_capacity_annotations_say_pods_devices_labels_and_taints() -> None:
    more = """\
    capacity.cluster-autoscaler.kubernetes.io/maxPods: "50"
    capacity.cluster-autoscaler.kubernetes.io/gpu-count: "2"
    capacity.cluster-autoscaler.kubernetes.io/labels: "role=gpu,tier=a"
    capacity.cluster-autoscaler.kubernetes.io/taints: "gpu=true:NoSchedule,slow:PreferNoSchedule"
"""
    pool = only_pool(MACHINES.replace("spec:\n", f"{more}spec:\n", 1))
    assert pool.allocatable == Capacity(Resources(4000, 16 * GIB, 0, (("nvidia.com/gpu", 2),)), 50)
    assert {"role": "gpu", "tier": "a"}.items() <= dict(pool.labels).items()
    assert pool.taints == (Taint("gpu", "NoSchedule", "true"), Taint("slow", "PreferNoSchedule"))


def test_without_replicas_there_are_as_many_as_the_minimum_and_without_annotations_one() -> None:
    assert only_pool(MACHINES.replace("  replicas: 2\n", "")).count == 1
    unsized = "\n".join(line for line in MACHINES.splitlines() if "-size:" not in line and "replicas" not in line)
    pool = only_pool(unsized)
    assert (pool.minimum, pool.maximum, pool.count) == (1, 1, 1)


def test_templates_that_it_refers_to_say_its_shape_and_registration() -> None:
    read = described(REFERRING + TEMPLATE + KUBEADM)
    (pool,) = read.pools
    assert pool.allocatable == Capacity(Resources(1930, 6903 * MIB), 29)
    labels = dict(pool.labels)
    assert (labels["disk"], labels["node-role.kubernetes.io/web"]) == ("ssd", "")
    assert "tier" not in labels
    assert pool.taints == (Taint("web", "NoSchedule"),)
    (remark,) = read.remarks
    assert "machine labels that Cluster API does not copy to nodes: tier" in str(remark)


def test_the_status_of_a_template_says_what_a_machine_holds() -> None:
    template = TEMPLATE.replace("{instanceType: m5.large}", "{}").replace("AWS", "Docker")
    pool = only_pool(REFERRING.replace("AWS", "Docker") + template + "status: {capacity: {cpu: 2, memory: 4Gi}}\n")
    assert pool.allocatable == Capacity(Resources(2000, 4 * GIB), 110)


def test_a_machine_pool_has_several_zones() -> None:
    text = MACHINES.replace("MachineDeployment", "MachinePool").replace(", failureDomain: a", "")
    assert only_pool(text.replace("  replicas: 2\n", "  replicas: 2\n  failureDomains: [a, b]\n")).zones == ("a", "b")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('max-size: "5"', 'max-size: "0"', "min-size (1) must not be more than cluster.x-k8s.io"),
        ("replicas: 2", "replicas: 6", "spec.replicas (6) must not be more than"),
        ('min-size: "1"', 'minsize: "1"', "Did you mean"),
        ('min-size: "1"', 'min-size: "one"', "must be a whole number, in quotes"),
        ("memory: 16Gi", "memory: 16GB", 'Did you mean "16G"?'),
        ("    capacity.cluster-autoscaler.kubernetes.io/memory: 16Gi\n", "", "memory is required beside"),
        ("v1beta1", "v1alpha2", "that can be read"),
    ],
)
def test_bad_machines_are_refused(before: str, after: str, said: str) -> None:
    assert before in MACHINES
    assert said in error(MACHINES.replace(before, after))


def test_machines_of_unknown_shape_say_what_to_write() -> None:
    said = error(REFERRING)
    assert said.startswith("pools.yaml:3: metadata.name does not say what a node holds: annotate it with capacity.")
    assert "name the file of its machine template md-0 as well" in said
    said = error(REFERRING + TEMPLATE.replace("m5.large", "m5.gigantic"))
    assert "spec.template.spec.instanceType" in said
    assert "is not a known machine type" in said


# Both --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [group("minSize: 1\nmaxSize: 4"), MACHINES, REFERRING + TEMPLATE + KUBEADM])
def test_a_pool_as_an_entry_of_a_scenario_is_the_same_pool(text: str) -> None:
    pool = only_pool(text)
    assert node_pool(pool_document(pool)) == pool


def test_what_is_no_pool_is_left_alone() -> None:
    loaded = load_text(f"{CLUSTER}fargateProfiles: [{{name: f}}]\n", "pools.yaml")
    assert described_pools(loaded.pool_documents).pools == ()
    other = load_text("apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: c}\n", "pools.yaml")
    assert other.pool_documents == ()
    assert other.skipped == {"Cluster.cluster.x-k8s.io": 1}
