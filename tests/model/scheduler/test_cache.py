"""What the scheduler remembers: assumed pods, refused writes, and what of it makes states differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import Read, Write
from reconverge.model.errors import Conflict, InternalError, NotFound
from reconverge.model.likeness import At
from reconverge.model.loop import Reading
from reconverge.model.loops.scheduler import Scheduler, SchedulerMemory
from reconverge.model.quiet import steps

if TYPE_CHECKING:
    from tests.model.scheduler.conftest import Build


def stalled(cluster: Cluster) -> Cluster:
    """The cluster when the scheduler's watch of pods has stopped."""
    state = cluster.loops["scheduler"].with_(stalled={"Pod": cluster.store.table("Pod")})
    return cluster.with_(loops={**cluster.loops, "scheduler": state})


def memory(cluster: Cluster) -> SchedulerMemory:
    found = cluster.loops["scheduler"].memory
    assert isinstance(found, SchedulerMemory)
    return found


def marks(cluster: Cluster) -> list[tuple[str, str, object]]:
    return list(Scheduler().marks(memory(cluster), Reading(cluster.store, cluster.now, cluster.rules)))


def test_pods_that_it_has_bound_count_although_the_watch_does_not_show_them(build: type[Build]) -> None:
    pods = [build.pod(f"p{i}", 3000) for i in range(3)]
    cluster = build.rest(stalled(build.started(build.nodes(2), pods)))
    placed = [build.place(cluster, pod.name) for pod in pods]
    assert placed == ["n1", "n2", None]
    assert sorted(memory(cluster).assumed) == ["default/p0", "default/p1"]


def test_assumed_pods_count_for_affinity_spread_and_ports(build: type[Build]) -> None:
    shy = [build.pod(f"s{i}", labels={"app": "s"}, affinity=build.anti(app="s")) for i in range(3)]
    web = [build.pod(f"w{i}", labels={"app": "w"}, spread=(build.spread("w"),)) for i in range(2)]
    port = [build.pod(f"h{i}", ports=(("", "TCP", 80),)) for i in range(3)]
    cluster = build.rest(stalled(build.started(build.nodes(2), shy, web, port)))
    for pods, waiting in ((shy, 1), (web, 0), (port, 1)):
        places = [build.place(cluster, pod.name) for pod in pods]
        assert places.count(None) == waiting
        assert {"n1", "n2"} <= set(places)


def test_an_assumed_pod_is_forgotten_when_the_watch_shows_it_bound(build: type[Build]) -> None:
    cluster = build.settled(build.nodes(1), build.pod("one"))
    assert not memory(cluster).assumed
    assert marks(cluster) == []


def test_an_assumed_pod_is_not_bound_twice(build: type[Build]) -> None:
    cluster = build.rest(stalled(build.started(build.nodes(2), build.pod("one"))))
    again = build.plane.rewake(cluster, "scheduler", ["default/one"])
    assert [moved.move for moved in steps(build.plane, again)] == [Read("scheduler", "default/one")]


def test_a_binding_that_the_api_refuses_is_forgotten_and_not_tried_again(build: type[Build]) -> None:
    cluster = stalled(build.started(build.nodes(1), build.pod("one", 3000), build.pod("two", 3000, created_at=1)))
    store, _ = cluster.store.remove("Pod", "default/one")
    cluster = build.rest(cluster.with_(store=store))
    assert not memory(cluster).assumed.get("default/one")
    assert build.place(cluster, "two") == "n1", "what was assumed for the first is free again"
    assert ("Pod", "default/one", ("refused",)) in marks(cluster)
    again = build.plane.rewake(cluster, "scheduler", ["default/one"])
    assert [moved.move for moved in steps(build.plane, again)] == [Read("scheduler", "default/one")]
    caught_up = build.rest(build.plane.catch_up(again, "scheduler", "Pod"))
    assert marks(caught_up) == []


