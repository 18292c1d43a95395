"""Whatever happens to a DaemonSet: at rest every node that is fit has one pod, and no other has one that may go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reconverge.model.canonical import fingerprint, node_classes
from reconverge.model.daemon_pods import target_node
from reconverge.model.events.base import Event
from reconverge.model.events.loops import LoopRestarts
from reconverge.model.events.machines import NodeReboots
from reconverge.model.events.nodes import Cordon, TaintAdded, TaintRemoved, Uncordon
from reconverge.model.events.pods import PodDeleted, PodForceDeleted
from reconverge.model.events.workloads import RollBack, RollOut
from reconverge.model.loops.daemonset.nodes import fits

Make = Callable[..., Any]
NODES = st.sampled_from(["n1", "n2", "n3", "n4"])
PODS = st.integers(0, 4).map(lambda number: f"daemonset/agent#{number}")
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(RollOut, st.just("daemonset/agent")),
    st.builds(RollBack, st.just("daemonset/agent")),
    st.builds(PodDeleted, PODS),
    st.builds(PodForceDeleted, PODS),
    st.builds(Cordon, NODES),
    st.builds(Uncordon, NODES),
    st.builds(NodeReboots, NODES),
    st.builds(TaintAdded, NODES, st.just("a"), effect=st.sampled_from(["NoSchedule", "NoExecute"])),
    st.builds(TaintRemoved, NODES, st.just("a")),
    st.just(LoopRestarts("daemonset")),
)


@settings(max_examples=50, deadline=None)
@given(
    course=st.lists(st.tuples(EVENTS, st.integers(0, 30)), max_size=6),
    strategy=st.sampled_from([(0, 1), (0, "50%"), (1, 0), ("50%", 0)]),
)
def test_one_pod_on_every_fit_node_at_rest(
    lab: Make, agent: Make, nodes: Make, course: list[tuple[Event, int]], strategy: tuple[Any, Any]
) -> None:
    w = lab(*nodes(4), agent(max_surge=strategy[0], max_unavailable=strategy[1]))
    for event, steps in course:
        if event.enabled(w.cluster):
            w.strike(event)
        w.run(steps)
    w.settle()
    made = w.get("DaemonSet", "agent")
    hashes = set()
    for node in w.cluster.store.nodes():
        run, go_on = fits(made, node)
        pods = [each for each in w.cluster.store.all("Pod") if target_node(each) == node.name]
        # A pod that has been made just before a NoSchedule taint stays and waits; with a surge, beside the old one.
        most = (1 + bool(strategy[0])) * go_on
        assert len(pods) == 1 if run else len(pods) <= most
        assert all(each.ready for each in pods if run)
        hashes |= {dict(each.labels)["controller-revision-hash"] for each in pods if run}
    # A pod that waits where none may come any more is unavailable, and may hold the rollout up everywhere else.
    waits = any(not each.ready for each in w.cluster.store.all("Pod"))
    assert waits or len(hashes) <= 1


def test_nodes_with_daemon_pods_are_interchangeable(lab: Make, agent: Make, nodes: Make) -> None:
    """That every pod names its own node does not tell nodes apart."""
    w = lab(*nodes(), agent())
    w.settle()
    assert len(set(node_classes(w.plane, w.cluster).values())) == 1
    prints = set()
    for name in ("n1", "n2", "n3"):
        other = lab(*nodes(), agent())
        other.settle()
        other.after(TaintAdded(name, "a", effect="NoExecute"))
        prints.add(fingerprint(other.plane, other.cluster))
    assert len(prints) == 1


def test_a_pod_that_waits_for_its_node_belongs_to_it(lab: Make, agent: Make, nodes: Make) -> None:
    prints = set()
    for full in ("n1", "n2"):
        w = lab(*(each.with_(unschedulable=each.name == full) for each in nodes(2)), agent(pod={"cpu": 5000}))
        w.settle()
        assert all(each.node is None for each in w.cluster.store.all("Pod"))
        prints.add(fingerprint(w.plane, w.cluster))
    assert len(prints) == 1
