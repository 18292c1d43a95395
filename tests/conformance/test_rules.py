"""Rules that recordings have settled, one test each."""

from __future__ import annotations

from attrs import frozen

from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane, Read
from reconverge.model.labels import Selector, labels_of
from reconverge.model.loops.deployment import DeploymentController
from reconverge.model.loops.scheduler.preemption import Candidate, Preemption
from reconverge.model.loops.victims import rank
from reconverge.model.objects import (
    Condition,
    Deployment,
    DeploymentStatus,
    Node,
    Pod,
    PodTemplate,
    ReplicaSet,
    ReplicaSetStatus,
)
from reconverge.model.standard import cluster_of

APP = labels_of({"app": "web"})
RUNNING = DeploymentStatus(observed_generation=1, conditions=(Condition("Progressing", "True", "ReplicaSetUpdated"),))
NEW, OLD = PodTemplate(APP, digest="new"), PodTemplate(APP, digest="old")


def deployment(**fields: object) -> Deployment:
    made = Deployment(name="web", uid=1, selector=Selector(APP), template=NEW, replicas=3, deployment_revision=1)
    return made.with_(**fields)


def replica_set(name: str, template: PodTemplate, replicas: int, **fields: object) -> ReplicaSet:
    made = ReplicaSet(
        name=name, labels=APP, owner=deployment().owner_reference(), replicas=replicas, selector=Selector(APP),
        template=template, status=ReplicaSetStatus(replicas, replicas, replicas, replicas), deployment_revision=1,
        desired_replicas=3, max_replicas=4,
    )  # fmt: skip
    return made.with_(**fields)


def one_pass(*objects: Deployment | ReplicaSet) -> tuple[Cluster, list[str]]:
    """The writes of the Deployment controller's next pass, and the cluster after them."""
    plane = ControlPlane([DeploymentController()])
    cluster = plane.start(cluster_of(objects))
    actions = plane.plans(cluster, Read("deployment", "default/web"))[0].actions
    for action in actions:
        cluster, _ = action.apply(cluster)
    return cluster, [action.describe() for action in actions]


def test_a_deployments_status_counts_the_sets_as_they_were_read() -> None:
    """Recording 04: the pass that scales 4 to 3 with 3 available still reports one unavailable."""
    four = replica_set("web-1", NEW, 4, desired_replicas=4, status=ReplicaSetStatus(4, 4, 3, 3))
    cluster, writes = one_pass(deployment(status=RUNNING), four)
    assert writes == ["scales replicaset/web-1 from 4 to 3", "updates status of deployment/web"]
    found = cluster.store.deployment("default/web")
    assert found is not None
    assert found.status.unavailable == 1


def test_a_rollback_first_renews_the_revision_and_does_nothing_else_in_that_pass() -> None:
    """Recording 14: the old ReplicaSet gets its new revision, the next pass the Deployment's, then sets are scaled."""
    back = replica_set("web-1", NEW, 3)
    bad = replica_set("web-2", OLD, 2, deployment_revision=2, status=ReplicaSetStatus(2, 2, 0, 0))
    cluster, writes = one_pass(deployment(status=RUNNING, deployment_revision=2), back, bad)
    assert writes == ["makes replicaset/web-1 revision 3"]
    cluster, writes = one_pass(*cluster.store.all("Deployment"), *cluster.store.all("ReplicaSet"))
    assert writes == ["updates status of deployment/web", "scales replicaset/web-2 from 2 to 0"]


def test_ages_count_from_whole_seconds() -> None:
    """Recording 03: readiness at 0.62 s and at 0.72 s is one time, though 2.147 s (2^31 ns) lie between the ages."""
    early, late = (Pod(name="web", node="n1", ready=True, ready_since=since, created_at=since - 0.5)
                   for since in (0.62, 0.72))  # fmt: skip
    assert rank(early, {}, 2.78) == rank(late, {}, 2.78)


def test_a_node_is_not_preferred_for_victims_that_started_within_the_same_second() -> None:
    """Start times are kept in whole seconds, too; the choice between the nodes is open then."""

    @frozen
    class Now:
        now: float = 5

    costs = {
        Preemption().cost(Now(), Candidate(Node(name=name), (Pod(name="web", started_at=at),), 0))  # type: ignore[arg-type]
        for name, at in (("n1", 0.62), ("n2", 0.72))
    }
    assert len(costs) == 1
