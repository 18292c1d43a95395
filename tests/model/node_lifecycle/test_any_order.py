"""The loops around nodes under any schedule: in any order, with any of their alternatives, while others write."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reconverge.model.control_plane import Read
from reconverge.model.loops.cloud_node import CloudNodeController
from reconverge.model.loops.garbage_collector import GarbageCollector
from reconverge.model.loops.node_lifecycle import NodeLifecycleController, implied_no_schedule
from reconverge.model.loops.pod_gc import PodGarbageCollector
from reconverge.model.loops.taint_eviction import TaintEvictionController
from reconverge.model.objects.node import NO_EXECUTE, NO_SCHEDULE

NODES = ("n1", "n2", "n3", "n4")
STEP = st.one_of(
    st.tuples(st.sampled_from(["silent", "back", "False", "True", "gone", "new", "restart"]), st.sampled_from(NODES)),
    st.tuples(st.just("move"), st.tuples(st.integers(0, 5), st.integers(0, 3))),
    st.tuples(st.just("wait"), st.sampled_from([1, 5, 10, 50, 300])),
)


def others_write(w: Any, what: str, name: str, node: Any) -> None:
    """What happens to a node; nothing if it is not there, or there already."""
    there = w.cluster.store.node(name) is not None
    match what:
        case "restart":
            w.restart()
        case "new" if not there:
            w.put(node(name, "ab"[name > "n2"]))
        case "gone" if there:
            w.remove("Node", name)
        case "silent" if there:
            w.silence(name)
        case "back" if there:
            w.revive(name)
        case "True" | "False" if there:
            w.edit("Node", name, ready=what)


def move(w: Any, which: int, plan: int) -> None:
    """Some step that could be next, out of turn, with some alternative."""
    moves = w.plane.ready(w.cluster)
    if not moves:
        return
    chosen = moves[which % len(moves)]
    if isinstance(chosen, Read):
        plans = w.plane.plans(w.cluster, chosen)
        w.cluster = w.plane.begin(w.cluster, chosen, plans[plan % len(plans)])
    else:
        w.cluster = w.plane.write(w.cluster, chosen).cluster


@settings(max_examples=80, deadline=None)
@given(steps=st.lists(STEP, max_size=60))
def test_it_comes_to_rest_with_the_taints_that_are_due(world: Any, node: Any, pod: Any, steps: Any) -> None:
    loops = [
        NodeLifecycleController(),
        TaintEvictionController(),
        PodGarbageCollector(),
        GarbageCollector(),
        CloudNodeController(),
    ]
    nodes = [node(name, "ab"[name > "n2"]) for name in NODES]
    w = world(loops, *nodes, *(pod(f"{name}-{place}", name) for name in NODES for place in (1, 2)))
    for what, argument in steps:
        if what == "wait":
            w.until(w.cluster.now + argument)
        elif what == "move":
            move(w, *argument)
        else:
            others_write(w, what, argument, node)
    w.settle()
    store = w.cluster.store
    zones = w.cluster.loops["node-lifecycle"].memory.zones
    for each in store.nodes():
        assert {t.key for t in each.taints if t.effect == NO_SCHEDULE} == {t.key for t in implied_no_schedule(each)}
        effects = [t for t in each.taints if t.effect == NO_EXECUTE]
        assert len(effects) <= 1
        assert not (each.ready == "True" and effects)
        zone = zones[f":{each.zone}"]
        assert effects or each.ready == "True" or zone.rate == 0, "nobody waits for a token at rest"
        lease = store.lease(each.name)
        assert lease.renewed_at is None or each.ready == "Unknown"
    for each in store.all("Pod"):
        assert store.node(each.node) is not None, "pods of vanished nodes are gone"
