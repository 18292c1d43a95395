"""Rollouts where there is no room, with all control loops at work."""

from __future__ import annotations

from typing import Any

from reconverge.model.events import RollOut, Scale, Uncordon


def full(lab: Any, **fields: Any) -> Any:
    """Deployment web of three on a node that has room for three; another node is cordoned."""
    web = lab.deployment(3, template=lab.template(cpu=1000), **fields)
    made = lab.of(lab.node("n1", cpu=3000), lab.node("n2", cpu=1000, unschedulable=True), web)
    made.settle()
    made.written.clear()
    return made


def test_a_surge_pod_without_room_blocks_the_rollout_and_is_reported(lab: Any) -> None:
    made = full(lab)
    made.happens(RollOut("deployment/web"))
    sizes = sorted(rs.replicas for rs in made.cluster.store.all("ReplicaSet"))
    assert sizes == [1, 3]
    (pending,) = [pod for pod in made.pods() if pod.node is None]
    assert pending.unscheduled is not None
    assert pending.unscheduled[1].startswith(
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable."
    )
    assert made.cluster.now == 601
    condition = made.get("Deployment", "web").status.condition("Progressing")
    assert (condition.status, condition.reason) == ("False", "ProgressDeadlineExceeded")


def test_another_node_lets_it_go_on_after_the_deadline(lab: Any) -> None:
    made = full(lab)
    made.happens(RollOut("deployment/web"))
    made.happens(Uncordon("n2"))
    assert [pod.ready for pod in made.pods()] == [True] * 3
    assert made.get("Deployment", "web").status.updated == 3


def test_with_one_unavailable_the_new_pod_waits_until_the_old_one_is_gone(lab: Any) -> None:
    made = full(lab, max_unavailable=1)
    made.strikes(RollOut("deployment/web"))
    names = {pod.name for pod in made.pods()}
    while not made.times("binds"):
        made.step()
    assert len({pod.name for pod in made.pods()} & names) == 2, "the object is gone before its room is taken"
    made.settle()
    assert made.get("Deployment", "web").status.updated == 3


def test_a_deployment_that_grows_beyond_its_room_waits(lab: Any) -> None:
    made = full(lab)
    made.happens(Scale("deployment/web", 5))
    status = made.get("Deployment", "web").status
    assert (status.replicas, status.available, status.unavailable) == (5, 3, 2)
    made.happens(Scale("deployment/web", 2))
    assert [pod.node for pod in made.pods()] == ["n1", "n1"], "pods that wait go first"
