"""Loops and kubelets that restart and see an older state of the store first."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.canonical import fingerprint
from reconverge.model.events import EVENTS, Drain, KubeletRestarts, RestartsOnOldStore, Scale, Uncordon
from reconverge.model.labels import Selector, labels_of
from reconverge.model.objects import StatefulSet
from reconverge.model.old_store import remembering

Lab = Any


@pytest.fixture
def world(lab: Lab) -> Any:
    """StatefulSet db of one pod, which a drain has moved from n1 to n2."""
    selector = Selector(labels_of({"app": "db"}))
    made = lab.of(
        lab.node("n1"), lab.node("n2"), StatefulSet(name="db", selector=selector, template=lab.template(app="db"))
    )
    made.settle()
    made.cluster = remembering(made.cluster, 2)
    made.happens(Drain("n1"))
    assert made.get("Pod", "db-0").node == "n2"
    return made


def running(world: Any) -> list[str]:
    machines = world.cluster.machines.by_name
    return [name for name in sorted(machines) for pod in machines[name].pods.values() if pod.alive]


def test_a_kubelet_starts_what_was_its_own_and_then_sees_the_present(world: Any) -> None:
    assert running(world) == ["n2"]
    world.strikes(RestartsOnOldStore(kubelet="n1"))
    world.step()
    assert running(world) == ["n1", "n2"]
    world.settle()
    assert running(world) == ["n2"]
    assert len(world.times("starts pod/db-0 on n1")) == 2


def test_a_consistent_first_list_starts_nothing(world: Any) -> None:
    world.happens(KubeletRestarts("n1"))
    assert len(world.times("starts pod/db-0 on n1")) == 1


def test_candidates_are_kubelets_that_have_lost_a_pod(world: Any) -> None:
    found = list(EVENTS["restart-on-old-store"].candidates(world.cluster, {}))
    assert found == [RestartsOnOldStore(kubelet="n1")]


def test_the_past_ends_where_it_is_not_remembered(world: Any) -> None:
    assert not RestartsOnOldStore(kubelet="n1", events=2).enabled(world.cluster)
    world.happens(Uncordon("n1"))
    assert not list(EVENTS["restart-on-old-store"].candidates(world.cluster, {}))
    assert RestartsOnOldStore(kubelet="n1", events=2).enabled(world.cluster)
    world.strikes(RestartsOnOldStore(kubelet="n1", events=2))
    world.step()
    assert running(world) == ["n1", "n2"]
    assert len(world.cluster.machines.control_plane.past) == 3


def test_a_loop_acts_on_the_old_view_until_it_catches_up(lab: Lab) -> None:
    made = lab.of(lab.node("n1"), lab.replica_set(1))
    made.settle()
    made.cluster = remembering(made.cluster, 1)
    made.happens(Scale("replicaset/web", 3))
    made.strikes(RestartsOnOldStore(loop="replicaset"))
    assert sorted(made.cluster.loops["replicaset"].stalled) == ["Pod", "ReplicaSet"]
    made.settle()
    assert len(made.pods()) == 3


def test_what_is_remembered_sets_states_apart(world: Any) -> None:
    forgotten = remembering(world.cluster, -1)
    assert fingerprint(world.plane, forgotten) != fingerprint(world.plane, world.cluster)


def test_who_restarts_must_be_said(world: Any) -> None:
    for event in (RestartsOnOldStore(), RestartsOnOldStore("replicaset", "n1"), RestartsOnOldStore(kubelet="n9")):
        assert not event.enabled(world.cluster)
