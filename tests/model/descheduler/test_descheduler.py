"""The descheduler as a loop: when it runs, whom it evicts, and whether that ends."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.action import Bind
from reconverge.model.events import Scale
from reconverge.model.labels import Requirement, Selector, labels_of
from reconverge.model.loops.descheduler import (
    Descheduler,
    DeschedulerPolicy,
    EvictorSettings,
    LowUtilizationSettings,
    NodeAffinitySettings,
    RemoveDuplicatesSettings,
    SpreadSettings,
)
from reconverge.model.loops.descheduler.policy import PREFERRED, REQUIRED, SOFT
from reconverge.model.objects import (
    Affinity,
    NodeSelectorTerm,
    OwnerReference,
    PodDisruptionBudget,
    PreferredNodeTerm,
    Taint,
    TopologySpreadConstraint,
)
from reconverge.model.objects.node import HOSTNAME
from reconverge.model.standard import standard_control_plane

Lab = Any
WEB = Selector(labels_of({"app": "web"}))
OWNER = OwnerReference("ReplicaSet", "web", 999)


def loops(**policy: Any) -> list[Any]:
    return [*standard_control_plane().loops, Descheduler(DeschedulerPolicy(**policy))]


def evictions(lab: Any) -> list[float]:
    return list(lab.times("evicts"))


def alone(lab: Lab, *objects: Any, **policy: Any) -> list[str]:
    """Whom one run evicts, by node."""
    world = lab.of(*objects, loops=[Descheduler(DeschedulerPolicy(**policy))])
    world.quiet_now()
    gone = [pod for pod in world.pods() if pod.deletion_at is not None]
    return sorted(f"{pod.name}@{pod.node}" for pod in gone)


def owned(lab: Lab, name: str, node: str, **fields: Any) -> Any:
    return lab.pod(name, node, owner=OWNER, phase="Running", ready=True, **fields)


# When it runs ------------------------------------------------------------------------------------------------


def test_it_rests_when_nothing_changes(lab: Lab) -> None:
    world = lab.of(
        lab.node("n1"), lab.node("n2"), lab.deployment(2), loops=loops(duplicates=RemoveDuplicatesSettings())
    )
    world.settle()
    assert evictions(world) == []
    assert world.memory("descheduler").due is None


def test_a_change_sets_the_next_run(lab: Lab) -> None:
    world = lab.of(
        lab.node("n1"), lab.node("n2"), lab.deployment(2), loops=loops(duplicates=RemoveDuplicatesSettings())
    )
    world.settle()
    before = world.cluster.now
    world.strikes(Scale("deployment/web", 3))
    world.quiet_now()
    assert world.memory("descheduler").due == before + 300


# RemoveDuplicates --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fit", "ends"), [("old", False), ("new", True)])
def test_more_replicas_than_nodes(lab: Lab, fit: str, ends: bool) -> None:
    policy = {"fit": fit, "duplicates": RemoveDuplicatesSettings()}
    world = lab.of(lab.node("n1"), lab.node("n2"), lab.deployment(4), loops=loops(**policy))
    world.until(3000)
    times = sorted(set(evictions(world)))
    assert times == ([] if ends else [300 * run for run in range(1, 11)])


def test_duplicates_above_the_average_go(lab: Lab) -> None:
    pods = [owned(lab, f"p{number}", "n1") for number in range(4)]
    nodes = [lab.node("n1"), lab.node("n2")]
    assert alone(lab, *nodes, *pods, duplicates=RemoveDuplicatesSettings()) == ["p2@n1", "p3@n1"]
    assert alone(lab, *nodes, *pods, fit="old", duplicates=RemoveDuplicatesSettings()) == ["p1@n1", "p2@n1", "p3@n1"]


def test_nodes_that_the_pods_may_not_use_do_not_count(lab: Lab) -> None:
    pods = [owned(lab, f"p{number}", "n1") for number in range(2)]
    closed = lab.node("n2", taints=(Taint("control-plane", "NoSchedule"),))
    assert alone(lab, lab.node("n1"), closed, *pods, duplicates=RemoveDuplicatesSettings()) == []


def test_owners_can_be_left_alone(lab: Lab) -> None:
    pods = [owned(lab, f"p{number}", "n1") for number in range(4)]
    nodes = [lab.node("n1"), lab.node("n2")]
    assert alone(lab, *nodes, *pods, duplicates=RemoveDuplicatesSettings(("ReplicaSet",))) == []


# Spread ------------------------------------------------------------------------------------------------------


def spread_template(lab: Lab) -> Any:
    constraint = TopologySpreadConstraint(HOSTNAME, 1, hard=False, selector=WEB)
    return lab.template(spread=(constraint,))


@pytest.mark.parametrize(("fit", "ends"), [("old", False), ("new", True)])
def test_tainted_nodes_as_empty_places(lab: Lab, fit: str, ends: bool) -> None:
    closed = lab.node("c1", taints=(Taint("control-plane", "NoSchedule"),))
    policy = {"fit": fit, "spread": SpreadSettings((SOFT,))}
    deployment = lab.deployment(4, template=spread_template(lab))
    world = lab.of(closed, lab.node("w1"), lab.node("w2"), deployment, loops=loops(**policy))
    world.until(3000)
    assert len(set(evictions(world))) == (0 if ends else 10)


def test_uneven_domains_are_evened_out(lab: Lab) -> None:
    spread = {"spread": (TopologySpreadConstraint(HOSTNAME, 1, selector=WEB),)}
    pods = [owned(lab, f"p{number}", "n1", spec=spread) for number in range(3)]
    assert alone(lab, lab.node("n1"), lab.node("n2"), *pods, spread=SpreadSettings()) == ["p2@n1"]


def test_soft_constraints_count_only_where_asked_for(lab: Lab) -> None:
    spread = {"spread": (TopologySpreadConstraint(HOSTNAME, 1, hard=False, selector=WEB),)}
    pods = [owned(lab, f"p{number}", "n1", spec=spread) for number in range(3)]
    assert alone(lab, lab.node("n1"), lab.node("n2"), *pods, spread=SpreadSettings()) == []


# Node affinity -----------------------------------------------------------------------------------------------


def prefers(value: str) -> Affinity:
    term = NodeSelectorTerm((Requirement("type", "In", (value,)),))
    return Affinity(node_preferred=(PreferredNodeTerm(100, term),))


@pytest.mark.parametrize(("fit", "ends"), [("new", False), ("better", True)])
def test_a_full_preferred_node(lab: Lab, fit: str, ends: bool) -> None:
    spot = lab.node("s1", cpu=100, labels={"type": "spot"})
    template = lab.template(cpu=200, affinity=prefers("spot"))
    policy = {"fit": fit, "node_affinity": NodeAffinitySettings((PREFERRED,))}
    policy["evictor"] = EvictorSettings(node_fit=True)
    world = lab.of(spot, lab.node("o1"), lab.node("o2"), lab.deployment(2, template=template), loops=loops(**policy))
    world.until(3000)
    assert len(set(evictions(world))) == (0 if ends else 10)


def test_room_on_the_preferred_node_settles_it(lab: Lab) -> None:
    spot = lab.node("s1", labels={"type": "spot"})
    pod = owned(lab, "p", "o1", spec={"affinity": prefers("spot")})
    settings = {"node_affinity": NodeAffinitySettings((PREFERRED,))}
    assert alone(lab, spot, lab.node("o1"), pod, **settings) == ["p@o1"]
    there = owned(lab, "p", "s1", spec={"affinity": prefers("spot")})
    assert alone(lab, spot, lab.node("o1"), there, **settings) == []


def test_a_required_affinity_that_no_longer_holds(lab: Lab) -> None:
    affinity = Affinity(node_required=(NodeSelectorTerm((Requirement("type", "In", ("spot",)),)),))
    pod = owned(lab, "p", "o1", spec={"affinity": affinity})
    settings = {"node_affinity": NodeAffinitySettings((REQUIRED,))}
    assert alone(lab, lab.node("s1", labels={"type": "spot"}), lab.node("o1"), pod, **settings) == ["p@o1"]
    assert alone(lab, lab.node("s1"), lab.node("o1"), pod, **settings) == []
    assert alone(lab, lab.node("s1"), lab.node("o1"), pod, fit="old", **settings) == ["p@o1"]


# LowNodeUtilization ------------------------------------------------------------------------------------------

UTILIZATION = LowUtilizationSettings((("cpu", 20),), (("cpu", 50),))


def test_pods_go_from_full_nodes_until_the_target_is_met(lab: Lab) -> None:
    pods = [owned(lab, f"p{number}", "n1", spec={"cpu": 800}) for number in range(4)]
    assert alone(lab, lab.node("n1"), lab.node("n2"), *pods, low_utilization=UTILIZATION) == ["p0@n1", "p1@n1"]


def test_nothing_goes_without_a_node_that_has_room(lab: Lab) -> None:
    pods = [owned(lab, f"p{number}", "n1", spec={"cpu": 800}) for number in range(4)]
    held = owned(lab, "q", "n2", spec={"cpu": 1000})
    assert alone(lab, lab.node("n1"), lab.node("n2"), *pods, held, low_utilization=UTILIZATION) == []
    assert alone(lab, lab.node("n1"), lab.node("n2", unschedulable=True), *pods, low_utilization=UTILIZATION) == []


# Whom it may evict -------------------------------------------------------------------------------------------


def test_daemons_bare_pods_critical_pods_and_local_storage_stay(lab: Lab) -> None:
    stay = [
        lab.pod("d", "n1", owner=OwnerReference("DaemonSet", "agent", 7), phase="Running"),
        lab.pod("bare", "n1", phase="Running", spec={"cpu": 3000}),
        owned(lab, "critical", "n1", spec={"priority": 2_000_000_000}),
        owned(lab, "local", "n1", spec={"volumes": ("emptyDir",)}),
    ]
    assert alone(lab, lab.node("n1"), lab.node("n2"), *stay, low_utilization=UTILIZATION) == []
    settings = EvictorSettings(bare_pods=True)
    assert "bare@n1" in alone(lab, lab.node("n1"), lab.node("n2"), *stay, evictor=settings, low_utilization=UTILIZATION)


def test_limits_of_one_run(lab: Lab) -> None:
    pods = [owned(lab, f"p{number}", "n1") for number in range(4)]
    nodes = [lab.node("n1"), lab.node("n2")]
    for settings in (EvictorSettings(most=1), EvictorSettings(most_per_node=1), EvictorSettings(most_per_namespace=1)):
        assert alone(lab, *nodes, *pods, evictor=settings, duplicates=RemoveDuplicatesSettings()) == ["p2@n1"]


def test_a_budget_that_refuses_is_not_asked_again_and_again(lab: Lab) -> None:
    budget = PodDisruptionBudget(name="web", selector=WEB, min_available=4)
    policy = {"fit": "old", "duplicates": RemoveDuplicatesSettings()}
    world = lab.of(lab.node("n1"), lab.node("n2"), lab.deployment(4), budget, loops=loops(**policy))
    world.settle()
    assert evictions(world) == []
    assert world.refused == []


def test_evictions_bind_nothing_themselves(lab: Lab) -> None:
    world = lab.of(lab.node("n1"), lab.node("n2"), loops=loops(duplicates=RemoveDuplicatesSettings()))
    world.settle()
    assert not any(isinstance(action, Bind) for action in world.actions)
