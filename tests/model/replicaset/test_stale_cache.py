"""Passes on an old cache: since 1.36 a controller waits until it sees what it has written for a key."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.canonical import fingerprint
from reconverge.model.events import LoopRestarts, WatchCatchesUp, WatchStalls
from reconverge.model.loops.replicaset import ReplicaSetController
from reconverge.model.rules import Rules

STALL = WatchStalls("replicaset", "Pod")
CAUGHT_UP = WatchCatchesUp("replicaset", "Pod")


def stalled(lab: Any, version: str) -> Any:
    """A ReplicaSet that gets a second pod while its controller does not see pods."""
    web = lab.of(lab.replica_set(1), loops=[ReplicaSetController()], rules=Rules.for_version(version))
    web.settle()
    web.happens(STALL)
    web.edit("ReplicaSet", "web", replicas=2)
    web.settle()
    return web


@pytest.mark.parametrize(("version", "made"), [("1.35", 3), ("1.36", 2)])
def test_expectations_that_expire_make_pods_again_unless_own_writes_are_waited_for(
    lab: Any, version: str, made: int
) -> None:
    web = stalled(lab, version)
    web.until(1000)
    web.edit("ReplicaSet", "web", min_ready=1)
    web.settle()
    assert len(web.pods()) == made


def test_it_goes_on_when_its_view_has_caught_up(lab: Any) -> None:
    web = stalled(lab, "1.36")
    web.edit("ReplicaSet", "web", replicas=3)
    web.settle()
    assert len(web.pods()) == 2
    web.happens(CAUGHT_UP)
    web.settle()
    assert len(web.pods()) == 3


def test_a_restarted_controller_does_not_know_what_it_wrote(lab: Any) -> None:
    web = stalled(lab, "1.36")
    assert web.cluster.loops["replicaset"].unseen == {("default/web", "Pod")}
    web.happens(LoopRestarts("replicaset"))
    assert web.cluster.loops["replicaset"].unseen == frozenset()


def test_what_is_waited_for_is_part_of_the_state(lab: Any) -> None:
    web = stalled(lab, "1.36")
    state = web.cluster.loops["replicaset"].with_(unseen=frozenset())
    other = web.cluster.with_(loops={**web.cluster.loops, "replicaset": state})
    assert fingerprint(web.plane, web.cluster) != fingerprint(web.plane, other)
