"""Whether the control loops come to rest."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.action import Bind, Create, DeletePod, Patch, Update
from reconverge.model.local_pods import running_pod
from reconverge.model.loops.kubelet.actions import Locally
from reconverge.model.objects import DeploymentStatus


def test_loops_that_move_things_without_end_are_found(lab: Any) -> None:
    repeating = (("scheduler", Bind("default/web-a", 1, "n1")), ("taint-eviction", DeletePod("default/web-a", 1)))
    end = lab.quiet(lab.situation(lab.node()), "loop", repeating)
    (violation,) = lab.broken("no-livelock", end)
    assert "the same 2 writes repeat without end: scheduler binds pod/web-a to n1" in violation.message
    assert violation.facts["actors"] == {"scheduler": 1, "taint-eviction": 1}
    assert lab.broken("bounded-churn", end) == []


def test_a_crashing_application_is_no_livelock(lab: Any) -> None:
    """Its kubelet restarts it, and others report that it is ready, and not, and ready."""
    deployment = lab.deployment()
    local = running_pod("default/web-a", 1, lab.spec())
    repeating = (
        ("kubelet", Locally("n1", local, "restarts")),
        ("replicaset", Patch("ReplicaSet", "default/web-new", 1, (("status", None),))),
        ("deployment", Update(deployment, deployment.with_(status=DeploymentStatus(ready=1)))),
    )
    assert lab.broken("no-livelock", lab.quiet(lab.situation(deployment), "loop", repeating)) == []
    writes = (*repeating, ("horizontal-autoscaler", Update(deployment, deployment.with_(replicas=9))))
    assert lab.broken("no-livelock", lab.quiet(lab.situation(deployment), "loop", writes)) != []


@pytest.mark.parametrize("outcome", ["rest", "unfinished"])
def test_a_run_that_rests_or_was_not_finished_is_not_judged_broken(lab: Any, outcome: str) -> None:
    end = lab.quiet(lab.situation(lab.node()), outcome)
    assert lab.broken("no-livelock", end) == lab.broken("bounded-churn", end) == []


def test_growth_breaks_both_and_says_whose(lab: Any) -> None:
    deployment = lab.deployment()
    rs = lab.set_of(deployment)
    failed = lab.pods_of(rs, "n1", "n1", phase="Failed", ready=False, reason="OutOfpods")
    before = lab.situation(deployment, rs)
    end = lab.quiet(lab.situation(deployment, rs, *failed), "growth", (("kubelet", Create(failed[0])),), before)
    (violation,) = lab.broken("bounded-churn", end)
    assert violation.object == "deployment/web"
    assert violation.message == ("finished pods of deployment/web grow without end: 0 before, 2 by now (OutOfpods)")
    assert lab.broken("no-livelock", end)[0].object == "cluster"
