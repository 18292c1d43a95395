"""Whether drains end, and what they cost."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.action import DeletePod
from reconverge.model.events import Drain as Drained
from reconverge.model.events import Uncordon
from reconverge.model.eviction import EVICTED
from reconverge.model.labels import labels_of
from reconverge.model.loop import LoopState
from reconverge.model.loops.drain import DONE, EVICTING, REFUSED, Drain, PodDrain
from reconverge.model.objects import OwnerReference
from reconverge.model.objects.pod import MIRROR
from reconverge.model.persistent import EMPTY, Map


def drained(lab: Any, state: str, *, error: str = "", parked: bool = True, outcome: str = "rest") -> Any:
    answer = "429 Cannot evict pod as it would violate the pod's disruption budget."
    pods = Map({"default/web-a": PodDrain(3, REFUSED, answer)}) if parked else EMPTY
    loops = {"drain": LoopState(Map({"n1": Drain(state=state, pods=pods, error=error)}))}
    return lab.quiet(lab.situation(lab.node("n1"), lab.node("n2"), loops=loops), outcome)


def test_a_drain_that_waits_says_what_the_eviction_api_answered(lab: Any) -> None:
    (violation,) = lab.broken("drain-completes", drained(lab, EVICTING))
    assert violation.object == "node/n1"
    assert violation.message.startswith("the drain of node/n1 does not end: pod/web-a: 429 Cannot evict pod")


def test_a_drain_that_gives_up_has_not_completed(lab: Any) -> None:
    (violation,) = lab.broken("drain-completes", drained(lab, DONE, error="timeout", parked=False))
    assert violation.message == "the drain of node/n1 fails: timeout"


def test_a_drain_that_is_done_or_not_explored_to_the_end_is_not_judged_broken(lab: Any) -> None:
    assert lab.broken("drain-completes", drained(lab, DONE, parked=False)) == []
    assert lab.broken("drain-completes", drained(lab, EVICTING, outcome="unfinished")) == []
    assert lab.broken("drain-completes", lab.quiet(lab.situation(lab.node()))) == []


@pytest.mark.parametrize(
    ("created_at", "start", "broken"), [(600, False, True), (400, False, False), (600, True, False)]
)
def test_a_replica_is_moved_once(lab: Any, created_at: float, start: bool, broken: bool) -> None:
    deployment = lab.deployment()
    rs = lab.set_of(deployment)
    (pod,) = lab.pods_of(rs, "n2", created_at=created_at)
    loops = {"drain": LoopState(Map({"n1": Drain(state=DONE, begun_at=500), "n2": Drain(begun_at=700)}))}
    started = lab.cluster(pod) if start else lab.cluster()
    before = lab.situation(lab.node("n2"), deployment, rs, pod, loops=loops, start=started)
    step = lab.step(before, "drain", DeletePod(pod.key, pod.uid, disruption_target=EVICTED))
    assert bool(lab.broken("moved-once", step)) is broken


@pytest.mark.parametrize(("pods", "more"), [(3, ""), (5, "; and 2 more")])
def test_a_drain_that_waits_names_three_pods(lab: Any, pods: int, more: str) -> None:
    waiting = Map({f"default/web-{number}": PodDrain(number, REFUSED, "429") for number in range(pods)})
    loops = {"drain": LoopState(Map({"n1": Drain(state=EVICTING, pods=waiting)}))}
    (violation,) = lab.broken("drain-completes", lab.quiet(lab.situation(lab.node("n1"), loops=loops)))
    assert violation.message.endswith(f"pod/web-0: 429; pod/web-1: 429; pod/web-2: 429{more}")
    assert len(violation.facts["waiting"]) == pods


DRAINED = (Drained("n1"),)


def done(lab: Any, node: Any, *pods: Any, events: Any = DRAINED, started: Any = None) -> list[str]:
    """What is said of a drain that has ended, after a start with the pods and the node (another if `started`)."""
    start = lab.cluster(started or node.with_(unschedulable=False), *pods)
    loops = {"drain": LoopState(Map({"n1": Drain(state=DONE)}))}
    quiet = lab.quiet(lab.situation(node, *pods, loops=loops, events=events, start=start))
    return [each.message for each in lab.broken("drain-completes", quiet)]


def test_a_drain_that_has_ended_leaves_the_node_cordoned(lab: Any) -> None:
    node = lab.node("n1", unschedulable=True)
    assert done(lab, node) == []
    opened = node.with_(unschedulable=False)
    assert done(lab, opened) == ["the drain of node/n1 has ended, and pods may still be scheduled to the node"]
    assert done(lab, opened, events=(Drained("n1"), Uncordon("n1"))) == []
    assert done(lab, opened, events=()) == []
    # Deleted and registered again since.
    assert done(lab, opened, started=lab.node("n1")) == []


def test_a_drain_that_has_ended_leaves_no_pod_that_it_had_to_evict(lab: Any) -> None:
    node = lab.node("n1", unschedulable=True)
    assert done(lab, node, lab.pod()) == ["the drain of node/n1 has ended, and pod/web-a is still there"]
    for left in (
        {"owner": OwnerReference("DaemonSet", "agent", 3)},
        {"annotations": labels_of({MIRROR: "x"})},
        {"deletion_at": 1030.0},
        {"phase": "Succeeded"},
        {"node": None},
    ):
        assert done(lab, node, lab.pod(**left)) == []


@pytest.mark.parametrize(
    ("down", "evicted", "broken"),
    [(True, True, False), (False, True, True), (True, False, True)],
)
def test_a_drain_that_waits_for_a_dead_machine_alone_is_nobodys_configuration(
    lab: Any, down: bool, evicted: bool, broken: bool
) -> None:
    pod = lab.pod(deletion_at=900 if evicted else None)
    loops = {"drain": LoopState(Map({"n1": Drain(state=EVICTING, pods=Map({pod.key: PodDrain(1, REFUSED, "429")}))}))}
    situation = lab.situation(lab.node("n1"), pod, loops=loops, down=["n1"] if down else [])
    assert bool(lab.broken("drain-completes", lab.quiet(situation))) is broken


def test_a_refused_eviction_holds_up_the_drain_of_a_dead_machine_too(lab: Any) -> None:
    gone, held = lab.pod("web-a", deletion_at=900), lab.pod("web-b")
    pods = Map({each.key: PodDrain(place, REFUSED, "429") for place, each in enumerate((gone, held))})
    loops = {"drain": LoopState(Map({"n1": Drain(state=EVICTING, pods=pods)}))}
    situation = lab.situation(lab.node("n1"), gone, held, loops=loops, down=["n1"])
    (violation,) = lab.broken("drain-completes", lab.quiet(situation))
    assert violation.message == "the drain of node/n1 does not end: pod/web-b: 429"
