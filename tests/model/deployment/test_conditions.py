"""What a Deployment says about itself."""

from __future__ import annotations

from typing import Any

from reconverge.model.objects import Condition


def test_a_finished_rollout_says_so(rollout: Any) -> None:
    web = rollout(3)
    status = web.deployment.status
    assert (status.replicas, status.updated, status.ready, status.available, status.unavailable) == (3, 3, 3, 3, 0)
    assert web.condition("Available")[:2] == ("True", "MinimumReplicasAvailable")
    assert web.condition("Progressing")[:2] == ("True", "NewReplicaSetAvailable")
    assert status.observed_generation == web.deployment.generation


def test_less_than_the_minimum_is_not_available(rollout: Any) -> None:
    web = rollout(4)
    web.lab.until(7)
    web.answer(one=3)
    while web.one_pass():
        pass
    assert web.condition("Available") == ("True", "MinimumReplicasAvailable", 0, 0)
    web.answer(one=2)
    while web.one_pass():
        pass
    assert web.condition("Available") == ("False", "MinimumReplicasUnavailable", 7, 7)
    assert (web.deployment.status.available, web.deployment.status.unavailable) == (2, 2)


def test_a_rollout_without_progress_is_reported_after_601_seconds_once_and_goes_on(rollout: Any) -> None:
    web = rollout(4)
    web.lab.until(100)
    web.template("bad")
    web.rest(("bad",))
    assert web.lab.cluster.now == 100
    assert web.condition()[:2] == ("True", "ReplicaSetUpdated")
    web.lab.until(100 + 600)
    assert web.condition()[1] == "ReplicaSetUpdated"
    web.lab.written.clear()
    web.lab.settle()
    assert web.lab.cluster.now == 100 + 601
    assert web.condition() == ("False", "ProgressDeadlineExceeded", 701, 701)
    assert len(web.lab.times("updates status")) == 1
    # The deadline only reports: pods that become ready after all are rolled out.
    web.answer()
    assert web.rest()[-1] == "4/0"
    assert web.condition() == ("True", "NewReplicaSetAvailable", 701, 701)


def test_every_progress_moves_the_deadline(rollout: Any) -> None:
    web = rollout(4)
    web.template("two")
    web.rest(("two",))
    web.lab.until(400)
    web.answer(one=3, two=1)
    while web.one_pass():
        web.answer(one=3, two=1)
    assert web.condition()[1:] == ("ReplicaSetUpdated", 0, 400)
    web.lab.settle()
    assert web.condition()[1:] == ("ProgressDeadlineExceeded", 1001, 1001)


def test_without_a_deadline_there_is_no_progressing_condition(rollout: Any) -> None:
    web = rollout(3, progress_deadline=None)
    web.template("bad")
    web.rest(("bad",))
    assert web.condition() is None
    web.lab.settle()
    assert web.lab.cluster.now == 0


def test_a_finished_deployment_that_loses_pods_has_no_deadline(rollout: Any) -> None:
    web = rollout(3)
    web.answer(one=1)
    web.lab.settle()
    assert web.lab.cluster.now == 0
    assert web.condition()[:2] == ("True", "NewReplicaSetAvailable")


def test_a_paused_rollout_has_no_deadline(rollout: Any) -> None:
    web = rollout(4)
    web.template("bad")
    web.rest(("bad",))
    web.apply(paused=True)
    web.lab.settle()
    assert web.lab.cluster.now == 0
    assert web.condition()[:2] == ("Unknown", "DeploymentPaused")


def test_a_deadline_that_was_exceeded_is_kept_through_a_pause(rollout: Any) -> None:
    web = rollout(4)
    web.template("bad")
    web.rest(("bad",))
    web.lab.settle()
    web.apply(paused=True)
    web.lab.settle()
    assert web.condition()[1] == "ProgressDeadlineExceeded"


def test_a_new_set_is_announced(rollout: Any) -> None:
    web = rollout(4)
    web.template("two")
    web.one_pass()
    # The reason differs from the one before, the status does not: only the time of the update is new.
    assert web.condition()[:2] == ("True", "NewReplicaSetCreated")


def test_a_set_that_is_found_is_announced_where_nothing_was_said_before(lab: Any, rollout: Any) -> None:
    web = rollout(2, progress_deadline=None)
    web.apply(progress_deadline=600)
    web.one_pass()
    assert web.deployment.status.condition("Progressing") == Condition(
        "Progressing", "True", "FoundNewReplicaSet", 0, 0
    )


def test_unavailable_counts_what_is_wanted_not_what_is_there(rollout: Any) -> None:
    web = rollout(4)
    web.template("bad")
    web.rest(("bad",))
    status = web.deployment.status
    assert (status.replicas, status.updated, status.available, status.unavailable) == (5, 2, 3, 2)
