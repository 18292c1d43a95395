"""Rollouts of manifests as people have them: a required anti-affinity and one node too few."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reconverge.checker.check import check
from reconverge.checker.result import Result
from reconverge.checker.scenario import Scenario

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
HELLO = "GoogleCloudPlatform+kubernetes-engine-samples/quickstarts/hello-app-redis/manifests/app-deployment.yaml"
ARGO_CD = "argoproj+argo-cd/manifests/ha/install.yaml"
THREE, FOUR = "3x4cpu,16Gi@a,b,c", "4x4cpu,16Gi@a,b,c,d"


def hung(result: Result) -> list[str]:
    """The workloads whose rollout does not complete."""
    assert result.exploration.complete
    return [each.object for each in result.violated if each.invariant == "rollout-completes"]


def example(studio: Any, name: str) -> Result:
    return check(Scenario.from_file(studio.root / "examples" / "quickstart" / f"{name}.scenario.yaml"))


def test_the_quick_start_hangs_on_three_nodes(studio: Any) -> None:
    result = example(studio, "rollout-on-three-nodes")
    assert hung(result) == ["deployment/web"]
    (trace,) = result.traces
    assert [stroke.event for stroke in trace.strokes] == ["rollout"]
    assert trace.shortest
    assert trace.minimal
    assert "didn't match pod anti-affinity rules" in trace.waiting[0].reason
    assert result.expectation is not None
    assert result.expectation.met


def test_the_quick_start_completes_with_one_unavailable(studio: Any) -> None:
    result = example(studio, "rollout-with-max-unavailable")
    assert result.violated == ()
    assert [each.status for each in result.verdicts if each.invariant == "rollout-completes"] == ["held"]


def rollout(path: str, nodes: str) -> Result:
    file = CORPUS / path
    if not file.is_file():
        pytest.skip("there is no folder of public manifests beside the project")
    return check(Scenario.from_manifests([file], nodes=nodes, may={"rollout": 1}, events=1, deviations=0))


def test_a_public_quick_start_hangs_on_three_nodes() -> None:
    assert hung(rollout(HELLO, THREE)) == ["deployment/hello-web"]


def test_a_public_quick_start_completes_on_four_nodes() -> None:
    assert hung(rollout(HELLO, FOUR)) == []


def test_argo_cd_ha_hangs_on_three_nodes_for_its_proxy_alone() -> None:
    result = rollout(ARGO_CD, THREE)
    assert hung(result) == ["deployment/argocd-redis-ha-haproxy"]


def test_argo_cd_ha_completes_on_four_nodes() -> None:
    assert hung(rollout(ARGO_CD, FOUR)) == []
