"""Whatever is asked of it, the autoscaler keeps within bounds and comes to rest, and what it removes was not needed."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reconverge.model.events import Cordon, Event, InstanceTerminated, Scale, Uncordon
from reconverge.model.loops.cluster_autoscaler import to_be_deleted
from reconverge.model.node_groups import instances

Lab = Any
EVENTS: tuple[type[Event], ...] = (InstanceTerminated, Cordon, Uncordon)


def drawn_world(lab: Lab, data: st.DataObject) -> Any:
    low = data.draw(st.integers(0, 2), label="minimum")
    count = data.draw(st.integers(max(1, low), 3), label="count")
    high = data.draw(st.integers(max(count, low + 1), 5), label="maximum")
    pods = [
        lab.deployment(
            data.draw(st.integers(0, 4), label=f"replicas {name}"),
            data.draw(st.sampled_from([250, 900, 1500, 2500]), label=f"cpu {name}"),
            name,
        )
        for name in ("web", "api")
    ]
    budgets = [lab.budget(max_unavailable=1)] if data.draw(st.booleans(), label="budget") else []
    zones = data.draw(st.sampled_from(["a", "ab"]), label="zones")
    return lab.world(*pods, *budgets, groups=[lab.group(low, count, high, zones=zones)])


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_sizes_stay_in_bounds_and_everything_comes_to_rest(lab: Lab, data: st.DataObject) -> None:
    world = drawn_world(lab, data)
    group = world.cluster.machines.groups["w"]
    for _ in range(data.draw(st.integers(0, 4), label="events")):
        names = ("deployment/web", "deployment/api")
        events: list[Event] = [each for kind in EVENTS for each in kind.candidates(world.cluster, {})]
        events += [Scale(name, count) for name in names for count in (0, 2, 6)]
        event = data.draw(st.sampled_from([each for each in events if each.enabled(world.cluster)]), label="event")
        world.strike(event)
        world.until(world.cluster.now + data.draw(st.sampled_from([0, 7, 130, 640]), label="seconds"))
        assert group.minimum <= world.size() <= group.maximum
    world.settle()
    assert group.minimum <= world.size() <= group.maximum
    assert len(instances(world.cluster.machines, "w")) == world.size()
    assert not any(to_be_deleted(node) for node in world.cluster.store.nodes())


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_pods_stay_pending_only_at_the_maximum(lab: Lab, data: st.DataObject) -> None:
    world = drawn_world(lab, data)
    world.settle()
    if world.pending:
        assert world.size() == world.cluster.machines.groups["w"].maximum


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_left_alone_it_changes_its_mind_at_most_once(lab: Lab, data: st.DataObject) -> None:
    """With the scheduler's own rules as its simulation, a removal is never undone.

    Except where pods are pending at the maximum: the others may be packed on fewer nodes, which makes room for one.
    """
    world = drawn_world(lab, data)
    world.until(600)
    assume(not world.pending)
    world.written.clear()
    done = [words for _, words in world.settle() if "desired size" in words or "terminates" in words]
    assert all("terminates" in words for words in done)
