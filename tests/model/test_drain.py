"""`kubectl drain` as a loop (kubectl pkg/drain, pkg/cmd/drain)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconverge.model import quiet
from reconverge.model.action import Action, Create, DeletePod
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane, Read, Wait, Write
from reconverge.model.eviction import Evict, eviction
from reconverge.model.labels import Selector, labels_of
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.loops.disruption import DisruptionController
from reconverge.model.loops.drain import (
    DrainLoop,
    DrainOptions,
    DrainStatus,
    begin_drain,
    drain_status,
)
from reconverge.model.objects import (
    Deployment,
    Node,
    OwnerReference,
    Pod,
    PodDisruptionBudget,
    ReplicaSet,
)
from reconverge.model.store import Change, Store

WEB = labels_of({"app": "web"})
REFUSED = "429 Cannot evict pod as it would violate the pod's disruption budget. "


class Rest(ControlLoop[None]):
    """The rest of the cluster, for a test: a Terminating pod is gone after `stops` seconds, and replaced on `node`.

    `keeps_name` makes the replacement a StatefulSet's.
    """

    name = "rest"
    watches = frozenset({"Pod"})

    def __init__(self, node: str = "n2", stops: float = 1, keeps_name: bool = False) -> None:
        self.node = node
        self.stops = stops
        self.keeps_name = keeps_name

    def observe(self, memory: None, change: Change, reading: Reading) -> tuple[None, Iterable[str]]:
        return None, (change.key,)

    def sync(self, reading: Reading, memory: None, key: str) -> Sequence[Plan[None]]:
        pod = reading.store.pod(key)
        if pod is None or pod.deletion_at is None:
            return (Plan(None),)
        gone_at = pod.deletion_at - (pod.grace or 0) + self.stops
        if reading.now < gone_at:
            return (Plan(None, requeue_at=gone_at),)
        removal = DeletePod(key, pod.uid, grace=0)
        if pod.owner is None or pod.owner.kind == "DaemonSet":
            return (Plan(None, (removal,)),)
        name = pod.name if self.keeps_name else f"{pod.name}r"
        fresh = pod.with_(name=name, uid=0, node=self.node, deletion_at=None, grace=None, disruption_target="")
        return (Plan(None, (removal, Create(fresh))),)


class World:
    """A cluster with drains, budgets and a stand-in for the rest; keeps what was written and when."""

    def __init__(self, rest: Rest | None = None, drains: DrainLoop | None = None, **fields: Any) -> None:
        self.plane = ControlPlane([drains or DrainLoop(), DisruptionController(), rest or Rest()])
        self.cluster = self.plane.start(Cluster(store=Store({}), **fields))
        self.log: list[tuple[float, str, str]] = []

    def put(self, new: Any) -> Any:
        store, change = self.cluster.store.put(new)
        self.cluster = self.plane.notify(self.cluster.with_(store=store), (change,))
        return change.after

    def change(self, name: str, **fields: Any) -> None:
        self.put(self.pod(name).with_(**fields))

    def remove(self, kind: str, key: str) -> None:
        store, change = self.cluster.store.remove(kind, key)
        self.cluster = self.plane.notify(self.cluster.with_(store=store), (change,))

    def pod(self, name: str) -> Pod:
        found = self.cluster.store.pod(f"default/{name}")
        assert found is not None
        return found

    def nodes(self, *names: str) -> None:
        for name in names:
            self.put(Node(name=name))

    def web(self, nodes: Iterable[str], ready: int = 99) -> None:
        """A Deployment with a pod on each of the nodes, the first `ready` of them ready."""
        places = list(nodes)
        deployment = self.put(Deployment(name="web", replicas=len(places), selector=Selector(WEB)))
        owner = self.put(ReplicaSet(name="web-1", replicas=len(places), owner=deployment.owner_reference()))
        for number, node in enumerate(places):
            self.put(running(f"web-{number}", node, owner.owner_reference(), ready=number < ready))

    def drain(self, *nodes: str, **options: Any) -> None:
        for node in nodes:
            self.with_memory(begin_drain(self.memory, node, DrainOptions(**options)))
            self.cluster = self.plane.rewake(self.cluster, "drain", [node])

    @property
    def memory(self) -> Any:
        return self.cluster.loops["drain"].memory

    def with_memory(self, memory: Any) -> None:
        state = self.cluster.loops["drain"].with_(memory=memory)
        self.cluster = self.cluster.with_(loops={**self.cluster.loops, "drain": state})

    def run(self, until: float = 10_000) -> None:
        """Until everything is at rest, or until a time; 1000 steps must do."""
        for _ in range(1000):
            move = self.plane.next(self.cluster)
            if move is None or (isinstance(move, Wait) and move.until > until):
                return
            self.step()
        raise AssertionError("not at rest after 1000 steps")

    def step(self) -> None:
        """The next step of the default schedule."""
        move = self.plane.next(self.cluster)
        if isinstance(move, Read):
            self.cluster = self.plane.begin(self.cluster, move, self.plane.plans(self.cluster, move)[0])
        elif isinstance(move, Wait):
            self.cluster = self.plane.wait(self.cluster, move.until)
        elif move is not None:
            self.write(move)

    def write(self, move: Write) -> None:
        written = self.plane.write(self.cluster, move)
        self.cluster = written.cluster
        if move.loop == "drain":
            answer = "" if written.error is None else str(written.error.code)
            self.log.append((self.cluster.now, written.action.describe(), answer))

    def asked(self) -> list[tuple[float, str, str]]:
        """The eviction requests: when, which pod, the code of a refusal."""
        return [(now, what.removeprefix("evicts pod/"), answer) for now, what, answer in self.log if "evicts" in what]

    def status(self, node: str = "n1") -> DrainStatus:
        found = drain_status(self.memory, node)
        assert found is not None
        return found


def running(name: str, node: str, owner: OwnerReference | None = None, **fields: Any) -> Pod:
    started = {"labels": WEB, "phase": "Running", "ready": True, "started_at": 0}
    return Pod(name=name, node=node, owner=owner, **{**started, **fields})


def budget(name: str = "web", **fields: Any) -> PodDisruptionBudget:
    return PodDisruptionBudget(name=name, **{"selector": Selector(WEB), **fields})


def world_of(nodes: Iterable[str], asked: dict[str, Any] | None = None, ready: int = 99, **fields: Any) -> World:
    world = World(**fields)
    world.nodes("n1", "n2", "n3")
    world.web(nodes, ready)
    if asked is not None:
        world.put(budget(**asked))
    world.run()
    return world


def test_a_drain_cordons_then_evicts_then_waits_until_the_pods_are_gone() -> None:
    """Recording 25: all requests at once, each granted; the DaemonSet's pod stays; the node stays cordoned."""
    world = world_of(["n1", "n1", "n2"])
    world.put(running("agent", "n1", OwnerReference("DaemonSet", "agent", 90), labels=()))
    world.drain("n1")
    world.run(until=0)
    assert [what for _, what, _ in world.log] == [
        "cordons n1",
        "evicts pod/web-0",
        "deletes pod/web-0",
        "evicts pod/web-1",
        "deletes pod/web-1",
    ]
    assert world.status().state == "draining"
    assert [key for key, _ in world.status().waiting] == ["default/web-0", "default/web-1"]
    world.run()
    assert world.cluster.now == 1
    assert world.status() == DrainStatus("drained")
    node = world.cluster.store.node("n1")
    assert node is not None
    assert node.unschedulable
    assert [pod.name for pod in world.cluster.store.pods_on("n1")] == ["agent"]
    assert world.cluster.loops["drain"].timers == {}


