"""Switches of the rules that follow the version: each behaviour on both sides of the version that changed it."""

from __future__ import annotations

import pytest
from attrs import fields

from reconverge.model.admission import as_of_version
from reconverge.model.eviction import Evict
from reconverge.model.labels import Selector, labels_of
from reconverge.model.loop import Reading
from reconverge.model.loops.cluster_autoscaler import AutoscalerOptions
from reconverge.model.loops.scheduler.cycle import Cycle
from reconverge.model.loops.scheduler.plugins.node_resources import BalancedAllocation
from reconverge.model.loops.scheduler.scheduler import Scheduler
from reconverge.model.objects import (
    BudgetStatus,
    Container,
    Node,
    Pod,
    PodDisruptionBudget,
    PodSpec,
    TopologySpreadConstraint,
)
from reconverge.model.requests import effective
from reconverge.model.resources import Capacity, Resources
from reconverge.model.rules import NEWEST, OLDEST, Rules
from reconverge.model.standard import cluster_of

GIB = 2**30
SWITCHES = {
    "autoscaler_cordons": ("1.34", False, True),
    "autoscaler_expander": ("1.33", "random", "least-waste"),
    "balanced_allocation_of_best_effort": ("1.34", True, False),
    "daemonset_counts_old_unavailable": ("1.31", False, True),
    "job_end_waits_for_pods": ("1.31", False, True),
    "job_replacement_policy": ("1.29", False, True),
    "message_mentions_claims": ("1.34", False, True),
    "message_names_taints": ("1.34", True, False),
    "message_names_volume_affinity": ("1.33", False, True),
    "node_monitor_grace": ("1.31", 40, 50),
    "pod_level_resources": ("1.34", False, True),
    "scheduler_waits_for_backoff": ("1.33", True, False),
    "spread_inclusion_policies": ("1.26", False, True),
    "spread_match_label_keys": ("1.27", False, True),
    "spread_min_domains": ("1.27", False, True),
    "stale_cache_guard": ("1.36", False, True),
    "terminating_replicas": ("1.35", False, True),
    "unhealthy_pod_eviction_policy": ("1.27", False, True),
}
BEST_EFFORT = PodSpec(containers=(Container("c"),))


def before(version: str) -> Rules:
    major, minor = version.split(".")
    return Rules.for_version(f"{major}.{int(minor) - 1}")


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_changes_with_its_version(name: str) -> None:
    version, old, new = SWITCHES[name]
    assert getattr(before(version), name) == old
    assert getattr(Rules.for_version(version), name) == new


def test_no_other_rule_changes_with_the_version() -> None:
    versions = [f"{OLDEST[0]}.{minor}" for minor in range(OLDEST[1], NEWEST[1] + 1)]
    changing = {
        field.name
        for field in fields(Rules)
        if len({getattr(Rules.for_version(version), field.name) for version in versions}) > 1
    }
    assert changing == {*SWITCHES, "version", "autoscaler"}


def test_the_rules_of_the_default_version_are_the_defaults() -> None:
    assert Rules.for_version("1.34") == Rules()


@pytest.mark.parametrize(("version", "goes"), [("1.26", False), ("1.27", True)])
def test_always_allow_counts_since_1_27(version: str, goes: bool) -> None:
    status = BudgetStatus(current_healthy=1, desired_healthy=2)
    budget = PodDisruptionBudget(name="b", min_available=2, unhealthy_pod_eviction="AlwaysAllow", status=status)
    assert Evict("default/p", 1).unready_may_go(budget, Rules.for_version(version)) is goes


SPREAD = TopologySpreadConstraint(
    topology_key="zone",
    selector=Selector(labels_of({"app": "web"})),
    min_domains=3,
    match_label_keys=("hash",),
    honor_affinity=False,
    honor_taints=True,
)


@pytest.mark.parametrize(
    ("version", "keys", "domains", "policies"),
    [("1.25", (), 1, (True, False)), ("1.26", (), 1, (False, True)), ("1.27", ("hash",), 3, (False, True))],
)
def test_later_fields_of_spreading_are_dropped(
    version: str, keys: tuple[str, ...], domains: int, policies: tuple[bool, bool]
) -> None:
    (spread,) = as_of_version(PodSpec(spread=(SPREAD,)), Rules.for_version(version)).spread
    assert (spread.match_label_keys, spread.min_domains) == (keys, domains)
    assert (spread.honor_affinity, spread.honor_taints) == policies


@pytest.mark.parametrize(("version", "cpu"), [("1.33", 100), ("1.34", 2000)])
def test_resources_of_a_whole_pod_count_since_1_34(version: str, cpu: int) -> None:
    spec = PodSpec(containers=(Container("c", Resources(cpu=100)),), pod_requests=(("cpu", 2000),))
    pod = Pod(name="p", uid=1, spec=spec.with_(requests=effective(spec)))
    admitted = cluster_of([pod], Rules.for_version(version)).store.pod("default/p")
    assert admitted is not None
    assert admitted.spec.requests.cpu == cpu


@pytest.mark.parametrize(("version", "scores"), [("1.33", [100, 75]), ("1.34", None)])
def test_pods_that_ask_for_nothing_are_scored_for_balance_before_1_34(version: str, scores: list[int] | None) -> None:
    room = Capacity(Resources(4000, 4 * GIB), 110)
    heavy = PodSpec(containers=(Container("c", Resources(cpu=2000)),), requests=Resources(cpu=2000))
    running = Pod(name="other", uid=1, spec=heavy, node="n2", phase="Running")
    pod = Pod(name="p", uid=2, spec=BEST_EFFORT)
    nodes = [Node(name="n1", allocatable=room), Node(name="n2", allocatable=room)]
    cluster = cluster_of([*nodes, running, pod], Rules.for_version(version))
    scheduler = Scheduler()
    cycle: Cycle = scheduler.cycle(Reading(cluster.store, 0, cluster.rules), scheduler.start(), pod)
    assert BalancedAllocation().score(cycle, nodes) == scores


@pytest.mark.parametrize(
    ("version", "expander", "cordons"),
    [("1.32", "random", False), ("1.33", "least-waste", False), ("1.34", "least-waste", True)],
)
def test_the_autoscaler_follows_its_version_unless_its_settings_say(version: str, expander: str, cordons: bool) -> None:
    rules = Rules.for_version(version)
    assert AutoscalerOptions().expands(rules) == expander
    assert AutoscalerOptions().cordons(rules) is cordons
    told = AutoscalerOptions(expander="random", cordon=True)
    assert (told.expands(rules), told.cordons(rules)) == ("random", True)
