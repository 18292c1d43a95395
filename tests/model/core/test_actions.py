"""Writes: what the API server accepts, what it makes of it, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconverge.model.action import Bind, Create, Delete, DeletePod, MarkDisrupted, Patch, Update
from reconverge.model.cluster import Cluster
from reconverge.model.errors import AlreadyExists, Conflict, NotFound
from reconverge.model.loops.pod_writes import RemoveFinalizer
from reconverge.model.objects import Pod, PodSpec, PriorityClass, ReplicaSet, Service, Toleration
from reconverge.model.rules import Rules
from reconverge.model.store import Store, letters

KEY = "default/p"


def cluster(*objects: Any, now: float = 100) -> Cluster:
    store = Store({})
    for each in objects:
        store, _ = store.put(each)
    return Cluster(store=store, now=now)


def pod(**fields: Any) -> Pod:
    return Pod(**{"name": "p", "uid": 7, "node": "n1", "phase": "Running", **fields})


def after(action: Any, before: Cluster) -> Any:
    made, _ = action.apply(before)
    return made.store.pod(KEY)


# Names and uids --------------------------------------------------------------------------------------------------


@given(st.integers(0, 20_000), st.integers(0, 20_000))
def test_letters_count_without_a_gap_or_a_repetition(one: int, other: int) -> None:
    assert (letters(one) == letters(other)) == (one == other)
    assert (len(letters(one)), letters(one)) < (len(letters(one + 1)), letters(one + 1))


def test_generated_names_are_in_order_of_creation_and_per_prefix_and_namespace() -> None:
    made = cluster()
    for prefix, namespace in [("web-", "default"), ("web-", "default"), ("db-", "default"), ("web-", "other")]:
        made, _ = Create(Pod(name=prefix, namespace=namespace)).apply(made)
    assert sorted(made.store.table("Pod").objects) == ["default/db-a", "default/web-a", "default/web-b", "other/web-a"]


def test_the_name_of_a_pod_that_is_gone_is_not_given_again() -> None:
    made, _ = Create(Pod(name="web-")).apply(cluster())
    made, _ = DeletePod("default/web-a", 1).apply(made)
    made, _ = Create(Pod(name="web-")).apply(made)
    assert list(made.store.table("Pod").objects) == ["default/web-b"]


def test_uids_are_never_given_twice() -> None:
    made = cluster(pod(uid=41))
    made, _ = DeletePod(KEY, 41, 0).apply(made)
    made, (change,) = Create(Pod(name="p")).apply(made)
    assert change.after.uid == 42
    assert change.after.created_at == 100


def test_a_taken_name_is_refused() -> None:
    with pytest.raises(AlreadyExists, match="pod/p already exists"):
        Create(Pod(name="p")).apply(cluster(pod()))


def test_creation_admits_a_pod() -> None:
    gold = PriorityClass(name="gold", value=9, preemption_policy="Never")
    made, (change,) = Create(Pod(name="p", spec=PodSpec(priority_class="gold"))).apply(cluster(gold))
    spec = change.after.spec
    assert (spec.priority, spec.preemption_policy) == (9, "Never")
    assert [(each.key, each.seconds) for each in spec.tolerations] == [
        ("node.kubernetes.io/not-ready", 300),
        ("node.kubernetes.io/unreachable", 300),
    ]
    assert made.store.pod(KEY) == change.after


def test_a_toleration_that_is_there_is_left_alone() -> None:
    own = Toleration("node.kubernetes.io/unreachable", "Exists", "", "NoExecute", 5)
    _, (change,) = Create(Pod(name="p", spec=PodSpec(tolerations=(own,)))).apply(cluster())
    assert [each.seconds for each in change.after.spec.tolerations] == [5, 300]


def test_a_toleration_of_another_effect_does_not_count() -> None:
    own = Toleration("node.kubernetes.io/unreachable", "Exists", "", "NoSchedule")
    _, (change,) = Create(Pod(name="p", spec=PodSpec(tolerations=(own,)))).apply(cluster())
    assert len(change.after.spec.tolerations) == 3


# Deletion (3.3) --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "grace", "left"),
    [
        ({"node": None, "phase": "Pending"}, None, None),
        ({"node": None, "phase": "Pending"}, 60, None),
        ({"phase": "Succeeded"}, None, None),
        ({"phase": "Failed"}, 60, None),
        ({}, 0, None),
        ({}, None, (130, 30)),
        ({}, 5, (105, 5)),
        ({}, -1, (101, 1)),
        ({"spec": PodSpec(termination_grace=90)}, None, (190, 90)),
        ({"spec": PodSpec(termination_grace=0)}, None, None),
        ({"finalizers": ("f",)}, 0, (100, 0)),
        ({"phase": "Failed", "finalizers": ("f",)}, None, (100, 0)),
    ],
)
def test_a_deletion_takes_the_grace_period_that_the_pod_needs(
    fields: Any, grace: Any, left: tuple[float, float] | None
) -> None:
    found = after(DeletePod(KEY, 7, grace), cluster(pod(**fields)))
    assert (None if found is None else (found.deletion_at, found.grace)) == left


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 60)), min_size=1, max_size=5))
def test_later_deletions_only_shorten(calls: list[tuple[int, int]]) -> None:
    made = cluster(pod())
    ends, graces = [], []
    for passed, grace in calls:
        made = made.with_(now=made.now + passed)
        made, _ = DeletePod(KEY, 7, grace).apply(made)
        found = made.store.pod(KEY)
        assert found is not None
        assert found.deletion_at is not None
        assert found.grace is not None
        ends.append(found.deletion_at)
        graces.append(found.grace)
    assert ends == sorted(ends, reverse=True)
    assert graces == sorted(graces, reverse=True)


def test_the_last_finalizer_lets_a_deleted_pod_go() -> None:
    made, _ = DeletePod(KEY, 7, 0).apply(cluster(pod(finalizers=("f", "g"))))
    made, _ = RemoveFinalizer(KEY, 7, "f").apply(made)
    assert made.store.pod(KEY) is not None
    made, (change,) = RemoveFinalizer(KEY, 7, "g").apply(made)
    assert made.store.pod(KEY) is None
    assert change.after is None


def test_a_finalizer_of_a_pod_that_still_terminates_lets_nothing_go() -> None:
    made, _ = DeletePod(KEY, 7).apply(cluster(pod(finalizers=("f",))))
    assert after(RemoveFinalizer(KEY, 7, "f"), made).finalizers == ()


def test_another_pod_of_that_name_is_not_deleted() -> None:
    with pytest.raises(Conflict):
        DeletePod(KEY, 8).apply(cluster(pod()))
    with pytest.raises(NotFound):
        DeletePod("default/q", 7).apply(cluster(pod()))


def test_a_deletion_that_changes_nothing_is_no_write() -> None:
    made, _ = DeletePod(KEY, 7).apply(cluster(pod()))
    again, changes = DeletePod(KEY, 7, 60).apply(made)
    assert again is made
    assert changes == ()


# Other writes ----------------------------------------------------------------------------------------------------


def test_a_pod_is_bound_once() -> None:
    made, _ = Bind(KEY, 7, "n1").apply(
        cluster(pod(node=None, phase="Pending", nominated_node="n1", unscheduled=("a", "b")))
    )
    found = made.store.pod(KEY)
    assert found is not None
    assert (found.node, found.nominated_node, found.unscheduled) == ("n1", None, None)
    with pytest.raises(Conflict, match="already assigned to node n1"):
        Bind(KEY, 7, "n2").apply(made)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"deletion_at": 130}, "being deleted"),
        ({"spec": PodSpec(scheduling_gates=("g",))}, "gates"),
        ({"uid": 8}, "another object"),
    ],
)
def test_what_cannot_be_bound(fields: Any, why: str) -> None:
    with pytest.raises(Conflict, match=why):
        Bind(KEY, 7, "n1").apply(cluster(pod(**{"node": None, "phase": "Pending", **fields})))


def test_an_update_needs_the_version_that_was_read() -> None:
    made = cluster(ReplicaSet(name="web", uid=3))
    read = made.store.replica_set("default/web")
    assert read is not None
    first, _ = Update(read, read.with_(replicas=2)).apply(made)
    with pytest.raises(Conflict, match="has been modified since it was read"):
        Update(read, read.with_(replicas=3)).apply(first)
    gone, _ = Delete("ReplicaSet", "default/web", 3).apply(first)
    with pytest.raises(NotFound):
        Update(read, read.with_(replicas=3)).apply(gone)


def test_a_patch_does_not_ask_for_the_version() -> None:
    made, _ = Patch("Pod", KEY, 7, (("ready", True),)).apply(cluster(pod()))
    made, _ = Patch("Pod", KEY, 7, (("restarts", 2),)).apply(made)
    found = made.store.pod(KEY)
    assert found is not None
    assert (found.ready, found.restarts) == (True, 2)
    with pytest.raises(Conflict):
        Patch("Pod", KEY, 8, (("ready", False),)).apply(made)


def test_a_patch_of_what_is_so_already_makes_no_write() -> None:
    before = cluster(pod())
    made, changes = Patch("Pod", KEY, 7, (("phase", "Running"),)).apply(before)
    assert made is before
    assert changes == ()


def test_a_mark_is_set_once() -> None:
    made, changes = MarkDisrupted(KEY, 7, "X").apply(cluster(pod()))
    assert len(changes) == 1
    assert MarkDisrupted(KEY, 7, "X").apply(made) == (made, ())


def test_every_write_raises_the_revision_and_the_change_tells_both_sides() -> None:
    before = cluster(Service(name="web"))
    old = before.store.service("default/web")
    assert old is not None
    made, (change,) = Update(old, old.with_(labels=(("a", "b"),))).apply(before)
    assert made.store.revision == before.store.revision + 1
    assert (change.before, change.after.revision) == (old, made.store.revision)
    assert change.object is change.after


def test_rules_know_their_versions() -> None:
    assert [Rules.for_version(each).node_monitor_grace for each in ("1.30", "1.31", "v1.34.1")] == [40, 50, 50]
    for wrong in ("1.24", "1.99", "latest"):
        with pytest.raises(ValueError, match="Kubernetes"):
            Rules.for_version(wrong)
