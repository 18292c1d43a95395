"""Which description of nodes counts where there are several, and that pools of files act like any others."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconverge.checker import Scenario
from reconverge.cli import main

CLUSTER = """\
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: shop}
availabilityZones: [a, b]
managedNodeGroups: [{name: web, instanceType: %s, desiredCapacity: 2, maxSize: 3}]
"""
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
"""
NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 4, memory: 8Gi}}\n"


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cluster.yaml").write_text(CLUSTER % "m5.large")
    Path("web.yaml").write_text(WEB)
    Path("node.yaml").write_text(NODE)


def nodes(scenario: Scenario) -> list[str]:
    return [each.name for each in scenario.objects if each.kind == "Node"]


def test_a_cluster_configuration_among_the_manifests_gives_nodes_and_groups() -> None:
    scenario = Scenario.from_manifests(["cluster.yaml", "web.yaml"])
    assert nodes(scenario) == ["web-1", "web-2"]
    assert [(group.name, group.minimum, group.maximum) for group in scenario.groups] == [("web", 2, 3)]
    assert scenario.warnings == ()
    again = Scenario.from_document(scenario.document)
    assert (nodes(again), again.groups) == (nodes(scenario), scenario.groups)


def test_a_directory_does_as_well() -> None:
    Path("node.yaml").unlink()
    assert nodes(Scenario.from_manifests(["."])) == ["web-1", "web-2"]


@pytest.mark.parametrize(
    ("paths", "given", "kept", "said"),
    [
        (["cluster.yaml", "web.yaml"], "1x4cpu,8Gi", ["node-1"], "nodePools (--nodes) say which nodes there are"),
        (["cluster.yaml", "web.yaml", "node.yaml"], None, ["n1"], "Node objects say which nodes there are"),
    ],
)
def test_nodes_that_are_named_outright_come_first(
    paths: list[str], given: str | None, kept: list[str], said: str
) -> None:
    scenario = Scenario.from_manifests(paths, nodes=given)
    assert nodes(scenario) == kept
    assert scenario.groups == ()
    assert scenario.warnings == (f"the node pools of cluster.yaml are left out: {said}",)


def test_pools_that_cannot_be_used_are_no_mistake_where_nodes_are_given() -> None:
    Path("cluster.yaml").write_text(CLUSTER % "m5.gigantic")
    assert nodes(Scenario.from_manifests(["cluster.yaml", "web.yaml"], nodes="1x4cpu,8Gi")) == ["node-1"]


def test_a_scenario_may_name_them_and_its_own_pools_come_first() -> None:
    head = "apiVersion: reconverge/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n"
    body = "  manifests: [cluster.yaml, web.yaml]\n  events: 0\n"
    Path("s.scenario.yaml").write_text(head + body)
    assert nodes(Scenario.from_file("s.scenario.yaml")) == ["web-1", "web-2"]
    pool = "  nodePools: [{name: own, allocatable: {cpu: 4, memory: 8Gi}}]\n"
    Path("s.scenario.yaml").write_text(head + body + pool)
    scenario = Scenario.from_file("s.scenario.yaml")
    assert nodes(scenario) == ["own-1"]
    assert "left out" in scenario.warnings[0]


def test_the_command_says_what_to_write_for_a_machine_that_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    Path("cluster.yaml").write_text(CLUSTER % "m5.gigantic")
    assert main(["check", "web.yaml", "-f", "cluster.yaml"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert 'cluster.yaml:5: managedNodeGroups[0].instanceType "m5.gigantic" is not a known machine type' in line
    assert "--nodes 3x4cpu,16Gi@a,b,c" in line


def test_a_cluster_without_workloads_is_nothing_to_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "cluster.yaml"]) == 2
    assert "nothing that runs pods" in capsys.readouterr().err
