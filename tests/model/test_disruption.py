"""The status of disruption budgets (pkg/controller/disruption/disruption.go)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconverge.model import quiet
from reconverge.model.action import Action
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane, Read, Wait, Write
from reconverge.model.errors import Conflict, TooManyRequests
from reconverge.model.eviction import Evict, eviction
from reconverge.model.labels import Selector, labels_of
from reconverge.model.loops.disruption import DisruptionController, scaled_up
from reconverge.model.objects import (
    BudgetStatus,
    Deployment,
    OwnerReference,
    Pod,
    PodDisruptionBudget,
    ReplicaSet,
)
from reconverge.model.rules import Rules
from reconverge.model.store import Store

WEB = labels_of({"app": "web"})
PLANE = ControlPlane([DisruptionController()])
OK, SHORT = ("True", "SufficientPods"), ("False", "InsufficientPods")


class World:
    """A cluster in which the test plays the users, the other controllers and the kubelets."""

    def __init__(self, plane: ControlPlane = PLANE) -> None:
        self.plane = plane
        self.cluster = plane.start(Cluster(store=Store({})))

    def put(self, new: Any) -> Any:
        store, change = self.cluster.store.put(new)
        self.cluster = self.plane.notify(self.cluster.with_(store=store), (change,))
        return change.after

    def remove(self, kind: str, name: str) -> None:
        store, change = self.cluster.store.remove(kind, f"default/{name}")
        self.cluster = self.plane.notify(self.cluster.with_(store=store), (change,))

    def does(self, action: Action) -> None:
        self.cluster, changes = action.apply(self.cluster)
        self.cluster = self.plane.notify(self.cluster, changes)

    def settle(self) -> None:
        """Until there is nothing to do now; no time passes."""
        while (move := self.plane.next(self.cluster)) is not None and not isinstance(move, Wait):
            if isinstance(move, Read):
                self.cluster = self.plane.begin(self.cluster, move, self.plane.plans(self.cluster, move)[0])
            else:
                self.cluster = self.plane.write(self.cluster, move).cluster

    def rest(self) -> None:
        self.cluster = quiet.at_rest(self.plane, self.cluster)

    def deployment(self, replicas: int, name: str = "web", labels: Any = WEB) -> ReplicaSet:
        owner = self.put(Deployment(name=name, replicas=replicas, selector=Selector(labels)))
        made = self.put(ReplicaSet(name=f"{name}-1", replicas=replicas, owner=owner.owner_reference()))
        assert isinstance(made, ReplicaSet)
        return made

    def pod(self, name: str, owner: Any = None, **fields: Any) -> Pod:
        reference = owner.owner_reference() if isinstance(owner, ReplicaSet) else owner
        running = {"labels": WEB, "node": "n1", "phase": "Running", "ready": True, "started_at": 0}
        made = self.put(Pod(name=name, owner=reference, **{**running, **fields}))
        assert isinstance(made, Pod)
        return made

    def change(self, name: str, **fields: Any) -> None:
        found = self.cluster.store.pod(f"default/{name}")
        assert found is not None
        self.put(found.with_(**fields))

    def evict(self, name: str) -> Iterator[None]:
        """The two writes of an eviction, one at a time."""
        found = self.cluster.store.pod(f"default/{name}")
        assert found is not None
        for action in eviction(self.cluster.store, found, self.cluster.rules):
            self.does(action)
            yield

    def status(self, name: str = "web") -> BudgetStatus:
        found = self.cluster.store.budget(f"default/{name}")
        assert found is not None
        return found.status

    def numbers(self, name: str = "web") -> tuple[int, int, int, int, list[str]]:
        """currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods, disruptedPods, as recorded."""
        status = self.status(name)
        names = [pod for pod, _ in status.disrupted_pods]
        return (
            status.current_healthy,
            status.desired_healthy,
            status.disruptions_allowed,
            status.expected_pods,
            names,
        )


def budget(name: str = "web", **fields: Any) -> PodDisruptionBudget:
    return PodDisruptionBudget(name=name, **{"selector": Selector(WEB), **fields})


def world_of(replicas: int, healthy: int, plane: ControlPlane = PLANE, **fields: Any) -> World:
    world = World(plane)
    owner = world.deployment(replicas)
    for number in range(replicas):
        world.pod(f"web-{number}", owner, ready=number < healthy)
    world.put(budget(**fields))
    world.settle()
    return world


@pytest.mark.parametrize(
    ("replicas", "healthy", "asked", "desired", "allowed"),
    [
        pytest.param(3, 3, {"min_available": "50%"}, 2, 1, id="P1"),
        (3, 3, {"max_unavailable": "50%"}, 1, 2),
        (3, 3, {"max_unavailable": "30%"}, 2, 1),
        (1, 1, {"min_available": 1}, 1, 0),
        (1, 1, {"min_available": "50%"}, 1, 0),
        (1, 1, {"max_unavailable": 0}, 1, 0),
        (1, 1, {"max_unavailable": 1}, 0, 1),
        (10, 8, {"max_unavailable": "25%"}, 7, 1),
        pytest.param(3, 2, {"max_unavailable": 1}, 2, 0, id="P2"),
        (4, 4, {"max_unavailable": "30%"}, 2, 2),
        (3, 3, {"max_unavailable": 5}, 0, 3),
        (3, 3, {"min_available": 5}, 5, 0),
        (3, 1, {"min_available": 2}, 2, 0),
    ],
)
def test_desired_and_allowed(replicas: int, healthy: int, asked: dict[str, Any], desired: int, allowed: int) -> None:
    """Percentages are rounded up whichever way they are meant."""
    world = world_of(replicas, healthy, **asked)
    assert world.numbers() == (healthy, desired, allowed, replicas, [])
    assert world.status().condition == (OK if allowed else SHORT)
    assert world.status().observed_generation == 1


def test_p3_scaling_up_raises_desired_with_the_first_new_pod() -> None:
    """Recording 20: nothing is written until the first pod of the larger Deployment is there."""
    world = world_of(3, 3, max_unavailable=1)
    owner = world.cluster.store.replica_set("default/web-1")
    deployment = world.cluster.store.deployment("default/web")
    assert deployment is not None
    world.put(deployment.with_(replicas=6))
    world.settle()
    assert world.numbers() == (3, 2, 1, 3, [])
    for number in range(3, 6):
        world.pod(f"web-{number}", owner, phase="Pending", ready=False, node=None)
        world.settle()
        assert world.numbers() == (3, 5, 0, 6, [])
    for number in range(3, 6):
        world.change(f"web-{number}", phase="Running", ready=True, node="n1")
    world.settle()
    assert world.numbers() == (6, 5, 1, 6, [])


def test_a_number_as_min_available_counts_the_pods_that_are_there() -> None:
    """Recording 18, from the creation on: nothing is expected, then one pod after the other."""
    world = World()
    world.put(budget(min_available=2))
    world.settle()
    assert (world.numbers(), world.status().condition) == ((0, 2, 0, 0, []), SHORT)
    owner = world.deployment(3)
    for expected, name in enumerate(["web-a", "web-b", "web-c"], start=1):
        world.pod(name, owner, phase="Pending", ready=False)
        world.settle()
        assert world.numbers() == (0, 2, 0, expected, [])
    for healthy, name in enumerate(["web-a", "web-b", "web-c"], start=1):
        world.change(name, phase="Running", ready=True)
        world.settle()
        assert world.numbers() == (healthy, 2, int(healthy == 3), 3, [])
    assert world.status().condition == OK


def test_an_eviction_from_the_request_to_the_replacement() -> None:
    """Recording 18: the decrement, the Terminating pod, the replacement (four expected), its readiness, the removal."""
    world = world_of(3, 3, min_available=2)
    owner = world.cluster.store.replica_set("default/web-1")
    seen = []
    steps = world.evict("web-0")
    next(steps)
    seen.append(world.numbers())
    world.settle()
    seen.append(world.numbers())
    assert list(steps) == [None, None], "the condition, then the deletion"
    world.settle()
    seen.append(world.numbers())
    world.pod("web-3", owner, phase="Pending", ready=False)
    world.settle()
    seen.append(world.numbers())
    world.change("web-3", phase="Running", ready=True)
    world.settle()
    seen.append(world.numbers())
    world.change("web-0", phase="Succeeded", ready=False)
    world.remove("Pod", "web-0")
    world.settle()
    seen.append(world.numbers())
    assert seen == [
        (3, 2, 0, 3, ["web-0"]),
        (2, 2, 0, 3, ["web-0"]),
        (2, 2, 0, 3, []),
        (2, 2, 0, 4, []),
        (3, 2, 1, 4, []),
        (3, 2, 1, 3, []),
    ]


def test_a_part_of_the_scale_does_not_count_terminating_pods() -> None:
    """Recording 20: with maxUnavailable expectedPods stays 3 while the evicted pod and its replacement are there."""
    world = world_of(3, 3, max_unavailable=1)
    owner = world.cluster.store.replica_set("default/web-1")
    for _ in world.evict("web-0"):
        world.settle()
    world.pod("web-3", owner)
    world.settle()
    assert world.numbers() == (3, 2, 1, 3, [])


def test_a_granted_eviction_whose_pod_stays_is_forgotten_after_120_seconds() -> None:
    """A crash between the two writes of an eviction holds the disruption back for two minutes, then gives it free."""
    world = world_of(3, 3, min_available=2)
    next(world.evict("web-0"))
    world.settle()
    assert world.numbers() == (2, 2, 0, 3, ["web-0"])
    assert world.plane.next(world.cluster) == Wait(120)
    world.rest()
    assert world.cluster.now == 120
    assert world.numbers() == (3, 2, 1, 3, [])


def test_a_pod_event_wakes_one_of_two_budgets() -> None:
    """Recording 24: of two budgets on one pod only one follows it, and it may be either."""
    world = world_of(2, 2, min_available=1)
    world.put(budget("also", min_available=1))
    world.settle()
    world.change("web-0", ready=False)
    move = world.plane.ready(world.cluster)[0]
    assert isinstance(move, Read)
    plans = world.plane.plans(world.cluster, move)
    assert [plan.choice for plan in plans] == ["also", "web"]
    world.settle()
    assert world.numbers("also") == (1, 1, 0, 2, [])
    assert world.numbers("web") == (2, 1, 1, 2, [])


def test_a_relabelled_pod_does_not_wake_the_budget_that_it_left() -> None:
    world = world_of(3, 3, min_available=2)
    world.change("web-0", labels=labels_of({"app": "other"}))
    world.settle()
    assert world.numbers() == (3, 2, 1, 3, [])
    world.change("web-1", ready_since=5)
    world.settle()
    assert world.numbers() == (2, 2, 0, 2, [])


def test_a_changed_budget_is_looked_at_again() -> None:
    world = world_of(3, 3, min_available=2)
    found = world.cluster.store.budget("default/web")
    assert found is not None
    world.put(found.with_(min_available=3, generation=2))
    world.settle()
    assert world.numbers() == (3, 3, 0, 3, [])
    assert world.status().observed_generation == 2


def test_bare_pods_count_for_a_number_and_for_nothing_else() -> None:
    world = World()
    world.put(budget(min_available=1))
    world.pod("web-a")
    world.pod("web-b")
    world.settle()
    assert world.numbers() == (2, 1, 1, 2, [])
    found = world.cluster.store.budget("default/web")
    assert found is not None
    world.put(found.with_(min_available=None, max_unavailable=1))
    world.settle()
    assert world.numbers() == (2, 0, 0, 0, [])


@pytest.mark.parametrize(
    ("owner", "reason"),
    [
        (OwnerReference("DaemonSet", "agent", 77), "daemonsets.apps does not implement the scale subresource"),
        (OwnerReference("ReplicaSet", "web-0", 77), 'found no controllers for pod "stray"'),
        (OwnerReference("Widget", "x", 77), 'found no controllers for pod "stray"'),
    ],
)
def test_a_pod_whose_scale_is_not_known_closes_the_budget(owner: OwnerReference, reason: str) -> None:
    world = world_of(3, 3, max_unavailable=1)
    stray = world.pod("stray", owner)
    (plan,) = world.plane.plans(world.cluster, Read("disruption", "default/web"))
    assert plan.note == reason
    world.settle()
    assert world.numbers() == (3, 2, 0, 3, [])
    assert world.status().condition == ("False", "SyncFailed")
    world.remove("Pod", stray.name)
    world.settle()
    assert world.numbers() == (3, 2, 1, 3, [])


def test_a_replica_set_stands_for_itself_when_its_deployment_is_gone() -> None:
    world = world_of(3, 3, max_unavailable=1)
    world.remove("Deployment", "web")
    world.change("web-0", ready_since=5)
    world.settle()
    assert world.numbers() == (3, 2, 1, 3, [])


def test_each_controller_counts_once_and_all_of_them_together() -> None:
    """Two ReplicaSets of one Deployment in a rollout are the Deployment; another Deployment adds its own."""
    world = world_of(3, 3, max_unavailable="50%")
    deployment = world.cluster.store.deployment("default/web")
    assert deployment is not None
    newer = world.put(ReplicaSet(name="web-2", replicas=1, owner=deployment.owner_reference()))
    world.pod("web-new", newer)
    other = world.deployment(2, "api")
    world.pod("api-0", other)
    world.settle()
    assert world.numbers() == (5, 2, 3, 5, [])


def race(recomputed: bool) -> World:
    """Three healthy pods, two may go. The controller reads; two evictions are granted; it writes; a third is asked for.

    What it writes at first is that a fourth pod has gone.
    """
    world = World(ControlPlane([DisruptionController()]))
    world.cluster = world.cluster.with_(rules=Rules(budget_status_recomputed=recomputed))
    owner = world.deployment(3)
    for number in range(3):
        world.pod(f"web-{number}", owner)
    world.pod("web-gone", owner, ready=False)
    world.put(budget(min_available=1))
    world.settle()
    world.remove("Pod", "web-gone")
    move = Read("disruption", "default/web")
    world.cluster = world.plane.begin(world.cluster, move, world.plane.plans(world.cluster, move)[0])
    for name in ("web-0", "web-1"):
        list(world.evict(name))
    error = world.plane.write(world.cluster, Write("disruption"))
    world.cluster = error.cluster
    assert isinstance(error.error, Conflict) == recomputed
    return world


def test_a_stale_recompute_cannot_overspend() -> None:
    world = race(recomputed=True)
    with pytest.raises(TooManyRequests):
        list(world.evict("web-2"))
    world.settle()
    assert world.numbers() == (1, 1, 0, 3, [])


def test_before_1_17_a_status_computed_before_was_written_over_the_evictions_since() -> None:
    world = race(recomputed=False)
    list(world.evict("web-2"))
    world.settle()
    assert world.numbers() == (0, 1, 0, 3, [])


@given(percent=st.integers(0, 100), total=st.integers(0, 1000))
def test_percentages_are_rounded_up(percent: int, total: int) -> None:
    assert scaled_up(f"{percent}%", total) == ceil(Fraction(total * percent, 100))


AMOUNTS = st.one_of(st.integers(0, 5), st.sampled_from(["0%", "25%", "50%", "67%", "100%"]))
BUDGETS = st.builds(lambda kind, amount: {kind: amount}, st.sampled_from(["min_available", "max_unavailable"]), AMOUNTS)
STEPS = st.lists(
    st.tuples(st.sampled_from(["create", "flip", "evict", "grant", "delete", "gone", "settle"]), st.integers(0, 4)),
    max_size=25,
)


def play(world: World, owner: ReplicaSet, does: str, number: int) -> None:
    """One thing that happens to pod `number`, if it can."""
    name = f"web-{number}"
    found = world.cluster.store.pod(f"default/{name}")
    if does == "settle":
        world.settle()
    elif does == "create" and found is None:
        world.pod(name, owner)
    elif found is None:
        return
    elif does == "flip":
        world.change(name, ready=not found.ready)
    elif does == "delete":
        world.change(name, deletion_at=world.cluster.now + 30)
    elif does == "gone":
        world.remove("Pod", name)
    elif does in ("evict", "grant"):
        writes = world.evict(name)
        try:
            next(writes)
            if does == "evict":
                list(writes)
        except TooManyRequests:
            pass


@given(asked=BUDGETS, steps=STEPS)
def test_the_status_at_rest_is_what_a_new_controller_computes_and_never_negative(
    asked: dict[str, Any], steps: list[tuple[str, int]]
) -> None:
    world = World()
    owner = world.deployment(3)
    world.put(budget(**asked))
    for does, number in steps:
        play(world, owner, does, number)
        assert world.status().disruptions_allowed >= 0
    world.rest()
    incremental = world.status()
    found = world.cluster.store.budget("default/web")
    assert found is not None
    world.put(found.with_(status=BudgetStatus()))
    world.rest()
    assert world.status() == incremental


def takes(world: World, name: str) -> None:
    """An eviction that is granted at once, while the controller may be anywhere."""
    found = world.cluster.store.pod(f"default/{name}")
    if found is not None and found.active:
        try:
            world.does(Evict(found.key, found.uid, deletes=True))
        except TooManyRequests:
            return


@given(asked=BUDGETS, order=st.lists(st.integers(0, 6), max_size=30))
def test_evictions_alone_never_take_healthy_below_desired(asked: dict[str, Any], order: list[int]) -> None:
    """However evictions (0 to 4 name the pod) fall between the reads and the writes of the controller (5, 6)."""
    world = world_of(5, 5, **asked)
    desired = world.status().desired_healthy
    for number in order:
        move = world.plane.next(world.cluster)
        if number < 5:
            takes(world, f"web-{number}")
        elif isinstance(move, Read):
            world.cluster = world.plane.begin(world.cluster, move, world.plane.plans(world.cluster, move)[0])
        elif isinstance(move, Write):
            world.cluster = world.plane.write(world.cluster, move).cluster
        healthy = sum(1 for pod in world.cluster.store.all("Pod") if pod.ready and not pod.terminating)
        assert healthy >= min(desired, 5)
