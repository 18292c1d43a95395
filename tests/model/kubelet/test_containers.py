"""Containers: start, readiness, exit, restart in place, back-off."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from reconverge.model.control_plane import Write
from reconverge.model.events import ContainerCrashes, KubeletRestarts, NodeReboots, PodReady, PodUnready
from reconverge.model.objects import Behaviour
from reconverge.model.rules import KubeletTimings, Rules


def waits(host: Any, exits_after: float, until: float) -> list[float]:
    """From each exit to the restart that follows it."""
    node = host()
    node.bind(behaviour=Behaviour("crashes", exits_after=exits_after))
    node.lab.until(until)
    starts = [0, *node.lab.times("restarts in place")]
    return [now - (before + exits_after) for before, now in itertools.pairwise(starts)]


def test_k1_a_crash_loop_waits_longer_each_time_up_to_five_minutes(host: Any) -> None:
    assert waits(host, 1, 1500) == [0, 10, 20, 40, 80, 160, 300, 300, 300]


def test_ten_minutes_of_running_do_not_yet_clear_the_back_off(host: Any) -> None:
    assert waits(host, 600, 2400) == [0, 10, 20]


def test_more_than_ten_minutes_of_running_clear_the_back_off(host: Any) -> None:
    assert waits(host, 601, 2500) == [0, 0, 0, 0]


def test_a_program_that_ends_well_is_restarted_with_the_same_back_off(host: Any) -> None:
    node = host()
    node.bind(behaviour=Behaviour("exit-0", exits_after=5))
    node.lab.until(40)
    assert node.lab.times("restarts in place") == [5, 20]
    assert node.status() == ("Running", False, 2, "CrashLoopBackOff")


def test_a_crash_loop_is_running_and_not_ready(host: Any) -> None:
    node = host()
    node.bind(behaviour="crashes")
    node.lab.until(3)
    assert node.status() == ("Running", False, 1, "CrashLoopBackOff")
    node.lab.until(12)
    assert node.status() == ("Running", False, 2, "")


def test_a_restarted_kubelet_has_forgotten_back_offs(host: Any) -> None:
    node = host()
    node.bind(behaviour="crashes")
    node.lab.until(60)
    assert node.status()[2:] == (3, "CrashLoopBackOff")
    node.strikes(KubeletRestarts("n1"))
    node.lab.quiet_now()
    assert node.status()[2:] == (4, "")
    assert node.lab.times("restarts in place")[-1] == 60


@pytest.mark.parametrize(
    ("policy", "behaviour", "phase", "restarts"),
    [
        ("Always", "exit-0", "Running", True),
        ("Always", "exit-1", "Running", True),
        ("OnFailure", "exit-0", "Succeeded", False),
        ("OnFailure", "exit-1", "Running", True),
        ("Never", "exit-0", "Succeeded", False),
        ("Never", "exit-1", "Failed", False),
        ("Never", "crashes", "Failed", False),
    ],
)
def test_the_restart_policy_decides(host: Any, policy: str, behaviour: str, phase: str, restarts: bool) -> None:
    node = host()
    node.bind(behaviour=Behaviour(behaviour, exits_after=3), restart=policy)
    node.lab.until(2)
    assert node.status() == ("Running", behaviour != "crashes", 0, "")
    node.lab.until(5)
    assert node.status()[0] == phase
    assert (node.status()[2] > 0) == restarts
    if not restarts:
        assert dict(node.lab.machine().pods) == {}, "its resources are free again"
        assert not node.status()[1]


def test_a_ready_program_is_ready_at_once(host: Any) -> None:
    node = host()
    node.bind()
    assert node.lab.settle() == [
        (0, "admits pod/p on n1"),
        (0, "starts pod/p on n1"),
        (0, "reports pod/p Running, Ready"),
    ]
    pod = node.lab.get("Pod", "p")
    assert (pod.phase, pod.ready, pod.started_at) == ("Running", True, 0)


def test_a_never_ready_program_runs_and_waits_for_nothing(host: Any) -> None:
    node = host()
    node.bind(behaviour="never-ready")
    node.lab.settle()
    assert node.status() == ("Running", False, 0, "")
    assert node.lab.cluster.now == 0


def test_a_late_program_gets_ready_after_a_while(host: Any) -> None:
    node = host()
    node.bind(behaviour="not-ready-first")
    node.lab.until(1)
    assert node.status()[1] is False
    node.lab.settle()
    assert node.status()[1] is True
    pod = node.lab.get("Pod", "p")
    assert (node.lab.cluster.now, pod.ready_since) == (2, 2)


def test_being_ready_is_not_yet_serving_and_the_kubelet_does_not_care(host: Any) -> None:
    node = host()
    node.bind(behaviour=Behaviour(serves_after=30))
    node.lab.settle()
    assert node.lab.get("Pod", "p").ready_since == 0


def test_timings_delay_the_start(host: Any) -> None:
    node = host(rules=Rules(kubelet=KubeletTimings(start=4)))
    node.bind()
    node.lab.until(3)
    assert node.status()[:2] == ("Pending", False)
    assert node.lab.local("p").state == "admitted"
    node.lab.settle()
    assert node.status()[:2] == ("Running", True)
    assert node.lab.local("p").containers[0].since == 4


def test_a_crashed_container_is_restarted_in_the_same_pod(host: Any) -> None:
    node = host()
    node.bind()
    node.lab.settle()
    before = node.lab.get("Pod", "p")
    node.lab.until(700)
    node.lab.happens(ContainerCrashes("pod/p"))
    after = node.lab.get("Pod", "p")
    assert (after.uid, after.node, after.restarts, after.ready) == (before.uid, "n1", 1, True)
    node.lab.happens(ContainerCrashes("pod/p"))
    assert node.lab.cluster.now == 710, "the second one waits ten seconds"


def test_a_crash_in_the_middle_of_a_pass_is_not_lost(host: Any) -> None:
    """The kubelet has seen the probe fail and is about to note it when the container ends."""
    node = host()
    node.bind()
    node.lab.settle()
    node.strikes(PodUnready("pod/p"))
    node.lab.step()
    node.strikes(ContainerCrashes("pod/p"))
    assert isinstance(node.lab.plane.next(node.lab.cluster), Write)
    node.lab.settle()
    assert [error.code for error in node.lab.refused] == [409]
    assert node.status() == ("Running", False, 1, "")


def test_readiness_follows_the_probe(host: Any) -> None:
    node = host()
    node.bind()
    node.lab.until(5)
    node.lab.happens(PodUnready("pod/p"))
    pod = node.lab.get("Pod", "p")
    assert (pod.ready, pod.ready_since, pod.phase, pod.restarts) == (False, 5, "Running", 0)
    node.lab.until(9)
    node.lab.happens(PodReady("pod/p"))
    pod = node.lab.get("Pod", "p")
    assert (pod.ready, pod.ready_since) == (True, 9)


def test_a_reboot_restarts_containers_in_the_same_pods(host: Any) -> None:
    node = host()
    node.bind("a")
    node.bind("b")
    node.lab.settle()
    uids = [pod.uid for pod in node.lab.pods()]
    node.lab.until(10)
    node.lab.happens(NodeReboots("n1"))
    assert [pod.uid for pod in node.lab.pods()] == uids
    assert [(pod.ready, pod.restarts, pod.ready_since) for pod in node.lab.pods()] == [(True, 1, 10)] * 2


def test_containers_that_ended_during_a_reboot_follow_their_policy(host: Any) -> None:
    node = host()
    node.bind("keeps", restart="OnFailure")
    node.bind("ends", restart="Never")
    node.lab.settle()
    node.lab.happens(NodeReboots("n1"))
    assert node.status("keeps")[0] == "Running"
    assert node.status("ends")[0] == "Failed"
