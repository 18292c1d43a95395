"""How a DaemonSet's template rolls out. Recordings 41, 43; dead nodes and series of bad updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.events.machines import NodeCrashes
from reconverge.model.events.nodes import NodeDeleted
from reconverge.model.events.pods import PodDeleted
from reconverge.model.events.workloads import RollBack, RollOut
from reconverge.model.loop import Reading
from reconverge.model.loops.daemonset.work import Work
from reconverge.model.rules import KubeletTimings, Rules

Make = Callable[..., Any]
Places = Callable[[Any], dict[str, str]]


@pytest.mark.parametrize(
    ("desired", "written", "count"),
    [pytest.param(3, "25%", 1, id="R5"), pytest.param(10, "25%", 3, id="R6"), (3, 2, 2), (3, "0%", 1)],
)
def test_percentages_of_unavailable_are_rounded_up(
    lab: Make, agent: Make, nodes: Make, desired: int, written: Any, count: int
) -> None:
    """Where surge and unavailable both come to nothing, one may be unavailable."""
    w = lab(*nodes(desired), agent(max_unavailable=written))
    reading = Reading(w.cluster.store, 0, Rules())
    work = Work(reading, w.get("DaemonSet", "agent"), [], "t1")
    assert work.max_unavailable == count
    surging = Work(reading, agent(max_surge=written, max_unavailable=0), [], "t1")
    assert surging.max_surge == (count if written != "0%" else 0)


def test_one_node_after_the_other(lab: Make, agent: Make, nodes: Make) -> None:
    """The old pod goes; the new one comes when the old is terminal, before it is gone; the next when it is ready."""
    w = lab(*nodes(4), agent(), rules=Rules(kubelet=KubeletTimings(start=0.5, stop=1)))
    w.settle()
    begun = len(w.written)
    w.after(RollOut("daemonset/agent"))
    said = [
        (at - 0.5, what.split("pod/")[0])
        for at, by, what, _ in w.written[begun:]
        if by == "daemonset" and "pod/" in what
    ]
    assert said == [
        (start + step, what) for start in (0, 1.5, 3, 4.5) for step, what in ((0, "deletes "), (1, "creates "))
    ]
    assert w.get("DaemonSet", "agent").status.updated == 4


def test_the_successor_does_not_wait_until_the_old_object_is_gone(lab: Make, agent: Make, nodes: Make) -> None:
    w = lab(*nodes(1), agent())
    w.settle()
    w.strike(RollOut("daemonset/agent"))
    while not w.pod("agent-a").terminating:
        w.step()
    w.put(w.pod("agent-a").with_(phase="Succeeded", ready=False, finalizers=("example.com/keep",)))
    w.settle()
    assert w.pods() == ["agent-a!", "agent-b+"]


def test_with_surge_the_new_pod_comes_first(lab: Make, agent: Make, nodes: Make) -> None:
    w = lab(*nodes(), agent(max_surge=1, max_unavailable=0))
    w.settle()
    begun = len(w.written)
    w.after(RollOut("daemonset/agent"))
    said = [
        what.partition("pod/")[0].strip()
        for _, by, what, _ in w.written[begun:]
        if by == "daemonset" and "pod/" in what
    ]
    assert said == ["creates", "deletes"] * 3
    assert w.pods() == ["agent-d+", "agent-e+", "agent-f+"]


def test_with_surge_a_bad_template_leaves_the_old_pods(lab: Make, agent: Make, nodes: Make, places: Places) -> None:
    w = lab(*nodes(), agent(max_surge=1, max_unavailable=0))
    w.settle()
    w.after(RollOut("daemonset/agent", "never-ready"))
    assert sorted("".join(sorted(each)) for each in places(w).values()) == ["+", "+", "+."]
    w.after(RollBack("daemonset/agent"))
    assert sorted(places(w).values()) == ["+", "+", "+"]


def test_a_bad_template_costs_one_pod_and_the_rollback_brings_it_back(
    lab: Make, agent: Make, nodes: Make, places: Places
) -> None:
    w = lab(*nodes(), agent())
    w.settle()
    w.after(RollOut("daemonset/agent", "never-ready"))
    assert sorted(places(w).values()) == ["+", "+", "."]
    w.after(RollBack("daemonset/agent"))
    assert sorted(places(w).values()) == ["+", "+", "+"]
    assert w.get("DaemonSet", "agent").status.updated == 3


@pytest.mark.parametrize(("counted", "ready"), [(True, 2), (False, 0)])
def test_a_series_of_bad_updates(lab: Make, agent: Make, nodes: Make, counted: bool, ready: int) -> None:
    """Where old pods that are not available are not counted, each update takes an available one more."""
    w = lab(*nodes(), agent(), rules=Rules(daemonset_counts_old_unavailable=counted))
    w.settle()
    for _ in range(3):
        w.after(RollOut("daemonset/agent", "never-ready"))
    assert sum(each.ready for each in w.cluster.store.all("Pod")) == ready


def test_dead_nodes_use_up_what_may_be_unavailable(lab: Make, agent: Make, nodes: Make) -> None:
    w = lab(*nodes(4), agent())
    w.settle()
    w.after(NodeCrashes("n4"), RollOut("daemonset/agent"))
    assert w.get("DaemonSet", "agent").status.updated == 0
    w.after(NodeDeleted("n4"))
    assert w.get("DaemonSet", "agent").status.updated == 3


def test_one_more_than_the_dead_nodes_lets_the_rollout_pass(lab: Make, agent: Make, nodes: Make) -> None:
    w = lab(*nodes(4), agent(max_unavailable=2))
    w.settle()
    w.after(NodeCrashes("n4"), RollOut("daemonset/agent"))
    assert w.get("DaemonSet", "agent").status.updated == 3


def test_on_delete_rolls_nothing_by_itself(lab: Make, agent: Make, nodes: Make) -> None:
    w = lab(*nodes(), agent(strategy="OnDelete"))
    w.settle()
    w.after(RollOut("daemonset/agent"))
    assert w.get("DaemonSet", "agent").status.updated == 0
    w.after(PodDeleted("pod/agent-a"))
    assert w.get("DaemonSet", "agent").status.updated == 1


def test_the_next_node_waits_for_min_ready_seconds(lab: Make, agent: Make, nodes: Make) -> None:
    w = lab(*nodes(), agent(min_ready=10))
    w.settle()
    w.after(RollOut("daemonset/agent"))
    assert [at for at, by, what, _ in w.written if by == "daemonset" and "deletes" in what] == [10, 20, 30]


def test_which_node_is_first_is_a_choice_only_where_nodes_differ(lab: Make, agent: Make, nodes: Make) -> None:
    one, *others = nodes(3)
    alike = lab(one, *others, agent())
    alike.settle()
    alike.strike(RollOut("daemonset/agent"))
    with pytest.raises(AssertionError, match="never had a choice"):
        alike.choices("daemonset")
    different = lab(one.with_(labels=(("disk", "ssd"),)), *others, agent())
    different.settle()
    different.strike(RollOut("daemonset/agent"))
    assert [plan.choice for plan in different.choices("daemonset")] == ["n1", "n2"]


def test_old_revisions_go_beyond_the_limit(lab: Make, agent: Make, nodes: Make) -> None:
    w = lab(*nodes(1), agent(history_limit=1))
    w.settle()
    for _ in range(4):
        w.after(RollOut("daemonset/agent"))
    assert len(w.cluster.store.all("ControllerRevision")) == 2


def test_a_dump_without_revisions_is_not_rolled(lab: Make, agent: Make, nodes: Make) -> None:
    w = lab(*nodes(), agent())
    w.settle()
    pods = [
        each.with_(labels=(("app", "app"), ("controller-revision-hash", "68b5"))) for each in w.cluster.store.all("Pod")
    ]
    again = lab(*nodes(), w.get("DaemonSet", "agent"), *pods)
    again.settle()
    assert [each.uid for each in again.cluster.store.all("Pod")] == [each.uid for each in pods]
    (revision,) = again.cluster.store.all("ControllerRevision")
    assert revision.name == "agent-68b5"
