"""Nodes: as objects, from words, from pools, from machine types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.loading import LoadError, NodePool, node_pool, parse_document_text, parse_nodes, parse_pools
from reconverge.loading.instances import EKS, instance
from reconverge.model.objects import Node, Taint
from reconverge.model.resources import Capacity, Resources

Read = Callable[[str], Any]
GIB, MIB = 2**30, 2**20
NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"


def test_a_small_node_is_ready_and_has_its_hostname(read_one: Read) -> None:
    node = read_one(NODE + "status: {allocatable: {cpu: 32, memory: 256Gi, pods: 58}}\n")
    assert isinstance(node, Node)
    assert node.allocatable == Capacity(Resources(32000, 256 * GIB), 58)
    assert (node.ready, node.ready_reason, node.labels) == ("True", "KubeletReady", (("kubernetes.io/hostname", "n1"),))


def test_a_node_without_allocatable_has_its_capacity_and_110_pods(read_one: Read) -> None:
    assert read_one(NODE + "status: {capacity: {cpu: 4, memory: 1Gi}}\n").allocatable == Capacity(
        Resources(4000, GIB), 110
    )


def test_conditions_and_taints_stand_as_they_are(read_one: Read) -> None:
    node = read_one(
        NODE
        + """\
spec:
  unschedulable: true
  taints: [{key: a, value: b, effect: NoSchedule, timeAdded: "2024-01-01T00:00:00Z"}, {key: c, effect: NoExecute}]
status:
  allocatable: {cpu: 1, memory: 1Gi}
  conditions:
  - {type: Ready, status: Unknown, reason: NodeStatusUnknown}
  - {type: MemoryPressure, status: "True"}
  - {type: DiskPressure, status: "False"}
"""
    )
    assert (node.ready, node.ready_reason, node.pressure) == ("Unknown", "NodeStatusUnknown", {"MemoryPressure"})
    assert node.unschedulable
    assert node.taints == (Taint("a", "NoSchedule", "b"), Taint("c", "NoExecute"))


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        ("", "has neither allocatable nor capacity"),
        ("status: {allocatable: {cpu: 1}}\n", "status.allocatable.memory is required"),
        ("spec: {taints: [{key: a, effect: NoExcute}]}\nstatus: {allocatable: {cpu: 1, memory: 1}}\n", '"NoExecute"?'),
        ("spec: {unschedulabel: true}\n", 'Did you mean "unschedulable"?'),
    ],
)
def test_bad_nodes_are_refused(error_of: Read, rest: str, said: str) -> None:
    assert said in error_of(NODE + rest)


def test_words_make_equal_nodes_over_zones_in_turn() -> None:
    nodes = parse_nodes("4x4cpu,16Gi@a,b,c")
    assert [each.name for each in nodes] == ["node-1", "node-2", "node-3", "node-4"]
    assert [each.zone for each in nodes] == ["a", "b", "c", "a"]
    assert {each.allocatable for each in nodes} == {Capacity(Resources(4000, 16 * GIB), 110)}
    assert dict(nodes[0].labels) == {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "failure-domain.beta.kubernetes.io/zone": "a",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": "node-1",
        "kubernetes.io/os": "linux",
        "topology.kubernetes.io/zone": "a",
    }


def test_words_may_name_pools_pods_and_devices() -> None:
    small, big, third = parse_pools("2x500m,1Gi big=1x0.5cpu,2Gi,58pods,nvidia.com/gpu=2 1xm5.large,110pods@z")
    assert (small.name, big.name, third.name) == ("node", "big", "node3")
    assert small.node(1).zone == ""
    assert big.allocatable == Capacity(Resources(500, 2 * GIB, 0, (("nvidia.com/gpu", 2),)), 58)
    assert third.allocatable.pods == 110
    assert dict(third.node(1).labels)["node.kubernetes.io/instance-type"] == "m5.large"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no nodes are given"),
        ("abc", '"abc" is no description of nodes; write for example 3x4cpu,16Gi@a,b,c'),
        ("3x4cpu", "does not say how much memory; add for example 16Gi"),
        ("3x16Gi", "does not say how much cpu; add for example 4cpu"),
        ("3xm5.lage", 'Did you mean "m5.large"?'),
        ("3x4cpu,16GB", 'Did you mean "16G"?'),
        ("3x4cpu,16Gi@a,,b", "is no list of zones"),
        ("3x4cpu,16Gi,5cpu", '"5cpu" in "3x4cpu,16Gi,5cpu" does not belong there'),
        ("3xm5.large,16Gi", "does not belong there"),
        ("a=1x1cpu,1Gi a=1x1cpu,1Gi", 'two pools are called "a"'),
    ],
)
def test_bad_words_say_what_to_write(text: str, said: str) -> None:
    with pytest.raises(LoadError) as caught:
        parse_nodes(text)
    assert said in str(caught.value)
    assert str(caught.value).startswith("--nodes: ")


@pytest.mark.parametrize(
    ("name", "cpu", "mib", "pods"),
    [
        ("t3.medium", 1930, 3246, 17),
        ("t3.large", 1930, 6837, 35),
        ("m5.large", 1930, 6903, 29),
        ("m6i.large", 1930, 6903, 29),
        ("m7g.large", 1930, 6844, 29),
        ("c5.large", 1930, 3114, 29),
        ("r5.large", 1930, 14481, 29),
        ("m5.xlarge", 3920, 14162, 58),
        ("c6i.xlarge", 3920, 6584, 58),
        ("m5.2xlarge", 7910, 29317, 58),
        ("m5.4xlarge", 15890, 57691, 234),
    ],
)
def test_machine_types_leave_what_their_provider_says(name: str, cpu: int, mib: int, pods: int) -> None:
    machine = instance(name)
    assert machine is not None
    assert machine.allocatable() == Capacity(Resources(cpu, mib * MIB), pods)


def test_other_providers_names_say_what_the_machine_has() -> None:
    gke, aks = instance("e2-standard-4"), instance("Standard_D2s_v5")
    assert gke is not None
    assert aks is not None
    assert (gke.allocatable().resources.cpu, gke.allocatable().pods) == (3920, 110)
    assert 13_000 * MIB < gke.allocatable().resources.memory < 14_000 * MIB
    assert aks.allocatable(30).resources == Resources(1900, (8192 - 750) * MIB)
    assert instance("m5.gigantic") is None


def test_graviton_and_devices_are_known() -> None:
    assert EKS["m7g.large"].arch == "arm64"
    assert dict(parse_nodes("1xt4g.small")[0].labels)["kubernetes.io/arch"] == "arm64"
    assert EKS["g5.12xlarge"].allocatable().resources.amount("nvidia.com/gpu") == 4


SCENARIO = """\
apiVersion: reconverge/v1alpha1
kind: Scenario
spec:
  nodePools:
  - {name: workers, count: 2, min: 1, max: 5, zones: [a, b], allocatable: {cpu: "4", memory: 16Gi, pods: 20}}
  - name: spot
    instanceType: m5.large
    labels: {team: x}
    taints: ["spot=true:NoSchedule", "gone:NoExecute"]
