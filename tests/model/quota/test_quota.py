"""LimitRanges and ResourceQuotas at the creation of pods, and what controllers make of a refusal."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.action import Create
from reconverge.model.cluster import Cluster
from reconverge.model.errors import Forbidden
from reconverge.model.events import RollOut
from reconverge.model.objects import Container, DaemonSet, Job, Pod, StatefulSet
from reconverge.model.objects.quota import LimitRange, LimitRangeItem, ResourceQuota
from reconverge.model.quota import asks, usage
from reconverge.model.resources import Resources
from reconverge.model.store import EMPTY_STORE

Lab = Any
GI = 2**30


def quota(name: str = "compute", scopes: tuple[str, ...] = (), **hard: int) -> ResourceQuota:
    amounts = tuple(sorted((key.replace("_", "."), amount) for key, amount in hard.items()))
    return ResourceQuota(name=name, hard=amounts, scopes=scopes)


def limits(**fields: Any) -> LimitRange:
    return LimitRange(name="limits", items=(LimitRangeItem(**fields),))


def created(pod: Pod, *objects: Any, now: float = 0) -> Pod:
    """The pod as it is stored, created where the objects are."""
    store = EMPTY_STORE
    for each in objects:
        store, _ = store.put(each)
    cluster, _ = Create(pod).apply(Cluster(store, now=now))
    found = cluster.store.pod(pod.key)
    assert found is not None
    return found


def refusal(pod: Pod, *objects: Any, now: float = 0) -> Forbidden:
    with pytest.raises(Forbidden) as error:
        created(pod, *objects, now=now)
    return error.value


# LimitRange --------------------------------------------------------------------------------------------------


def test_defaults_fill_what_is_open(lab: Lab) -> None:
    item = {"default_request": (("cpu", 200), ("memory", GI)), "default": (("cpu", 500),)}
    pod = created(lab.pod("p", spec={"cpu": 0}), limits(**item))
    assert pod.spec.requests == Resources(200, GI)
    assert pod.spec.containers[0].limits == Resources(500)


def test_what_a_container_says_stands(lab: Lab) -> None:
    assert created(lab.pod("p"), limits(default_request=(("cpu", 200),))).spec.requests.cpu == 100


@pytest.mark.parametrize(
    ("item", "said"),
    [
        ({"minimum": (("cpu", 200),)}, "minimum cpu usage per Container is 200m, but request is 100m"),
        ({"minimum": (("memory", GI),)}, "minimum memory usage per Container is 1Gi.  No request is specified"),
        ({"maximum": (("cpu", 50),)}, "maximum cpu usage per Container is 50m.  No limit is specified"),
        ({"type": "Pod", "minimum": (("cpu", 1000),)}, "minimum cpu usage per Pod is 1, but request is 100m"),
    ],
)
def test_bounds_are_kept(lab: Lab, item: dict[str, Any], said: str) -> None:
    error = refusal(lab.pod("p"), limits(**item))
    assert str(error) == f'403 pods "p" is forbidden: {said}'
    assert error.until is None


def test_limits_of_other_namespaces_do_not_count(lab: Lab) -> None:
    other = LimitRange(name="limits", namespace="other", items=(LimitRangeItem(minimum=(("cpu", 200),)),))
    created(lab.pod("p"), other)


# ResourceQuota -----------------------------------------------------------------------------------------------


def test_a_quota_is_kept(lab: Lab) -> None:
    there = lab.pod("there", "n1", uid=1, phase="Running")
    error = refusal(lab.pod("p"), quota(pods=1, requests_cpu=1000), there)
    said = 'pods "p" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=1, limited: pods=1'
    assert error.message == said
    created(lab.pod("p"), quota(pods=2, requests_cpu=200), there)
    assert "requests.cpu=100m, used: requests.cpu=100m" in str(refusal(lab.pod("p"), quota(requests_cpu=199), there))


def test_finished_pods_do_not_count_and_terminating_ones_do(lab: Lab) -> None:
    created(lab.pod("p"), quota(pods=1), lab.pod("done", "n1", uid=1, phase="Failed"))
    going = lab.pod("going", "n1", uid=1, phase="Running", deletion_at=30, grace=30)
    assert refusal(lab.pod("p"), quota(pods=1), going, now=60).until == 61
    created(lab.pod("p"), quota(pods=1), going, now=61)


def test_what_a_quota_limits_must_be_specified(lab: Lab) -> None:
    said = "failed quota: compute: must specify limits.cpu for: c; requests.memory for: c"
    assert said in str(refusal(lab.pod("p"), quota(limits_cpu=1000, requests_memory=GI)))
    defaults = limits(default=(("cpu", 200),), default_request=(("memory", GI),))
    created(lab.pod("p"), quota(limits_cpu=1000, requests_memory=GI), defaults)


def test_scopes_choose_the_pods(lab: Lab) -> None:
    created(lab.pod("p"), quota(pods=0, scopes=("BestEffort",)))
    refusal(lab.pod("p", spec={"cpu": 0}), quota(pods=0, scopes=("BestEffort",)))
    created(lab.pod("p"), quota(pods=0, scopes=("Terminating",)))


def test_usage_is_what_the_pods_hold(lab: Lab) -> None:
    store, _ = EMPTY_STORE.put(lab.pod("p", "n1", uid=1))
    assert usage(store, quota(pods=5, requests_cpu=1000), 0) == (("pods", 1), ("requests.cpu", 100))


# Controllers -------------------------------------------------------------------------------------------------


def test_a_replica_set_that_may_not_create_rests_and_says_why(lab: Lab) -> None:
    world = lab.of(lab.node("n1"), lab.replica_set(3), quota(pods=2))
    world.settle()
    assert len(world.pods()) == 2
    status = world.get("ReplicaSet", "web").status
    assert (status.replicas, status.ready) == (2, 2)
    assert [(each.type, each.reason) for each in status.conditions] == [("ReplicaFailure", "FailedCreate")]
    assert list(world.cluster.loops["replicaset"].parked) == ["default/web"]


@pytest.mark.parametrize("kind", ["quota grows", "a pod goes"])
def test_it_tries_again_when_there_is_room(lab: Lab, kind: str) -> None:
    other = lab.pod("other", "n1", uid=900, phase="Running", ready=True, labels=())
    world = lab.of(lab.node("n1"), other, lab.replica_set(3), quota(pods=3))
    world.settle()
    assert len(world.pods()) == 3
    if kind == "quota grows":
        world.edit("ResourceQuota", "compute", hard=(("pods", 4),))
    else:
        world.remove("Pod", "other")
    world.settle()
    assert len([pod for pod in world.pods() if pod.owner is not None]) == 3
    assert world.get("ReplicaSet", "web").status.conditions == ()
    assert world.cluster.loops["replicaset"].parked == {}


@pytest.mark.parametrize(("pods", "ends"), [(3, False), (4, True)])
def test_a_surge_needs_room_in_the_quota(lab: Lab, pods: int, ends: bool) -> None:
    deployment = lab.deployment(3, max_surge=1, max_unavailable=0)
    world = lab.of(lab.node("n1"), deployment, quota(pods=pods))
    world.settle()
    world.happens(RollOut("deployment/web"))
    deployment = world.get("Deployment", "web")
    assert (deployment.status.updated == 3) is ends
    failure = deployment.status.condition("ReplicaFailure")
    assert (failure is None) is ends
    progress = deployment.status.condition("Progressing")
    assert progress.reason == ("NewReplicaSetAvailable" if ends else "ProgressDeadlineExceeded")


def test_other_controllers_rest_too_and_go_on(lab: Lab) -> None:
    made = {name: lab.deployment(name=name, template=lab.template(app=name)) for name in ("db", "agent", "task")}
    once = lab.template(app="task", behaviour="exit-0", restart_policy="Never")
    world = lab.of(
        lab.node("n1"),
        StatefulSet(name="db", replicas=2, selector=made["db"].selector, template=made["db"].template),
        DaemonSet(name="agent", selector=made["agent"].selector, template=made["agent"].template),
        Job(name="task", selector=made["task"].selector, template=once),
        quota(pods=0),
    )
    world.settle()
    assert world.pods() == []
    assert [list(world.cluster.loops[loop].parked) for loop in ("statefulset", "daemonset", "job")] == [
        ["default/db"], ["default/agent"], ["default/task"],
    ]  # fmt: skip
    world.edit("ResourceQuota", "compute", hard=(("pods", 4),))
    world.settle()
    assert sum(pod.ready for pod in world.pods()) == 3
    assert world.get("Job", "task").status.succeeded == 1


def test_limits_of_sidecars_count_beside_the_others(lab: Lab) -> None:
    """A sidecar runs for as long as the pod does, other init containers only before."""
    limited: dict[str, Any] = {"limits": Resources(cpu=300), "requests": Resources(cpu=100)}
    spec = lab.pod("p").spec.with_(
        containers=(Container("main", **limited),),
        init_containers=(Container("first", **limited), Container("beside", restart_policy="Always", **limited)),
    )
    assert dict(asks(spec))["limits.cpu"] == 600
