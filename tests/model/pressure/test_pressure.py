"""Nodes that run short of something: what is reported and when, who is evicted, who is not let in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reconverge.checker import Scenario
from reconverge.checker.event_words import words_of
from reconverge.model.canonical import fingerprint
from reconverge.model.events import EVENTS, NodeCrashes, NodePartitioned, NodeRecovers, PressureChanges
from reconverge.model.loops.kubelet import Kubelet
from reconverge.model.objects import Behaviour, Container, DaemonSet, Taint
from reconverge.model.objects.node import DISK_PRESSURE, MEMORY_PRESSURE
from reconverge.model.objects.placement import Toleration
from reconverge.model.resources import Resources
from reconverge.model.rules import KubeletTimings, Rules

MEMORY = PressureChanges("n1", "memory")
DISK = PressureChanges("n1", "disk")
PID = PressureChanges("n1", "pid")
OVER = PressureChanges("n1", "disk", on=False)
GI = 2**30


@pytest.fixture
def busy(lab: Any) -> Any:
    """Node n1 under its kubelet alone, with pods that run on it: name -> fields of the spec."""

    def made(rules: Rules | None = None, **pods: dict[str, Any]) -> Any:
        found = [lab.pod(name, "n1", spec=spec) for name, spec in pods.items()]
        one = lab.of(lab.node("n1"), *found, loops=[Kubelet()], rules=rules)
        one.settle()
        one.written.clear()
        return one

    return made


def evicted(one: Any) -> list[tuple[float, str]]:
    return [(time, what.split()[1].removeprefix("pod/")) for time, what in one.written if what.startswith("evicts")]


def test_the_kubelet_knows_at_once_and_reports_after_ten_seconds(busy: Any) -> None:
    one = busy()
    one.strikes(DISK)
    one.until(9)
    assert one.get("Node", "n1").pressure == frozenset()
    one.settle()
    assert one.times("reports DiskPressure") == [10]
    assert one.get("Node", "n1").pressure == {"DiskPressure"}


def test_the_lag_is_a_rule(busy: Any) -> None:
    one = busy(Rules(kubelet=KubeletTimings(node_report=0)))
    one.happens(DISK)
    assert one.times("reports DiskPressure") == [0]


def test_the_condition_stays_for_five_minutes_after_the_pressure(busy: Any) -> None:
    one = busy()
    one.happens(DISK)
    one.until(100)
    one.happens(OVER)
    assert one.times("reports no pressure") == [410]
    assert one.get("Node", "n1").pressure == frozenset()
    assert one.machine().strain is None


def test_pressure_that_returns_in_the_transition_period_stays(busy: Any) -> None:
    one = busy()
    one.happens(DISK)
    one.strikes(OVER)
    one.until(100)
    one.happens(DISK)
    assert one.get("Node", "n1").pressure == {"DiskPressure"}
    assert one.times("reports") == [10]


def test_a_short_pressure_is_reported_all_the_same(busy: Any) -> None:
    one = busy()
    one.strikes(MEMORY)
    one.until(3)
    one.strikes(PressureChanges("n1", "memory", on=False))
    one.settle()
    assert one.times("reports MemoryPressure") == [10]
    assert one.times("reports no pressure") == [313]


def test_one_pod_goes_every_ten_seconds(busy: Any) -> None:
    one = busy(a={"priority": 2}, b={"priority": 1}, c={"priority": 3})
    one.happens(DISK)
    assert evicted(one) == [(0, "b"), (10, "a"), (20, "c")]
    assert not one.machine().pods


def test_an_evicted_pod_stays_as_failed(busy: Any) -> None:
    one = busy(p={})
    one.happens(MEMORY)
    pod = one.get("Pod", "p")
    assert (pod.phase, pod.reason, pod.ready) == ("Failed", "Evicted", False)
    assert pod.message == "The node was low on resource: memory. "
    assert pod.disruption_target == "TerminationByKubelet"
    assert pod.deletion_at is None


def test_memory_takes_those_above_their_request_first(busy: Any) -> None:
    one = busy(asks={"memory": GI}, nothing={"priority": 9})
    one.happens(MEMORY)
    assert evicted(one) == [(0, "nothing"), (10, "asks")]


def test_among_those_above_their_request_priority_decides_then_how_far_they_are_above_it(busy: Any) -> None:
    one = busy(
        modest={"memory": 2 * GI, "behaviour": Behaviour(memory=GI)},
        little={"memory": 2 * GI, "behaviour": Behaviour(memory=3 * GI)},
        much={"memory": GI, "behaviour": Behaviour(memory=3 * GI)},
        dear={"memory": GI, "priority": 5, "behaviour": Behaviour(memory=9 * GI)},
    )
    one.happens(MEMORY)
    assert evicted(one) == [(0, "much"), (10, "little"), (20, "dear"), (30, "modest")]


def test_disk_takes_those_that_use_most_of_it(busy: Any) -> None:
    one = busy(a={"behaviour": Behaviour(disk=GI)}, b={"behaviour": Behaviour(disk=2 * GI)})
    one.happens(DISK)
    assert evicted(one) == [(0, "b"), (10, "a")]


def test_process_ids_go_by_priority_alone(busy: Any) -> None:
    one = busy(asks={"memory": GI}, nothing={"priority": 9})
    one.happens(PID)
    assert evicted(one) == [(0, "asks"), (10, "nothing")]


def test_critical_pods_are_never_evicted_and_always_let_in(lab: Any, busy: Any) -> None:
    one = busy(p={"priority": 2_000_000_000})
    one.happens(DISK)
    one.put(lab.pod("q", "n1", spec={"priority": 2_000_001_000}))
    one.settle()
    assert evicted(one) == []
    assert one.get("Pod", "q").phase == "Running"


def test_when_the_pressure_ends_nobody_else_goes(busy: Any) -> None:
    one = busy(a={}, b={"priority": 1}, c={"priority": 2})
    one.strikes(DISK)
    one.until(15)
    one.happens(OVER)
    assert evicted(one) == [(0, "a"), (10, "b")]


def test_pods_of_equal_rank_are_alternatives(busy: Any) -> None:
    one = busy(a={}, b={"termination_grace": 5})
    one.strikes(DISK)
    plans = one.passes_of("kubelet", "n1|")
    assert [plan.choice for plan in plans] == ["pod/a", "pod/b"]


@pytest.mark.parametrize(
    ("event", "spec", "rejected"),
    [
        (MEMORY, {"cpu": 0}, "MemoryPressure"),
        (MEMORY, {"cpu": 0, "tolerations": (Toleration(MEMORY_PRESSURE, "Exists"),)}, ""),
        (MEMORY, {"cpu": 100}, ""),
        (DISK, {"cpu": 100}, "DiskPressure"),
        (DISK, {"cpu": 100, "tolerations": (Toleration(DISK_PRESSURE, "Exists"),)}, "DiskPressure"),
        (PID, {"cpu": 100}, "PIDPressure"),
    ],
)
def test_who_is_not_let_in(lab: Any, busy: Any, event: PressureChanges, spec: Any, rejected: str) -> None:
    one = busy()
    one.strikes(event)
    one.put(lab.pod("p", "n1", spec=spec))
    one.until(1)
    pod = one.get("Pod", "p")
    if not rejected:
        # Let in, and evicted by the pass that looks at the node next.
        assert one.times("admits")
        return
    assert (pod.phase, pod.reason) == ("Failed", "Evicted")
    assert pod.message == f"Pod was rejected: The node had condition: [{rejected}]. "


def test_limits_make_a_pod_more_than_best_effort(lab: Any, busy: Any) -> None:
    one = busy()
    one.strikes(MEMORY)
    limited = lab.spec(cpu=0).with_(containers=(Container("c", limits=Resources(memory=GI)),))
    one.put(lab.pod("p", "n1").with_(spec=limited))
    one.quiet_now()
    assert one.times("admits") == [0]


def test_several_conditions_are_named_together(lab: Any, busy: Any) -> None:
    one = busy()
    one.strikes(PID, DISK, MEMORY)
    one.put(lab.pod("p", "n1"))
    one.until(1)
    assert "[MemoryPressure DiskPressure PIDPressure]" in one.get("Pod", "p").message


def test_a_kubelet_that_is_cut_off_evicts_and_reports_when_it_is_back(busy: Any) -> None:
    one = busy(p={})
    one.happens(NodePartitioned("n1"), DISK)
    assert evicted(one) == []
    one.until(50)
    one.happens(NodeRecovers("n1"))
    assert evicted(one) == [(50, "p")]
    assert one.times("reports DiskPressure") == [50]


def test_conditions_become_taints_and_pods_go_elsewhere(lab: Any) -> None:
    one = lab.of(lab.node("n1"), lab.node("n2"), lab.deployment(3))
    one.settle()
    one.happens(DISK)
    assert one.get("Node", "n1").taints == (Taint(DISK_PRESSURE, "NoSchedule"),)
    live = [pod for pod in one.pods() if pod.active]
    assert [pod.node for pod in live] == ["n2"] * 3
    one.happens(OVER)
    assert one.get("Node", "n1").taints == ()


def test_a_selector_leaves_one_pod_waiting(lab: Any) -> None:
    template = lab.template(node_selector=(("disk", "ssd"),))
    one = lab.of(lab.node("n1", labels={"disk": "ssd"}), lab.node("n2"), lab.deployment(1, template=template))
    one.settle()
    one.happens(DISK)
    assert len([pod for pod in one.pods() if pod.reason == "Evicted"]) == 11
    assert [pod.phase for pod in one.pods() if pod.active] == ["Pending"]
    one.happens(OVER)
    assert [pod.ready for pod in one.pods() if pod.active] == [True]


def test_a_daemon_pod_is_deleted_and_made_again_until_the_pressure_ends(lab: Any) -> None:
    agent = DaemonSet(name="agent", selector=lab.deployment(name="agent").selector, template=lab.template(app="agent"))
    one = lab.of(lab.node("n1"), agent)
    one.settle()
    one.strikes(DISK)
    one.until(200)
    made = one.times("creates pod/agent")
    assert 3 <= len(made) <= 12, "it backs off"
    one.happens(OVER)
    assert [pod.ready for pod in one.pods()] == [True]


def test_what_is_short_is_part_of_the_state(lab: Any) -> None:
    calm = lab.of(lab.node("n1"), lab.node("n2"))
    calm.settle()
    prints = {fingerprint(calm.plane, calm.cluster)}
    for node in ("n1", "n2"):
        one = lab.of(lab.node("n1"), lab.node("n2"))
        one.settle()
        one.happens(PressureChanges(node, "memory"))
        prints.add(fingerprint(one.plane, one.cluster))
    assert len(prints) == 2, "and which of two equal nodes it is does not matter"


def test_the_event_in_words(lab: Any) -> None:
    one = lab.of(lab.node("n1"))
    one.settle()
    assert not OVER.enabled(one.cluster)
    assert not PressureChanges("n1", "luck").enabled(one.cluster)
    assert [str(each) for each in EVENTS["pressure"].candidates(one.cluster, {})] == [
        "node n1 runs short of memory",
        "node n1 runs short of disk",
    ]
    one.happens(DISK)
    assert not DISK.enabled(one.cluster)
    assert str(OVER) == "node n1 is no longer short of disk"
    assert words_of(OVER) == ("pressure", {"node": "n1", "resource": "disk", "on": False})
    assert words_of(DISK) == ("pressure", {"node": "n1", "resource": "disk"})
    one.happens(NodeCrashes("n1"))
    assert not OVER.enabled(one.cluster)


def test_scenarios_write_on_as_true_or_false(tmp_path: Path) -> None:
    file = tmp_path / "disk.scenario.yaml"
    file.write_text(
        """
apiVersion: reconverge/v1alpha1
kind: Scenario
metadata: {name: disk}
spec:
  nodePools: [{name: node, count: 1, allocatable: {cpu: "1", memory: 1Gi}}]
  steps:
    - pressure: {node: node-1, resource: disk}
    - pressure: {node: node-1, resource: disk, on: false}
"""
    )
    on, off = Scenario.from_file(file).steps
    assert (on, off) == (PressureChanges("node-1", "disk"), PressureChanges("node-1", "disk", on=False))
