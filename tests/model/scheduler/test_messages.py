"""What a pod that fits nowhere is told, word for word as recorded from Kubernetes 1.36."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reconverge.model.cluster import Cluster
from reconverge.model.objects.node import NO_EXECUTE, NO_SCHEDULE, UNREACHABLE, UNSCHEDULABLE
from reconverge.model.objects.pod import Pod
from reconverge.model.rules import Rules

if TYPE_CHECKING:
    from tests.model.scheduler.conftest import Build

NO_CLAIMS = "no new claims to deallocate, preemption: 0/3 nodes are available: "
NOT_HELPFUL = NO_CLAIMS + "3 Preemption is not helpful for scheduling."
ONE_FULL = NO_CLAIMS + "1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling."
TWO_FULL = NO_CLAIMS + "1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod."


@pytest.fixture
def recorded(build: type[Build]) -> Cluster:
    """One free node, one that is tainted, one that is full."""
    return build.settled(
        build.node("n1", zone="a"),
        build.node("n2", zone="b", taints=(build.taint(),)),
        build.node("n3", zone="c", pods=1),
        build.pod("filler", 100, "n3"),
    )


def cordoned(build: type[Build], cluster: Cluster) -> Cluster:
    """The cluster when n1 has been cordoned, with the taint that comes with it, and the scheduler has reacted."""
    node = cluster.store.node("n1")
    assert node is not None
    node = node.with_(unschedulable=True, taints=(build.taint(UNSCHEDULABLE, NO_SCHEDULE, ""),))
    return build.rest(build.told(cluster, node))


def said(build: type[Build], cluster: Cluster, pod: Pod) -> str:
    return build.message(build.rest(build.told(cluster, pod)), pod.name)


def test_a_pod_larger_than_any_node(build: type[Build], recorded: Cluster) -> None:
    assert said(build, recorded, build.pod("bigcpu", 5000)) == (
        "0/3 nodes are available: 1 Too many pods, 1 node(s) had untolerated taint(s), 2 Insufficient cpu. "
        + NOT_HELPFUL
    )


def test_a_node_selector_that_no_node_has(build: type[Build], recorded: Cluster) -> None:
    assert said(build, recorded, build.pod("selector", node_selector=(("disk", "ssd"),))) == (
        "0/3 nodes are available: 1 node(s) had untolerated taint(s), "
        "2 node(s) didn't match Pod's node affinity/selector. " + NOT_HELPFUL
    )


def test_another_reason_on_each_node(build: type[Build], recorded: Cluster) -> None:
    cluster = build.told(recorded, build.pod("mid", 3000, "n1"))
    assert said(build, cluster, build.pod("mixed", 2000)) == (
        "0/3 nodes are available: 1 Insufficient cpu, 1 Too many pods, 1 node(s) had untolerated taint(s). " + TWO_FULL
    )


def test_a_cordon_changes_what_waiting_pods_have_been_told(build: type[Build], recorded: Cluster) -> None:
    cluster = build.rest(build.told(recorded, build.pod("mid", 3000, "n1"), build.pod("bigcpu", 5000)))
    cluster = cordoned(build, cluster)
    assert build.message(cluster, "bigcpu") == (
        "0/3 nodes are available: 1 Insufficient cpu, 1 Too many pods, 1 node(s) had untolerated taint(s), "
        "1 node(s) were unschedulable. " + NOT_HELPFUL
    )


def test_a_cordoned_node_is_named_so_before_its_taint(build: type[Build], recorded: Cluster) -> None:
    assert said(build, cordoned(build, recorded), build.pod("cordoned")) == (
        "0/3 nodes are available: 1 Too many pods, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable. "
        + ONE_FULL
    )


def test_a_node_can_count_for_two_reasons(build: type[Build], recorded: Cluster) -> None:
    assert said(build, cordoned(build, recorded), build.pod("big", 5000, tolerations=(build.tolerates(),))) == (
        "0/3 nodes are available: 1 Too many pods, 1 node(s) were unschedulable, 2 Insufficient cpu. " + NOT_HELPFUL
    )


def test_anti_affinity_of_the_pod(build: type[Build], recorded: Cluster) -> None:
    cluster = cordoned(build, build.told(recorded, build.pod("mid", 3000, "n1")))
    anti = build.pod("anti", affinity=build.anti(app="mid"), tolerations=(build.tolerates(UNSCHEDULABLE),))
    assert said(build, cluster, anti) == (
        "0/3 nodes are available: 1 Too many pods, 1 node(s) didn't match pod anti-affinity rules, "
        "1 node(s) had untolerated taint(s). " + TWO_FULL
    )


def test_a_dead_node_has_a_taint_that_is_not_tolerated(build: type[Build], recorded: Cluster) -> None:
    cluster = build.told(recorded, build.pod("mid", 3000, "n1"))
    anti = build.pod("anti", affinity=build.anti(app="mid"), tolerations=(build.tolerates(UNSCHEDULABLE),))
    cluster = cordoned(build, build.rest(build.told(cluster, anti)))
    node = cluster.store.node("n1")
    assert node is not None
    dead = (build.taint(UNREACHABLE, NO_SCHEDULE, ""), build.taint(UNREACHABLE, NO_EXECUTE, ""))
    cluster = build.rest(build.told(cluster, node.with_(ready="Unknown", taints=(*node.taints, *dead))))
    assert build.message(cluster, "anti") == (
        "0/3 nodes are available: 1 Too many pods, 2 node(s) had untolerated taint(s). " + ONE_FULL
    )


def test_a_cordoned_zone_is_a_domain_that_blocks_the_spread(build: type[Build]) -> None:
    nodes = build.nodes(3)
    nodes[2] = nodes[2].with_(unschedulable=True, taints=(build.taint(UNSCHEDULABLE, NO_SCHEDULE, ""),))
    web = [build.pod(f"w{i}", labels={"app": "web"}, spread=(build.spread("web"),)) for i in range(5)]
    cluster = build.settled(nodes, web)
    placed = [build.place(cluster, pod.name) for pod in web]
    assert placed == ["n1", "n2", None, None, None]
    assert build.message(cluster, "w4") == (
        "0/3 nodes are available: 1 node(s) were unschedulable, "
        "2 node(s) didn't match pod topology spread constraints. " + TWO_FULL
    )
    node = cluster.store.node("n3")
    assert node is not None
    halfway = build.rest(build.told(cluster, node.with_(unschedulable=False)))
    assert build.message(halfway, "w3") == (
        "0/3 nodes are available: 1 node(s) had untolerated taint(s), "
        "2 node(s) didn't match pod topology spread constraints. " + TWO_FULL
    )
    cluster = build.rest(build.told(halfway, node.with_(unschedulable=False, taints=())))
    counts = [sum(build.place(cluster, pod.name) == f"n{i}" for pod in web) for i in (1, 2, 3)]
    assert sorted(counts) == [1, 2, 2]
    assert build.message(cluster, "w3") == ""


def test_a_node_that_joins_not_ready_counts_at_once(build: type[Build]) -> None:
    full = [build.pod(f"w{i}", 3900, f"n{i + 1}") for i in range(3)]
    cluster = build.settled(build.nodes(3), full, build.pod("one", 1000))
    joined = build.node("n4", zone="a", taints=(build.taint("node.kubernetes.io/not-ready", NO_SCHEDULE, ""),))
    cluster = build.rest(build.told(cluster, joined))
    assert build.message(cluster, "one") == (
        "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 Insufficient cpu. no new claims to deallocate, "
        "preemption: 0/4 nodes are available: 1 Preemption is not helpful for scheduling, "
        "3 No preemption victims found for incoming pod."
    )
    node = cluster.store.node("n4")
    assert node is not None
    assert build.place(build.rest(build.told(cluster, node.with_(taints=()))), "one") == "n4"


def test_old_and_new_pods_with_anti_affinity_to_each_other(build: type[Build]) -> None:
    kept_apart: dict[str, Any] = {"labels": {"app": "web"}, "affinity": build.anti(app="web")}
    old = [build.pod(f"old{i}", 100, f"n{i + 1}", **kept_apart) for i in range(3)]
    cluster = build.settled(build.nodes(3), old, build.pod("new", **kept_apart))
    assert build.message(cluster, "new") == (
        "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules. "
        "no new claims to deallocate, preemption: 0/3 nodes are available: "
        "3 No preemption victims found for incoming pod."
    )


def test_no_nodes_at_all(build: type[Build]) -> None:
    assert build.message(build.settled(build.pod("one")), "one") == "no nodes available to schedule pods"


def test_a_pod_that_names_its_node_does_not_look_at_others(build: type[Build]) -> None:
    pod = build.pod("one", 5000, affinity=build.only("n2"))
    assert build.message(build.settled(build.nodes(3), pod), "one").startswith(
        "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. "
    )


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (
            "1.33",
            "0/1 nodes are available: 1 node(s) had untolerated taint {dedicated: db}. "
            "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
        ),
        (
            "1.34",
            "0/1 nodes are available: 1 node(s) had untolerated taint(s). no new claims to deallocate, "
            "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
        ),
    ],
)
def test_the_text_follows_the_version(build: type[Build], version: str, message: str) -> None:
    node = build.node("n1", taints=(build.taint(),))
    cluster = build.settled(node, build.pod("one"), rules=Rules.for_version(version))
    assert build.message(cluster, "one") == message
