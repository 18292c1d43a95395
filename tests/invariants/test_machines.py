"""What machines really run and hold."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.invariants import Situation
from reconverge.model.action import Patch
from reconverge.model.labels import labels_of
from reconverge.model.local_pods import running_pod
from reconverge.model.loops.kubelet.actions import Locally
from reconverge.model.objects import OwnerReference


def starts(lab: Any, before: Situation, pod: Any, node: str) -> Any:
    local = running_pod(pod.key, pod.uid, pod.spec, ready=True)
    return lab.step(before, "kubelet", Locally(node, local, "starts"))


def test_a_pod_that_is_bound_again_is_found(lab: Any) -> None:
    pod = lab.pod()
    before = lab.situation(lab.node("n1"), lab.node("n2"), pod)
    (violation,) = lab.broken(
        "pod-on-one-node", lab.step(before, "x", Patch("Pod", pod.key, pod.uid, (("node", "n2"),)))
    )
    assert violation.message == "pod/web-a was bound to n1 and is now bound to n2"
    assert (
        lab.broken("pod-on-one-node", lab.step(before, "x", Patch("Pod", pod.key, pod.uid, (("ready", False),)))) == []
    )


def copies(lab: Any, *, down: bool) -> Any:
    """db-0 runs on n1, its object was removed by force, and db-0 is created again on n2."""
    old = lab.pod("db-0", "n1")
    before = lab.cluster(lab.node("n1"), lab.node("n2"), old, down=["n1"] if down else [])
    new = lab.pod("db-0", "n2", phase="Pending", ready=False, owner=OwnerReference("StatefulSet", "db", 7))
    store, _ = before.store.remove("Pod", old.key)
    store, _ = store.put(new)
    return starts(lab, Situation(before.with_(store=store)), new, "n2")


def test_two_copies_of_one_name_are_found_although_only_one_object_is_left(lab: Any) -> None:
    (violation,) = lab.broken("pod-on-one-node", copies(lab, down=False))
    assert violation.message == "pod/db-0 starts on n2 while it still runs on n1"


def test_what_was_on_a_machine_without_power_does_not_run(lab: Any) -> None:
    assert lab.broken("pod-on-one-node", copies(lab, down=True)) == []


def test_the_same_incarnation_revived_from_an_old_view_is_found(lab: Any) -> None:
    pod = lab.pod("db-0", "n2")
    before = lab.situation(lab.node("n1"), lab.node("n2"), pod)
    assert lab.broken("pod-on-one-node", starts(lab, before, pod, "n1")) != []
    assert lab.broken("pod-on-one-node", starts(lab, before, pod, "n2")) == []


@pytest.mark.parametrize(("strategy", "found"), [("Recreate", True), ("RollingUpdate", False)])
def test_recreate_promises_that_nothing_of_the_old_revision_runs(lab: Any, strategy: str, found: bool) -> None:
    deployment = lab.deployment(1, strategy=strategy)
    old, new = lab.set_of(deployment, "old", replicas=0), lab.set_of(deployment, "new")
    (before,) = lab.pods_of(old, "n1")
    (after,) = lab.pods_of(new, "n2", phase="Pending", ready=False)
    situation = lab.situation(lab.node("n1"), lab.node("n2"), deployment, old, new, before, after)
    assert bool(lab.broken("pod-on-one-node", starts(lab, situation, after, "n2"))) is found


def test_a_replacement_of_the_same_revision_may_run_beside_a_pod_that_ends(lab: Any) -> None:
    deployment = lab.deployment(1, strategy="Recreate")
    rs = lab.set_of(deployment)
    before, after = lab.pods_of(rs, "n1", "n2")
    situation = lab.situation(lab.node("n1"), lab.node("n2"), deployment, rs, before, after.with_(phase="Pending"))
    assert lab.broken("pod-on-one-node", starts(lab, situation, after, "n2")) == []


@pytest.mark.parametrize(("index", "found"), [("0", True), ("1", False)])
def test_a_job_index_runs_once(lab: Any, index: str, found: bool) -> None:
    key = "batch.kubernetes.io/job-completion-index"
    owner = OwnerReference("Job", "sum", 7)
    first = lab.pod("sum-0-a", "n1", owner=owner, annotations=labels_of({key: "0"}))
    second = lab.pod("sum-x-b", "n2", owner=owner, phase="Pending", annotations=labels_of({key: index}))
    situation = lab.situation(lab.node("n1"), lab.node("n2"), first, second)
    assert bool(lab.broken("pod-on-one-node", starts(lab, situation, second, "n2"))) is found


@pytest.mark.parametrize(("name", "found"), [("sum-0-a", True), ("sum-01-a", False), ("sums-0-a", False)])
def test_a_job_index_that_runs_on_a_machine_that_is_cut_off_counts_without_its_object(
    lab: Any, name: str, found: bool
) -> None:
    owner = OwnerReference("Job", "sum", 7)
    annotations = labels_of({"batch.kubernetes.io/job-completion-index": "0"})
    first = lab.pod(name, "n1", owner=owner, annotations=annotations)
    second = lab.pod("sum-0-b", "n2", owner=owner, phase="Pending", annotations=annotations)
    cluster = lab.cluster(lab.node("n1"), lab.node("n2"), first, second)
    store, _ = cluster.store.remove("Pod", first.key)
    machine = cluster.machines.get("n1")
    assert machine is not None
    machines = cluster.machines.put(machine.with_(reachable=False))
    situation = Situation(cluster.with_(store=store, machines=machines))
    assert bool(lab.broken("pod-on-one-node", starts(lab, situation, second, "n2"))) is found


@pytest.mark.parametrize(
    ("surge", "place", "ended", "found"),
    [(0, "n1", False, True), (0, "n2", False, False), (0, "n1", True, False), (1, "n1", False, False)],
)
def test_a_daemon_set_runs_once_on_a_node_unless_it_surges(
    lab: Any, surge: int, place: str, ended: bool, found: bool
) -> None:
    ds = lab.daemon_set(max_surge=surge)
    owned = {"owner": ds.owner_reference()}
    going = lab.pod("agent-a", place, deletion_at=1030.0, **owned)
    new = lab.pod("agent-b", "n1", phase="Pending", ready=False, **owned)
    situation = lab.situation(lab.node("n1"), lab.node("n2"), ds, going, new)
    if ended:
        machine = situation.cluster.machines.get(place)
        machines = situation.cluster.machines.put(machine.with_(pods=machine.pods.delete(going.uid)))
        situation = Situation(situation.cluster.with_(machines=machines))
    assert bool(lab.broken("pod-on-one-node", starts(lab, situation, new, "n1"))) is found


@pytest.mark.parametrize(("name", "found"), [("agent-a", True), ("agents-a", False)])
def test_a_daemon_that_runs_on_without_its_object_counts(lab: Any, name: str, found: bool) -> None:
    ds = lab.daemon_set()
    first, second = (lab.pod(each, "n1", owner=ds.owner_reference()) for each in (name, "agent-b"))
    cluster = lab.cluster(lab.node("n1"), ds, first, second.with_(phase="Pending", ready=False))
    store, _ = cluster.store.remove("Pod", first.key)
    situation = Situation(cluster.with_(store=store))
    assert bool(lab.broken("pod-on-one-node", starts(lab, situation, second, "n1"))) is found


def test_a_restart_in_place_is_no_second_copy(lab: Any) -> None:
    pod = lab.pod("db-0", "n1")
    assert lab.broken("pod-on-one-node", starts(lab, lab.situation(lab.node("n1"), pod), pod, "n1")) == []


@pytest.mark.parametrize(
    ("node", "first", "second", "resource"),
    [
        ({"cpu": 900}, {}, {}, "cpu"),
        ({"cpu": 1000}, {}, {}, None),
        ({"pods": 1}, {}, {}, "pods"),
        ({}, {"host_ports": (("", "TCP", 80),)}, {"host_ports": (("", "TCP", 80),)}, "port"),
        ({}, {"host_ports": (("", "TCP", 80),)}, {"host_ports": (("", "UDP", 80),)}, None),
    ],
)
def test_a_machine_holds_no_more_than_its_node_has(
    lab: Any, node: dict[str, Any], first: dict[str, Any], second: dict[str, Any], resource: str | None
) -> None:
    pods = [lab.pod("web-a", spec=lab.spec(**first)), lab.pod("web-b", spec=lab.spec(**second))]
    found = lab.broken("requests-within-capacity", lab.situation(lab.node("n1", **node), *pods))
    assert [each.facts.get("resource", "port") for each in found] == ([resource] if resource else [])


def test_pods_that_have_stopped_or_are_not_admitted_yet_hold_nothing(lab: Any) -> None:
    pods = [lab.pod("web-a"), lab.pod("web-b")]
    for fields in ({"state": "stopped"}, {"checked": False}):
        cluster = lab.cluster(lab.node("n1", cpu=900), *pods)
        machine = cluster.machines.get("n1")
        assert machine is not None
        gone = machine.with_pod(machine.pods[pods[0].uid].with_(**fields))
        after = Situation(cluster.with_(machines=cluster.machines.put(gone)))
        assert lab.broken("requests-within-capacity", after) == []


def test_a_change_of_a_machine_touches_its_node(lab: Any) -> None:
    pod = lab.pod("web-a", "n1")
    step = starts(lab, lab.situation(lab.node("n1"), pod), pod, "n1")
    touched_by = lab.registry["requests-within-capacity"].touched_by
    assert [tuple(touched_by(step.after, change)) for change in step.changes] == [("n1",)]
