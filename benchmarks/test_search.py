"""Speed of the exhaustive search, with and without judging and merging."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from reconverge.checker import Bounds, Result, Scenario, check
from reconverge.checker.explore import Explorer, Search

QUICKSTART = Path(__file__).parent.parent / "examples" / "quickstart"
BUDGET = 200_000
SHOP = ("cart", "catalog", "checkout", "email", "frontend", "payment", "ranking", "search", "shipping", "users")


@pytest.fixture(scope="module")
def quickstart() -> Scenario:
    """The web shop on three alike nodes of one zone, with everything that an ordinary week brings."""
    return Scenario.from_manifests([QUICKSTART / "shop.yaml"], nodes="3x4cpu,16Gi@a")


def _search(scenario: Scenario, bounds: Bounds, *, judged: bool = True, symmetry: bool = True) -> Search:
    world = scenario.world(symmetry=symmetry)
    if not judged:
        world = evolve(world, invariants=())
    return Explorer(world, bounds, BUDGET).search()


@pytest.mark.benchmark(timer=time.process_time, group="search")
@pytest.mark.parametrize("symmetry", [True, False], ids=["symmetry", "no symmetry"])
@pytest.mark.parametrize("judged", [True, False], ids=["judged", "not judged"])
@pytest.mark.parametrize("bounds", [Bounds(2, 0), Bounds(1, 1)], ids=["2 events", "1 event, 1 deviation"])
def test_search_of_the_quickstart(
    bounds: Bounds,
    judged: bool,
    symmetry: bool,
    quickstart: Scenario,
    measured: Callable[..., float],
    said: Callable[[str], None],
) -> None:
    searches: list[Search] = []

    def search_once() -> None:
        searches.append(_search(quickstart, bounds, judged=judged, symmetry=symmetry))

    seconds = measured(search_once, rounds=3, warmup_rounds=1)
    search = searches[-1]
    words = f"{'judged' if judged else 'not judged'}, {'symmetry' if symmetry else 'no symmetry'}"
    end = "" if search.complete else " (not complete)"
    said(
        f"quickstart, {_words(bounds)}, {words}: {search.states} states, {search.steps:,} steps in {seconds:.2f} s: "
        f"{search.states / seconds:,.0f} states/s, {search.steps / seconds:,.0f} steps/s{end}"
    )


def _words(bounds: Bounds) -> str:
    return f"({bounds.events}, {bounds.deviations})"


def _shop() -> str:
    """Ten Deployments of two to four replicas, each with a Service and a budget."""
    return "\n---\n".join(_WORKLOAD.format(name=name, replicas=2 + place % 3) for place, name in enumerate(SHOP))


_WORKLOAD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      containers: [{{name: {name}, image: shop/{name}, resources: {{requests: {{cpu: 250m, memory: 256Mi}}}}}}]
---
apiVersion: v1
kind: Service
metadata: {{name: {name}}}
spec: {{selector: {{app: {name}}}, ports: [{{port: 80}}]}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: {name}}}
spec: {{minAvailable: 1, selector: {{matchLabels: {{app: {name}}}}}}}"""


@pytest.mark.benchmark(timer=time.process_time, group="shop")
def test_shop_of_ten_deployments_with_the_defaults(
    measured: Callable[..., float], said: Callable[[str], None], tmp_path: Path
) -> None:
    (tmp_path / "shop.yaml").write_text(_shop())
    scenario = Scenario.from_manifests([tmp_path / "shop.yaml"], nodes="5x4cpu,16Gi@a,b,c")
    results: list[Result] = []
    seconds = measured(lambda: results.append(check(scenario)), rounds=3)
    done = results[-1].exploration
    said(
        f"ten Deployments on five nodes with the defaults: {seconds:.1f} s, {done.steps:,} steps "
        f"({done.steps / seconds:,.0f} a second), covered {', '.join(map(_words, done.covered))}"
    )
