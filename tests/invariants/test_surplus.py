"""Whether what is too many goes."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.loop import LoopState
from reconverge.model.objects import Condition, JobStatus

KEY = "no-surplus"


def found(lab: Any, *objects: Any, outcome: str = "rest", **options: Any) -> list[str]:
    quiet = lab.quiet(lab.situation(lab.node("n1"), lab.node("n2"), *objects, **options), outcome)
    return [each.object for each in lab.broken(KEY, quiet)]


@pytest.mark.parametrize(("replicas", "broken"), [(2, False), (1, True)])
def test_a_replicaset_of_its_own(lab: Any, replicas: int, broken: bool) -> None:
    rs = lab.set_of(replicas=replicas)
    pods = lab.pods_of(rs, "n1", "n1")
    assert found(lab, rs, *pods) == (["replicaset/web-new"] if broken else [])
    assert found(lab, rs, *pods, outcome="loop") == []
    assert found(lab, rs, *pods, loops={"replicaset": LoopState(paused=True)}) == []
    assert found(lab, rs, pods[0], pods[1].with_(deletion_at=1030)) == []


def test_a_deployment_may_have_its_surge_only_while_a_rollout_hangs(lab: Any) -> None:
    deployment = lab.deployment(2, max_surge=1)
    old, new = lab.set_of(deployment, "old", replicas=2), lab.set_of(deployment, replicas=2)
    olds, news = lab.pods_of(old, "n1", "n1"), lab.pods_of(new, "n1", "n1")
    assert found(lab, deployment, old, new, *olds, news[0]) == []
    assert found(lab, deployment, old, new, *olds, *news) == ["deployment/web"]
    wide = new.with_(replicas=3)
    assert found(lab, deployment, wide, *lab.pods_of(wide, "n1", "n1", "n1")) == ["deployment/web"]


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_an_ordered_stateful_set_may_wait_for_a_pod_that_is_not_available(lab: Any, policy: str) -> None:
    sts = lab.stateful_set(2, policy=policy)
    pods = lab.pods_in(sts, count=3)
    assert found(lab, sts, *pods[:2]) == []
    assert found(lab, sts, *pods) == ["statefulset/db"]
    for others in ([pods[0].with_(ready=False), pods[1]], [pods[0]], [pods[0], pods[1].with_(deletion_at=1030)]):
        assert found(lab, sts, *others, pods[2]) == ([] if policy == "OrderedReady" else ["statefulset/db"])


@pytest.mark.parametrize(("surge", "broken"), [(0, True), (1, False)])
def test_a_daemon_set_has_one_pod_on_a_node_but_in_a_surge(lab: Any, surge: int, broken: bool) -> None:
    ds = lab.daemon_set(max_surge=surge)
    pods = lab.pods_in(ds, count=3)
    assert found(lab, ds, pods[0], pods[1].with_(node="n2")) == []
    assert bool(found(lab, ds, *pods[:2])) is broken
    assert found(lab, ds, *pods) == ["daemonset/agent"]


def test_a_job_has_no_more_than_its_parallelism_and_none_when_it_is_over(lab: Any) -> None:
    done = JobStatus(conditions=(Condition("Complete", "True", ""),))
    for job, broken in (
        (lab.job(parallelism=2), False),
        (lab.job(parallelism=1), True),
        (lab.job(parallelism=2, suspend=True), True),
        (lab.job(parallelism=2, status=done), True),
    ):
        assert bool(found(lab, job, *lab.pods_in(job, count=2))) is broken
