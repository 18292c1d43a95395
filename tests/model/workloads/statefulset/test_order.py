"""The order in which a StatefulSet's pods come, go and change. Recordings 34, 35, 38."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.control_plane import Read
from reconverge.model.events.pods import PodDeleted, PodUnready
from reconverge.model.events.workloads import RollOut, Scale
from reconverge.model.labels import label
from reconverge.model.objects import StatefulSet
from reconverge.model.objects.revision import REVISION_HASH
from reconverge.model.objects.statefulset import POD_INDEX, POD_NAME

Make = Callable[..., Any]


def revisions(w: Any) -> list[str]:
    """The revision of each pod, by ordinal."""
    return [label(pod.labels, REVISION_HASH) or "" for pod in w.cluster.store.all("Pod")]


def steps_of(w: Any, since: int = 0) -> list[str]:
    """Creations, readiness and removals of pods, in order."""
    said = []
    for _, loop, what, _ in w.written[since:]:
        name = what.partition("pod/")[2].partition(" ")[0]
        if loop == "statefulset" and what.startswith(("creates pod", "deletes pod")):
            said.append(f"{'+' if what.startswith('creates') else '-'}{name}")
        elif loop == "kubelet" and what.endswith("Running, Ready"):
            said.append(f"{name} ready")
        elif loop == "kubelet" and what.startswith("force-deletes"):
            said.append(f"{name} gone")
    return said


def test_each_ordinal_waits_for_the_one_before(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(), db())
    w.settle()
    assert steps_of(w) == ["+db-0", "db-0 ready", "+db-1", "db-1 ready", "+db-2", "db-2 ready"]
    assert w.get("StatefulSet", "db").status.with_(current_revision="", update_revision="") == (
        type(db().status)(replicas=3, ready=3, available=3, current=3, updated=3, observed_generation=1)
    )


def test_a_pod_is_known_by_its_labels_and_its_owner(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(), db())
    w.settle()
    pod = w.pod("db-2")
    labels = dict(pod.labels)
    assert (labels[POD_NAME], labels[POD_INDEX], labels[REVISION_HASH]) == ("db-2", "2", "db-t1")
    assert pod.owner == w.get("StatefulSet", "db").owner_reference()


def test_scaling_down_takes_the_highest_and_waits_until_it_is_gone(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(), db(replicas=4))
    w.settle()
    begun = len(w.written)
    w.after(Scale("statefulset/db", 1))
    assert steps_of(w, begun) == ["-db-3", "db-3 gone", "-db-2", "db-2 gone", "-db-1", "db-1 gone"]
    assert w.pods() == ["db-0+"]


def test_an_update_goes_from_the_top_one_at_a_time(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(), db())
    w.settle()
    begun = len(w.written)
    w.after(RollOut("statefulset/db"))
    assert steps_of(w, begun) == [
        step.format(f"db-{number}") for number in (2, 1, 0) for step in ("-{}", "{} gone", "+{}", "{} ready")
    ]
    status = w.get("StatefulSet", "db").status
    assert status.current_revision == status.update_revision == revisions(w)[0]
    assert len(set(revisions(w))) == 1


def test_parallel_creates_and_deletes_at_once_and_still_updates_one_at_a_time(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(), db(policy="Parallel"))
    w.settle()
    assert steps_of(w)[:3] == ["+db-0", "+db-1", "+db-2"]
    begun = len(w.written)
    w.after(Scale("statefulset/db", 5))
    assert steps_of(w, begun)[:2] == ["+db-3", "+db-4"]
    begun = len(w.written)
    w.after(RollOut("statefulset/db"))
    assert [each for each in steps_of(w, begun) if each[0] == "-"] == ["-db-4", "-db-3", "-db-2", "-db-1", "-db-0"]
    assert steps_of(w, begun)[:5] == ["-db-4", "db-4 gone", "+db-4", "db-4 ready", "-db-3"]
    begun = len(w.written)
    w.after(Scale("statefulset/db", 1))
    assert steps_of(w, begun)[:4] == ["-db-4", "-db-3", "-db-2", "-db-1"]


def test_r7_only_ordinals_from_the_partition_on_are_updated(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(), db(partition=2))
    w.settle()
    w.after(RollOut("statefulset/db"))
    old, same, new = revisions(w)
    assert old == same == "db-t1" != new
    status = w.get("StatefulSet", "db").status
    assert (status.current, status.updated) == (2, 1)
    assert (status.current_revision, status.update_revision) == (old, new)


@pytest.mark.parametrize(("partition", "comes_up"), [(0, "new"), (2, "old")])
def test_which_revision_a_lost_low_ordinal_comes_up_at(
    lab: Make, db: Make, nodes: Make, partition: int, comes_up: str
) -> None:
    """With partition 0 every pod made in a rollout has the update revision; below a partition the current one."""
    w = lab(*nodes(), db(partition=partition))
    w.settle()
    w.after(RollOut("statefulset/db", "never-ready"))
    w.strike(PodDeleted("statefulset/db#0"))
    w.run(60)
    expected = w.get("StatefulSet", "db").status.update_revision if comes_up == "new" else "db-t1"
    assert label(w.pod("db-0").labels, REVISION_HASH) == expected


def test_on_delete_updates_only_what_isPodDeleted(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(), db(strategy="OnDelete", partition=None))
    w.settle()
    w.after(RollOut("statefulset/db"))
    assert set(revisions(w)) == {"db-t1"}
    w.after(PodDeleted("statefulset/db#1"))
    assert revisions(w)[0] == revisions(w)[2] == "db-t1" != revisions(w)[1]


def test_the_next_pod_waits_for_min_ready_seconds(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(), db(min_ready=10))
    w.settle()
    assert w.times("creates pod/db-") == [0, 10, 20]
    w.after(RollOut("statefulset/db"))
    assert [at for at, by, what, _ in w.written if by == "statefulset" and "deletes" in what] == [30, 40, 50]


def test_ordinals_may_begin_elsewhere(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(), db(first_ordinal=5, replicas=2))
    w.settle()
    assert w.pods() == ["db-5+", "db-6+"]
    w.edit("StatefulSet", "db", first_ordinal=6)
    w.settle()
    assert w.pods() == ["db-6+", "db-7+"]


def test_an_unhealthy_pod_above_holds_up_a_scale_down_of_those_above_it(lab: Make, db: Make, nodes: Make) -> None:
    """Only the first unhealthy pod may go while it is unhealthy."""
    w = lab(*nodes(), db(replicas=4))
    w.settle()
    w.after(PodUnready("statefulset/db#3"), PodUnready("statefulset/db#2"))
    w.after(Scale("statefulset/db", 2))
    assert w.pods() == ["db-0+", "db-1+", "db-2", "db-3"]
    w.after(PodDeleted("statefulset/db#3"))
    assert w.pods() == ["db-0+", "db-1+"]


def test_a_finished_pod_is_deleted_and_made_again(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(), db())
    w.settle()
    before = w.pod("db-1").uid
    w.put(w.pod("db-1").with_(phase="Failed", reason="Evicted", ready=False))
    w.settle()
    assert w.pod("db-1").uid != before
    assert w.pods() == ["db-0+", "db-1+", "db-2+"]


def test_old_revisions_go_beyond_the_limit_and_live_ones_stay(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(), db(history_limit=1))
    w.settle()
    for _ in range(4):
        w.after(RollOut("statefulset/db"))
    assert len(w.cluster.store.all("ControllerRevision")) == 2
    made: StatefulSet = w.get("StatefulSet", "db")
    assert made.status.update_revision in {each.name for each in w.cluster.store.all("ControllerRevision")}


def test_the_pass_says_what_it_waits_for(lab: Make, db: Make, nodes: Make) -> None:
    w = lab(*nodes(), db("never-ready"))
    w.settle()
    (plan,) = w.plane.plans(w.cluster, Read("statefulset", "default/db"))
    assert plan.note == "waits for pod/db-0 to be Running and Ready"
    assert plan.actions == ()
