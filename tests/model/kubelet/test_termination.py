"""Termination: the stop signal, the grace period, and the removal that only the kubelet makes."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.events import (
    ContainerCrashes,
    ContainerHangs,
    NodeCrashes,
    NodePartitioned,
    NodeRecovers,
    PodForceDeleted,
    PodUnready,
    RuntimeHangs,
)
from reconverge.model.objects import Behaviour, Container, Probe
from reconverge.model.rules import KubeletTimings, Rules


@pytest.mark.parametrize(
    ("stops_after", "grace", "gone_at"), [(0, 30, 0), (5, 30, 5), (30, 30, 30), (60, 30, 30), (60, 90, 60), (3, 1, 1)]
)
def test_a_pod_is_gone_when_it_has_stopped_at_the_latest_after_its_grace(
    host: Any, stops_after: float, grace: float, gone_at: float
) -> None:
    node = host()
    node.bind(behaviour=Behaviour(stops_after=stops_after), grace=grace)
    node.lab.settle()
    node.delete()
    if gone_at:
        node.lab.until(gone_at - 1)
        assert node.status()[:2] == ("Running", True), "it goes on until then, and so does its readiness"
    node.lab.settle()
    assert node.lab.cluster.now == gone_at
    assert node.lab.pods() == []
    assert dict(node.lab.machine().pods) == {}


def test_the_end_is_reported_before_the_object_is_removed(host: Any) -> None:
    node = host()
    node.bind()
    node.lab.settle()
    node.delete()
    assert [what for _, what in node.lab.settle()] == [
        "stops pod/p on n1",
        "reports pod/p Succeeded",
        "force-deletes pod/p",
        "cleans up pod/p on n1",
    ]


def test_a_shorter_grace_period_shortens_a_termination_that_runs(host: Any) -> None:
    node = host()
    node.bind(behaviour=Behaviour(stops_after=100), grace=60)
    node.lab.settle()
    node.delete()
    node.lab.until(10)
    node.delete(grace=5)
    node.lab.settle()
    assert node.lab.cluster.now == 15


def test_a_longer_grace_period_lengthens_nothing(host: Any) -> None:
    node = host()
    node.bind(behaviour=Behaviour(stops_after=100), grace=20)
    node.lab.settle()
    node.delete()
    node.lab.until(10)
    node.delete(grace=60)
    node.lab.settle()
    assert node.lab.cluster.now == 20


def test_a_container_that_crashes_while_it_is_stopped_is_not_waited_for(host: Any) -> None:
    node = host()
    node.bind(behaviour=Behaviour(stops_after=20))
    node.lab.settle()
    node.delete()
    node.lab.until(7)
    node.lab.happens(ContainerCrashes("pod/p"))
    assert node.lab.cluster.now == 7
    assert node.lab.pods() == []
    assert node.lab.times("restarts in place") == []


def test_readiness_is_reported_while_it_stops(host: Any) -> None:
    node = host()
    node.bind(behaviour=Behaviour(stops_after=20))
    node.lab.settle()
    node.delete()
    node.lab.until(7)
    node.strikes(PodUnready("pod/p"))
    node.lab.quiet_now()
    assert node.status()[:2] == ("Running", False)
    node.lab.settle()
    assert node.lab.cluster.now == 20


def test_a_crash_loop_is_removed_without_another_start(host: Any) -> None:
    node = host()
    node.bind(behaviour="crashes")
    node.lab.until(5)
    node.delete()
    node.lab.settle()
    assert node.lab.cluster.now == 5
    assert node.lab.pods() == []


def test_a_pod_deleted_before_it_was_taken_in_leaves_nothing(host: Any) -> None:
    node = host()
    node.bind()
    node.delete()
    node.lab.settle()
    assert node.lab.pods() == []
    assert node.lab.times("starts") == []


def test_a_pod_whose_object_is_removed_is_stopped(host: Any) -> None:
    node = host()
    node.bind()
    node.lab.settle()
    node.lab.happens(PodForceDeleted("pod/p"))
    assert dict(node.lab.machine().pods) == {}


def test_finalizers_hold_a_stopped_pod(host: Any) -> None:
    node = host()
    node.bind(finalizers=("batch.kubernetes.io/job-tracking",))
    node.lab.settle()
    node.delete()
    node.lab.settle()
    pod = node.lab.get("Pod", "p")
    assert (pod.phase, pod.grace, pod.deletion_at is not None) == ("Succeeded", 0, True)
    assert dict(node.lab.machine().pods) == {}


# Machines that do not answer -------------------------------------------------------------------------------------


def test_a_dead_machine_keeps_the_object(host: Any) -> None:
    node = host()
    node.bind()
    node.lab.settle()
    node.strikes(NodeCrashes("n1"))
    node.delete()
    node.lab.settle()
    assert [pod.deletion_at for pod in node.lab.pods()] == [30]
    node.lab.until(500)
    node.lab.happens(NodeRecovers("n1"))
    assert node.lab.pods() == []
    assert node.lab.times("restarts in place") == [], "a pod that is being deleted is not started again"


def test_a_cut_off_kubelet_goes_on_with_what_it_has(host: Any) -> None:
    node = host()
    node.bind()
    node.lab.settle()
    node.strikes(NodePartitioned("n1"))
    node.lab.settle()
    before = node.lab.get("Pod", "p")
    node.lab.until(40)
    node.lab.happens(ContainerCrashes("pod/p"))
    assert node.lab.get("Pod", "p") == before, "nothing is reported"
    assert (node.lab.local("p").state, node.lab.local("p").restarts) == ("running", 1)
    node.delete()
    node.lab.settle()
    assert node.lab.local("p").alive, "it does not know"
    node.lab.until(400)
    node.lab.happens(NodeRecovers("n1"))
    assert node.lab.pods() == []
    assert dict(node.lab.machine().pods) == {}


def test_a_kubelet_that_is_back_reports_what_happened_meanwhile(host: Any) -> None:
    node = host()
    node.bind("loops", behaviour=Behaviour("crashes", exits_after=100))
    node.bind("ends", behaviour=Behaviour("exit-0", exits_after=100), restart="Never")
    node.lab.until(10)
    node.strikes(NodePartitioned("n1"))
    node.lab.until(205)
    assert (node.status("loops"), node.status("ends")[0]) == (("Running", False, 0, ""), "Running")
    node.strikes(NodeRecovers("n1"))
    node.lab.quiet_now()
    assert node.status("loops") == ("Running", False, 1, "CrashLoopBackOff")
    assert node.status("ends")[0] == "Succeeded"


def test_a_pod_replaced_during_a_partition_is_stopped_when_the_kubelet_is_back(host: Any) -> None:
    node = host()
    node.bind()
    node.lab.settle()
    node.strikes(NodePartitioned("n1"))
    node.strikes(PodForceDeleted("pod/p"))
    node.bind()
    node.lab.settle()
    old = node.lab.local("p")
    assert (old.alive, old.uid != node.lab.get("Pod", "p").uid) == (True, True)
    node.lab.happens(NodeRecovers("n1"))
    assert node.lab.local("p").uid == node.lab.get("Pod", "p").uid
    assert node.status()[:2] == ("Running", True)


def test_a_hung_runtime_starts_and_stops_nothing(host: Any) -> None:
    node = host()
    node.bind("old")
    node.lab.settle()
    node.lab.happens(RuntimeHangs("n1"))
    node.bind("new")
    node.delete("old")
    node.lab.settle()
    assert node.status("new")[0] == "Pending"
    assert node.lab.get("Pod", "old").deletion_at == 30
    assert node.lab.get("Node", "n1").ready == "True"
    node.lab.happens(NodeRecovers("n1"))
    assert [(pod.name, pod.ready) for pod in node.lab.pods()] == [("new", True)]


def test_a_hung_runtime_rests_even_if_it_ought_to_stop_something(host: Any) -> None:
    node = host()
    node.bind("gone")
    node.bind("failed")
    node.lab.settle()
    node.lab.happens(RuntimeHangs("n1"))
    node.strikes(PodForceDeleted("pod/gone"))
    node.lab.report("Pod", "failed", phase="Failed", reason="Evicted")
    node.lab.settle()
    assert len(node.lab.machine().pods) == 2
    node.lab.happens(NodeRecovers("n1"))
    assert dict(node.lab.machine().pods) == {}


def test_what_a_hung_runtime_has_kept_from_the_kubelet_is_seen_before_the_stop(host: Any) -> None:
    """A pod that is deleted after its probe has failed for long is not called ready while it stops."""
    node = host()
    probed = (Container("main", readiness=Probe(failure=1)),)
    node.bind(behaviour=Behaviour(stops_after=9), containers=probed)
    node.lab.settle()
    node.lab.happens(RuntimeHangs("n1"))
    node.strikes(ContainerHangs("pod/p"))
    node.lab.until(60)
    node.delete()
    node.lab.quiet_now()
    node.strikes(NodeRecovers("n1"))
    node.lab.quiet_now()
    assert node.status()[:2] == ("Running", False)
    assert node.lab.cluster.now == 60


@pytest.mark.parametrize(("release", "phase"), [(0, "Running"), (2, "Failed")])
def test_a_finished_pod_holds_its_place_until_it_is_released(host: Any, release: float, phase: str) -> None:
    """Before 1.24 the end was reported first: what the API shows as free is not, for a moment."""
    node = host(rules=Rules(kubelet=KubeletTimings(release=release)))
    node.bind(behaviour=Behaviour("exit-0", exits_after=1), restart="Never", cpu=4000)
    node.lab.until(1)
    assert node.status()[0] == "Succeeded"
    node.bind("early", cpu=4000)
    node.lab.until(1 + release)
    assert node.status("early")[0] == phase
    node.delete("early")
    node.lab.settle()
    node.bind("late", cpu=4000)
    node.lab.settle()
    assert node.status("late")[0] == "Running"
