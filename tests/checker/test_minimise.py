"""Reducing counterexamples: to the shortest, inside what may happen, without odd timing where none is needed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from reconverge.checker.minimise import Minimiser, cost
from reconverge.checker.runner import Play, run
from reconverge.checker.schedule import Interruption, OutOfTurn, Tie
from reconverge.model.events import Drain, NodeCrashes, NodeRecovers, RollOut, Scale, Uncordon

DRAIN = Drain("node-1")


def reduce(world: Any, plays: tuple[Play, ...], invariant: str) -> tuple[Play, ...]:
    """The reduced plays of those that break an invariant."""
    found = next(each for _, each in run(world, plays, world.judge()).found if each.invariant.id == invariant)
    minimal = Minimiser(world, found).reduce(plays)
    assert minimal.minimal
    return minimal.plays


def noise() -> st.SearchStrategy[list[Any]]:
    """Events that have nothing to do with a blocked drain."""
    events = [
        Scale("deployment/other", 2), Scale("deployment/other", 1), RollOut("deployment/other"),
        NodeCrashes("node-3"), NodeRecovers("node-3"), Uncordon("node-3"), Drain("node-3"),
    ]  # fmt: skip
    return st.lists(st.sampled_from(events), max_size=10)


@pytest.fixture
def blocked(build: Any) -> Any:
    """Three nodes, one replica under a budget of one, and another deployment; the first runs on node-1."""
    scenario = build.scenario(
        build.deployment(replicas=1),
        build.budget(minAvailable=1),
        build.deployment("other", replicas=1),
        nodes=3,
        placement={"deployment/web": ["node-1"]},
    )
    return scenario.world()


def test_of_a_blocked_drain_in_the_middle_of_noise_the_drain_is_left(blocked: Any) -> None:
    @settings(max_examples=20, deadline=None, database=None, phases=[Phase.generate], derandomize=True)
    @given(before=noise(), after=noise(), deviation=st.sampled_from([(), (Interruption(2),), (Tie(0, 1),)]))
    def reduces(before: list[Any], after: list[Any], deviation: Any) -> None:
        plays = (*map(Play, before), Play(DRAIN, deviation), *map(Play, after))
        reduced = reduce(blocked, plays, "drain-completes")
        assert reduced == (Play(DRAIN),)

    reduces()


def test_the_pieces_of_odd_timing_cost_less_than_an_event() -> None:
    plain = (Play(DRAIN),)
    odd = (Play(DRAIN, (Interruption(3), OutOfTurn(1, 1))),)
    longer = (Play(DRAIN), Play(Uncordon("node-1")))
    assert cost(plain) < cost(odd) < cost(longer)


def test_a_scaling_is_not_reduced_beyond_what_may_happen(build: Any) -> None:
    """Two pods fit; three by one step each is two events, as nobody scales by two here."""
    scenario = build.scenario(build.deployment(replicas=1, cpu="1500m"), may={"scale": 4}, check=["replicas-restored"])
    steps = [Play(Scale("deployment/web", replicas)) for replicas in (0, 1, 2, 3)]
    reduced = reduce(scenario.world(), tuple(steps), "replicas-restored")
    assert [play.event for play in reduced] == [Scale("deployment/web", 2), Scale("deployment/web", 3)]


def test_a_sequence_that_breaks_nothing_is_refused(build: Any) -> None:
    blocked = build.scenario(build.deployment(replicas=1), build.budget(minAvailable=1)).world()
    found = run(blocked, (Play(DRAIN),), blocked.judge()).found[0][1]
    free = build.scenario(build.deployment(replicas=2)).world()
    with pytest.raises(ValueError, match="does not break"):
        Minimiser(free, found).reduce((Play(DRAIN),))