def test_a_cordoned_node_is_not_cordoned_again() -> None:
    world = world_of(["n1", "n2"])
    node = world.cluster.store.node("n1")
    assert node is not None
    world.put(node.with_(unschedulable=True))
    world.drain("n1")
    world.run()
    assert [what for _, what, _ in world.log] == ["evicts pod/web-0", "deletes pod/web-0"]
    assert world.status() == DrainStatus("drained")


def test_a_blocked_drain_comes_to_rest_and_says_why() -> None:
    """Recording 26, and one replica with a budget of one: 429 for ever. The repetitions are left out."""
    for nodes, answer in [(["n1", "n2"], "needs 2 healthy pods and has 2"), (["n1"], "needs 1 healthy pods and has 1")]:
        world = world_of(nodes, {"min_available": len(nodes)})
        world.drain("n1")
        world.run()
        assert world.asked() == [(0, "web-0", "429")]
        text = f"{REFUSED}The disruption budget web {answer} currently"
        assert world.status() == DrainStatus("draining", (("default/web-0", text),))
        assert world.plane.next(world.cluster) is None
        assert not world.pod("web-0").terminating


@pytest.mark.parametrize(("replicas", "asked"), [(2, {"min_available": 1}), (1, {"max_unavailable": 1})])
def test_a_drain_ends_where_the_budget_has_room(replicas: int, asked: dict[str, Any]) -> None:
    world = world_of(["n1", "n2"][:replicas], asked)
    world.drain("n1")
    world.run()
    assert world.status() == DrainStatus("drained")


