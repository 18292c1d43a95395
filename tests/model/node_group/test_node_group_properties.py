"""Whatever happens to its instances, a group comes to rest with as many as desired."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reconverge.model.events import Event, InstanceTerminated, NodeCrashes, NodeRecovers, ZoneFails, ZoneRecovers
from reconverge.model.node_groups import BEST_EFFORT, ONLY, instances

EVENTS: tuple[type[Event], ...] = (InstanceTerminated, NodeCrashes, NodeRecovers, ZoneFails, ZoneRecovers)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_desired_stays_in_bounds_and_instances_come_to_it(cloud: Callable[..., Any], data: st.DataObject) -> None:
    minimum = data.draw(st.integers(0, 2), label="minimum")
    count = data.draw(st.integers(max(1, minimum), 4), label="count")
    maximum = data.draw(st.integers(count, 5), label="maximum")
    options = {
        "balance": data.draw(st.sampled_from([BEST_EFFORT, ONLY]), label="balance"),
        "rebalance": data.draw(st.booleans(), label="rebalance"),
        "replaces_dead": data.draw(st.booleans(), label="replaces dead"),
    }
    world = cloud("ab", (minimum, count, maximum), **options)
    for _ in range(data.draw(st.integers(1, 5), label="events")):
        events: list[Event] = [each for kind in EVENTS for each in kind.candidates(world.cluster, {})]
        strikes = data.draw(st.booleans(), label="an event")
        if events and strikes:
            world.strike(data.draw(st.sampled_from(events), label="event"))
        else:
            world.resize(data.draw(st.integers(minimum, maximum), label="size"))
        if data.draw(st.booleans(), label="settles"):
            world.settle()
        else:
            world.until(world.cluster.now + data.draw(st.integers(0, 130), label="seconds"))
        assert minimum <= world.group.desired <= maximum
        assert len(instances(world.cluster.machines, "w")) <= maximum + 1
    world.settle()
    held = len(instances(world.cluster.machines, "w"))
    assert held == world.group.desired or (held < world.group.desired and world.cluster.machines.zones_down)
    assert all(each.boots_at is None for each in world.cluster.machines.by_name.values())
