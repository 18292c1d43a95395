"""Several containers in a pod: init containers, sidecars, restart policies, phases, exit codes."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.events import ContainerCrashes, KubeletRestarts, NodeReboots
from reconverge.model.objects import Behaviour, Container, Probe

RUNS = Behaviour()


def init(name: str, kind: str = "exit-0", after: float = 5) -> Container:
    return Container(name, behaviour=Behaviour(kind, exits_after=after))


def sidecar(name: str, behaviour: Behaviour = RUNS, **fields: Any) -> Container:
    return Container(name, restart_policy="Always", behaviour=behaviour, **fields)


def steps(node: Any) -> list[tuple[float, str]]:
    return [(at, what.removesuffix(" on n1")) for at, what in node.lab.settle()]


def test_init_containers_run_one_after_the_other_then_the_others_at_once(host: Any) -> None:
    node = host()
    node.bind(init_containers=(init("a"), init("b", after=3)), containers=(Container("x"), Container("y")))
    assert steps(node) == [
        (0, "admits pod/p"),
        (0, "starts init container a of pod/p"),
        (0, "reports pod/p PodInitializing, not ready"),
        (5, "sees the exit of pod/p"),
        (5, "starts init container b of pod/p"),
        (8, "sees the exit of pod/p"),
        (8, "starts pod/p"),
        (8, "reports pod/p Running, Ready"),
    ]


def test_a_pod_is_pending_until_its_containers_have_started(host: Any) -> None:
    node = host()
    node.bind(init_containers=(init("a"),))
    node.lab.until(4)
    assert node.status() == ("Pending", False, 0, "PodInitializing")
    node.lab.settle()
    assert node.status() == ("Running", True, 0, "")


def test_a_failing_init_container_is_tried_again_and_holds_all_back(host: Any) -> None:
    node = host()
    node.bind(init_containers=(init("a", "exit-1", 1),))
    node.lab.until(13)
    assert node.status() == ("Pending", False, 0, "Init:CrashLoopBackOff")
    pod = node.lab.get("Pod", "p")
    assert (pod.restarts, pod.restarts_in_all) == (0, 2)


def test_a_failing_init_container_ends_a_pod_that_never_restarts(host: Any) -> None:
    node = host()
    node.bind(init_containers=(init("a", "exit-1"),), restart="Never")
    node.lab.settle()
    assert node.status()[0] == "Failed"
    assert node.lab.get("Pod", "p").exit_codes == (("a", 1),)


def test_the_next_container_waits_until_a_sidecar_has_started(host: Any) -> None:
    node = host()
    slow = sidecar("proxy", Behaviour(starts_after=7), startup=Probe(period=2, failure=9))
    node.bind(init_containers=(slow, init("migrate", after=1)))
    assert steps(node) == [
        (0, "admits pod/p"),
        (0, "starts sidecar proxy of pod/p"),
        (0, "reports pod/p PodInitializing, not ready"),
        (8, "starts init container migrate of pod/p"),
        (9, "sees the exit of pod/p"),
        (9, "starts pod/p"),
        (9, "reports pod/p Running, Ready"),
    ]


def test_a_sidecar_that_is_not_ready_keeps_the_pod_from_being_ready(host: Any) -> None:
    node = host()
    node.bind(init_containers=(sidecar("proxy", Behaviour("never-ready")),))
    node.lab.settle()
    assert node.status() == ("Running", False, 0, "")


def test_one_container_is_restarted_alone_and_the_pod_is_not_ready_meanwhile(host: Any) -> None:
    node = host()
    node.bind(containers=(Container("x"), Container("y")))
    node.lab.settle()
    for _ in range(2):
        node.lab.happens(ContainerCrashes("pod/p", "y"))
    first, second = node.lab.local("p").containers
    assert (first.since, first.restarts) == (0, 0)
    assert (second.since, second.restarts) == (10, 2)
    pod = node.lab.get("Pod", "p")
    assert (pod.ready, pod.ready_since, pod.restarts, pod.restarts_in_all) == (True, 10, 2, 2)


def test_a_sidecar_is_restarted_whatever_the_policy_and_counted_apart(host: Any) -> None:
    node = host()
    node.bind(init_containers=(sidecar("proxy"),), restart="Never")
    node.lab.settle()
    node.lab.happens(ContainerCrashes("pod/p", "proxy"))
    pod = node.lab.get("Pod", "p")
    assert (pod.phase, pod.restarts, pod.sidecar_restarts, pod.restarts_in_all) == ("Running", 0, 1, 1)


def test_a_pod_whose_work_is_done_ends_although_a_sidecar_runs(host: Any) -> None:
    node = host()
    node.bind(init_containers=(sidecar("proxy"),), behaviour=Behaviour("exit-0", exits_after=9), restart="Never")
    assert [what for at, what in steps(node) if at == 9] == [
        "sees the exit of pod/p",
        "stops the sidecars of pod/p",
        "reports pod/p Succeeded",
        "cleans up pod/p",
    ]


@pytest.mark.parametrize(
    ("kinds", "phase", "codes"),
    [
        (("exit-0", "exit-0"), "Succeeded", (("x", 0), ("y", 0))),
        (("exit-0", "exit-1"), "Failed", (("x", 0), ("y", 1))),
        (("exit-1", "exit-0"), "Failed", (("x", 1), ("y", 0))),
    ],
)
def test_a_pod_succeeds_if_all_its_containers_do(host: Any, kinds: Any, phase: str, codes: Any) -> None:
    node = host()
    both = tuple(init(name, kind, after) for name, kind, after in zip("xy", kinds, (2, 6), strict=True))
    node.bind(containers=both, restart="Never")
    node.lab.until(5)
    assert node.status()[0] == "Running"
    node.lab.settle()
    assert node.status()[0] == phase
    assert node.lab.get("Pod", "p").exit_codes == codes


def test_with_on_failure_only_the_failed_container_is_restarted(host: Any) -> None:
    node = host()
    node.bind(containers=(init("x", "exit-0", 2), init("y", "exit-1", 2)), restart="OnFailure")
    node.lab.until(3)
    assert [each.restarts for each in node.lab.local("p").containers] == [0, 1]


def test_a_reboot_initialises_again(host: Any) -> None:
    node = host()
    node.bind(init_containers=(init("a"),))
    node.lab.until(20)
    node.strikes(NodeReboots("n1"))
    node.lab.until(24)
    assert node.status()[:3] == ("Running", False, 0)
    node.lab.settle()
    pod = node.lab.get("Pod", "p")
    assert (pod.ready, pod.ready_since, pod.restarts) == (True, 25, 1)


def test_a_restart_of_the_kubelet_does_not(host: Any) -> None:
    node = host()
    node.bind(init_containers=(init("a"),))
    node.lab.until(20)
    node.strikes(KubeletRestarts("n1"))
    assert steps(node) == [(20, "admits again pod/p")]


def test_sidecars_stop_after_the_others(host: Any) -> None:
    node = host()
    node.bind(
        init_containers=(sidecar("proxy", Behaviour(stops_after=4)), sidecar("log", Behaviour(stops_after=2))),
        containers=(Container("x", pre_stop=5, behaviour=Behaviour(stops_after=3)), Container("y")),
    )
    node.lab.settle()
    node.delete()
    node.lab.settle()
    assert node.lab.cluster.now == 5 + 3 + 2 + 4


def test_a_hook_before_the_stop_counts_against_the_grace(host: Any) -> None:
    node = host()
    node.bind(containers=(Container("x", pre_stop=45),), grace=30)
    node.lab.settle()
    node.delete()
    node.lab.settle()
    assert node.lab.cluster.now == 30


def test_a_pod_that_has_been_active_for_too_long_fails(host: Any) -> None:
    node = host()
    node.bind(active_deadline=40)
    node.lab.settle()
    assert node.lab.cluster.now == 40
    pod = node.lab.get("Pod", "p")
    assert (pod.phase, pod.reason, pod.ready) == ("Failed", "DeadlineExceeded", False)
    assert dict(node.lab.machine().pods) == {}