def test_a_pod_that_is_deleted_between_choice_and_binding_leaves_nothing_behind(build: type[Build]) -> None:
    cluster = build.started(build.nodes(1), build.pod("one"))
    move = Read("scheduler", "default/one")
    cluster = build.plane.begin(cluster, move, build.plane.plans(cluster, move)[0])
    cluster = build.without(cluster, "Pod", "default/one")
    written = build.plane.write(cluster, Write("scheduler"))
    assert isinstance(written.error, NotFound)
    cluster = build.rest(written.cluster)
    assert marks(cluster) == []
    assert not memory(cluster).refused


def test_a_pod_of_the_same_name_is_another_pod(build: type[Build]) -> None:
    cluster = build.started(build.nodes(1), build.pod("one"))
    move = Read("scheduler", "default/one")
    cluster = build.plane.begin(cluster, move, build.plane.plans(cluster, move)[0])
    cluster = build.told(build.without(cluster, "Pod", "default/one"), build.pod("one"))
    written = build.plane.write(cluster, Write("scheduler"))
    assert isinstance(written.error, Conflict)
    assert build.place(build.rest(written.cluster), "one") == "n1"


def test_a_victim_that_is_gone_already_does_not_stop_the_preemption(build: type[Build]) -> None:
    low = [build.pod(f"low{i}", 2000, "n1") for i in range(2)]
    cluster = stalled(build.started(build.nodes(1), low, build.pod("vip", 4000, priority=10)))
    store, _ = cluster.store.remove("Pod", "default/low0")
    cluster = build.rest(cluster.with_(store=store))
    cluster = build.rest(build.plane.rewake(cluster, "scheduler", ["default/vip"]))
    left = cluster.store.pod("default/low1")
    assert left is not None
    assert left.terminating


def test_other_errors_make_the_pod_wait(build: type[Build]) -> None:
    cluster = build.started(build.nodes(1), build.pod("one"))
    (plan,) = build.plans(cluster, "one")
    scheduler = Scheduler()
    after = scheduler.failed(plan.memory, plan.actions[0], InternalError("no quorum"))
    assert not after.assumed
    reading = Reading(cluster.store, 5, cluster.rules)
    (waiting,) = scheduler.sync(reading, after, "default/one")
    assert (waiting.requeue_at, waiting.actions) == (6, ())
    (early,) = scheduler.sync(reading, waiting.memory, "default/one")
    assert early.requeue_at == 6
    (late,) = scheduler.sync(Reading(cluster.store, 6, cluster.rules), waiting.memory, "default/one")
    assert late.choice == "n1"


def test_marks_name_neither_pods_nor_nodes_in_their_values(build: type[Build]) -> None:
    low, vip = build.pod("low", 3000, "n1"), build.pod("vip", 3000, priority=10)
    cluster = build.settled(build.node("n1"), low, vip, build.pod("one", 5000))
    found = marks(cluster)
    assert found == [
        ("Node", "n1", ("nominated",)),
        ("Pod", "default/one", (("rejected", ("NodeResourcesFit",), None),)),
        ("Pod", "default/vip", (("rejected", ("NodeResourcesFit",), None), "nominated")),
    ]
    assert not any("n1" in repr(value) or "vip" in repr(value) for _, _, value in found)


def test_marks_tell_since_when_a_woken_pod_is_queued(build: type[Build]) -> None:
    cluster = build.settled(build.nodes(1), build.pod("one", 5000))
    cluster = build.told(build.plane.wait(cluster, 7), build.node("x"))
    assert marks(cluster) == [("Pod", "default/one", (("rejected", ("NodeResourcesFit",), At(7)),))]
    cluster = build.told(build.plane.wait(cluster, 9), build.node("y"))
    assert marks(cluster) == [("Pod", "default/one", (("rejected", ("NodeResourcesFit",), At(7)),))]


def test_a_restart_forgets_and_looks_at_everything_again(build: type[Build]) -> None:
    cluster = build.settled(build.nodes(1), build.pod("one", 5000))
    restarted = build.plane.start(cluster)
    assert marks(restarted) == []
    assert list(restarted.loops["scheduler"].queue) == ["default/one"]
    assert marks(build.rest(restarted)) == marks(cluster)
