"""The control plane: turns, refusals, interruptions, old views, restarts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from reconverge.model import events as e
from reconverge.model.action import Patch
from reconverge.model.canonical import fingerprint
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane, Read, Wait, Write
from reconverge.model.loop import ControlLoop, Plan, Reading
from reconverge.model.objects import Service
from reconverge.model.quiet import steps
from reconverge.model.store import EMPTY_STORE, Change


class Toy(ControlLoop[tuple[str, ...]]):
    """Wakes for every Service that changes, and remembers the changes; `again` times it writes a label."""

    watches = frozenset({"Service"})

    def __init__(self, name: str, writes: bool = False) -> None:
        self.__dict__["name"] = name
        self.writes = writes

    def start(self) -> tuple[str, ...]:
        return ()

    def relist(self, reading: Reading) -> Iterable[str]:
        return sorted(reading.store.table("Service").objects)

    def observe(
        self, memory: tuple[str, ...], change: Change, reading: Reading
    ) -> tuple[tuple[str, ...], Iterable[str]]:
        before, after = (None if each is None else each.labels for each in (change.before, change.after))
        return (*memory, f"{change.key} {before}>{after}"), (change.key,)

    def sync(self, reading: Reading, memory: tuple[str, ...], key: str) -> Sequence[Plan[tuple[str, ...]]]:
        service = reading.store.service(key)
        if service is None or not self.writes:
            return (Plan(memory),)
        label = (("turn", str(int(dict(service.labels).get("turn", "0")) + 1)),)
        return (Plan(memory, (Patch("Service", key, service.uid, (("labels", label),)),)),)


def world(*loops: ControlLoop[Any], services: str = "ab") -> tuple[ControlPlane, Cluster]:
    store = EMPTY_STORE
    for name in services:
        store, _ = store.put(Service(name=name))
    plane = ControlPlane(loops)
    return plane, plane.start(Cluster(store=store))


def put(plane: ControlPlane, cluster: Cluster, name: str, **fields: Any) -> Cluster:
    old = cluster.store.service(f"default/{name}")
    store, change = cluster.store.put((old if old is not None else Service(name=name)).with_(**fields))
    return plane.notify(cluster.with_(store=store), (change,))


def labelled(plane: ControlPlane, cluster: Cluster, name: str, value: str) -> Cluster:
    return put(plane, cluster, name, labels=(("v", value),))


def reads(plane: ControlPlane, cluster: Cluster, count: int) -> list[str]:
    seen = []
    for moved in steps(plane, cluster):
        if isinstance(moved.move, Read):
            seen.append(f"{moved.move.loop}:{moved.move.key.removeprefix('default/')}")
        if len(seen) == count:
            break
    return seen


def test_loops_take_turns_and_serve_what_was_awake_when_their_turn_began() -> None:
    plane, cluster = world(Toy("one"), Toy("two"))
    cluster = cluster.with_(turn=1)
    assert reads(plane, cluster, 9) == ["one:a", "one:b", "two:a", "two:b"]


def test_a_loop_that_never_rests_starves_no_other() -> None:
    plane, cluster = world(Toy("busy", writes=True), Toy("idle"), Toy("other"), services="a")
    cluster = cluster.with_(turn=2)
    assert reads(plane, cluster, 9) == ["busy:a", "idle:a", "other:a"] * 3


def test_two_loops_that_wake_each_other_take_turns() -> None:
    plane, cluster = world(Toy("one", writes=True), Toy("two", writes=True), services="a")
    cluster = cluster.with_(turn=1)
    assert reads(plane, cluster, 6) == ["one:a", "two:a"] * 3


def test_a_key_that_wakes_during_its_turn_waits_for_the_next() -> None:
    plane, cluster = world(Toy("one", writes=True), Toy("two"), services="ab")
    cluster = cluster.with_(turn=1)
    assert reads(plane, cluster, 6) == ["one:a", "one:b", "two:a", "two:b", "one:a", "one:b"]


def test_no_two_loops_have_one_name() -> None:
    with pytest.raises(ValueError, match="one name"):
        ControlPlane([Toy("one"), Toy("one")])
    with pytest.raises(KeyError):
        ControlPlane([Toy("one")]).replacing(Toy("two"))


# Writes ----------------------------------------------------------------------------------------------------------


def test_a_refused_write_ends_the_pass_and_wakes_its_key() -> None:
    plane, cluster = world(Toy("one", writes=True), services="a")
    move = plane.next(cluster)
    assert isinstance(move, Read)
    cluster = plane.begin(cluster, move, plane.plans(cluster, move)[0])
    store, _ = cluster.store.remove("Service", "default/a")
    cluster = cluster.with_(store=store)
    written = plane.write(cluster, Write("one"))
    assert written.error is not None
    assert written.changes == ()
    assert written.cluster.store is cluster.store
    state = written.cluster.loops["one"]
    assert (state.in_flight, list(state.queue)) == (None, ["default/a"])


@pytest.mark.parametrize("others", [0, 1, 2])
def test_a_pass_remembers_to_its_end_that_somebody_else_has_written(others: int) -> None:
    plane, cluster = world(Toy("one"), services="ab")
    move = plane.next(cluster)
    assert isinstance(move, Read)
    writes = tuple(Patch("Service", "default/a", 1, (("labels", (("v", value),)),)) for value in "xyz")
    cluster = plane.begin(cluster, move, Plan((), writes))
    seen = []
    for number in range(3):
        if number == others:
            cluster = put(plane, cluster, "b", labels=(("v", "other"),))
        flight = cluster.loops["one"].in_flight
        assert flight is not None
        seen.append(flight.revision == cluster.store.revision)
        cluster = plane.write(cluster, Write("one")).cluster
    assert seen == [number < others for number in range(3)]


def test_there_is_nothing_to_write_outside_of_a_pass() -> None:
    plane, cluster = world(Toy("one"))
    with pytest.raises(ValueError, match="no pass"):
        plane.write(cluster, Write("one"))


def test_a_write_is_told_to_all_that_watch() -> None:
    plane, cluster = world(Toy("one", writes=True), Toy("two"), services="a")
    cluster = cluster.with_(turn=1)
    for moved in steps(plane, cluster):
        cluster = moved.cluster
        if moved.written is not None:
            break
    assert [cluster.loops[name].memory for name in ("one", "two")] == [("default/a ()>(('turn', '1'),)",)] * 2


# Interruptions ---------------------------------------------------------------------------------------------------


def test_an_event_finds_a_new_round_and_a_pass_in_flight() -> None:
    plane, cluster = world(Toy("one", writes=True), Toy("two"), services="abc")
    cluster = cluster.with_(turn=1)
    move = plane.next(cluster)
    assert isinstance(move, Read)
    cluster = plane.begin(cluster, move, plane.plans(cluster, move)[0])
    assert cluster.loops["one"].serving == ("default/b", "default/c")
    struck, _ = plane.strike(cluster.with_(turn=0), e.LoopPauses("two"))
    state = struck.loops["one"]
    assert (state.serving, list(state.queue), struck.turn) == ((), ["default/b", "default/c"], 0)
    assert state.in_flight is not None


def test_an_event_that_is_told_wakes_those_that_watch(lab: Any) -> None:
    made = lab.of(lab.node("n1"), lab.deployment(1))
    made.settle()
    made.strikes(e.Scale("deployment/web", 2))
    assert list(made.cluster.loops["deployment"].queue) == ["default/web"]


# Old views -------------------------------------------------------------------------------------------------------


def test_a_stalled_watch_tells_nothing_and_then_all_that_is_new() -> None:
    plane, cluster = world(Toy("one"), Toy("two"), services="abc")
    for moved in steps(plane, cluster):
        cluster = moved.cluster
    cluster, _ = plane.strike(cluster, e.WatchStalls("one", "Service"))
    cluster = labelled(plane, cluster, "a", "1")
    cluster = labelled(plane, cluster, "a", "2")
    store, gone = cluster.store.remove("Service", "default/b")
    cluster = plane.notify(cluster.with_(store=store), (gone,))
    cluster = labelled(plane, cluster, "d", "new")
    store, change = cluster.store.put(Service(name="e"))
    cluster = plane.notify(cluster.with_(store=store), (change,))
    store, change = cluster.store.remove("Service", "default/e")
    cluster = plane.notify(cluster.with_(store=store), (change,))
    assert cluster.loops["one"].memory == ()
    assert len(cluster.loops["two"].memory) == 6
    loop = plane.by_name["one"]
    assert sorted(plane.reading(loop, cluster).store.table("Service").objects) == [
        "default/a",
        "default/b",
        "default/c",
    ]
    cluster, _ = plane.strike(cluster, e.WatchCatchesUp("one", "Service"))
    assert cluster.loops["one"].memory == (
        "default/a ()>(('v', '2'),)",
        "default/b ()>None",
        "default/d None>(('v', 'new'),)",
    )
    assert list(cluster.loops["one"].queue) == ["default/a", "default/b", "default/d"]
    assert cluster.loops["one"].stalled == {}


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(["replicaset", "deployment", "scheduler", "disruption", "endpoints"]),
    st.sampled_from(["Pod", "ReplicaSet", "Node"]),
    st.lists(
        st.sampled_from(["delete", "force", "unready", "scale", "rollout", "cordon", "crash"]), min_size=1, max_size=2
    ),
)
def test_after_catching_up_all_is_as_if_nothing_had_stalled(lab: Any, loop: str, kind: str, what: list[str]) -> None:
    events: dict[str, e.Event] = {
        "delete": e.PodDeleted("deployment/web#0"), "force": e.PodForceDeleted("deployment/web#1"),
        "unready": e.PodUnready("deployment/web#0"), "scale": e.Scale("deployment/web", 4),
        "rollout": e.RollOut("deployment/web"), "cordon": e.Cordon("n1"),
        "crash": e.ContainerCrashes("deployment/web#0"),
    }  # fmt: skip
    prints = []
    for stalls in (False, True):
        made = lab.of(lab.node("n1"), lab.node("n2"), lab.deployment(3))
        made.settle()
        if stalls:
            made.strikes(e.WatchStalls(loop, kind))
        for each in what:
            if events[each].enabled(made.cluster):
                made.strikes(events[each])
        if stalls:
            made.settle()
            made.strikes(e.WatchCatchesUp(loop, kind))
        made.until(3_000)
        made.settle()
        pods = sorted((pod.ready, pod.template_digest) for pod in made.pods() if not pod.terminal)
        sizes = sorted(rs.replicas for rs in made.cluster.store.all("ReplicaSet"))
        prints.append((pods, sizes, made.get("Deployment", "web").status.available))
    assert prints[0] == prints[1]


def test_a_stall_in_which_nothing_happens_leaves_no_trace(lab: Any) -> None:
    made = lab.of(lab.node("n1"), lab.deployment(2))
    made.settle()
    before = fingerprint(made.plane, made.cluster)
    for loop in sorted(made.cluster.loops):
        for kind in sorted(made.plane.by_name[loop].watches & {"Pod", "Node", "Deployment"}):
            made.strikes(e.WatchStalls(loop, kind))
            made.happens(e.WatchCatchesUp(loop, kind))
    assert fingerprint(made.plane, made.cluster) == before


# Pause, restart, time --------------------------------------------------------------------------------------------


def test_a_paused_loop_is_passed_over_with_its_timers(lab: Any) -> None:
    plane, cluster = world(Toy("one"), Toy("two"))
    state = cluster.loops["one"].with_(timers={"default/a": 5})
    cluster = cluster.with_(loops={**cluster.loops, "one": state}, turn=1)
    cluster, _ = plane.strike(cluster, e.LoopPauses("one"))
    assert reads(plane, cluster, 9) == ["two:a", "two:b"]
    assert {move.loop for move in plane.ready(cluster)} == {"two"}
    assert plane.next_deadline(cluster) is None


def test_a_restarted_loop_has_forgotten_everything_and_looks_at_everything() -> None:
    plane, cluster = world(Toy("one"))
    cluster = labelled(plane, cluster, "a", "1")
    cluster, _ = plane.strike(cluster, e.WatchStalls("one", "Service"))
    cluster = put(plane, cluster, "z")
    state = cluster.loops["one"].with_(timers={"default/a": 9}, paused=True)
    cluster = cluster.with_(loops={"one": state})
    cluster, _ = plane.strike(cluster, e.LoopRestarts("one"))
    state = cluster.loops["one"]
    assert (state.memory, state.timers, state.stalled, state.in_flight) == ((), {}, {}, None)
    assert list(state.queue) == ["default/a", "default/b", "default/z"]


def test_a_restart_of_any_loop_at_rest_changes_nothing_in_the_end(lab: Any) -> None:
    made = lab.of(lab.node("n1"), lab.node("n2"), lab.deployment(3))
    made.settle()
    before = made.cluster.store.tables
    for loop in sorted(made.cluster.loops):
        made.happens(e.LoopRestarts(loop))
        assert made.cluster.store.tables == before, loop


def test_time_wakes_exactly_the_keys_that_are_due() -> None:
    plane, cluster = world(Toy("one"))
    state = cluster.loops["one"].with_(queue={}, timers={"default/a": 5, "default/b": 7})
    cluster = cluster.with_(loops={"one": state})
    assert plane.next(cluster) == Wait(5)
    cluster = plane.wait(cluster, 5)
    assert (list(cluster.loops["one"].queue), cluster.loops["one"].timers) == (["default/a"], {"default/b": 7})
    assert plane.wait(cluster, 3).now == 5, "time never goes back"


# next and ready --------------------------------------------------------------------------------------------------


@frozen
class Chosen:
    """A step that is taken out of turn."""

    which: int
    plan: int


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.builds(Chosen, st.integers(0, 5), st.integers(0, 3)), max_size=40),
    st.sampled_from(["scale", "rollout", "crash", "drain"]),
)
def test_the_next_step_is_the_first_of_those_that_are_ready(lab: Any, chosen: list[Chosen], what: str) -> None:
    made = lab.of(lab.node("n1"), lab.node("n2"), lab.deployment(3))
    made.settle()
    event: dict[str, e.Event] = {
        "scale": e.Scale("deployment/web", 1), "rollout": e.RollOut("deployment/web"), "crash": e.NodeCrashes("n1"),
        "drain": e.Drain("n1"),
    }  # fmt: skip
    made.strikes(event[what])
    plane, cluster = made.plane, made.cluster
    for each in chosen:
        ready, move = plane.ready(cluster), plane.next(cluster)
        assert len(set(ready)) == len(ready)
        if not ready:
            assert move is None or isinstance(move, Wait)
            if move is None:
                return
            cluster = plane.wait(cluster, move.until)
            continue
        assert move == ready[0]
        taken = ready[each.which % len(ready)]
        if isinstance(taken, Write):
            cluster = plane.write(cluster, taken).cluster
        else:
            plans = plane.plans(cluster, taken)
            cluster = plane.begin(cluster, taken, plans[each.plan % len(plans)])
