"""Recreate: everything old has gone before anything new comes."""

from __future__ import annotations

from typing import Any

from reconverge.model.events import NodeCrashes, PodForceDeleted, RollOut


def test_the_new_set_is_created_at_full_size_after_the_old_one_is_empty(rollout: Any) -> None:
    web = rollout(3, strategy="Recreate")
    web.template("two")
    web.one_pass()
    assert web.sizes() == {"one": 0}
    while web.one_pass():
        assert web.sizes() == {"one": 0}, "the old set still reports three pods"
    web.answer()
    assert web.rest() == ["3/0"]


def test_both_annotations_are_without_surge(rollout: Any) -> None:
    web = rollout(3, strategy="Recreate")
    assert (web.sets()["one"].desired_replicas, web.sets()["one"].max_replicas) == (3, 3)


def test_a_whole_recreation_runs_with_no_pod_for_a_while(lab: Any) -> None:
    web = lab.of(lab.node("n1"), lab.deployment(2, strategy="Recreate"))
    web.settle()
    web.strikes(RollOut("deployment/web"))
    fewest = 9
    while web.plane.next(web.cluster) is not None:
        web.step()
        fewest = min(fewest, len(web.pods()))
        templates = {pod.template_digest for pod in web.pods()}
        assert len(templates) <= 1, "old and new side by side"
    assert fewest == 0
    assert [pod.ready for pod in web.pods()] == [True, True]


def test_a_terminating_pod_on_a_dead_node_blocks_until_it_is_gone(lab: Any) -> None:
    web = lab.of(lab.node("n1"), lab.node("n2"), lab.node("n3"), lab.deployment(1, strategy="Recreate"))
    web.settle()
    (pod,) = web.pods()
    web.happens(NodeCrashes(pod.node))
    # Replaced after five minutes, as the old pod is not counted; its object stays.
    assert [each.deletion_at is None for each in web.pods()] == [False, True]
    web.happens(RollOut("deployment/web"))
    assert [(each.name, each.deletion_at is None) for each in web.pods()] == [(pod.name, False)]
    assert {rs.replicas for rs in web.cluster.store.all("ReplicaSet")} == {0}
    web.happens(PodForceDeleted("deployment/web#0"))
    (new,) = web.pods()
    assert new.ready
    assert new.template_digest == web.get("Deployment", "web").template.digest


def test_finished_pods_of_old_sets_do_not_block(lab: Any) -> None:
    web = lab.of(lab.node("n1"), lab.deployment(1, strategy="Recreate"))
    web.settle()
    (rs,) = web.cluster.store.all("ReplicaSet")
    finished = lab.pod("left", "n1", phase="Failed", owner=rs.owner_reference(), labels=rs.template.labels)
    web.put(finished)
    web.settle()
    web.happens(RollOut("deployment/web"))
    digest = web.get("Deployment", "web").template.digest
    assert {pod.template_digest for pod in web.pods() if not pod.terminal} == {digest}
