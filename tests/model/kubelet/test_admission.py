"""Admission: what a kubelet takes in, and how it says no."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.events import KubeletRestarts, LabelChanges, NodeReboots
from reconverge.model.labels import Requirement, labels_of
from reconverge.model.objects import Affinity, NodeSelectorTerm, Taint, Toleration

GI = 2**30
SSD = Affinity(node_required=(NodeSelectorTerm(expressions=(Requirement("disk", "In", ("ssd",)),)),))
NOT_HERE = "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"


def short(resource: str, requested: int, used: int, capacity: int) -> str:
    return (
        f"Pod was rejected: Node didn't have enough resource: {resource}, "
        f"requested: {requested}, used: {used}, capacity: {capacity}"
    )


@pytest.mark.parametrize(
    ("fields", "reason", "message"),
    [
        ({"cpu": 3500}, "OutOfcpu", short("cpu", 3500, 1000, 4000)),
        ({"memory": 16 * GI}, "OutOfmemory", short("memory", 16 * GI, GI, 16 * GI)),
        ({"node_selector": (("disk", "ssd"),)}, "NodeAffinity", NOT_HERE),
        ({"affinity": SSD}, "NodeAffinity", NOT_HERE),
        (
            {"ports": (("", "TCP", 80),)},
            "NodePorts",
            "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
        ),
        # Resources come first, and the first reason is the one that is told.
        ({"cpu": 3500, "affinity": SSD}, "OutOfcpu", short("cpu", 3500, 1000, 4000)),
    ],
)
def test_a_pod_that_does_not_fit_fails_and_stays(host: Any, fields: Any, reason: str, message: str) -> None:
    node = host()
    node.bind("there", cpu=1000, memory=GI, ports=(("", "TCP", 80),))
    node.lab.settle()
    node.bind(**fields)
    node.lab.settle()
    assert node.rejection() == ("Failed", reason, message)
    assert node.lab.get("Pod", "p").node == "n1"
    assert [local.key for local in node.lab.machine().pods.values()] == ["default/there"]


def test_a_node_has_only_so_many_pods(lab: Any, host: Any) -> None:
    node = host(lab.node("n1", pods=2))
    for name in ("a", "b", "c"):
        node.bind(name)
    node.lab.settle()
    assert node.rejection("c") == ("Failed", "OutOfpods", short("pods", 1, 2, 2))


def test_finished_pods_hold_nothing(lab: Any, host: Any) -> None:
    node = host(lab.node("n1", pods=1))
    node.bind("a", behaviour="exit-0", restart="Never")
    node.lab.settle()
    node.bind("b")
    node.lab.settle()
    assert node.status("b")[0] == "Running"


def test_terminating_pods_hold_what_they_have_until_they_have_stopped(lab: Any, host: Any) -> None:
    from reconverge.model.objects import Behaviour

    node = host(lab.node("n1", pods=1))
    node.bind("a", behaviour=Behaviour(stops_after=10))
    node.lab.settle()
    node.delete("a")
    node.bind("b")
    node.lab.settle()
    assert node.rejection("b")[1] == "OutOfpods"


def test_a_request_of_nothing_fits_on_a_full_node(host: Any) -> None:
    node = host()
    node.bind("full", cpu=4000)
    node.bind("p", cpu=0)
    node.lab.settle()
    assert node.status()[0] == "Running"


def test_an_untolerated_no_execute_taint_rejects(lab: Any, host: Any) -> None:
    node = host(lab.node("n1", taints=(Taint("db", "NoExecute", "x"),)))
    node.bind()
    node.bind("ok", tolerations=(Toleration("db", "Exists"),))
    node.lab.settle()
    message = "Pod was rejected: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"
    assert node.rejection() == ("Failed", "TaintToleration", message)
    assert node.status("ok")[0] == "Running"


def test_no_schedule_taints_and_cordons_are_not_looked_at(lab: Any, host: Any) -> None:
    node = host(lab.node("n1", taints=(Taint("db", "NoSchedule", "x"),), unschedulable=True))
    node.bind()
    node.lab.settle()
    assert node.status()[0] == "Running"


def test_pods_are_taken_in_by_the_time_of_their_creation(lab: Any, host: Any) -> None:
    node = host(lab.node("n1", pods=1))
    node.lab.cluster = node.lab.cluster.with_(now=10)
    node.bind("a", created_at=9)
    node.bind("b", created_at=3)
    node.lab.settle()
    assert (node.status("b")[0], node.status("a")[0]) == ("Running", "Failed")


def test_a_restarted_kubelet_fails_a_running_pod_whose_node_no_longer_suits_it(lab: Any, host: Any) -> None:
    node = host(lab.node("n1", labels={"disk": "ssd"}))
    node.bind(affinity=SSD)
    node.bind("other")
    node.lab.settle()
    node.lab.happens(LabelChanges("n1", (("disk", None),)))
    assert node.status()[:2] == ("Running", True), "nobody looks again"
    node.lab.happens(KubeletRestarts("n1"))
    assert node.rejection() == ("Failed", "NodeAffinity", NOT_HERE)
    assert node.status() == ("Failed", False, 0, "")
    assert node.status("other") == ("Running", True, 0, "")
    assert [local.key for local in node.lab.machine().pods.values()] == ["default/other"]


def test_a_rebooted_node_does_the_same(lab: Any, host: Any) -> None:
    node = host(lab.node("n1", labels={"disk": "ssd"}))
    node.bind(affinity=SSD)
    node.lab.settle()
    node.lab.happens(LabelChanges("n1", (("disk", "hdd"),)), NodeReboots("n1"))
    assert node.rejection()[:2] == ("Failed", "NodeAffinity")


def test_a_restarted_kubelet_keeps_what_it_had_when_all_of_it_still_fits(host: Any) -> None:
    node = host()
    for number in range(4):
        node.bind(f"p{number}", cpu=1000)
    node.lab.settle()
    node.lab.happens(KubeletRestarts("n1"))
    assert [(pod.phase, pod.restarts) for pod in node.lab.pods()] == [("Running", 0)] * 4
    assert all(local.checked for local in node.lab.machine().pods.values())


def test_a_pod_without_labels_to_match_runs_anywhere(lab: Any, host: Any) -> None:
    node = host(lab.node("n1", labels=dict(labels_of({"disk": "ssd"}))))
    node.bind(node_selector=(("disk", "ssd"),))
    node.lab.settle()
    assert node.status()[0] == "Running"
