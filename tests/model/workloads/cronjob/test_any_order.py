"""Whatever happens to a CronJob: its policy holds, and the cluster comes to rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reconverge.model.events.base import Event
from reconverge.model.events.loops import LoopRestarts
from reconverge.model.events.machines import NodeCrashes, NodeRecovers
from reconverge.model.events.nodes import Cordon, Uncordon
from reconverge.model.events.objects import ObjectDeleted
from reconverge.model.events.pods import PodDeleted, PodForceDeleted

Make = Callable[..., Any]
NODES = st.sampled_from(["n1", "n2"])
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(NodeCrashes, NODES),
    st.builds(NodeRecovers, NODES),
    st.builds(Cordon, NODES),
    st.builds(Uncordon, NODES),
    st.builds(PodDeleted, st.just("cronjob/tick#0")),
    st.builds(PodForceDeleted, st.just("cronjob/tick#0")),
    st.just(LoopRestarts("cronjob")),
    st.just(ObjectDeleted("cronjob/tick")),
)


@settings(max_examples=40, deadline=None)
@given(
    course=st.lists(st.tuples(EVENTS, st.integers(0, 60)), max_size=5),
    schedule=st.sampled_from(["* * * * *", "*/7 * * * *", "0 3 * * 1-5", "@every 90s"]),
    behaviour=st.sampled_from(["exit-0", "exit-1", "ready"]),
    seconds=st.sampled_from([1, 50, 100, 400]),
    policy=st.sampled_from(["Allow", "Forbid", "Replace"]),
    limits=st.tuples(st.integers(0, 3), st.integers(0, 2)),
)
def test_it_keeps_its_policy_and_comes_to_rest(
    cron: Make,
    clock: Make,
    course: list[tuple[Event, int]],
    schedule: str,
    behaviour: str,
    seconds: float,
    policy: str,
    limits: tuple[int, int],
) -> None:
    complete, failed = limits
    w = clock(
        cron(schedule, behaviour, seconds, concurrency=policy, successful_history=complete, failed_history=failed,
             job={"backoff_limit": 1})
    )  # fmt: skip
    restarted = False
    for event, steps in course:
        if event.enabled(w.cluster):
            w.strike(event)
            restarted |= isinstance(event, LoopRestarts)
        for _ in range(steps):
            w.run(1)
            if policy != "Allow" and not restarted:
                assert sum(not job.status.finished for job in w.cluster.store.all("Job")) <= 1
    w.settle()
    if w.get("CronJob", "tick") is None:
        assert w.cluster.store.all("Job") == []
        return
    found = [job.status for job in w.cluster.store.all("Job")]
    assert sum(each.condition("Complete") is not None for each in found) <= complete
    assert sum(each.condition("Failed") is not None for each in found) <= failed
