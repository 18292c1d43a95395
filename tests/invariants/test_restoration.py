"""Whether workloads get their replicas back, and pending pods their place."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.invariants import Situation
from reconverge.model.action import DeletePod
from reconverge.model.loop import LoopState
from reconverge.model.objects import Taint, Toleration
from reconverge.model.objects.daemonset import DaemonSetStatus
from reconverge.model.objects.node import NO_SCHEDULE, UNREACHABLE


def rested(
    lab: Any, *nodes: str | None, outcome: str = "rest", down: tuple[str, ...] = (), repeating: Any = (), **fields: Any
) -> Any:
    """A Deployment of two with a pod on each of the nodes; None is a pending pod."""
    deployment = lab.deployment(**{"replicas": 2, **fields})
    rs = lab.set_of(deployment, replicas=2)
    pods = lab.pods_of(rs, *nodes)
    told = ("Unschedulable", "0/2 nodes are available: 2 Insufficient cpu.")
    pods = [pod if pod.node is not None else pod.with_(unscheduled=told) for pod in pods]
    situation = lab.situation(lab.node("n1"), lab.node("n2"), deployment, rs, *pods, down=down)
    return lab.quiet(situation, outcome, repeating)


def test_all_replicas_ready_and_running_are_enough(lab: Any) -> None:
    assert lab.broken("replicas-restored", rested(lab, "n1", "n2")) == []


def test_a_pending_replica_is_told_of_in_the_schedulers_words(lab: Any) -> None:
    (violation,) = lab.broken("replicas-restored", rested(lab, "n1", None))
    assert violation.object == "deployment/web"
    assert violation.message == (
        "1 of 2 replicas of deployment/web are ready and running: "
        "pod/web-new-b is Pending: 0/2 nodes are available: 2 Insufficient cpu."
    )


def test_a_pod_called_ready_on_a_machine_without_power_does_not_run(lab: Any) -> None:
    (violation,) = lab.broken("replicas-restored", rested(lab, "n1", "n2", down=("n2",)))
    assert "pod/web-new-b is bound on n2, whose machine is down" in violation.message


@pytest.mark.parametrize(
    ("scheduler", "said"),
    [
        ("default-scheduler", "is Pending: the scheduler has not looked at it"),
        ("volcano", "is Pending: it is for the scheduler volcano, which is not modelled"),
    ],
)
def test_a_replica_for_another_scheduler_is_told_of_as_such(lab: Any, scheduler: str, said: str) -> None:
    deployment = lab.deployment(1)
    rs = lab.set_of(deployment, replicas=1)
    pods = lab.pods_of(rs, None, spec=lab.spec(scheduler_name=scheduler))
    (violation,) = lab.broken("replicas-restored", lab.quiet(lab.situation(lab.node(), deployment, rs, *pods)))
    assert said in violation.message


@pytest.mark.parametrize(("down", "broken"), [(("n3",), False), ((), True), (("n2",), True)])
def test_no_other_node_runs_the_pod_of_a_daemonset_for_a_dead_one(
    lab: Any, down: tuple[str, ...], broken: bool
) -> None:
    nodes = [lab.node(name) for name in ("n1", "n2", "n3")]
    daemons = lab.daemon_set(status=DaemonSetStatus(desired=3))
    pods = lab.pods_in(daemons, *nodes)
    pods[2] = pods[2].with_(ready=False)
    situation = lab.situation(*nodes, daemons, *pods, down=down)
    assert bool(lab.broken("replicas-restored", lab.quiet(situation))) is broken


def test_a_dead_node_that_a_daemonset_does_not_count_excuses_no_other(lab: Any) -> None:
    dead = lab.node("n3", taints=(Taint(UNREACHABLE, NO_SCHEDULE),))
    nodes = [lab.node("n1"), lab.node("n2"), dead]
    daemons = lab.daemon_set(status=DaemonSetStatus(desired=2))
    (one, *_) = lab.pods_in(daemons, *nodes)
    situation = lab.situation(*nodes, daemons, one, down=("n3",))
    assert lab.broken("replicas-restored", lab.quiet(situation)) != []


def test_replicas_that_do_not_exist_are_counted(lab: Any) -> None:
    (violation,) = lab.broken("replicas-restored", rested(lab, "n1"))
    assert violation.message.endswith("1 more does not exist")


@pytest.mark.parametrize("behaviour", ["never-ready", "crashes", "exit-0", "exit-1"])
def test_templates_that_never_get_ready_are_not_judged(lab: Any, behaviour: str) -> None:
    assert lab.broken("replicas-restored", rested(lab, None, None, spec=lab.spec(behaviour=behaviour))) == []


def test_a_workload_scaled_to_nothing_or_not_explored_to_the_end_is_not_judged(lab: Any) -> None:
    assert lab.broken("replicas-restored", rested(lab, replicas=0)) == []
    assert lab.broken("replicas-restored", rested(lab, None, outcome="unfinished")) == []


def test_a_pause_in_the_middle_of_a_rollout_is_excused_and_one_at_rest_is_not(lab: Any) -> None:
    assert lab.broken("replicas-restored", rested(lab, "n1", paused=True)) != []
    deployment = lab.deployment(2, paused=True)
    sets = [lab.set_of(deployment, replicas=1), lab.set_of(deployment, "old", replicas=1)]
    situation = lab.situation(lab.node(), deployment, *sets, *lab.pods_of(sets[0], "n1"))
    assert lab.broken("replicas-restored", lab.quiet(situation)) == []


def test_a_replica_whose_readiness_an_event_holds_down_is_excused(lab: Any) -> None:
    end = rested(lab, "n1", "n2")
    pod = end.store.all("Pod")[1]
    machine = end.cluster.machines.get("n2")
    for forced, broken in ((False, False), (None, True)):
        held = machine.with_pod(machine.pods[pod.uid].with_(ready=False, forced_ready=forced))
        after = Situation(end.cluster.with_(machines=end.cluster.machines.put(held)))
        assert bool(lab.broken("replicas-restored", lab.quiet(after))) is broken


def test_replicas_that_come_and_go_are_not_restored(lab: Any) -> None:
    for key, broken in (("default/web-new-x", True), ("default/other-a", False)):
        repeating = (("taint-eviction", DeletePod(key, 9)),)
        found = lab.broken("replicas-restored", rested(lab, "n1", "n2", outcome="loop", repeating=repeating))
        assert bool(found) is broken


def test_a_replicaset_of_its_own_is_a_workload(lab: Any) -> None:
    rs = lab.set_of(replicas=2)
    found = lab.broken("replicas-restored", lab.quiet(lab.situation(lab.node(), rs, *lab.pods_of(rs, "n1"))))
    assert [each.object for each in found] == ["replicaset/web-new"]


def test_what_has_failed_is_told_of(lab: Any) -> None:
    rs = lab.set_of(replicas=1)
    failed = lab.pods_of(rs, "n1", phase="Failed", ready=False, reason="OutOfpods")
    (violation,) = lab.broken("replicas-restored", lab.quiet(lab.situation(lab.node(), rs, *failed)))
    assert "1 have Failed, the last one: OutOfpods" in violation.message


# Pending pods


def waiting(lab: Any, *others: Any, node: Any = None, outcome: str = "rest", **spec: Any) -> Any:
    created_at = spec.pop("created_at", 0)
    fields = spec.pop("pod", {})
    pod = lab.pod("waits", None, spec=lab.spec(**spec), created_at=created_at, **fields)
    before = lab.situation(node or lab.node(), *others)
    return lab.quiet(lab.situation(node or lab.node(), *others, pod), outcome, before=before)


def test_a_pending_pod_that_fits_is_found(lab: Any) -> None:
    (violation,) = lab.broken("pending-pods-placed", waiting(lab))
    assert violation.object == "pod/waits"
    assert violation.facts["node"] == "n1"


def test_a_pending_pod_that_fits_nowhere_is_not(lab: Any) -> None:
    assert lab.broken("pending-pods-placed", waiting(lab, cpu=5000)) == []
    assert lab.broken("pending-pods-placed", waiting(lab, node=lab.node(taints=(Taint("k", NO_SCHEDULE),)))) == []
    tolerates = (Toleration("k", "Exists"),)
    node = lab.node(taints=(Taint("k", NO_SCHEDULE),))
    assert lab.broken("pending-pods-placed", waiting(lab, node=node, tolerations=tolerates)) != []


@pytest.mark.parametrize(
    ("spec", "broken"),
    [
        ({"priority": 10}, True),
        ({"priority": 0}, False),
        ({"priority": 10, "preemption_policy": "Never"}, False),
        ({"priority": 10, "node_selector": (("disk", "ssd"),)}, False),
    ],
)
def test_to_fit_includes_to_preempt_where_the_pod_may(lab: Any, spec: dict[str, Any], broken: bool) -> None:
    full = lab.pod("low", "n1", spec=lab.spec(cpu=4000))
    assert bool(lab.broken("pending-pods-placed", waiting(lab, full, **spec))) is broken


def test_a_pod_that_waits_for_its_victims_may_not_preempt_again(lab: Any) -> None:
    nominated: dict[str, Any] = {"pod": {"nominated_node": "n1"}, "priority": 10}
    for target, broken in (("PreemptionByScheduler", False), ("", True)):
        going = lab.pod("low", "n1", spec=lab.spec(cpu=4000), deletion_at=1030, disruption_target=target)
        assert bool(lab.broken("pending-pods-placed", waiting(lab, going, **nominated))) is broken


def test_room_that_is_promised_to_a_nominated_pod_is_not_free(lab: Any) -> None:
    for priority, broken in ((10, False), (-10, True)):
        high = lab.pod("high", None, spec=lab.spec(cpu=4000, priority=priority), nominated_node="n1")
        found = [each.object for each in lab.broken("pending-pods-placed", waiting(lab, high))]
        assert ("pod/waits" in found) is broken


@pytest.mark.parametrize(
    "fields", [{"scheduling_gates": ("x",)}, {"claims": ("data",)}, {"pod": {"deletion_at": 1030.0}}]
)
def test_pods_that_the_scheduler_may_not_place_are_not_judged(lab: Any, fields: dict[str, Any]) -> None:
    assert lab.broken("pending-pods-placed", waiting(lab, **fields)) == []


def test_in_a_loop_a_pod_must_have_waited_for_a_while(lab: Any) -> None:
    for created_at, broken in ((990, False), (900, True)):
        found = lab.broken("pending-pods-placed", waiting(lab, outcome="loop", created_at=created_at))
        assert bool(found) is broken


def test_a_scheduler_that_is_paused_or_missing_places_nothing(lab: Any) -> None:
    for loops, broken in (
        ({"scheduler": LoopState()}, True),
        ({"scheduler": LoopState(paused=True)}, False),
        ({"kubelet": LoopState()}, False),
    ):
        situation = lab.situation(lab.node(), lab.pod("waits", None), loops=loops)
        assert bool(lab.broken("pending-pods-placed", lab.quiet(situation))) is broken
