"""Pod garbage collection: its four rules, on its 20 second grid."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.loops.pod_gc import PodGarbageCollector
from reconverge.model.objects import Taint
from reconverge.model.objects.node import NO_EXECUTE, OUT_OF_SERVICE
from reconverge.model.rules import Rules

OUT = Taint(OUT_OF_SERVICE, NO_EXECUTE, "nodeshutdown")


@pytest.fixture(scope="session")
def collecting(world: Any, node: Any) -> Any:
    """Two nodes and some pods, under the pod garbage collector alone."""

    def build(*pods: Any, **options: Any) -> Any:
        w = world([PodGarbageCollector()], node("n1"), node("n2"), *pods, **options)
        w.settle()
        return w

    return build


def test_pods_of_a_vanished_node_go_after_quarantine(collecting: Any, pod: Any) -> None:
    w = collecting(pod("p", "n1"), pod("q", "n1", deletion_at=10), pod("r", "n2"))
    w.until(13)
    w.remove("Node", "n1")
    w.settle()
    assert w.written == [
        (60, "sets phase Failed (DeletionByPodGC) of pod/p"),
        (60, "force-deletes pod/p"),
        (60, "sets phase Failed (DeletionByPodGC) of pod/q"),
        (60, "force-deletes pod/q"),
    ]
    assert w.cluster.store.count("Pod") == 1
    assert not w.cluster.loops["pod-gc"].memory.missing


def test_failed_phase_is_a_step_of_its_own(collecting: Any, pod: Any) -> None:
    w = collecting(pod("p", "n1"))
    w.remove("Node", "n1")
    while not w.written:
        w._step()
    assert (w.pod("p").phase, w.pod("p").disruption_target) == ("Failed", "DeletionByPodGC")


def test_node_that_is_back_in_time_keeps_its_pods(collecting: Any, pod: Any, node: Any) -> None:
    w = collecting(pod("p", "n1"))
    w.remove("Node", "n1")
    w.until(39)
    w.put(node("n1"))
    assert w.settle() == []
    w.remove("Node", "n1")
    w.settle()
    assert w.times("force-deletes") == [80], "the quarantine begins anew"


def test_pod_created_on_a_node_that_never_was(collecting: Any, pod: Any) -> None:
    w = collecting()
    w.put(pod("p", "n9"))
    w.settle()
    assert w.times("force-deletes") == [40]


def test_finished_pod_of_a_vanished_node_goes_without_a_patch(collecting: Any, pod: Any) -> None:
    w = collecting(pod("p", "n1", phase="Succeeded", ready=False))
    w.remove("Node", "n1")
    assert w.settle() == [(40, "force-deletes pod/p")]


def test_node_that_the_api_has_though_the_cache_has_not_keeps_its_pods(collecting: Any, pod: Any) -> None:
    w = collecting(pod("p", "n1"))
    stale = w.cluster.store.table("Node").remove("n1")
    state = w.cluster.loops["pod-gc"].with_(stalled={"Node": stale}, queue={"n1": None})
    w.cluster = w.cluster.with_(loops={"pod-gc": state})
    w.until(130)
    assert w.written == []
    assert w.pod("p").phase == "Running"


def test_out_of_service_taint_frees_terminating_pods(collecting: Any, pod: Any) -> None:
    w = collecting(pod("p", "n1", deletion_at=30), pod("live", "n1"))
    w.until(5)
    w.edit("Node", "n1", ready="Unknown")
    assert w.settle() == []
    w.edit("Node", "n1", taints=(OUT,))
    assert w.settle() == [(20, "sets phase Failed of pod/p"), (20, "force-deletes pod/p")]
    w.until(21)
    w.edit("Pod", "default/live", deletion_at=51)
    w.settle()
    assert w.times("force-deletes pod/live") == [40]


def test_out_of_service_taint_on_a_ready_node_frees_nothing(collecting: Any, pod: Any) -> None:
    w = collecting(pod("p", "n1", deletion_at=30))
    w.edit("Node", "n1", taints=(OUT,))
    assert w.settle() == []
    w.edit("Node", "n1", ready="False")
    w.settle()
    assert w.times("force-deletes pod/p") == [0]


def test_terminating_pod_without_a_node_goes(collecting: Any, pod: Any) -> None:
    w = collecting()
    w.until(1)
    w.put(pod("p", None, phase="Pending", ready=False, deletion_at=31))
    w.settle()
    assert w.times("force-deletes pod/p") == [20]


def test_finished_pods_beyond_the_number_go_evicted_first_then_oldest(collecting: Any, pod: Any) -> None:
    done = {"phase": "Succeeded", "ready": False}
    pods = [
        pod("new", "n1", created_at=-1, **done),
        pod("old-b", "n1", created_at=-9, **done),
        pod("old-a", "n1", created_at=-9, **done),
        pod("evicted", "n1", created_at=0, phase="Failed", reason="Evicted", ready=False),
        pod("live", "n1"),
    ]
    w = collecting(*pods, rules=Rules(terminated_pods_kept=2))
    assert w.written == [(0, "force-deletes pod/evicted"), (0, "force-deletes pod/old-a")]
    w.until(7)
    w.edit("Pod", "default/live", phase="Failed")
    assert w.settle() == [(20, "force-deletes pod/old-b")]


def test_ordinary_life_is_left_alone(collecting: Any, pod: Any) -> None:
    w = collecting(pod("p", "n1"), pod("q", None, phase="Pending", ready=False))
    w.edit("Node", "n1", ready="Unknown")
    w.edit("Pod", "default/p", deletion_at=30)
    assert w.settle() == []
    assert w.cluster.now == 0
