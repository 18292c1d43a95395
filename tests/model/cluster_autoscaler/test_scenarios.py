"""Scenarios with node groups and an autoscaler: how they are read, and what the examples show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reconverge.checker.scenario import Scenario
from reconverge.loading import LoadError
from reconverge.model.loops.cluster_autoscaler import AutoscalerOptions
from reconverge.model.node_groups import ONLY, NodeGroup, Subnet

EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "cluster-autoscaler").glob("*.scenario.yaml"))
POOL = {"name": "w", "count": 2, "min": 1, "max": 3, "zones": ["a"], "allocatable": {"cpu": "2", "memory": "4Gi"}}
NEEDED = {"node-group", "cluster-autoscaler", "upgrade"}


def scenario(*pools: dict[str, Any], **spec: Any) -> Scenario:
    return Scenario.from_document(
        {
            "apiVersion": "reconverge/v1alpha1",
            "kind": "Scenario",
            "metadata": {"name": "test"},
            "spec": {"nodePools": list(pools), "may": {}, "events": 0, **spec},
        }
    )


def loops(*pools: dict[str, Any], **spec: Any) -> set[str]:
    """The loops beyond the standard ones that a scenario brings along."""
    return set(scenario(*pools, **spec).world().plane.names) & NEEDED


def autoscaler(**settings: Any) -> Any:
    """The scenario's autoscaler."""
    return scenario(POOL, loops={"cluster-autoscaler": settings}).world().plane.by_name["cluster-autoscaler"]


def test_a_pool_of_fixed_size_has_no_group_and_brings_no_loop() -> None:
    assert loops({**POOL, "min": 2, "max": 2}) == set()
    assert not scenario({**POOL, "min": 2, "max": 2}).groups


def test_a_pool_that_may_change_brings_its_group_and_the_autoscaler() -> None:
    assert loops(POOL) == {"node-group", "cluster-autoscaler"}
    (group,) = scenario(POOL).groups
    assert (group.minimum, group.desired, group.maximum, group.boot) == (1, 2, 3, 120)


def test_a_managed_pool_of_fixed_size_brings_its_group_only() -> None:
    assert loops({**POOL, "min": 2, "max": 2, "managed": True}) == {"node-group"}


def test_an_upgrade_brings_its_loop() -> None:
    assert loops({**POOL, "min": 2, "max": 2}, may={"node-upgrade": 1}, events=1) == {"upgrade"}
    assert loops({**POOL, "min": 2, "max": 2}, steps=[{"node-upgrade": {"pool": "w"}}]) == {"upgrade"}


def test_a_pool_says_how_the_cloud_manages_it() -> None:
    given = {
        "boot": 60, "rebalance": True, "balance": "only", "replacesDead": True,
        "subnets": [{"name": "s", "zone": "a", "addresses": 5}],
    }  # fmt: skip
    (group,) = scenario({**POOL, **given}).groups
    expected = NodeGroup(
        "w", 1, 3, 2, (Subnet("s", "a", 5),), boot=60, rebalance=True, balance=ONLY, replaces_dead=True
    )
    assert group.with_(template=expected.template) == expected


def test_a_pool_may_begin_empty() -> None:
    world = scenario({**POOL, "count": 0, "min": 0}).world()
    assert not world.start.store.nodes()
    assert world.start.machines.groups["w"].desired == 0


def test_settings_reach_the_autoscaler() -> None:
    loop = autoscaler(unneeded=60, threshold=0.3, expander="random", cordon=False, **{"removal-ignores": ["max-pods"]})
    expected = AutoscalerOptions(
        unneeded=60, threshold=0.3, expander="random", cordon=False, removal_ignores=("max-pods",)
    )
    assert loop.options == expected
    assert loop.removal is not loop.simulation


@pytest.mark.parametrize(
    ("pools", "spec", "message"),
    [
        ([{**POOL, "min": 2, "max": 2, "boot": 5}], {}, "is for managed pools"),
        ([{**POOL, "subnets": [{"name": "s", "zone": "z"}]}], {}, "is no zone of the pool"),
        ([{**POOL, "balance": "none"}], {}, "balance"),
        ([{**POOL, "min": 2, "max": 2}], {"loops": {"cluster-autoscaler": {}}}, "whose max is above its min"),
        ([POOL], {"loops": {"cluster-autoscaler": {"uneeded": 5}}}, "unneeded"),
        ([POOL], {"loops": {"cluster-autoscaler": {"threshold": 50}}}, "between 0 and 1"),
        ([POOL], {"loops": {"cluster-autoscaler": {"ignores": ["max-pod"]}}}, "max-pods"),
    ],
)
def test_what_cannot_be_is_refused_with_a_word_on_it(pools: Any, spec: Any, message: str) -> None:
    with pytest.raises(LoadError) as caught:
        scenario(*pools, **spec)
    assert message in str(caught.value)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name.removesuffix(".scenario.yaml"))
def test_a_trace_keeps_all_that_a_scenario_says_of_its_pools(path: Path) -> None:
    given = Scenario.from_file(path)
    again = Scenario.from_document(given.document)
    assert again.groups == given.groups
    assert again.world().plane.names == given.world().plane.names
