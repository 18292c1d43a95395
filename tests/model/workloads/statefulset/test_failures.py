"""StatefulSets when nodes fail, updates are bad, views are old, and tools evict. Recordings 36 and 64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.events.loops import LoopRestarts, WatchCatchesUp, WatchStalls
from reconverge.model.events.machines import NodeCrashes, NodeRecovers
from reconverge.model.events.nodes import Drain, NodeDeleted
from reconverge.model.events.objects import ObjectDeleted
from reconverge.model.events.pods import PodDeleted, PodForceDeleted
from reconverge.model.events.workloads import RollBack, RollOut, Scale
from reconverge.model.labels import Selector, label, labels_of
from reconverge.model.objects import Deployment, PodDisruptionBudget
from reconverge.model.objects.revision import REVISION_HASH

Make = Callable[..., Any]


def test_the_template_put_back_does_not_free_a_stuck_update(lab: Make, db: Make, nodes: Make) -> None:
    """The controller waits for the broken pod to be ready before it looks at revisions; a deletion by hand helps."""
    w = lab(*nodes(), db())
    w.settle()
    w.after(RollOut("statefulset/db", "never-ready"))
    assert w.pods() == ["db-0+", "db-1+", "db-2"]
    broken = w.pod("db-2").uid
    w.after(RollBack("statefulset/db"))
    status = w.get("StatefulSet", "db").status
    assert w.pod("db-2").uid == broken
    assert (status.update_revision, status.current, status.updated) == ("db-t1", 2, 2)
    w.after(PodDeleted("statefulset/db#2"))
    assert w.pods() == ["db-0+", "db-1+", "db-2+"]
    assert label(w.pod("db-2").labels, REVISION_HASH) == "db-t1"


def test_a_parallel_set_is_freed_by_the_template_put_back(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(), db(policy="Parallel"))
    w.settle()
    w.after(RollOut("statefulset/db", "never-ready"))
    assert w.pods() == ["db-0+", "db-1+", "db-2"]
    w.after(RollBack("statefulset/db"))
    assert w.pods() == ["db-0+", "db-1+", "db-2+"]


def test_a_rollback_makes_the_old_revision_the_newest_again(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(), db())
    w.settle()
    w.after(RollOut("statefulset/db"), RollBack("statefulset/db"))
    numbers = {each.name: each.number for each in w.cluster.store.all("ControllerRevision")}
    assert numbers["db-t1"] == 3
    assert sorted(numbers.values()) == [2, 3]


def test_a_dead_node_keeps_its_ordinal_until_the_node_object_goes(
    lab: Make, db: Make, nodes: Make, template: Make
) -> None:
    """A Deployment's pod is replaced at the end of the toleration; a StatefulSet's object must be removed first."""
    web = Deployment(
        name="web", replicas=1, selector=Selector(labels_of({"app": "web"})), template=template(app="web", digest="w")
    )
    w = lab(*nodes(2), db(replicas=1), web)
    w.settle()
    (db_node,) = {w.pod("db-0").node}
    web_pod = next(each for each in w.cluster.store.all("Pod") if each.name.startswith("web"))
    w.after(NodeCrashes(db_node))
    assert w.pod("db-0").terminating
    assert w.cluster.now >= 350
    if web_pod.node == db_node:
        assert len([each for each in w.pods() if each.startswith("web") and "!" not in each]) == 1
    w.after(NodeDeleted(db_node))
    assert w.pods()[0] == "db-0+"
    assert w.pod("db-0").node != db_node


def test_a_node_that_comes_back_frees_the_ordinal(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(2), db(replicas=1))
    w.settle()
    node, before = w.pod("db-0").node, w.pod("db-0").uid
    w.after(NodeCrashes(node))
    assert w.pods() == ["db-0+!"] or w.pods() == ["db-0!"]
    w.after(NodeRecovers(node))
    assert w.pods() == ["db-0+"]
    assert w.pod("db-0").uid != before


def test_higher_ordinals_are_not_made_while_a_lower_one_is_stuck(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(3), db(replicas=2))
    w.settle()
    w.after(NodeCrashes(w.pod("db-0").node), Scale("statefulset/db", 3))
    assert [name.rstrip("+!") for name in w.pods()] == ["db-0", "db-1"]
    assert "db-1+" in w.pods()


def test_a_forced_deletion_is_replaced_at_once(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(2), db(replicas=1))
    w.settle()
    node = w.pod("db-0").node
    w.after(NodeCrashes(node), PodForceDeleted("statefulset/db#0"))
    assert w.pods() == ["db-0+"]
    assert w.pod("db-0").node != node


def test_a_drain_under_a_budget_moves_one_at_a_time(lab: Make, db: Make, nodes: Make) -> None:
    """Recording 64: 201, 429, and 201 when the first has been made again elsewhere, after it was gone."""
    budget = PodDisruptionBudget(name="db", selector=Selector(labels_of({"app": "app"})), max_unavailable=1)
    w = lab(*nodes(2), db(replicas=3), budget)
    w.settle()
    crowded = next(node for node in ("n1", "n2") if sum(each.node == node for each in w.cluster.store.all("Pod")) == 2)
    w.after(Drain(crowded))
    assert {each.node for each in w.cluster.store.all("Pod")} == {"n1", "n2"} - {crowded}
    assert w.pods() == ["db-0+", "db-1+", "db-2+"]
    first, second = w.times("evicts pod/db-")[0], w.times("evicts pod/db-")[-1]
    assert second - first == 5


def test_an_old_view_makes_no_second_pod_and_comes_to_rest(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(), db(replicas=2))
    w.settle()
    w.after(Scale("statefulset/db", 1))
    w.strike(WatchStalls("statefulset", "Pod"))
    w.after(Scale("statefulset/db", 3))
    names = [name.rstrip("+!") for name in w.pods()]
    assert names == ["db-0", "db-1"]
    w.after(WatchCatchesUp("statefulset", "Pod"))
    assert w.pods() == ["db-0+", "db-1+", "db-2+"]


def test_with_an_old_view_the_pod_that_has_the_name_now_is_deleted(lab: Make, db: Make, nodes: Make) -> None:
    """Deletions name the pod, not its uid."""
    w = lab(*nodes(), db(replicas=2))
    w.settle()
    before = w.pod("db-1")
    w.strike(WatchStalls("statefulset", "Pod"))
    w.after(PodForceDeleted("statefulset/db#1"))
    w.put(before.with_(uid=0, node=None, phase="Pending", ready=False))
    w.settle()
    assert w.pod("db-1").uid != before.uid
    w.after(Scale("statefulset/db", 1))
    assert w.pods() == ["db-0+"]


def test_a_restarted_controller_goes_on(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(), db())
    w.run(40)
    w.after(LoopRestarts("statefulset"))
    assert w.pods() == ["db-0+", "db-1+", "db-2+"]


def test_what_a_set_owns_goes_with_it(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(), db())
    w.settle()
    w.after(ObjectDeleted("statefulset/db"))
    assert w.pods() == []
    assert w.cluster.store.all("ControllerRevision") == []


def test_a_matching_orphan_with_the_right_name_is_adopted(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(), db(replicas=1))
    w.settle()
    w.put(w.pod("db-0").with_(owner=None))
    w.settle()
    assert w.pod("db-0").owner == w.get("StatefulSet", "db").owner_reference()
    w.put(w.pod("db-0").with_(labels=labels_of({"app": "other"})))
    w.settle()
    assert w.pod("db-0").owner is None
    w.after(PodDeleted("pod/db-0"))
    assert w.pods() == ["db-0+"]
    assert w.pod("db-0").owner is not None


@pytest.mark.parametrize("known", ["db-5d8c", "db-7f9b"])
def test_a_dump_without_revisions_is_not_rolled(lab: Make, db: Make, nodes: Make, known: str) -> None:
    """What the cluster calls the present template stands in its status."""
    w = lab(*nodes(), db())
    w.settle()
    made = w.get("StatefulSet", "db")
    status = made.status.with_(current_revision=known, update_revision=known)
    pods = [
        each.with_(labels=labels_of({**dict(each.labels), REVISION_HASH: known})) for each in w.cluster.store.all("Pod")
    ]
    again = lab(*nodes(), made.with_(status=status), *pods)
    again.settle()
    assert [each.uid for each in again.cluster.store.all("Pod")] == [each.uid for each in pods]
    (revision,) = again.cluster.store.all("ControllerRevision")
    assert (revision.name, revision.hash) == (known, known.removeprefix("db-"))