def test_a_refused_pod_is_asked_for_again_five_seconds_later() -> None:
    """Recording 64: 201, 429, and 201 five seconds after the refusal, though the budget has room earlier.

    Here the second request is answered before the controller has counted again, so it still has 3 healthy pods.
    """
    world = world_of(["n1", "n1", "n2"], {"max_unavailable": 1}, rest=Rest(keeps_name=True))
    world.drain("n1")
    world.run(until=4)
    assert world.asked() == [(0, "web-0", ""), (0, "web-1", "429")]
    assert world.status().waiting == (
        ("default/web-1", f"{REFUSED}The disruption budget web needs 2 healthy pods and has 3 currently"),
    )
    world.run()
    assert world.asked()[2:] == [(5, "web-1", "")]
    assert (world.status(), world.cluster.now) == (DrainStatus("drained"), 6)


def test_a_pod_is_asked_for_at_the_next_of_kubectl_s_moments_after_a_change() -> None:
    """The budget is relaxed 12 s after the refusal; kubectl asks 5, 10 and 15 s after it."""
    world = world_of(["n1", "n2"], {"min_available": 2})
    world.drain("n1")
    world.run()
    world.cluster = world.plane.wait(world.cluster, 12)
    found = world.cluster.store.budget("default/web")
    assert found is not None
    world.put(found.with_(min_available=1, generation=2))
    world.run(until=14)
    assert world.asked() == [(0, "web-0", "429")]
    world.run()
    assert world.asked() == [(0, "web-0", "429"), (15, "web-0", "")]
    assert world.status() == DrainStatus("drained")


def test_a_change_that_helps_nothing_brings_one_more_refusal_with_the_new_answer() -> None:
    world = world_of(["n1", "n2", "n3"], {"min_available": 3})
    world.drain("n1")
    world.run()
    world.change("web-2", ready=False)
    world.run()
    assert world.asked() == [(0, "web-0", "429"), (5, "web-0", "429")]
    assert world.status().waiting[0][1].endswith("needs 3 healthy pods and has 2 currently")


@pytest.mark.parametrize(
    ("ready", "policy", "ends"),
    [(2, "IfHealthyBudget", True), (1, "IfHealthyBudget", False), (1, "AlwaysAllow", True), (0, "AlwaysAllow", True)],
)
def test_broken_pods_under_their_own_budget(ready: int, policy: str, ends: bool) -> None:
    """With minAvailable 2 of 3 the pod on the drained node, which is unready, goes if two others are healthy."""
    world = world_of(["n2", "n3", "n1"], {"min_available": 2, "unhealthy_pod_eviction": policy}, ready)
    world.drain("n1")
    world.run()
    assert world.status().state == ("drained" if ends else "draining")


def test_before_1_22_an_unready_pod_blocked_the_drain_of_its_node() -> None:
    world = world_of(["n2", "n3", "n1"], {"min_available": 2}, ready=2)
    world.cluster = world.cluster.with_(rules=world.cluster.rules.with_(evict_unready_pods="budget-always"))
    world.drain("n1")
    world.run()
    assert world.status().state == "draining"


