"""Nodes that are shut down: with grace for their pods, or without a word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reconverge.checker import Scenario, check
from reconverge.model.events import InstanceStopped, NodeRecovers, NodeShutsDown
from reconverge.model.loops.kubelet import Kubelet
from reconverge.model.objects import Behaviour
from reconverge.model.rules import KubeletTimings, Rules

DOWN = NodeShutsDown("n1")
SLOW = Behaviour("ready", stops_after=20)


@pytest.fixture
def going(lab: Any) -> Any:
    """Node n1 under its kubelet alone, with pods that run on it: name -> fields of the spec."""

    def made(grace: float, critical: float = 0, **pods: dict[str, Any]) -> Any:
        found = [lab.pod(name, "n1", spec=spec) for name, spec in pods.items()]
        timings = KubeletTimings(shutdown_grace=grace, shutdown_grace_critical=critical)
        one = lab.of(lab.node("n1"), *found, loops=[Kubelet()], rules=Rules(kubelet=timings))
        one.settle()
        one.written.clear()
        return one

    return made


def test_without_grace_it_is_a_crash(going: Any) -> None:
    one = going(0, p={})
    one.happens(DOWN)
    assert one.written == []
    assert not one.machine().powered
    assert one.get("Pod", "p").phase == "Running"
    assert one.get("Node", "n1").ready == "True"


def test_stopping_an_instance_gives_its_pods_the_same_grace(going: Any) -> None:
    one = going(60, p={})
    one.happens(InstanceStopped("n1"))
    assert one.get("Pod", "p").reason == "Terminated"
    assert (one.machine().powered, one.machine().stopped) == (False, True)


def test_with_grace_pods_are_stopped_and_the_node_says_so(going: Any) -> None:
    one = going(60, p={})
    one.happens(DOWN)
    pod = one.get("Pod", "p")
    assert (pod.phase, pod.reason, pod.deletion_at) == ("Failed", "Terminated", None)
    assert pod.message == "Pod was terminated in response to imminent node shutdown."
    assert one.get("Node", "n1").ready == "False"
    assert not one.machine().powered
    assert one.cluster.now == 0, "nobody waits for what has stopped"


@pytest.mark.parametrize(("grace", "pod_grace", "ends"), [(60, 30, 20), (10, 30, 10), (60, 5, 5)])
def test_each_pod_has_the_least_of_three_times(going: Any, grace: float, pod_grace: float, ends: float) -> None:
    one = going(grace, p={"behaviour": SLOW, "termination_grace": pod_grace})
    one.happens(DOWN)
    assert one.times("Terminated") == [ends]
    assert one.get("Lease", "n1").renewed_at == ends


def test_critical_pods_go_last(going: Any) -> None:
    one = going(60, 15, late={"priority": 2_000_000_000, "behaviour": SLOW}, soon={"behaviour": SLOW})
    one.happens(DOWN)
    assert one.times("pod/soon Failed") == [20]
    assert one.times("pod/late Failed") == [60]


def test_nobody_is_let_in_meanwhile(lab: Any, going: Any) -> None:
    one = going(60, p={"behaviour": SLOW})
    one.strikes(DOWN)
    one.until(3)
    one.put(lab.pod("q", "n1"))
    one.until(4)
    pod = one.get("Pod", "q")
    assert (pod.phase, pod.reason) == ("Failed", "NodeShutdown")
    assert pod.message == "Pod was rejected: Pod was rejected as the node is shutting down."


def test_it_comes_back_like_any_other_machine(going: Any) -> None:
    one = going(60, p={})
    one.happens(DOWN, NodeRecovers("n1"))
    assert one.machine().stops_at is None
    assert one.get("Node", "n1").ready == "True"
    assert DOWN.enabled(one.cluster)


def test_replacements_do_not_wait_for_the_silence_to_be_noticed(lab: Any) -> None:
    rules = Rules(kubelet=KubeletTimings(shutdown_grace=60))
    one = lab.of(lab.node("n1"), lab.node("n2"), lab.deployment(2), rules=rules)
    one.settle()
    one.strikes(DOWN)
    one.quiet_now()
    assert [pod.node for pod in one.pods() if pod.active] == ["n2", "n2"]


SCENARIO = """
apiVersion: reconverge/v1alpha1
kind: Scenario
metadata: {name: down}
spec:
  rules: {RULES}
  manifests: [MANIFEST]
  nodePools: [{name: node, count: 3, allocatable: {cpu: "4", memory: 16Gi}}]
  may: {node-shutdown: 1, kubelet-restart: 1}
  events: 2
  deviations: 0
  expect: {violated: []}
"""


@pytest.mark.parametrize("rules", ["", "shutdown-grace: 30", "shutdown-grace: 30, shutdown-grace-critical: 10"])
def test_scenarios_set_the_grace(tmp_path: Path, rules: str) -> None:
    manifest = Path(__file__).resolve().parents[3] / "examples" / "node-failure" / "web.yaml"
    file = tmp_path / "down.scenario.yaml"
    file.write_text(SCENARIO.replace("{RULES}", f"{{{rules}}}").replace("MANIFEST", str(manifest)))
    scenario = Scenario.from_file(file)
    assert scenario.rules.kubelet.shutdown_grace == (30 if rules else 0)
    expectation = check(scenario).expectation
    assert expectation is not None
    assert expectation.missed == ()
