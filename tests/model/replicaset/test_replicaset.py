"""The ReplicaSet controller: counting, creating and deleting, expectations, status, adoption."""

from __future__ import annotations

from typing import Any

from reconverge.model.action import Create, DeletePod, Patch
from reconverge.model.cluster import Cluster
from reconverge.model.errors import InternalError
from reconverge.model.events import LoopRestarts, WatchCatchesUp, WatchStalls
from reconverge.model.labels import labels_of
from reconverge.model.loops.replicaset import ReplicaSetController
from reconverge.model.objects import Pod
from reconverge.model.rules import Rules

STALL = WatchStalls("replicaset", "Pod")


def test_missing_pods_are_created_in_one_pass(sets: Any) -> None:
    web = sets(3)
    plan = web.lab.pass_of("replicaset")
    assert [type(each) for each in plan.actions] == [Create, Create, Create, Patch]
    assert web.lab.settle()[:3] == [(0, "creates pod/web")] * 3
    (one, *_) = web.lab.pods()
    assert one.owner == web.rs.owner_reference()
    assert (one.labels, one.template_digest, one.phase, one.node) == (web.rs.template.labels, "one", "Pending", None)


def test_terminating_and_finished_pods_are_not_counted(sets: Any) -> None:
    web = sets(2)
    web.pod("live")
    web.pod("going", deletion_at=30)
    web.pod("failed", phase="Failed", ready=False)
    web.pod("done", phase="Succeeded", ready=False)
    web.lab.settle()
    assert web.lab.get("ReplicaSet", "web").status.replicas == 2
    assert len(web.lab.pods()) == 5


def test_a_pod_is_replaced_as_soon_as_its_deletion_begins(sets: Any) -> None:
    web = sets(1)
    web.lab.settle()
    (pod,) = web.lab.pods()
    web.lab.report("Pod", pod.name, node="n1", phase="Running", ready=True)
    web.lab.settle()
    web.lab.report("Pod", pod.name, deletion_at=30, grace=30)
    web.lab.settle()
    assert sorted(each.deletion_at is None for each in web.lab.pods()) == [False, True]


def test_finished_pods_stay(sets: Any) -> None:
    web = sets(1)
    web.pod("failed", phase="Failed", ready=False)
    web.lab.settle()
    assert "failed" in [pod.name for pod in web.lab.pods()]
    assert len(web.lab.pods()) == 2


def test_the_status_counts_what_was_there_before_the_pass(sets: Any) -> None:
    web = sets(3)
    web.pod("a")
    web.pod("b", ready=False)
    plan = web.lab.pass_of("replicaset")
    last = plan.actions[-1]
    assert isinstance(last, Patch)
    status = dict(last.fields)["status"]
    assert (status.replicas, status.ready, status.available, status.fully_labeled) == (2, 1, 1, 2)
    assert isinstance(plan.actions[0], Create)


def test_a_pod_without_one_of_the_templates_labels_is_not_fully_labelled(lab: Any, sets: Any) -> None:
    template = lab.template().with_(labels=labels_of({"app": "web", "tier": "front"}))
    web = sets(1, template=template)
    web.pod("a", labels=labels_of({"app": "web"}))
    web.lab.settle()
    status = web.lab.get("ReplicaSet", "web").status
    assert (status.replicas, status.fully_labeled) == (1, 0)


def test_terminating_pods_are_reported_since_1_35(lab: Any) -> None:
    for version, expected in (("1.34", None), ("1.35", 1)):
        web = lab.of(lab.replica_set(1, uid=5), loops=[ReplicaSetController()], rules=Rules.for_version(version))
        owner = web.get("ReplicaSet", "web").owner_reference()
        web.put(lab.pod("a", "n1", phase="Running", owner=owner))
        web.put(lab.pod("b", "n1", phase="Running", owner=owner, deletion_at=30))
        web.settle()
        assert web.get("ReplicaSet", "web").status.terminating == expected


def test_at_most_a_burst_is_created_or_deleted_in_one_pass(lab: Any) -> None:
    web = lab.of(lab.replica_set(7), loops=[ReplicaSetController()], rules=Rules(burst_replicas=3))
    assert sum(isinstance(each, Create) for each in web.pass_of("replicaset").actions) == 3
    web.settle()
    assert len(web.pods()) == 7
    web.edit("ReplicaSet", "web", replicas=0)
    assert sum(isinstance(each, DeletePod) for each in web.pass_of("replicaset").actions) == 3
    web.settle()
    assert web.pods() == []


# Expectations ----------------------------------------------------------------------------------------------------


def test_what_was_asked_for_is_not_asked_for_again_while_the_watch_is_silent(sets: Any) -> None:
    web = sets(3)
    web.lab.settle()
    web.lab.strikes(STALL)
    web.scale(4)
    web.lab.settle()
    assert len(web.lab.pods()) == 4
    web.scale(5)
    web.lab.settle()
    assert len(web.lab.pods()) == 4, "the fourth has not been seen yet"


