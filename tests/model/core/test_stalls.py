"""Watches that stall for some seconds: they catch up by themselves, unless something else ends the stall before."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model import events as e
from reconverge.model.canonical import fingerprint
from reconverge.model.loops.replicaset import ReplicaSetController

STALL = e.WatchStalls("replicaset", "Pod", 60)


@pytest.fixture
def web(lab: Any) -> Any:
    """A ReplicaSet of two whose controller sees pods of a minute ago for a minute, and of which one is deleted."""
    made = lab.of(lab.replica_set(2), loops=[ReplicaSetController()])
    made.settle()
    made.strikes(STALL)
    made.remove("Pod", made.pods()[0].name)
    return made


def test_it_catches_up_after_its_seconds(web: Any) -> None:
    web.until(59)
    assert len(web.pods()) == 1
    web.until(60)
    assert len(web.pods()) == 2
    assert web.cluster.loops["replicaset"].stalled == {}
    assert web.cluster.loops["replicaset"].back_at == {}


def test_a_run_that_settles_waits_for_it(web: Any) -> None:
    web.settle()
    assert (web.cluster.now, len(web.pods())) == (60, 2)


def test_one_without_seconds_stays(web: Any) -> None:
    web.happens(e.WatchCatchesUp("replicaset", "Pod"))
    web.happens(e.WatchStalls("replicaset", "Pod"))
    assert web.cluster.loops["replicaset"].back_at == {}
    web.settle()
    assert set(web.cluster.loops["replicaset"].stalled) == {"Pod"}


@pytest.mark.parametrize("end", [e.WatchCatchesUp("replicaset", "Pod"), e.LoopRestarts("replicaset")], ids=str)
def test_what_ends_it_before_leaves_nothing_behind(web: Any, end: e.Event) -> None:
    web.happens(end)
    assert web.cluster.loops["replicaset"].back_at == {}
    assert (web.cluster.now, len(web.pods())) == (0, 2)


def test_a_paused_loop_hears_all_the_same(web: Any) -> None:
    web.strikes(e.LoopPauses("replicaset"))
    web.settle()
    assert web.cluster.loops["replicaset"].stalled == {}
    assert list(web.cluster.loops["replicaset"].queue) == ["default/web"]


def test_the_time_left_is_part_of_the_state(web: Any) -> None:
    state = web.cluster.loops["replicaset"]
    later = {**web.cluster.loops, "replicaset": state.with_(back_at={"Pod": 61})}
    other = web.cluster.with_(loops=later)
    assert fingerprint(web.plane, web.cluster) != fingerprint(web.plane, other)


def test_in_words() -> None:
    assert STALL.describe() == "the replicaset loop's watch of Pods stalls for 60 seconds"
    assert STALL.arguments() == {"loop": "replicaset", "kind": "Pod", "seconds": 60}
    assert e.WatchStalls("replicaset", "Pod").arguments() == {"loop": "replicaset", "kind": "Pod"}


def test_candidates_take_the_seconds_that_are_given(web: Any) -> None:
    found = e.WatchStalls.candidates(web.cluster, {"kind": ["Service"], "seconds": (30, 90)})
    assert [each.seconds for each in found if isinstance(each, e.WatchStalls)] == [30, 90]