def test_a_pod_under_two_budgets_fails_the_drain_and_the_others_are_evicted_all_the_same() -> None:
    world = world_of(["n1", "n2"], {"min_available": 1})
    world.put(budget("also", min_available=1))
    world.put(running("single", "n1", OwnerReference("ReplicaSet", "s", 91), labels=()))
    world.run()
    world.drain("n1")
    world.run()
    error = (
        'error when evicting pods/"web-0" -n "default": This pod has more than one PodDisruptionBudget, '
        "which the eviction subresource does not support."
    )
    assert world.status() == DrainStatus("failed", (), error)
    assert [pod.name for pod in world.cluster.store.pods_on("n1")] == ["web-0"]


def test_a_pod_that_never_stops_holds_the_drain() -> None:
    """On an unreachable node pods stay Terminating: the drain hangs."""
    world = world_of(["n1", "n2"], rest=Rest(stops=1e9))
    world.drain("n1")
    world.run(until=5000)
    assert world.status().state == "draining"
    assert world.status().waiting[0][1].startswith("evicted, and still Terminating")


def test_a_finished_drain_is_forgotten_with_its_node() -> None:
    world = world_of(["n1"])
    world.drain("n1")
    world.run()
    assert world.status() == DrainStatus("drained")
    world.remove("Node", "n1")
    world.run()
    assert drain_status(world.memory, "n1") is None


@pytest.mark.parametrize("again", [False, True])
def test_a_pod_that_vanishes_before_the_request_arrives_is_done_with(again: bool) -> None:
    """404, and a pod of the same name by then."""
    world = world_of(["n1"])
    world.drain("n1")
    while not isinstance(move := world.plane.next(world.cluster), Write) or len(world.log) < 1:
        world.step()
    old = world.pod("web-0")
    world.remove("Pod", old.key)
    if again:
        world.put(old.with_(uid=0, node="n2"))
    world.write(move)
    assert world.asked() == [(0, "web-0", "409" if again else "404")]
    world.run()
    assert world.status() == DrainStatus("drained")


def test_drains_take_turns_by_what_their_nodes_are() -> None:
    """The same two nodes under swapped names: the node with the same pod comes first, whatever it is called."""
    first = []
    for nodes in (["n1", "n2"], ["n2", "n1"]):
        world = world_of(nodes, {"max_unavailable": 1}, rest=Rest(node="n3"))
        world.change("web-0", annotations=labels_of({"a": "b"}))
        world.drain("n1", "n2")
        world.run()
        first.append(world.asked()[0][1])
    assert first[0] == first[1]


def test_a_pod_that_comes_later_is_not_the_drain_s_concern() -> None:
    """A pod that tolerates everything returns to the cordoned node: kubectl, which lists once, has ended by then."""
    world = world_of(["n1"], rest=Rest(node="n1"))
    world.drain("n1")
    world.run()
    assert world.status() == DrainStatus("drained")
    assert [pod.name for pod in world.cluster.store.pods_on("n1")] == ["web-0r"]


def test_a_drain_until_the_node_is_empty_chases_such_a_pod_for_ever() -> None:
    world = world_of(["n1"], rest=Rest(node="n1"))
    world.drain("n1", until_empty=True)
    with pytest.raises(AssertionError):
        world.run()
    assert [name for _, name, _ in world.asked()[:3]] == ["web-0", "web-0r", "web-0rr"]


def test_a_pod_replaced_under_its_name_is_done_with() -> None:
    world = world_of(["n1", "n2"], {"min_available": 2})
    world.drain("n1")
    world.run()
    old = world.pod("web-0")
    world.remove("Pod", old.key)
    world.put(old.with_(uid=0, node="n2"))
    world.run()
    assert world.status() == DrainStatus("drained")
    assert not world.pod("web-0").terminating


def test_two_drains_compete_for_one_budget() -> None:
    """One may go: the pod of one node at once, that of the other five seconds later."""
    world = world_of(["n1", "n2", "n3"], {"max_unavailable": 1}, rest=Rest(node="n3"))
    world.drain("n1", "n2")
    world.run()
    assert [(now, answer) for now, _, answer in world.asked()] == [(0, ""), (0, "429"), (5, "")]
    assert {world.status(node).state for node in ("n1", "n2")} == {"drained"}