def test_after_five_minutes_of_silence_it_creates_again(sets: Any) -> None:
    """The known weakness of expectations: they are a time-out, not a fact."""
    web = sets(3)
    web.lab.settle()
    web.lab.strikes(STALL)
    web.scale(4)
    web.lab.settle()
    web.lab.until(300)
    web.scale(5)
    web.lab.settle()
    assert len(web.lab.pods()) == 4
    web.lab.until(301)
    web.scale(6)
    web.lab.settle()
    assert len(web.lab.pods()) == 7, "three more, with an old view of three"
    web.lab.happens(WatchCatchesUp("replicaset", "Pod"))
    assert len(web.names()) == 6


def test_the_status_is_reported_while_expectations_are_open(sets: Any) -> None:
    web = sets(3)
    web.lab.settle()
    web.lab.strikes(STALL)
    web.scale(4)
    web.lab.settle()
    assert web.lab.get("ReplicaSet", "web").status.observed_generation == 2
    assert web.lab.get("ReplicaSet", "web").status.replicas == 3


def test_deletions_are_expected_by_uid(sets: Any) -> None:
    web = sets(2)
    for name, node in (("a", "n1"), ("b", "n2")):
        web.pod(name, node)
    web.lab.settle()
    web.lab.strikes(STALL)
    web.scale(1)
    web.lab.settle()
    assert len(web.names()) == 1
    web.scale(0)
    web.lab.settle()
    assert len(web.names()) == 1, "with an old view it might delete another one, or the same one again"
    web.lab.happens(WatchCatchesUp("replicaset", "Pod"))
    assert web.names() == []


def test_a_deletion_is_seen_when_it_begins_not_when_the_pod_is_gone(sets: Any) -> None:
    web = sets(2)
    for name, node in (("a", "n1"), ("b", "n2")):
        web.pod(name, node)
    web.lab.settle()
    web.scale(1)
    web.lab.settle()
    assert len(web.lab.pods()) == 2
    web.scale(0)
    web.lab.settle()
    assert web.names() == []
    assert len(web.lab.pods()) == 2


def test_a_restarted_controller_with_a_fresh_list_does_not_create_twice(sets: Any) -> None:
    web = sets(3)
    while len(web.lab.pods()) < 2:
        web.lab.step()
    web.lab.strikes(LoopRestarts("replicaset"))
    web.lab.settle()
    assert len(web.lab.pods()) == 3


def test_a_pod_that_was_deleted_while_the_watch_was_silent_is_no_creation(sets: Any) -> None:
    """It shows up with a deletionTimestamp: upstream takes it for a deletion, and the creation stays expected."""
    web = sets(0)
    web.lab.settle()
    web.lab.strikes(STALL)
    web.scale(1)
    web.lab.settle()
    (pod,) = web.lab.pods()
    web.lab.report("Pod", pod.name, node="n1", phase="Running", deletion_at=30)
    web.lab.happens(WatchCatchesUp("replicaset", "Pod"))
    assert web.names() == []
    assert web.lab.memory("replicaset")["default/web"].creations == 1
    web.lab.until(301)
    web.scale(2)
    web.lab.settle()
    assert len(web.names()) == 2


def test_expectations_of_a_set_go_with_it(sets: Any) -> None:
    web = sets(3)
    web.lab.settle()
    web.lab.strikes(STALL)
    web.scale(4)
    web.lab.settle()
    web.lab.remove("ReplicaSet", "web")
    web.lab.settle()
    assert dict(web.lab.memory("replicaset")) == {}


def test_a_pod_that_is_gone_before_its_deletion_is_no_error(sets: Any) -> None:
    """Deletions are sent side by side: one that comes too late stops none of the others."""
    web = sets(0)
    for name, node in (("a", "n1"), ("b", "n2")):
        web.pod(name, node)
    web.lab.step()
    web.lab.remove("Pod", "a")
    web.lab.settle()
    assert web.lab.refused == []
    assert web.names() == []


def test_a_late_deletion_leaves_the_others_expected(sets: Any) -> None:
    web = sets(3)
    for name in ("a", "b", "c"):
        web.pod(name, "n1")
    web.lab.settle()
    web.lab.strikes(STALL)
    web.lab.remove("Pod", "b")
    web.scale(1)
    web.lab.settle()
    left = web.names()
    web.scale(0)
    web.lab.settle()
    assert web.names() == left


# Errors ----------------------------------------------------------------------------------------------------------


class _Refused(Create):
    """A creation that the API refuses, as with a quota."""

    def apply(self, cluster: Cluster) -> Any:
        raise InternalError("exceeded quota")


