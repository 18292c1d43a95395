"""Nodes that stay or go for no good reason."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.invariants import Situation
from reconverge.model.action import DeletePod
from reconverge.model.labels import labels_of
from reconverge.model.loop import LoopState
from reconverge.model.loops.cluster_autoscaler import AutoscalerMemory
from reconverge.model.loops.cluster_autoscaler.drainability import SAFE_TO_EVICT
from reconverge.model.loops.cluster_autoscaler.scale_down import DISABLED
from reconverge.model.loops.cluster_autoscaler.writes import MarkToBeDeleted, Unmark
from reconverge.model.loops.node_group import TerminateInstance
from reconverge.model.node_groups import NodeGroup, Subnet, joined_groups
from reconverge.model.objects import DaemonSet, Node, OwnerReference, Pod

Lab = Any
STAYS = "unneeded-nodes-removed"
KILLED = "drained-before-removed"


def grouped(lab: Lab, *objects: Any, low: int = 1, loops: bool = True, **options: Any) -> Situation:
    """Nodes n-1, n-2 ... as instances of a group n."""
    given = {"cluster-autoscaler": LoopState(memory=AutoscalerMemory())} if loops else {}
    situation: Situation = lab.situation(*objects, loops=given, **options)
    count = sum(isinstance(each, Node) for each in objects)
    group = NodeGroup("n", low, 5, count, (Subnet("subnet-a", "a"),))
    cluster = situation.cluster
    return Situation(cluster.with_(machines=joined_groups(cluster.machines, [group])), (), cluster)


def owned(lab: Lab) -> tuple[Any, dict[str, OwnerReference]]:
    rs = lab.set_of()
    return rs, {"owner": rs.owner_reference()}


# unneeded-nodes-removed ------------------------------------------------------------------------------------------


def test_a_node_that_is_little_used_and_could_go_must_go(lab: Lab) -> None:
    rs, owner = owned(lab)
    pods = [lab.pod("web-a", "n-1", **owner), lab.pod("web-b", "n-2", spec=lab.spec(3000), **owner)]
    (found,) = lab.broken(STAYS, lab.quiet(grouped(lab, lab.node("n-1"), lab.node("n-2"), rs, *pods)))
    assert found.object == "node/n-1"
    assert found.message == "node/n-1 stays although 12% of it is requested and its 1 pod would fit elsewhere"


def test_what_holds_it_up_is_told(lab: Lab) -> None:
    pods = [lab.pod("debug", "n-1"), lab.pod("big", "n-2", spec=lab.spec(3000))]
    (found,) = lab.broken(STAYS, lab.quiet(grouped(lab, lab.node("n-1"), lab.node("n-2"), *pods)))
    assert found.message.endswith(": pod/debug holds it up, no controller would create it again")


def test_an_empty_node_counts_too(lab: Lab) -> None:
    big = lab.pod("big", "n-2", spec=lab.spec(3000))
    (found,) = lab.broken(STAYS, lab.quiet(grouped(lab, lab.node("n-1"), lab.node("n-2"), big)))
    assert "nothing but daemons runs on it" in found.message


@pytest.mark.parametrize(
    ("pod", "node", "options"),
    [
        ({"spec": 2100}, {}, {}),
        ({"spec": 1500}, {}, {}),
        ({}, {}, {"low": 2}),
        ({}, {}, {"loops": False}),
        ({"annotations": {SAFE_TO_EVICT: "false"}}, {}, {}),
        ({}, {"annotations": labels_of({DISABLED: "true"})}, {}),
    ],
    ids=["used", "no place", "minimum", "no autoscaler", "unsafe", "protected"],
)
def test_a_node_that_has_a_right_to_stay_is_no_violation(lab: Lab, pod: Any, node: Any, options: Any) -> None:
    rs, owner = owned(lab)
    small = lab.pod(
        "web-a",
        "n-1",
        spec=lab.spec(pod.get("spec", 500)),
        annotations=labels_of(pod.get("annotations", {})),
        **owner,
    )
    big = lab.pod("web-b", "n-2", spec=lab.spec(3000), **owner)
    situation = grouped(lab, lab.node("n-1", **node), lab.node("n-2"), rs, small, big, **options)
    assert not lab.broken(STAYS, lab.quiet(situation))


def test_while_loops_go_on_nothing_is_said(lab: Lab) -> None:
    situation = grouped(lab, lab.node("n-1"), lab.node("n-2"))
    assert lab.broken(STAYS, lab.quiet(situation))
    assert not lab.broken(STAYS, lab.quiet(situation, "loop"))


# drained-before-removed ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("actor", ["node-group", "cluster-autoscaler", "upgrade"])
def test_taking_a_machine_away_with_what_runs_on_it_is_a_violation(lab: Lab, actor: str) -> None:
    before = grouped(lab, lab.node("n-1"), lab.node("n-2"), lab.pod("web-a", "n-1"))
    (found,) = lab.broken(KILLED, lab.step(before, actor, TerminateInstance("n-1")))
    assert found.object == "node/n-1"
    assert "pod/web-a" in found.message


def test_an_empty_or_dead_machine_may_be_taken_away(lab: Lab) -> None:
    agents = DaemonSet(name="agent", uid=lab.fresh())
    daemon: Pod = lab.pod("agent-x", "n-1", owner=agents.owner_reference())
    objects = [lab.node("n-1"), lab.node("n-2"), agents, daemon]
    assert not lab.broken(KILLED, lab.step(grouped(lab, *objects), "node-group", TerminateInstance("n-1")))
    dead = grouped(lab, *objects, lab.pod("web-a", "n-1"), down=["n-1"])
    assert not lab.broken(KILLED, lab.step(dead, "node-group", TerminateInstance("n-1")))


def test_what_runs_on_a_machine_that_is_cut_off_could_not_have_been_moved(lab: Lab) -> None:
    before = grouped(lab, lab.node("n-1"), lab.node("n-2"), lab.pod("web-a", "n-1"))
    machines = before.cluster.machines
    cut_off = machines.put(machines.by_name["n-1"].with_(reachable=False))
    step = lab.step(Situation(before.cluster.with_(machines=cut_off)), "cluster-autoscaler", TerminateInstance("n-1"))
    assert not lab.broken(KILLED, step)


def test_a_failure_takes_machines_away_without_asking(lab: Lab) -> None:
    before = grouped(lab, lab.node("n-1"), lab.node("n-2"), lab.pod("web-a", "n-1"))
    assert not lab.broken(KILLED, lab.step(before, "environment", TerminateInstance("n-1")))


# removal-has-room of whole nodes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("free", "broken"), [(1400, True), (1500, False)])
def test_the_pods_of_a_node_must_fit_elsewhere_all_at_once(lab: Lab, free: int, broken: bool) -> None:
    pods = [lab.pod(f"web-{name}", "n-1") for name in "abc"]
    nodes = [lab.node("n-1"), lab.node("n-2", cpu=free)]
    before = grouped(lab, *nodes, *pods)
    step = lab.step(before, "cluster-autoscaler", MarkToBeDeleted("n-1", nodes[0].uid))
    assert bool(lab.broken("removal-has-room", step)) == broken


def test_taking_a_mark_back_needs_no_room(lab: Lab) -> None:
    node = lab.node("n-1")
    before = grouped(lab, node, lab.pod("web-a", "n-1"))
    assert not lab.broken("removal-has-room", lab.step(before, "cluster-autoscaler", Unmark("n-1", node.uid)))


# no-unprovoked-kill ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("marked", [True, False])
def test_the_autoscaler_evicts_only_from_nodes_that_it_has_marked(lab: Lab, marked: bool) -> None:
    node, pod = lab.node("n-1"), lab.pods_of(lab.set_of(), "n-1")[0]
    before = grouped(lab, node, lab.node("n-2"), pod)
    if marked:
        cluster, _ = MarkToBeDeleted("n-1", node.uid).apply(before.cluster)
        before = Situation(cluster, (), before.start)
    step = lab.step(before, "cluster-autoscaler", DeletePod(pod.key, pod.uid))
    assert bool(lab.broken("no-unprovoked-kill", step)) != marked


@pytest.mark.parametrize(
    ("fields", "held_up"),
    [
        ({}, ""),
        ({"annotations": labels_of({SAFE_TO_EVICT: "false"})}, 'it is annotated safe-to-evict: "false"'),
        ({"owner": None}, "no controller would create it again"),
        ({"owner": None, "annotations": labels_of({SAFE_TO_EVICT: "true"})}, ""),
        ({"owner": None, "phase": "Failed", "ready": False}, ""),
    ],
)
def test_the_autoscaler_leaves_pods_that_hold_their_node_up(lab: Lab, fields: dict[str, Any], held_up: str) -> None:
    node = lab.node("n-1")
    pod = lab.pods_of(lab.set_of(), "n-1")[0].with_(**fields)
    before = grouped(lab, node, lab.node("n-2"), pod)
    cluster, _ = MarkToBeDeleted("n-1", node.uid).apply(before.cluster)
    for start in (before.cluster, lab.cluster(node)):
        step = lab.step(Situation(cluster, (), start), "cluster-autoscaler", DeletePod(pod.key, pod.uid))
        found = [each.facts["why_not"] for each in lab.broken("no-unprovoked-kill", step)]
        assert found == ([held_up] if held_up and start is before.cluster else [])
