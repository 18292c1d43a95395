"""Node lifecycle: zone states, the rate of NoExecute taints, disruption of all zones, and the race at its edge."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconverge.model.loops.node_lifecycle import ALL_ZONES, FULL, NORMAL, PARTIAL, NodeLifecycleController
from reconverge.model.loops.node_lifecycle.zones import EXCLUDE_DISRUPTION, Zone, recounted, standing_of
from reconverge.model.persistent import EMPTY
from reconverge.model.rules import Rules

LOOP = NodeLifecycleController()
NO_EXECUTE = "unreachable:NoExecute"


@pytest.mark.parametrize(
    ("counted", "not_ready", "state", "rate"),
    [
        pytest.param(4, 2, NORMAL, 0.1, id="Z1"),
        pytest.param(5, 3, PARTIAL, 0, id="Z2"),
        pytest.param(60, 40, PARTIAL, 0.01, id="Z3"),
        pytest.param(2, 1, NORMAL, 0.1, id="Z4-one"),
        pytest.param(2, 2, FULL, 0.1, id="Z4-both"),
        pytest.param(4, 3, PARTIAL, 0, id="3-of-4"),
        pytest.param(6, 3, NORMAL, 0.1, id="3-of-6"),
        pytest.param(6, 4, PARTIAL, 0, id="4-of-6"),
        pytest.param(20, 11, PARTIAL, 0, id="exactly-55%"),
        pytest.param(50, 40, PARTIAL, 0, id="50-is-not-large"),
        pytest.param(3, 0, NORMAL, 0.1, id="all-well"),
    ],
)
def test_zone_state_and_rate(counted: int, not_ready: int, state: str, rate: float) -> None:
    assert LOOP.zone_state(counted, not_ready, Rules()) == state
    assert LOOP.zone_rate(state, counted, Rules()) == rate


def test_bucket_is_empty_after_a_zone_leaves_a_disrupted_state() -> None:
    zone = Zone(0.1, waiting=EMPTY.set("n1", None))
    assert zone.may_taint(0)
    stopped = zone.at_rate(0, 5)
    assert not stopped.may_taint(1_000)
    again = stopped.at_rate(0.1, 1_000)
    assert (again.may_taint(1_009), again.may_taint(1_010)) == (False, True)


def test_bucket_keeps_its_token_when_the_rate_changes() -> None:
    zone = Zone(0.1, waiting=EMPTY.set("n1", None))
    assert zone.at_rate(0.01, 5).may_taint(5)
    assert zone.without_token(5).at_rate(0.01, 6).next_token() == 106


def named(count: int, zone: str = "a") -> list[tuple[str, str]]:
    return [(f"{zone}{index}", zone) for index in range(1, count + 1)]


@pytest.fixture(scope="session")
def nodes(world: Any, node: Any, pod: Any) -> Any:
    """A cluster of (name, zone) nodes with one pod each, at rest."""

    def build(*places: tuple[str, str], loop: NodeLifecycleController = LOOP) -> Any:
        w = world([loop], *(node(*place) for place in places), *(pod(f"on-{name}", name) for name, _ in places))
        w.settle()
        return w

    return build


def tainted(w: Any) -> list[tuple[float, str]]:
    return [
        (time, what.split()[1].removeprefix("node/"))
        for time, what in w.written
        if what.endswith(NO_EXECUTE) and what.startswith("taints")
    ]


def test_loss_of_a_zone_taints_one_node_every_ten_seconds(nodes: Any) -> None:
    w = nodes(*named(3, "a"), *named(3, "b"), *named(3, "c"))
    w.silence("a1", "a2", "a3")
    w.settle()
    assert tainted(w) == [(50, "a1"), (60, "a2"), (70, "a3")]


def test_zones_have_buckets_of_their_own(nodes: Any) -> None:
    w = nodes(*named(3, "a"), *named(3, "b"))
    w.silence("a1", "b1", "b2")
    w.settle()
    assert tainted(w) == [(50, "a1"), (50, "b1"), (60, "b2")]


def test_most_nodes_of_a_small_cluster_lost_stops_evictions(nodes: Any) -> None:
    w = nodes(*named(4))
    w.silence("a1", "a2", "a3")
    w.settle()
    assert w.times("Ready=Unknown") == [50, 50, 50]
    assert w.times("NoSchedule") == [50, 50, 50]
    assert len(w.times("Ready=False of pod")) == 3
    assert tainted(w) == []


def test_evictions_resume_with_an_empty_bucket(nodes: Any) -> None:
    w = nodes(*named(4))
    w.silence("a1", "a2", "a3")
    w.until(200)
    w.revive("a1")
    w.settle()
    assert tainted(w) == [(210, "a2"), (220, "a3")]


def test_large_zone_goes_on_slowly(nodes: Any) -> None:
    w = nodes(*named(60))
    w.silence(*(f"a{index}" for index in range(1, 41)))
    w.until(300)
    assert [time for time, _ in tainted(w)] == [50, 150, 250]


def test_all_nodes_lost_stops_everything(nodes: Any) -> None:
    w = nodes(*named(2, "a"), *named(2, "b"))
    w.silence("a1", "a2", "b1", "b2")
    w.settle()
    assert len(w.times("Ready=Unknown")) == 4
    assert len(w.times("Ready=False of pod")) == 4
    assert tainted(w) == []


def test_losing_the_last_zone_takes_taints_back_and_its_return_resumes(nodes: Any) -> None:
    w = nodes(*named(1, "a"), *named(1, "b"))
    w.silence("a1")
    w.until(60)
    assert tainted(w) == [(50, "a1")]
    w.silence("b1")
    w.until(400)
    assert w.taints("a1") == ["unreachable:NoSchedule"]
    assert "all zones are fully disrupted" in w.reasons[-1] or "all zones are fully disrupted" in " ".join(w.reasons)
    w.revive("b1")
    w.settle()
    assert tainted(w) == [(50, "a1"), (410, "a1")]


def test_return_from_total_loss_gives_everybody_a_full_grace(nodes: Any) -> None:
    w = nodes(*named(1, "a"), *named(1, "b"))
    w.edit("Node", "a1", ready="False")
    w.edit("Node", "b1", ready="False")
    w.until(20)
    w.silence("a1")
    w.until(60)
    w.edit("Node", "b1", ready="True")
    w.settle()
    assert w.times("Ready=Unknown") == [110], "60 + 50, not 20 + 50"


def test_excluded_nodes_do_not_count(world: Any, node: Any) -> None:
    excluded = node("m1", "a", labels={EXCLUDE_DISRUPTION: ""})
    w = world([LOOP], excluded, node("a1", "a"))
    w.settle()
    w.silence("a1")
    w.settle()
    assert tainted(w) == [], "the only node that counts is lost"
    w = world([LOOP], excluded, node("a1", "a"))
    w.settle()
    w.silence("m1")
    w.settle()
    assert tainted(w) == [(50, "m1")]


def test_one_dead_node_may_be_tainted_before_its_zone_is_re_classified(nodes: Any) -> None:
    w = nodes(*named(4))
    w.silence("a1", "a2", "a3")
    default, *races = w.choices("node-lifecycle", ALL_ZONES)
    assert default.choice == ""
    assert [race.choice for race in races] == [f"a{i} is tainted before its zone is re-classified" for i in (1, 2, 3)]
    w.take(races[1])
    w.settle()
    assert tainted(w) == [(50, "a2")]


def test_tainted_in_the_race_stays_tainted_when_all_are_lost(nodes: Any) -> None:
    w = nodes(*named(3))
    w.silence("a1", "a2", "a3")
    _, race, *_ = w.choices("node-lifecycle", ALL_ZONES)
    w.take(race)
    w.settle()
    assert NO_EXECUTE in w.taints("a1")
    assert tainted(w) == [(50, "a1")]


def test_who_is_tainted_first_is_a_choice(nodes: Any) -> None:
    w = nodes(*named(5), *named(2, "b"))
    w.silence("a1", "a2")
    plans = w.choices("node-lifecycle", ALL_ZONES)
    assert [plan.choice for plan in plans] == ["a1 first", "a2 first"]
    w.take(plans[1])
    w.settle()
    assert tainted(w) == [(50, "a2"), (60, "a1")]


def test_default_order_is_by_what_nodes_are(world: Any, node: Any, pod: Any) -> None:
    """The node with the pod goes where the pod is, whatever the names are."""
    firsts = []
    for loaded, empty in (("n1", "n2"), ("n2", "n1")):
        w = world([LOOP], *(node(name) for name in ("n1", "n2", "n3", "n4", "n5")), pod("web", loaded))
        w.settle()
        w.silence(loaded, empty)
        w.settle()
        firsts.append("loaded" if tainted(w)[0][1] == loaded else "empty")
    assert firsts[0] == firsts[1]


class AlwaysNormal(NodeLifecycleController):
    """A wrong rule: zones are never disrupted."""

    def zone_state(self, counted: int, not_ready: int, rules: Rules) -> str:
        return NORMAL


def test_zone_rule_can_be_replaced_by_a_subclass(nodes: Any) -> None:
    w = nodes(*named(3), loop=AlwaysNormal())
    w.silence("a1", "a2", "a3")
    w.settle()
    assert [time for time, _ in tainted(w)] == [50, 60, 70]


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["n1", "n2", "n3", "n4"]),
        st.sampled_from(["True", "False", "Unknown", "gone"]),
        st.sampled_from("ab"),
    ),
    max_size=20,
)


@settings(max_examples=100)
@given(changes=CHANGES)
def test_counts_kept_by_change_are_counts_of_the_whole(node: Any, changes: list[tuple[str, str, str]]) -> None:
    zones = EMPTY
    nodes: dict[str, Any] = {}
    for name, what, zone in changes:
        before = nodes.pop(name, None)
        if what != "gone":
            nodes[name] = node(name, zone, ready=what)
        after = nodes.get(name)
        was = None if before is None else standing_of(before)
        zones = recounted(zones, name, was, None if after is None else standing_of(after), 0.1)
    whole = EMPTY
    for name in nodes:
        whole = recounted(whole, name, None, standing_of(nodes[name]), 0.1)
    assert zones == whole
