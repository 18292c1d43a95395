"""Whatever happens to a StatefulSet: one object per ordinal, and rest in the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reconverge.model.canonical import fingerprint
from reconverge.model.events.base import Event
from reconverge.model.events.containers import ContainerCrashes
from reconverge.model.events.loops import LoopRestarts
from reconverge.model.events.machines import KubeletRestarts, NodeCrashes, NodeRecovers
from reconverge.model.events.pods import PodDeleted, PodForceDeleted
from reconverge.model.events.workloads import RollBack, RollOut, Scale

Make = Callable[..., Any]
NODES = st.sampled_from(["n1", "n2", "n3"])
PODS = st.integers(0, 3).map(lambda number: f"statefulset/db#{number}")
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(Scale, st.just("statefulset/db"), st.integers(0, 4)),
    st.builds(RollOut, st.just("statefulset/db"), st.sampled_from(["ready", "never-ready"])),
    st.builds(RollBack, st.just("statefulset/db")),
    st.builds(PodDeleted, PODS),
    st.builds(ContainerCrashes, PODS),
    st.builds(NodeCrashes, NODES),
    st.builds(NodeRecovers, NODES),
    st.builds(KubeletRestarts, NODES),
    st.just(LoopRestarts("statefulset")),
)
COURSE = st.lists(st.tuples(EVENTS, st.integers(0, 40)), max_size=6)


@settings(max_examples=40, deadline=None)
@given(course=COURSE, policy=st.sampled_from(["OrderedReady", "Parallel"]), partition=st.integers(0, 2))
def test_one_object_and_one_process_per_ordinal(
    lab: Make, db: Make, nodes: Make, course: list[tuple[Event, int]], policy: str, partition: int
) -> None:
    w = lab(*nodes(), db(policy=policy, partition=partition))
    for event, steps in course:
        if event.enabled(w.cluster):
            w.strike(event)
        for _ in range(steps):
            w.run(1)
            alive = [
                local.key
                for machine in w.cluster.machines.by_name.values()
                if machine.powered
                for local in machine.pods.values()
                if local.alive
            ]
            assert len(alive) == len(set(alive))
    w.settle()
    status = w.get("StatefulSet", "db").status
    assert status.replicas == len(w.pods())
    assert status.observed_generation == w.get("StatefulSet", "db").generation


@settings(max_examples=30, deadline=None)
@given(course=st.lists(EVENTS.filter(lambda event: not isinstance(event, PodForceDeleted)), max_size=4))
def test_with_all_nodes_back_and_a_good_template_all_ordinals_are_ready(
    lab: Make, db: Make, nodes: Make, course: list[Event]
) -> None:
    w = lab(*nodes(), db())
    w.settle()
    for event in course:
        if event.enabled(w.cluster):
            w.after(event)
    for name in ("n1", "n2", "n3"):
        if NodeRecovers(name).enabled(w.cluster):
            w.after(NodeRecovers(name))
    w.after(RollOut("statefulset/db", "ready"))
    for number in range(4):
        # Pods that a bad template has left behind have to be deleted by hand.
        stuck = [each for each in w.cluster.store.all("Pod") if not each.ready]
        if stuck:
            w.after(PodDeleted(f"pod/{stuck[-1].name}"))
        assert number < 4
    wanted = w.get("StatefulSet", "db").replicas
    assert w.pods() == [f"db-{number}+" for number in range(wanted)]
    assert len({dict(each.labels)["controller-revision-hash"] for each in w.cluster.store.all("Pod")}) <= 1


def test_states_that_differ_in_hashes_are_one(lab: Make, db: Make, nodes: Make) -> None:
    one, other = lab(*nodes(), db()), lab(*nodes(), db())
    for w in (one, other):
        w.settle()
    one.after(Scale("statefulset/db", 2), RollOut("statefulset/db"))
    other.after(RollOut("statefulset/db"), Scale("statefulset/db", 2))
    names = [[each.name for each in w.cluster.store.all("ControllerRevision")] for w in (one, other)]
    assert names[0] != names[1]
    assert fingerprint(one.plane, one.cluster) == fingerprint(other.plane, other.cluster)


def test_a_state_between_two_revisions_is_another(lab: Make, db: Make, nodes: Make) -> None:
    one, other = lab(*nodes(), db(partition=2)), lab(*nodes(), db(partition=1))
    prints = []
    for w in (one, other):
        w.settle()
        w.after(RollOut("statefulset/db"))
        w.edit("StatefulSet", "db", partition=0)
        made = w.get("StatefulSet", "db")
        w.put(made.with_(status=made.status.with_(observed_generation=made.generation)))
        prints.append(fingerprint(w.plane, w.cluster))
    assert prints[0] != prints[1]