class _Limited(ReplicaSetController):
    """The API refuses every creation from the third pod on."""

    def creations(self, reading: Any, rs: Any, count: int) -> Any:
        made: Any = super().creations(reading, rs, count)
        room = max(0, 2 - len([pod for pod in reading.store.pods_of(rs.uid) if pod.active]))
        return tuple(each if place < room else _Refused(each.object) for place, each in enumerate(made))


def test_a_pass_stops_at_the_first_error_and_comes_again(lab: Any) -> None:
    web = lab.of(lab.replica_set(5), loops=[_Limited()])
    while not web.refused:
        web.step()
    assert len(web.pods()) == 2
    assert len(web.refused) == 1
    assert web.cluster.loops["replicaset"].in_flight is None
    assert web.plane.next(web.cluster) is not None
    while len(web.refused) < 2:
        web.step()
    assert len(web.pods()) == 2, "what was created is counted, no more is expected"


# Adoption --------------------------------------------------------------------------------------------------------


def test_a_matching_orphan_is_adopted_before_anything_is_created(lab: Any, sets: Any) -> None:
    web = sets(1)
    web.lab.put(lab.pod("orphan", "n1", phase="Running", ready=True))
    written = web.lab.settle()
    assert written[0] == (0, "adopts pod/orphan")
    assert [pod.name for pod in web.lab.pods()] == ["orphan"]


def test_an_orphan_too_many_is_adopted_and_deleted(lab: Any, sets: Any) -> None:
    web = sets(1)
    web.pod("mine", "n1", ready_since=0)
    web.lab.settle()
    web.lab.put(lab.pod("orphan"))
    web.lab.settle()
    assert [pod.name for pod in web.lab.pods()] == ["mine"]


def test_finished_and_terminating_orphans_are_not_adopted(lab: Any, sets: Any) -> None:
    web = sets(0)
    web.lab.put(lab.pod("done", "n1", phase="Succeeded"))
    web.lab.put(lab.pod("going", "n1", phase="Running", deletion_at=30))
    web.lab.settle()
    assert {pod.owner for pod in web.lab.pods()} == {None}


def test_a_pod_whose_label_is_taken_away_is_released_and_replaced(sets: Any) -> None:
    web = sets(1)
    web.pod("a", "n1")
    web.lab.settle()
    web.lab.report("Pod", "a", labels=())
    web.lab.settle()
    released = web.lab.get("Pod", "a")
    assert (released.owner, released.active) == (None, True)
    assert len(web.lab.pods()) == 2


def test_pods_of_other_owners_are_left_alone(lab: Any, sets: Any) -> None:
    other = lab.replica_set(1, name="other", uid=77)
    web = sets(0)
    web.lab.put(lab.pod("theirs", "n1", phase="Running", owner=other.owner_reference()))
    web.lab.settle()
    assert web.names() == ["theirs"]


# Time ------------------------------------------------------------------------------------------------------------


def test_pods_are_available_after_min_ready_seconds(sets: Any) -> None:
    web = sets(2, min_ready=30)
    web.pod("a", ready_since=0)
    web.lab.until(10)
    web.pod("b", ready_since=10)
    web.lab.quiet_now()
    assert web.lab.get("ReplicaSet", "web").status.available == 0
    web.lab.until(30)
    assert web.lab.get("ReplicaSet", "web").status.available == 1
    web.lab.settle()
    assert web.lab.cluster.now == 40
    assert web.lab.get("ReplicaSet", "web").status.available == 2


def test_a_pod_that_stops_being_ready_starts_over(sets: Any) -> None:
    web = sets(1, min_ready=30)
    web.pod("a", ready_since=0)
    web.lab.until(20)
    web.lab.report("Pod", "a", ready=False, ready_since=20)
    web.lab.report("Pod", "a", ready=True, ready_since=20)
    web.lab.settle()
    assert web.lab.cluster.now == 50


def test_a_set_that_is_being_deleted_manages_nothing(sets: Any) -> None:
    web = sets(3, deletion_at=30)
    web.lab.put(web.make.pod("orphan", "n1", phase="Running"))
    web.lab.settle()
    assert [pod.name for pod in web.lab.pods()] == ["orphan"]
    assert web.lab.get("Pod", "orphan").owner is None


def test_an_update_that_concerns_no_set_wakes_none(sets: Any) -> None:
    web = sets(1)
    web.pod("a", "n1")
    web.lab.settle()
    web.lab.report("Pod", "a", annotations=labels_of({"x": "y"}))
    assert web.lab.plane.next(web.lab.cluster) is None


def test_whatever_the_start_is_the_right_number_is_there_in_the_end(lab: Any, sets: Any) -> None:
    for replicas in range(4):
        for there in range(4):
            web = sets(replicas)
            for number in range(there):
                web.pod(f"p{number}", "n1")
            web.lab.settle()
            pods: list[Pod] = web.lab.pods()
            assert sum(pod.active for pod in pods) == replicas
