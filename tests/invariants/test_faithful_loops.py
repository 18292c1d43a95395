"""The laws hold, whatever happens, in a cluster whose control loops follow the rules."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.checker.runner import Play, run
from reconverge.checker.schedule import Interruption
from reconverge.checker.world import Allowance, World
from reconverge.invariants.stock import STOCK
from reconverge.model.events import Cordon, Drain, Event, KubeletRestarts, NodeCrashes, PodDeleted, RollOut, Scale
from reconverge.model.quiet import at_rest
from reconverge.model.standard import cluster_of, standard_control_plane

LAWS = tuple(each for each in STOCK if each.family == "law")
PLANE = standard_control_plane()


@pytest.fixture
def world(lab: Any) -> World:
    """Three nodes, a Deployment of three under a budget, and a Service."""
    service, slice_ = lab.service()
    nodes = [lab.node("n1", "a"), lab.node("n2", "b"), lab.node("n3", "c")]
    objects = [*nodes, lab.deployment(3), lab.budget(min_available=2), service, slice_]
    start = at_rest(PLANE, PLANE.start(cluster_of(objects)))
    return World("shop", PLANE, start, STOCK, (Allowance("drain"),))


EVENTS: list[Event] = [
    Drain("n1"),
    RollOut("deployment/web"),
    Scale("deployment/web", 5),
    Scale("deployment/web", 1),
    NodeCrashes("n2"),
    KubeletRestarts("n1"),
    PodDeleted("deployment/web#0"),
    Cordon("n3"),
]


@pytest.mark.parametrize("first", EVENTS, ids=str)
def test_no_law_is_broken_when_a_second_event_strikes_at_any_moment(world: World, first: Event) -> None:
    judge = World("laws", PLANE, world.start, LAWS).judge()
    for second in EVENTS:
        for after in range(1, 40, 5):
            played = run(world, [Play(first, (Interruption(after),)), Play(second)], judge)
            if len(played.plays) == 2:
                assert [(each.identity, each.violation.message) for _, each in played.found] == []


@pytest.mark.parametrize("event", [Drain("n1"), RollOut("deployment/web"), Scale("deployment/web", 5)], ids=str)
def test_what_is_done_on_purpose_with_room_to_spare_breaks_no_objective(world: World, event: Event) -> None:
    chosen = tuple(each for each in STOCK if each.default)
    played = run(world, [Play(event)], World("all", PLANE, world.start, chosen).judge())
    assert [(each.identity, each.violation.message) for _, each in played.found] == []
