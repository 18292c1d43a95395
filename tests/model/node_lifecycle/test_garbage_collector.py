"""Garbage collection by owner."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconverge.model.loops.garbage_collector import GarbageCollector
from reconverge.model.objects import Deployment, OwnerReference, ReplicaSet


@pytest.fixture(scope="session")
def owned(world: Any, node: Any, pod: Any) -> Any:
    """A Deployment with one ReplicaSet and two pods."""

    def build() -> Any:
        w = world([GarbageCollector()], node("n1"), Deployment(name="web"))
        w.put(ReplicaSet(name="web-1", owner=w.cluster.store.deployment("default/web").owner_reference()))
        owner = w.cluster.store.replica_set("default/web-1").owner_reference()
        for name in ("a", "b"):
            w.put(pod(name, "n1", owner=owner))
        w.put(pod("own", "n1"))
        assert w.settle() == []
        return w

    return build


def test_all_dependents_follow_a_deleted_deployment(owned: Any) -> None:
    w = owned()
    w.remove("Deployment", "default/web")
    assert w.settle() == [(0, "deletes replicaset/web-1"), (0, "deletes pod/a"), (0, "deletes pod/b")]
    assert w.reasons == ["its owner deployment/web is gone", *["its owner replicaset/web-1 is gone"] * 2]
    assert w.pod("a").deletion_at == 30, "gracefully"
    assert w.pod("own").deletion_at is None


def test_dependent_created_after_its_owner_has_gone(owned: Any, pod: Any) -> None:
    w = owned()
    owner = w.cluster.store.replica_set("default/web-1").owner_reference()
    w.remove("ReplicaSet", "default/web-1")
    w.settle()
    w.put(pod("late", "n1", owner=owner))
    assert w.settle() == [(0, "deletes pod/late")]


def test_another_owner_of_the_same_name_does_not_keep_dependents(owned: Any) -> None:
    w = owned()
    w.remove("ReplicaSet", "default/web-1")
    w.put(ReplicaSet(name="web-1"))
    assert [what for _, what in w.settle()] == ["deletes pod/a", "deletes pod/b"]


def test_owner_of_an_unknown_kind_is_never_gone(owned: Any, pod: Any) -> None:
    w = owned()
    w.put(pod("opaque", "n1", owner=OwnerReference("Cluster", "pg", 4711)))
    w.restart()
    assert w.settle() == []


def test_orphans_are_found_after_a_restart(owned: Any) -> None:
    w = owned()
    w.remove("ReplicaSet", "default/web-1")
    w.restart()
    assert [what for _, what in w.settle()] == ["deletes pod/a", "deletes pod/b"]


def test_pod_whose_owner_the_cache_does_not_have_yet_stays(owned: Any) -> None:
    w = owned()
    state = w.cluster.loops["garbage-collector"]
    stale = w.cluster.store.table("ReplicaSet").remove("default/web-1")
    state = state.with_(stalled={"ReplicaSet": stale}, queue={"default/a": None})
    w.cluster = w.cluster.with_(loops={"garbage-collector": state})
    assert w.settle() == []


def test_terminating_dependent_is_left_alone(owned: Any) -> None:
    w = owned()
    w.edit("Pod", "default/a", deletion_at=30)
    w.remove("ReplicaSet", "default/web-1")
    assert [what for _, what in w.settle()] == ["deletes pod/b"]
    assert w.attempts == 1


@given(
    removed=st.lists(
        st.sampled_from(["Deployment/default/web", "ReplicaSet/default/web-1", "Pod/default/a"]), unique=True
    )
)
def test_what_is_left_has_its_owner_or_none(owned: Any, removed: list[str]) -> None:
    w = owned()
    for each in removed:
        kind, _, key = each.partition("/")
        if w.cluster.store.get(kind, key) is not None:
            w.remove(kind, key)
    w.settle()
    for each in w.cluster.store.objects():
        if each.owner is not None and not each.terminating:
            assert w.cluster.store.get(each.owner.kind, f"default/{each.owner.name}") is not None
    assert w.pod("own").deletion_at is None
