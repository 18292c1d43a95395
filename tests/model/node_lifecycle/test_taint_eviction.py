"""Taint eviction: tolerations, planned evictions, and what cancels them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconverge.model.loops.node_lifecycle import NodeLifecycleController
from reconverge.model.loops.taint_eviction import TaintEvictionController
from reconverge.model.objects import Taint, Toleration
from reconverge.model.objects.node import NO_EXECUTE, NOT_READY, UNREACHABLE

MAINT = Taint("maint", NO_EXECUTE, "x")
UNREACHED = Taint(UNREACHABLE, NO_EXECUTE)
UNREADY = Taint(NOT_READY, NO_EXECUTE)


def for_seconds(key: str, seconds: float | None) -> Toleration:
    return Toleration(key=key, operator="Exists", effect=NO_EXECUTE, seconds=seconds)


@pytest.fixture(scope="session")
def evicting(world: Any, node: Any) -> Any:
    """Two nodes and some pods, under the taint eviction controller alone."""

    def build(*pods: Any, loop: TaintEvictionController | None = None) -> Any:
        w = world([loop or TaintEvictionController()], node("n1"), node("n2"), *pods)
        w.settle()
        return w

    return build


def taint(w: Any, *taints: Taint, node: str = "n1") -> None:
    w.edit("Node", node, taints=taints)


def evicted(at: float, name: str = "p") -> list[tuple[float, str]]:
    """The condition is a write of its own, before the deletion (recordings 28, 32, 54)."""
    return [(at, f"marks pod/{name} as disrupted (DeletionByTaintManager)"), (at, f"deletes pod/{name}")]


def deleted(w: Any) -> list[tuple[float, str]]:
    return [(time, what.removeprefix("deletes pod/")) for time, what in w.written if what.startswith("deletes pod/")]


def test_untolerated_taint_deletes_at_once(evicting: Any, pod: Any) -> None:
    w = evicting(pod("p", "n1"), pod("other", "n2"))
    taint(w, MAINT)
    assert w.settle() == evicted(0)
    assert w.reasons == ["does not tolerate maint=x:NoExecute"] * 2
    assert w.pod("p").disruption_target == "DeletionByTaintManager"
    assert w.pod("p").deletion_at == 30


def test_default_toleration_is_300_seconds(evicting: Any, pod: Any) -> None:
    w = evicting(pod("p", "n1"))
    taint(w, UNREACHED)
    assert w.settle() == evicted(300)
    assert w.reasons == ["does not tolerate node.kubernetes.io/unreachable:NoExecute (tolerated for 300 s)"] * 2


def test_t1_taint_removed_in_time_cancels_and_a_later_one_starts_anew(evicting: Any, pod: Any) -> None:
    w = evicting(pod("p", "n1"))
    taint(w, UNREACHED)
    w.until(299)
    taint(w)
    assert w.settle() == []
    assert w.cluster.now == 299
    taint(w, UNREACHED)
    assert w.settle() == evicted(599)


def test_t2_own_toleration_seconds_count(evicting: Any, pod: Any) -> None:
    w = evicting(pod("p", "n1", tolerations=[for_seconds(UNREACHABLE, 30)]))
    taint(w, UNREACHED)
    assert w.settle() == evicted(30)


@pytest.mark.parametrize("seconds", [0, -5])
def test_no_time_or_less_is_at_once(evicting: Any, pod: Any, seconds: float) -> None:
    w = evicting(pod("p", "n1", tolerations=[for_seconds(UNREACHABLE, seconds)]))
    taint(w, UNREACHED)
    assert w.settle() == evicted(0)


def test_shortest_of_the_tolerations_used_counts(evicting: Any, pod: Any) -> None:
    w = evicting(pod("p", "n1", tolerations=[for_seconds("maint", 50), for_seconds(UNREACHABLE, 80)]))
    taint(w, UNREACHED, MAINT)
    assert w.settle() == evicted(50)


def test_tolerated_for_ever_is_left_alone(evicting: Any, pod: Any) -> None:
    w = evicting(pod("p", "n1", tolerations=[Toleration(operator="Exists")]))
    taint(w, UNREACHED, MAINT)
    assert w.settle() == []


def test_swap_of_taints_keeps_the_schedule(evicting: Any, pod: Any) -> None:
    w = evicting(pod("p", "n1"))
    taint(w, UNREADY)
    w.until(200)
    taint(w, UNREACHED, UNREADY)
    taint(w, UNREACHED)
    assert w.settle() == evicted(300)


def test_schedule_is_not_shortened_by_a_second_taint(evicting: Any, pod: Any) -> None:
    w = evicting(pod("p", "n1", tolerations=[for_seconds("maint", 10)]))
    taint(w, UNREACHED)
    w.until(100)
    taint(w, UNREACHED, MAINT)
    assert w.settle() == evicted(300)


def test_untolerated_taint_overrides_a_schedule(evicting: Any, pod: Any) -> None:
    w = evicting(pod("p", "n1"))
    taint(w, UNREACHED)
    w.until(100)
    taint(w, UNREACHED, MAINT)
    assert w.settle() == evicted(100)


@pytest.mark.parametrize(("cancelled", "expected"), [(True, []), (False, [(300, "p")])])
def test_taints_left_are_tolerated_for_ever(evicting: Any, pod: Any, cancelled: bool, expected: Any) -> None:
    """Before 1.20 only a node without NoExecute taints cancelled an eviction."""
    w = evicting(pod("p", "n1", tolerations=[for_seconds("maint", None)]))
    w.cluster = w.cluster.with_(rules=w.cluster.rules.with_(taint_eviction_cancelled=cancelled))
    taint(w, MAINT)
    w.settle()
    taint(w, MAINT, UNREADY)
    w.until(100)
    taint(w, MAINT)
    w.settle()
    assert deleted(w) == expected


def test_pod_bound_to_a_tainted_node_is_scheduled_too(evicting: Any, pod: Any) -> None:
    w = evicting()
    taint(w, MAINT)
    w.until(10)
    w.put(pod("p", "n1", tolerations=[for_seconds("maint", 2)]))
    assert w.settle() == evicted(12)


def test_restart_begins_countdowns_anew(evicting: Any, pod: Any) -> None:
    w = evicting(pod("p", "n1"))
    taint(w, UNREACHED)
    w.until(250)
    w.restart()
    assert w.settle() == evicted(550)


def test_terminating_pod_is_not_deleted_again(evicting: Any, pod: Any) -> None:
    w = evicting(pod("p", "n1"))
    taint(w, UNREACHED)
    w.until(100)
    w.edit("Pod", "default/p", deletion_at=130)
    assert w.settle() == []
    assert w.cluster.now == 100, "no timer is left"


def test_another_pod_of_the_same_name_has_its_own_countdown(evicting: Any, pod: Any) -> None:
    w = evicting(pod("p", "n1"))
    taint(w, UNREACHED)
    w.until(100)
    w.remove("Pod", "default/p")
    w.put(pod("p", "n1"))
    assert w.settle() == evicted(400)


def test_deleted_node_object_does_not_cancel(evicting: Any, pod: Any) -> None:
    w = evicting(pod("p", "n1"))
    taint(w, UNREACHED)
    w.until(100)
    w.remove("Node", "n1")
    assert w.settle() == evicted(300)


def test_node_crash_from_silence_to_deletion(world: Any, node: Any, pod: Any) -> None:
    loops = [NodeLifecycleController(), TaintEvictionController()]
    w = world(
        loops,
        node("n1", "a"),
        node("n2", "a"),
        node("n3", "a"),
        pod("p", "n1"),
        pod("agent", "n1", tolerations=[for_seconds(UNREACHABLE, None), for_seconds(NOT_READY, None)]),
    )
    w.settle()
    w.silence("n1")
    w.settle()
    assert deleted(w) == [(350, "p")]
    assert w.pod("agent").deletion_at is None


def test_node_back_before_the_toleration_ends_keeps_its_pods(world: Any, node: Any, pod: Any) -> None:
    loops = [NodeLifecycleController(), TaintEvictionController()]
    w = world(loops, node("n1", "a"), node("n2", "a"), pod("p", "n1"))
    w.settle()
    w.silence("n1")
    w.until(300)
    w.revive("n1")
    w.settle()
    assert deleted(w) == []
    assert w.taints("n1") == []


def test_zone_loss_deletes_pods_300_seconds_after_each_taint(world: Any, node: Any, pod: Any) -> None:
    loops = [NodeLifecycleController(), TaintEvictionController()]
    nodes = [node(f"{zone}{index}", zone) for zone in "abc" for index in (1, 2, 3)]
    w = world(loops, *nodes, *(pod(f"on-{each.name}", each.name) for each in nodes))
    w.settle()
    w.silence("a1", "a2", "a3")
    w.settle()
    assert deleted(w) == [(350, "on-a1"), (360, "on-a2"), (370, "on-a3")]


@settings(max_examples=60)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["n1", "n2"]),
            st.lists(st.sampled_from([UNREACHED, UNREADY, MAINT]), unique=True),
            st.integers(0, 200),
        ),
        max_size=8,
    )
)
def test_only_pods_with_a_standing_cause_are_deleted(evicting: Any, pod: Any, steps: Any) -> None:
    """A pod deleted at some moment is on a node with a NoExecute taint that it does not tolerate for ever."""
    w = evicting(pod("p", "n1"), pod("q", "n2", tolerations=[for_seconds("maint", None)]))
    for name, taints, wait in steps:
        taint(w, *taints, node=name)
        begun = len(w.written)
        w.until(w.cluster.now + wait)
        for _, what in w.written[begun:]:
            if not what.startswith("deletes pod/"):
                continue
            victim = w.pod(what.removeprefix("deletes pod/"))
            standing = w.cluster.store.node(victim.node).taints
            forever = [each for each in victim.spec.tolerations if each.seconds is None]
            assert any(not any(each.tolerates(t) for each in forever) for t in standing)
    w.settle()
    assert len(deleted(w)) <= 2