def test_any_of_the_pods_may_be_asked_for_first() -> None:
    """One alternative for each kind of pod: two interchangeable ones, and one that differs."""
    world = world_of(["n1", "n1", "n2"], {"max_unavailable": 1})
    world.put(running("bare", "n1", labels=()))
    world.drain("n1")
    while not isinstance(world.plane.next(world.cluster), Read) or not world.log:
        world.step()
    move = next(each for each in world.plane.ready(world.cluster) if each == Read("drain", "n1"))
    assert [plan.choice for plan in world.plane.plans(world.cluster, move)] == ["bare", "web-0"]


def test_the_order_is_no_choice_where_all_or_none_may_go() -> None:
    for asked, requests in [({"min_available": 0}, 2), ({"min_available": 3}, 1)]:
        world = world_of(["n1", "n1", "n2"], asked)
        world.change("web-0", annotations=labels_of({"a": "b"}))
        world.drain("n1")
        while not world.log:
            world.step()
        (plan,) = world.plane.plans(world.cluster, Read("drain", "n1"))
        assert sum(1 for action in plan.actions if isinstance(action, Evict)) == requests


def test_all_requests_go_out_before_any_other_loop_acts() -> None:
    """Without a budget all replicas on a node are down at once: nothing replaces the first before the last goes."""
    world = world_of(["n1", "n1", "n1"])
    world.drain("n1")
    assert lowest_healthy(world) == 0


class Spendthrift(Evict):
    """An eviction API that forgets to take the disruption from the budget."""

    def spent(self, status: Any, pod: Pod, now: float) -> Any:
        return status


class WrongDrains(DrainLoop):
    """Drains through that API."""

    def evicts(self, reading: Reading, pod: Pod, node: str, options: DrainOptions) -> tuple[Action, ...]:
        return eviction(reading.store, pod, reading.rules, request=Spendthrift)


def lowest_healthy(world: World, order: Iterable[int] = ()) -> int:
    """Drains n1 with the loops' turns in a drawn order; the fewest healthy pods on the way."""
    picks = iter(order)
    least = 99
    for _ in range(400):
        moves = world.plane.ready(world.cluster)
        if not moves:
            due = world.plane.next_deadline(world.cluster)
            if due is None:
                return least
            world.cluster = world.plane.wait(world.cluster, due)
            continue
        move = moves[next(picks, 0) % len(moves)]
        if isinstance(move, Read):
            plans = world.plane.plans(world.cluster, move)
            world.cluster = world.plane.begin(world.cluster, move, plans[next(picks, 0) % len(plans)])
        else:
            world.write(move)
        pods = world.cluster.store.all("Pod")
        least = min(least, sum(1 for pod in pods if pod.ready and not pod.terminating))
    raise AssertionError("not at rest")


ASKED = st.builds(
    lambda kind, number: {kind: number},
    st.sampled_from(["min_available", "max_unavailable"]),
    st.sampled_from([0, 1, 2, 3, "34%", "50%"]),
)


@given(asked=ASKED, order=st.lists(st.integers(0, 5), max_size=60))
def test_drains_never_take_healthy_below_desired(asked: dict[str, Any], order: list[int]) -> None:
    """Two nodes at once, the loops in any order, any pod first."""
    world = world_of(["n1", "n1", "n2"], asked, rest=Rest(node="n3"))
    found = world.cluster.store.budget("default/web")
    assert found is not None
    world.drain("n1", "n2")
    assert lowest_healthy(world, order) >= found.status.desired_healthy


def test_a_wrong_rule_of_the_eviction_api_is_seen() -> None:
    world = world_of(["n1", "n1", "n1"], {"min_available": 2}, drains=WrongDrains())
    world.drain("n1")
    assert lowest_healthy(world) < 2


def test_a_finished_drain_leaves_nothing_to_do() -> None:
    world = world_of(["n1", "n2"])
    world.drain("n1")
    world.run()
    before = world.cluster
    assert quiet.at_rest(world.plane, before) == before
    world.change("web-1", ready=False)
    assert not world.cluster.loops["drain"].busy
