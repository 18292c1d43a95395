"""What a rollout promises."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.invariants import Situation
from reconverge.model.action import Create, DeletePod
from reconverge.model.events import RollOut, Scale


def creates(lab: Any, replicas: int, pods: int, going: int = 0, **fields: Any) -> Any:
    """One more pod of a Deployment that has some, and some that are Terminating."""
    deployment = lab.deployment(replicas, **fields)
    rs = lab.set_of(deployment, replicas=replicas)
    there = lab.pods_of(rs, *["n1"] * (pods + going))
    there = [pod if place < pods else pod.with_(deletion_at=1030) for place, pod in enumerate(there)]
    new = lab.pod("extra-", None, owner=rs.owner_reference()).with_(uid=0)
    return lab.step(lab.situation(lab.node(), deployment, rs, *there), "replicaset", Create(new))


@pytest.mark.parametrize(("pods", "broken"), [(3, False), (4, True)])
def test_no_pod_is_created_above_replicas_and_surge(lab: Any, pods: int, broken: bool) -> None:
    step = creates(lab, 3, pods, max_surge=1)
    found = lab.broken("rollout-ceiling", step)
    assert bool(found) is broken
    if found:
        assert found[0].object == "deployment/web"
        assert found[0].facts == {"pods": 5, "most": 4, "created": "pod/extra-a"}


def test_terminating_pods_count_in_one_reading_only(lab: Any) -> None:
    step = creates(lab, 3, 3, 1, max_surge=1)
    assert lab.broken("rollout-ceiling", step) == []
    assert lab.broken("rollout-ceiling-terminating", step) != []
    assert lab.broken("rollout-ceiling-terminating", creates(lab, 3, 3, 0, max_surge=1)) == []
    assert not lab.registry["rollout-ceiling-terminating"].default


def test_pods_that_another_replicaset_has_too_many_are_on_their_way_out(lab: Any) -> None:
    for old_size, broken in ((2, False), (3, True)):
        deployment = lab.deployment(3, max_surge=0, max_unavailable=1)
        old, rs = lab.set_of(deployment, "old", replicas=old_size), lab.set_of(deployment)
        new = lab.pod("extra-", None, owner=rs.owner_reference()).with_(uid=0)
        situation = lab.situation(lab.node(), deployment, old, rs, *lab.pods_of(old, "n1", "n1", "n1"))
        assert bool(lab.broken("rollout-ceiling", lab.step(situation, "replicaset", Create(new)))) is broken


def test_a_replicaset_of_its_own_has_no_surge(lab: Any) -> None:
    for replicas, broken in ((3, True), (4, False)):
        rs = lab.set_of(replicas=replicas)
        new = lab.pod("extra-", None, owner=rs.owner_reference()).with_(uid=0)
        pods = lab.pods_of(rs, "n1", "n1", "n1")
        step = lab.step(lab.situation(lab.node(), rs, *pods), "replicaset", Create(new))
        assert bool(lab.broken("rollout-ceiling", step)) is broken


def test_after_a_scale_down_too_many_pods_are_no_violation_by_themselves(lab: Any) -> None:
    deployment = lab.deployment(1, max_surge=0, max_unavailable=1)
    rs = lab.set_of(deployment, replicas=3, desired_replicas=3, max_replicas=3)
    pods = lab.pods_of(rs, "n1", "n1")
    new = lab.pod("extra-", None, owner=rs.owner_reference()).with_(uid=0)
    situation = lab.situation(lab.node(), deployment, rs, *pods)
    assert lab.broken("rollout-ceiling", lab.step(situation, "replicaset", Create(new))) == []
    late = rs.with_(replicas=1, desired_replicas=1, max_replicas=1)
    situation = lab.situation(lab.node(), deployment, late, *pods)
    assert lab.broken("rollout-ceiling", lab.step(situation, "replicaset", Create(new))) != []


def removes(lab: Any, *, digest: str = "old", ready: bool = True, others: int = 2, actor: str = "replicaset") -> Any:
    """A pod of a ReplicaSet is removed from a Deployment of 3 with maxUnavailable 1, beside some available ones."""
    deployment = lab.deployment(3, max_unavailable=1)
    old, new = lab.set_of(deployment, digest, name="web-x"), lab.set_of(deployment)
    pods = [*lab.pods_of(old, "n1", ready=ready), *lab.pods_of(new, *["n1"] * others)]
    situation = lab.situation(lab.node(), deployment, old, new, *pods)
    return lab.step(situation, actor, DeletePod(pods[0].key, pods[0].uid))


def test_a_rollout_keeps_the_floor_whatever_else_is_down(lab: Any) -> None:
    (violation,) = lab.broken("rollout-floor", removes(lab, others=1))
    assert violation.facts == {"pod": "pod/web-x-a", "available": 1, "least": 2}


@pytest.mark.parametrize(
    "near",
    [{"others": 2}, {"others": 1, "ready": False}, {"others": 1, "digest": "new"}, {"others": 1, "actor": "drain"}],
)
def test_what_is_not_a_rollouts_removal_of_an_available_pod_is_not_judged(lab: Any, near: dict[str, Any]) -> None:
    assert lab.broken("rollout-floor", removes(lab, **near)) == []


ROLLED, SCALED = RollOut("deployment/web"), Scale("deployment/web", 3)


@pytest.mark.parametrize(
    ("replicas", "events", "broken"),
    [(2, (ROLLED, SCALED), False), (2, (SCALED, ROLLED), True), (3, (ROLLED, Scale("deployment/other", 3)), True)],
)
def test_a_scaling_up_in_the_middle_does_not_raise_the_floor(
    lab: Any, replicas: int, events: Any, broken: bool
) -> None:
    step = removes(lab, others=1)
    start = lab.cluster(step.before.store.get("Deployment", "default/web").with_(replicas=replicas))
    judged = lab.step(Situation(step.before.cluster, events, start), "replicaset", step.action)
    assert bool(lab.broken("rollout-floor", judged)) is broken


def test_a_pod_ready_for_less_than_min_ready_is_not_available(lab: Any) -> None:
    for since, broken in ((990, True), (900, False)):
        deployment = lab.deployment(3, max_unavailable=1, min_ready=60)
        old, new = lab.set_of(deployment, "old"), lab.set_of(deployment)
        pods = [*lab.pods_of(old, "n1"), *lab.pods_of(new, "n1", "n1", ready_since=since)]
        situation = lab.situation(lab.node(), deployment, old, new, *pods)
        step = lab.step(situation, "replicaset", DeletePod(pods[0].key, pods[0].uid))
        assert bool(lab.broken("rollout-floor", step)) is broken
