"""Node lifecycle: heartbeats, the Unknown marking, NoSchedule taints, swaps and untainting."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconverge.model.likeness import At
from reconverge.model.loop import InFlight, Reading
from reconverge.model.loops.node_lifecycle import NORMAL, NodeLifecycleController, implied_no_schedule
from reconverge.model.objects import Taint
from reconverge.model.objects.node import NO_EXECUTE, NO_SCHEDULE, UNREACHABLE
from reconverge.model.rules import Rules

UNKNOWN_TAINTS = ["unreachable:NoExecute", "unreachable:NoSchedule"]


@pytest.fixture(scope="session")
def small(world: Any, node: Any, pod: Any) -> Any:
    """Three nodes of one zone, two pods on n1 and one on n2."""

    def build(**options: Any) -> Any:
        nodes = [node(name, "a") for name in ("n1", "n2", "n3")]
        pods = [pod("web-1", "n1"), pod("web-2", "n1"), pod("web-3", "n2")]
        return world([NodeLifecycleController()], *nodes, *pods, **options)

    return build


def test_silent_node_is_unknown_after_grace_and_its_pods_unready_in_the_same_pass(small: Any) -> None:
    w = small()
    w.settle()
    w.silence("n1")
    assert w.settle() == [
        (50, "sets Ready=Unknown of node/n1"),
        (50, "sets Ready=False of pod/web-1"),
        (50, "sets Ready=False of pod/web-2"),
        (50, "taints node/n1 node.kubernetes.io/unreachable:NoSchedule"),
        (50, "taints node/n1 node.kubernetes.io/unreachable:NoExecute"),
    ]
    assert w.reasons[0] == "no heartbeat for 50 s"
    assert w.pod("web-3").ready


def test_grace_ends_at_the_next_health_pass(small: Any) -> None:
    w = small()
    w.until(3)
    w.silence("n1")
    w.settle()
    assert w.times("Ready=Unknown") == [55]


def test_grace_was_40_seconds_before_1_31(small: Any) -> None:
    w = small(rules=Rules.for_version("1.30"))
    w.silence("n1")
    w.settle()
    assert w.times("Ready=Unknown") == [40]


def test_kubelet_back_within_grace_is_not_noticed(small: Any) -> None:
    w = small()
    w.silence("n1")
    w.until(49)
    w.edit("Lease", "n1", renewed_at=None)
    assert w.settle() == []
    assert w.cluster.now == 49


def test_kubelet_that_reports_again_loses_its_taints(small: Any) -> None:
    w = small()
    w.silence("n1")
    w.until(100)
    assert w.taints("n1") == UNKNOWN_TAINTS
    w.until(102)
    w.revive("n1")
    w.settle()
    assert w.taints("n1") == []
    assert w.times("removes taint node.kubernetes.io/unreachable:NoSchedule") == [102]
    assert w.times("removes taint node.kubernetes.io/unreachable:NoExecute") == [105], "at the next health pass"


def test_status_that_is_back_before_the_lease_is_a_heartbeat(small: Any) -> None:
    w = small()
    w.silence("n1")
    w.until(100)
    w.edit("Node", "n1", ready="True")
    w.until(149)
    assert w.cluster.store.node("n1").ready == "True"
    w.settle()
    assert w.times("Ready=Unknown") == [50, 150]


def test_reported_not_ready_taints_but_leaves_pods_to_the_kubelet(small: Any) -> None:
    w = small()
    w.edit("Node", "n1", ready="False")
    w.settle()
    assert w.taints("n1") == ["not-ready:NoExecute", "not-ready:NoSchedule"]
    assert w.pod("web-1").ready


def test_not_ready_that_becomes_unknown_swaps_taints_at_once_and_marks_no_pods(small: Any) -> None:
    w = small()
    w.edit("Node", "n1", ready="False")
    w.until(20)
    w.silence("n1")
    w.settle()
    assert w.taints("n1") == UNKNOWN_TAINTS
    assert w.times("NoExecute") == [0, 70, 70]
    assert w.pod("web-1").ready


def test_pod_bound_to_a_node_that_is_not_ready_is_marked(small: Any, pod: Any) -> None:
    w = small()
    w.edit("Node", "n1", ready="False")
    w.settle()
    w.put(pod("late", "n1"))
    w.put(pod("fine", "n2"))
    w.settle()
    assert not w.pod("late").ready
    assert w.pod("fine").ready
    assert w.pod("web-1").ready, "others on the node are left alone"


def test_restart_gives_every_node_a_full_grace(small: Any) -> None:
    w = small()
    w.silence("n1")
    w.until(40)
    w.restart()
    w.settle()
    assert w.times("Ready=Unknown") == [90]


def test_report_between_read_and_write_is_a_heartbeat(small: Any) -> None:
    w = small()
    w.edit("Node", "n1", ready="False")
    w.silence("n1")
    while not isinstance(w.cluster.loops["node-lifecycle"].in_flight, InFlight) or w.cluster.now < 50:
        w._step()
    w.edit("Node", "n1", ready="True")
    w.until(99)
    assert w.cluster.store.node("n1").ready == "True"
    assert w.pod("web-1").ready
    w.settle()
    assert w.times("Ready=Unknown") == [100]


def test_cordon_and_pressure_are_taints(small: Any) -> None:
    w = small()
    w.edit("Node", "n1", unschedulable=True)
    w.edit("Node", "n2", pressure=frozenset({"MemoryPressure", "NetworkUnavailable"}))
    w.settle()
    assert w.taints("n1") == ["unschedulable:NoSchedule"]
    assert w.taints("n2") == ["memory-pressure:NoSchedule", "network-unavailable:NoSchedule"]
    w.edit("Node", "n1", unschedulable=False)
    w.settle()
    assert w.taints("n1") == []


def test_unknown_covers_pressure_but_not_the_network(small: Any) -> None:
    w = small()
    w.edit("Node", "n1", pressure=frozenset({"DiskPressure", "NetworkUnavailable"}))
    w.silence("n1")
    w.settle()
    assert w.cluster.store.node("n1").pressure == {"NetworkUnavailable"}


def test_other_peoples_taints_stay(small: Any) -> None:
    w = small()
    own = (
        Taint("team", NO_SCHEDULE, "x"),
        Taint("team", NO_EXECUTE),
        Taint("node.kubernetes.io/out-of-service", NO_EXECUTE),
    )
    w.edit("Node", "n1", taints=own, ready="False")
    w.settle()
    w.edit("Node", "n1", ready="True")
    w.settle()
    assert w.cluster.store.node("n1").taints == own


def test_taint_of_a_recreated_node_is_not_written_to_it(small: Any, node: Any) -> None:
    w = small()
    w.silence("n1")
    w.settle()
    w.remove("Node", "n1")
    w.remove("Lease", "n1")
    w.put(node("n1", "a"))
    w.settle()
    assert w.taints("n1") == []


class NeverSilent(NodeLifecycleController):
    """A wrong rule: silence is never noticed."""

    def unknown_at(self, reading: Any, memory: Any, node: Any) -> None:
        return None


def test_a_rule_can_be_replaced_by_a_subclass(world: Any, node: Any) -> None:
    w = world([NeverSilent()], node("n1"))
    w.silence("n1")
    assert w.settle() == []


NODES = ("n1", "n2", "n3")
KUBELETS = st.lists(
    st.tuples(
        st.sampled_from(NODES), st.sampled_from(["True", "False", "silent", "cordon", "pressure"]), st.integers(0, 70)
    ),
    max_size=12,
)


@settings(max_examples=60)
@given(steps=KUBELETS, zones=st.booleans())
def test_no_schedule_taints_are_what_is_implied_whenever_it_is_at_rest(
    world: Any, node: Any, pod: Any, steps: list[tuple[str, str, int]], zones: bool
) -> None:
    nodes = [node(name, "abc"[index] if zones else "a") for index, name in enumerate(NODES)]
    w = world([NodeLifecycleController()], *nodes, *(pod(f"p{name}", name) for name in NODES))
    for name, what, wait in steps:
        match what:
            case "silent":
                w.silence(name)
            case "cordon":
                w.edit("Node", name, unschedulable=not w.cluster.store.node(name).unschedulable)
            case "pressure":
                w.edit("Node", name, pressure=frozenset({"DiskPressure"}))
            case _:
                w.edit("Node", name, ready=what)
                w.edit("Lease", name, renewed_at=None)
        w.until(w.cluster.now + wait)
    w.settle()
    for each in w.cluster.store.nodes():
        assert {str(t) for t in each.taints if t.effect == NO_SCHEDULE} == {str(t) for t in implied_no_schedule(each)}
        assert all(t.key != UNREACHABLE for t in each.taints) or each.ready == "Unknown"
        assert not (each.ready == "True" and any(t.effect == NO_EXECUTE for t in each.taints))
    assert not any(what.startswith("deletes") for _, what in w.written)


def test_report_that_the_cache_has_not_seen_is_a_heartbeat(small: Any) -> None:
    """The write is refused, and the node gets a new grace instead of being tried again at once."""
    w = small()
    w.settle()
    stale = w.cluster.store.table("Node")
    w.silence("n1")
    w.cluster = w.cluster.with_(store=w.cluster.store.put(w.cluster.store.node("n1").with_(ready="False"))[0])
    state = w.cluster.loops["node-lifecycle"].with_(stalled={"Node": stale})
    w.cluster = w.cluster.with_(loops={"node-lifecycle": state})
    w.until(99)
    assert w.written == []
    assert w.cluster.loops["node-lifecycle"].timers == {"n1": 100}


def test_reported_not_ready_is_taken_up_by_the_next_health_pass(small: Any) -> None:
    w = small()
    w.until(3)
    w.edit("Node", "n1", ready="False")
    w.settle()
    assert w.times("NoSchedule") == [3]
    assert w.times("NoExecute") == [5]


def test_marks_are_relative_to_objects_and_empty_of_names(small: Any) -> None:
    w = small()
    w.silence("n1")
    w.until(40)
    w.restart()
    w.until(41)
    loop = w.plane.by_name["node-lifecycle"]
    reading = Reading(w.cluster.store, w.cluster.now, w.cluster.rules)
    assert list(loop.marks(w.cluster.loops["node-lifecycle"].memory, reading)) == [
        ("Node", "n1", ("probe", At(40))),
        ("", "", (":a", NORMAL, 0.1, "full")),
    ]
