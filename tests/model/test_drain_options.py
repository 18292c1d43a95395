"""What options, filters and operators do to a drain (kubectl pkg/drain/filters.go, pkg/cmd/drain)."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model import quiet
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane, Read, Wait
from reconverge.model.labels import Selector, labels_of
from reconverge.model.likeness import At
from reconverge.model.loop import Reading
from reconverge.model.loops.disruption import DisruptionController
from reconverge.model.loops.drain import (
    DrainLoop,
    DrainOptions,
    DrainStatus,
    begin_drain,
    cancel_drain,
    drain_status,
)
from reconverge.model.objects import Node, OwnerReference, Pod, PodDisruptionBudget, PodSpec
from reconverge.model.store import Store

WEB = labels_of({"app": "web"})


class World:
    """A cluster with drains and budgets; nothing stops or replaces its pods."""

    def __init__(self) -> None:
        self.plane = ControlPlane([DrainLoop(), DisruptionController()])
        self.cluster = self.plane.start(Cluster(store=Store({})))
        self.log: list[str] = []

    def put(self, new: Any) -> Any:
        store, change = self.cluster.store.put(new)
        self.cluster = self.plane.notify(self.cluster.with_(store=store), (change,))
        return change.after

    def remove(self, kind: str, key: str) -> None:
        store, change = self.cluster.store.remove(kind, key)
        self.cluster = self.plane.notify(self.cluster.with_(store=store), (change,))

    def drain(self, node: str, **options: Any) -> None:
        self.with_memory(begin_drain(self.memory, node, DrainOptions(**options)))
        self.cluster = self.plane.rewake(self.cluster, "drain", [node])

    @property
    def memory(self) -> Any:
        return self.cluster.loops["drain"].memory

    def with_memory(self, memory: Any) -> None:
        state = self.cluster.loops["drain"].with_(memory=memory)
        self.cluster = self.cluster.with_(loops={**self.cluster.loops, "drain": state})

    def run(self, until: float = 1e9) -> None:
        """Until everything is at rest, or until a time; keeps what the drains wrote."""
        for moved in quiet.steps(self.plane, self.cluster):
            if isinstance(moved.move, Wait) and moved.move.until > until:
                return
            self.cluster = moved.cluster
            if moved.written is not None and getattr(moved.move, "loop", "") == "drain":
                self.log.append(moved.written.action.describe())

    def status(self, node: str = "n1") -> DrainStatus:
        found = drain_status(self.memory, node)
        assert found is not None
        return found


def running(name: str, node: str, owner: OwnerReference | None = None, **fields: Any) -> Pod:
    started = {"labels": WEB, "phase": "Running", "ready": True, "started_at": 0}
    return Pod(name=name, node=node, owner=owner, **{**started, **fields})


def blocked() -> World:
    """A node with a pod whose budget allows nothing."""
    world = World()
    world.put(Node(name="n1"))
    world.put(running("web-0", "n1", OwnerReference("ReplicaSet", "web", 93)))
    world.put(PodDisruptionBudget(name="web", selector=Selector(WEB), min_available=1))
    world.run()
    return world


FILTERED = [
    ({"ignore_daemonsets": False}, "DaemonSet-managed Pods (use --ignore-daemonsets to ignore): default/agent"),
    (
        {"delete_emptydir_data": False},
        "Pods with local storage (use --delete-emptydir-data to override): default/web-0",
    ),
    ({"force": False}, "Pods that declare no controller (use --force to override): default/bare"),
]


def full_node() -> World:
    """A node with a pod for each filter; finished and mirror pods, too."""
    world = World()
    world.put(Node(name="n1"))
    owner = OwnerReference("ReplicaSet", "web", 93)
    world.put(running("web-0", "n1", owner, spec=PodSpec(volumes=("emptyDir",))))
    world.put(running("agent", "n1", OwnerReference("DaemonSet", "agent", 90), labels=()))
    world.put(running("bare", "n1", labels=()))
    mirror = labels_of({"kubernetes.io/config.mirror": "x"})
    world.put(running("static", "n1", OwnerReference("Node", "n1", 92), labels=(), annotations=mirror))
    world.put(running("done", "n1", labels=(), phase="Succeeded", ready=False))
    finished = OwnerReference("DaemonSet", "agent", 90)
    world.put(running("done-agent", "n1", finished, labels=(), phase="Failed", ready=False))
    return world


@pytest.mark.parametrize(("options", "error"), FILTERED)
def test_a_filter_s_error_stops_the_drain_before_anything_is_evicted(options: dict[str, Any], error: str) -> None:
    world = full_node()
    world.drain("n1", **options)
    world.run()
    assert world.status() == DrainStatus("failed", (), f"cannot delete {error}")
    assert world.log == ["cordons n1"]


def test_what_stays_on_a_drained_node() -> None:
    world = full_node()
    world.drain("n1")
    world.run()
    pods = world.cluster.store.pods_on("n1")
    assert [pod.name for pod in pods if not pod.terminating] == ["agent", "static"]


def test_several_errors_are_all_reported() -> None:
    world = full_node()
    world.drain("n1", force=False, delete_emptydir_data=False)
    world.run()
    assert world.status().error == (
        "cannot delete Pods with local storage (use --delete-emptydir-data to override): default/web-0; "
        "cannot delete Pods that declare no controller (use --force to override): default/bare"
    )


def test_a_drain_without_end_gives_up_at_its_timeout() -> None:
    world = blocked()
    world.drain("n1", timeout=12)
    world.run()
    assert world.cluster.now == 12
    error = 'error when evicting pods/"web-0" -n "default": global timeout reached: 12s'
    assert world.status() == DrainStatus("failed", (), error)


def test_the_drain_of_a_node_that_is_gone_is_over() -> None:
    world = blocked()
    world.drain("n1")
    world.run()
    world.remove("Node", "n1")
    world.run()
    assert drain_status(world.memory, "n1") is None


def test_a_node_replaced_before_the_cordon_arrives_is_cordoned_all_the_same() -> None:
    world = blocked()
    world.drain("n1")
    move = world.plane.next(world.cluster)
    assert isinstance(move, Read)
    world.cluster = world.plane.begin(world.cluster, move, world.plane.plans(world.cluster, move)[0])
    world.remove("Node", "n1")
    world.put(Node(name="n1"))
    world.run()
    assert world.log == ["cordons n1", "cordons n1", "evicts pod/web-0"]
    node = world.cluster.store.node("n1")
    assert node is not None
    assert node.unschedulable


def test_an_uncordon_ends_no_drain_and_an_interrupt_does() -> None:
    world = blocked()
    world.drain("n1")
    world.run()
    node = world.cluster.store.node("n1")
    assert node is not None
    world.put(node.with_(unschedulable=False))
    world.run()
    assert world.status().state == "draining"
    world.with_memory(cancel_drain(world.memory, "n1"))
    found = world.cluster.store.budget("default/web")
    assert found is not None
    world.put(found.with_(min_available=0))
    world.run()
    assert drain_status(world.memory, "n1") is None
    assert world.log.count("evicts pod/web-0") == 1


def test_changes_elsewhere_wake_nothing() -> None:
    world = blocked()
    world.drain("n1")
    world.run()
    other = labels_of({"app": "other"})
    world.put(running("other", "n1", labels=other))
    world.put(PodDisruptionBudget(name="other", selector=Selector(other), min_available=1))
    world.put(PodDisruptionBudget(name="far", namespace="far", selector=Selector(WEB), min_available=1))
    assert not world.cluster.loops["drain"].busy


def test_every_refused_pod_is_parked_with_its_answer_though_only_one_is_asked_for() -> None:
    world = World()
    world.put(Node(name="n1"))
    two = labels_of({"app": "two"})
    for number in range(3):
        world.put(running(f"web-{number}", "n1"))
    world.put(running("other", "n1", labels=two))
    world.put(PodDisruptionBudget(name="web", selector=Selector(WEB), min_available=3))
    for name in ("one", "two"):
        world.put(PodDisruptionBudget(name=name, selector=Selector(two), min_available=0))
    world.run()
    world.drain("n1")
    world.run()
    answer = (
        "429 Cannot evict pod as it would violate the pod's disruption budget. "
        "The disruption budget web needs 3 healthy pods and has 3 currently"
    )
    assert world.status().waiting == tuple((f"default/web-{number}", answer) for number in range(3))
    assert world.status().error.startswith('error when evicting pods/"other" -n "default": This pod has more than one')
    assert sum(1 for what in world.log if what.startswith("evicts")) == 1


def test_marks_have_moments_and_no_names() -> None:
    world = blocked()
    world.drain("n1", timeout=60)
    world.run(until=4)
    reading = Reading(world.cluster.store, world.cluster.now, world.cluster.rules)
    marks = list(DrainLoop().marks(world.memory, reading))
    assert [(kind, key) for kind, key, _ in marks] == [("Node", "n1"), ("Pod", "default/web-0")]
    assert marks[0][2] == ("evicting", DrainOptions(timeout=60), False, At(60))
    assert marks[1][2][:2] == ("refused", True)
    assert marks[1][2][3:] == (At(0), None)
