"""Whatever happens to a Job: what is counted stays counted, and it comes to rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reconverge.model.canonical import fingerprint
from reconverge.model.events.base import Event
from reconverge.model.events.containers import ContainerCrashes
from reconverge.model.events.loops import LoopRestarts
from reconverge.model.events.machines import NodeCrashes, NodeReboots, NodeRecovers
from reconverge.model.events.nodes import NodeDeleted
from reconverge.model.events.pods import PodDeleted, PodForceDeleted
from reconverge.model.loops.job.indexes import index_of

Make = Callable[..., Any]
NODES = st.sampled_from(["n1", "n2", "n3"])
PODS = st.integers(0, 2).map(lambda number: f"job/work#{number}")
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(PodDeleted, PODS),
    st.builds(PodForceDeleted, PODS),
    st.builds(ContainerCrashes, PODS),
    st.builds(NodeCrashes, NODES),
    st.builds(NodeRecovers, NODES),
    st.builds(NodeReboots, NODES),
    st.builds(NodeDeleted, NODES),
    st.just(LoopRestarts("job")),
)


@settings(max_examples=50, deadline=None)
@given(
    course=st.lists(st.tuples(EVENTS, st.integers(0, 40)), max_size=6),
    size=st.tuples(st.integers(1, 4), st.integers(1, 3)),
    behaviour=st.sampled_from(["exit-0", "exit-1"]),
    policy=st.sampled_from(["Never", "OnFailure"]),
    replacement=st.sampled_from(["TerminatingOrFailed", "Failed"]),
    indexed=st.booleans(),
)
def test_counters_never_go_back(
    lab: Make,
    work: Make,
    nodes: Make,
    course: list[tuple[Event, int]],
    size: tuple[int, int],
    behaviour: str,
    policy: str,
    replacement: str,
    indexed: bool,
) -> None:
    completions, parallelism = size
    w = lab(
        *nodes(),
        work(behaviour, 5, policy, completions=completions, parallelism=parallelism, replacement=replacement,
             backoff_limit=3, indexed=indexed),
    )  # fmt: skip
    before = (0, 0)

    def look() -> None:
        nonlocal before
        status = w.get("Job", "work").status
        now = (status.succeeded, status.failed)
        assert now[0] >= before[0]
        assert now[1] >= before[1]
        assert status.succeeded + len(status.uncounted_succeeded) <= completions
        active = [each for each in w.cluster.store.all("Pod") if each.active]
        assert len(active) <= parallelism
        if indexed:
            assert len(status.completed_indexes) == status.succeeded
            assert len({index_of(each) for each in active}) == len(active)
        before = now

    for event, steps in course:
        if event.enabled(w.cluster):
            w.strike(event)
        for _ in range(steps):
            w.run(1)
            look()
    for _ in range(20_000):
        if w.plane.next(w.cluster) is None:
            break
        w.run(1)
        look()
    else:
        raise AssertionError("not at rest")
    status = w.get("Job", "work").status
    assert not status.uncounted_succeeded
    assert not status.uncounted_failed
    if status.condition("Complete"):
        assert status.succeeded == completions


def test_two_jobs_that_went_the_same_way_are_one_state(lab: Make, work: Make, nodes: Make) -> None:
    prints = set()
    for name in ("n1", "n2", "n3"):
        w = lab(*nodes(), work(seconds=20, completions=2))
        w.until(1)
        w.put(w.get("Node", name).with_(unschedulable=True))
        w.settle()
        w.put(w.get("Node", name).with_(unschedulable=False))
        w.settle()
        prints.add((w.cluster.now, fingerprint(w.plane, w.cluster)))
    assert 1 <= len(prints) <= 2
