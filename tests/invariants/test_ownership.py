"""Who controls a pod, and what becomes of pods that nobody controls."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.invariants import Situation
from reconverge.model.action import DeletePod, Patch
from reconverge.model.loop import InFlight, LoopState
from reconverge.model.objects import OwnerReference


def deletes(lab: Any, pod: Any, *others: Any, flight: str = "default/web-new") -> Any:
    loops = {"replicaset": LoopState(in_flight=InFlight(flight, ()))}
    return lab.step(lab.situation(lab.node(), *others, pod, loops=loops), "replicaset", DeletePod(pod.key, pod.uid))


def test_a_replicaset_deletes_its_own_pods(lab: Any) -> None:
    rs = lab.set_of()
    assert lab.broken("one-controller", deletes(lab, lab.pods_of(rs, "n1")[0], rs)) == []


@pytest.mark.parametrize(
    ("fields", "flight", "word"),
    [
        ({"owner": None}, "default/web-new", "has no controller"),
        ({"owner": OwnerReference("StatefulSet", "db", 3)}, "default/web-new", "statefulset/db controls"),
        ({}, "default/other", "replicaset/other deletes pod/web-new-a, which replicaset/web-new controls"),
        ({"name": "by-hand"}, "default/web-new", "has adopted pod/by-hand"),
    ],
)
def test_a_replicaset_deletes_no_other_pods(lab: Any, fields: dict[str, Any], flight: str, word: str) -> None:
    rs = lab.set_of()
    pod = lab.pods_of(rs, "n1")[0].with_(**fields)
    (violation,) = lab.broken("one-controller", deletes(lab, pod, rs, flight=flight))
    assert word in violation.message


def test_a_pod_changes_hands_only_by_being_released(lab: Any) -> None:
    one, other = lab.set_of(), lab.set_of(digest="other")
    (pod,) = lab.pods_of(one, "n1")
    before = lab.situation(lab.node(), one, other, pod)
    takes = Patch("Pod", pod.key, pod.uid, (("owner", other.owner_reference()),))
    assert lab.broken("one-controller", lab.step(before, "replicaset", takes)) != []
    releases = Patch("Pod", pod.key, pod.uid, (("owner", None),))
    assert lab.broken("one-controller", lab.step(before, "replicaset", releases)) == []


def test_pods_of_nodes_and_owners_that_are_gone_do_not_stay(lab: Any) -> None:
    rs = lab.set_of()
    (pod,) = lab.pods_of(rs, "n1")
    assert lab.broken("orphans-removed", lab.quiet(lab.situation(lab.node(), rs, pod))) == []
    assert [each.facts for each in lab.broken("orphans-removed", lab.quiet(lab.situation(rs, pod)))] == [{"node": "n1"}]
    found = lab.broken("orphans-removed", lab.quiet(lab.situation(lab.node(), pod)))
    assert [each.facts for each in found] == [{"owner": "replicaset/web-new"}]


def test_objects_of_owners_that_are_gone_do_not_stay(lab: Any) -> None:
    deployment = lab.deployment()
    rs = lab.set_of(deployment)
    pods = lab.pods_of(rs, "n1")
    assert lab.broken("orphans-removed", lab.quiet(lab.situation(lab.node(), deployment, rs, *pods))) == []
    found = lab.broken("orphans-removed", lab.quiet(lab.situation(lab.node(), rs, *pods)))
    assert [(each.object, each.facts["owner"]) for each in found] == [("replicaset/web-new", "deployment/web")]
    other = deployment.with_(uid=lab.fresh())
    assert lab.broken("orphans-removed", lab.quiet(lab.situation(lab.node(), other, rs, *pods))) != []
    loops = {"garbage-collector": LoopState(paused=True)}
    assert lab.broken("orphans-removed", lab.quiet(lab.situation(lab.node(), rs, *pods, loops=loops))) == []


@pytest.mark.parametrize(
    ("exists", "loops", "broken"),
    [
        (False, {"cloud-node": LoopState()}, True),
        (True, {"cloud-node": LoopState()}, False),
        (False, {"cloud-node": LoopState(paused=True)}, False),
        (False, {"cloud-node": LoopState(), "node-lifecycle": LoopState(paused=True)}, False),
        (False, {"kubelet": LoopState()}, False),
    ],
)
def test_nodes_of_instances_that_are_gone_do_not_stay_where_a_cloud_looks_after_them(
    lab: Any, exists: bool, loops: dict[str, LoopState], broken: bool
) -> None:
    cluster = lab.cluster(lab.node(), down=["n1"], loops=loops)
    machine = cluster.machines.get("n1")
    assert machine is not None
    after = Situation(cluster.with_(machines=cluster.machines.put(machine.with_(exists=exists))))
    found = lab.broken("orphans-removed", lab.quiet(after))
    assert [each.object for each in found] == (["node/n1"] if broken else [])


def test_owners_of_unknown_kinds_and_finalizers_are_somebody_elses(lab: Any) -> None:
    opaque = lab.pod(owner=OwnerReference("Rollout", "web", 3))
    assert lab.broken("orphans-removed", lab.quiet(lab.situation(lab.node(), opaque))) == []
    held = lab.pod("web-b", "n9", finalizers=("x/y",))
    assert lab.broken("orphans-removed", lab.quiet(lab.situation(lab.node(), held))) == []


@pytest.mark.parametrize(("reachable", "broken"), [(True, True), (False, False)])
def test_a_kubelet_that_hears_from_the_api_runs_nothing_that_is_gone(lab: Any, reachable: bool, broken: bool) -> None:
    pod = lab.pod()
    cluster = lab.cluster(lab.node(), pod)
    store, _ = cluster.store.remove("Pod", pod.key)
    machine = cluster.machines.get("n1")
    assert machine is not None
    machines = cluster.machines.put(machine.with_(reachable=reachable))
    after = Situation(cluster.with_(store=store, machines=machines))
    assert bool(lab.broken("orphans-removed", lab.quiet(after))) is broken
