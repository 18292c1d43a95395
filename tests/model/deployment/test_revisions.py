"""Revisions: rollback, history, adoption; and that a crash between two writes leaves nothing that is not mended."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.control_plane import Write
from reconverge.model.events import LoopRestarts, RollBack, RollOut, Scale


def test_the_old_template_makes_its_old_set_the_new_one_with_a_new_revision(rollout: Any) -> None:
    web = rollout(4)
    web.template("bad")
    web.rest(("bad",))
    assert {rs.deployment_revision for rs in web.sets().values()} == {1, 2}
    names = {rs.name for rs in web.sets().values()}
    web.template("one")
    # n = 3, total = 5: no room. The broken set is old now and is cleaned up; then the old one grows.
    assert web.rest(("bad",)) == ["3/2", "3/0", "4/0"]
    assert {rs.name for rs in web.sets().values()} == names
    assert web.sets()["one"].deployment_revision == 3
    assert web.deployment.deployment_revision == 3
    assert web.condition()[:2] == ("True", "NewReplicaSetAvailable")


def test_a_rollback_of_a_broken_rollout_converges_in_a_whole_cluster(lab: Any) -> None:
    web = lab.of(lab.node("n1"), lab.node("n2"), lab.deployment(4))
    web.settle()
    web.happens(RollOut("deployment/web", "never-ready"))
    assert sum(pod.ready for pod in web.pods()) == 3
    web.happens(RollBack("deployment/web"))
    assert [pod.ready for pod in web.pods()] == [True] * 4
    assert sorted((rs.replicas, rs.deployment_revision) for rs in web.cluster.store.all("ReplicaSet")) == [
        (0, 2),
        (4, 3),
    ]


def test_the_revision_of_a_reused_set_is_a_pass_of_its_own(rollout: Any) -> None:
    web = rollout(2)
    web.template("two")
    web.rest()
    web.template("one")
    plan = web.lab.pass_of("deployment")
    assert [action.describe() for action in plan.actions] == ["makes replicaset/web-one revision 3"]


@pytest.mark.parametrize(("limit", "kept"), [(10, 4), (2, 3), (1, 2), (0, 1)])
def test_only_as_many_old_sets_are_kept_as_the_limit_says(rollout: Any, limit: int, kept: int) -> None:
    web = rollout(2, history_limit=limit)
    for number, digest in enumerate(["two", "three", "four"]):
        web.lab.until(10 * number + 10)
        web.template(digest)
        web.rest()
    left = sorted(rs.deployment_revision for rs in web.sets().values())
    assert left == [1, 2, 3, 4][-kept:]


def test_the_lowest_revision_goes_first_not_the_oldest_set(rollout: Any) -> None:
    web = rollout(2, history_limit=2)
    for digest in ("two", "one", "three"):
        web.template(digest)
        web.rest()
    assert {rs.template.digest: rs.deployment_revision for rs in web.sets().values()} == {
        "one": 3,
        "two": 2,
        "three": 4,
    }
    web.template("four")
    web.rest()
    assert sorted(web.sets()) == ["four", "one", "three"]


def test_old_sets_with_pods_are_kept_beyond_the_limit(rollout: Any) -> None:
    web = rollout(2, history_limit=0)
    web.template("bad")
    web.rest(("bad",))
    assert sorted(web.sets()) == ["bad", "one"]


def test_a_set_without_an_owner_is_adopted_and_becomes_the_new_one(lab: Any, rollout: Any) -> None:
    """As after `kubectl delete deployment --cascade=orphan` and a new apply."""
    orphan = lab.replica_set(2, name="web-left", labels=lab.template().labels)
    web = rollout(2, orphan)
    assert web.sets()["one"].name == "web-left"
    assert web.sets()["one"].owner == web.deployment.owner_reference()
    assert web.sizes() == {"one": 2}


def test_an_orphan_of_another_template_is_adopted_as_an_old_set(lab: Any, rollout: Any) -> None:
    older = lab.template("older")
    orphan = lab.replica_set(2, name="web-left", template=older, labels=older.labels)
    web = rollout(2, orphan)
    assert web.sizes() == {"older": 0, "one": 2}
    assert {rs.owner for rs in web.sets().values()} == {web.deployment.owner_reference()}


def test_an_orphan_with_other_labels_is_left_alone(lab: Any, rollout: Any) -> None:
    web = rollout(2, lab.replica_set(2, name="db", labels=lab.template(app="db").labels))
    assert web.lab.get("ReplicaSet", "db").owner is None


def test_an_orphan_that_comes_later_wakes_its_deployment(lab: Any, rollout: Any) -> None:
    web = rollout(2)
    web.lab.put(lab.replica_set(0, name="web-left", template=lab.template("older"), labels=web.sets()["one"].labels))
    web.rest()
    assert web.lab.get("ReplicaSet", "web-left").owner == web.deployment.owner_reference()


def test_a_set_whose_labels_no_longer_match_is_released(lab: Any, rollout: Any) -> None:
    web = rollout(2)
    web.lab.edit("ReplicaSet", "web-one", labels=lab.template(app="other").labels)
    web.one_pass()
    assert web.lab.get("ReplicaSet", "web-one").owner is None


def _crash_after(web: Any, writes: int) -> bool:
    """Runs the deployment loop to its `writes`-th write and restarts it; False if the cluster rests before."""
    while (move := web.plane.next(web.cluster)) is not None:
        if isinstance(move, Write) and move.loop == "deployment":
            if writes == 0:
                web.strikes(LoopRestarts("deployment"))
                return True
            writes -= 1
        web.step()
    return False


@pytest.mark.parametrize("fields", [{}, {"strategy": "Recreate"}, {"max_surge": 0, "max_unavailable": 1}])
def test_a_crash_before_any_of_its_writes_is_mended(lab: Any, fields: Any) -> None:
    start = lab.of(lab.node("n1"), lab.deployment(3, **fields))
    start.settle()
    start.strikes(RollOut("deployment/web"))
    struck, writes = start.cluster, 0
    while True:
        start.cluster = struck
        if not _crash_after(start, writes):
            break
        start.settle()
        digest = start.get("Deployment", "web").template.digest
        assert [(pod.ready, pod.template_digest) for pod in start.pods()] == [(True, digest)] * 3
        assert start.get("Deployment", "web").status.updated == 3
        writes += 1
    assert writes >= 6


def test_a_crash_in_the_middle_of_a_proportional_scaling_is_mended(lab: Any) -> None:
    web = lab.of(lab.node("n1"), lab.deployment(4))
    web.settle()
    web.happens(RollOut("deployment/web", "never-ready"))
    web.strikes(Scale("deployment/web", 8))
    assert _crash_after(web, 1)
    web.settle()
    sizes = sorted(rs.replicas for rs in web.cluster.store.all("ReplicaSet"))
    assert sum(sizes) == 10
    assert web.get("Deployment", "web").status.available >= 6