"""


def test_pools_of_a_scenario_become_nodes() -> None:
    spec = parse_document_text(SCENARIO, "a.scenario.yaml").child("spec")
    workers, spot = (node_pool(each) for each in spec.children("nodePools"))
    assert isinstance(workers, NodePool)
    assert [each.name for each in workers.nodes] == ["workers-1", "workers-2"]
    assert (workers.count, workers.minimum, workers.maximum) == (2, 1, 5)
    assert workers.node(3).zone == "a"
    assert spot.nodes[0].taints == (Taint("spot", "NoSchedule", "true"), Taint("gone", "NoExecute"))
    assert dict(spot.nodes[0].labels)["team"] == "x"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("count: 2", "count: 9"), "a.scenario.yaml:5: spec.nodePools[0].count must be between min (1) and max (5)"),
        (("zones:", "zone:"), 'unknown field "spec.nodePools[0].zone". Did you mean "zones"?'),
        (("name: workers", "name: Workers"), "must be lower-case"),
        (("m5.large", "m5.huge"), 'a.scenario.yaml:7: spec.nodePools[1].instanceType "m5.huge" is not a known'),
        (("    instanceType: m5.large\n", ""), "a.scenario.yaml:6: spec.nodePools[1].allocatable or instanceType"),
        (("gone:NoExecute", "gone"), '"gone" is not key=value:NoSchedule'),
        (("memory: 16Gi", "memory: 16Gib"), 'Did you mean "16Gi"?'),
    ],
)
def test_bad_pools_say_where(change: tuple[str, str], said: str) -> None:
    spec = parse_document_text(SCENARIO.replace(*change), "a.scenario.yaml").child("spec")
    with pytest.raises(LoadError) as caught:
        [node_pool(each) for each in spec.children("nodePools")]
    assert said in str(caught.value)


def test_a_pool_may_be_a_plain_mapping() -> None:
    pool = node_pool({"name": "p", "min": 2, "max": 3, "instanceType": "m5.large"})
    assert (pool.count, len(pool.nodes)) == (2, 2)
    with pytest.raises(LoadError, match=r'^unknown field "cont"\. Did you mean "count"\?$'):
        node_pool({"name": "p", "cont": 2})
