"""Whatever happens to the control plane: once it is whole again, everything comes to rest as it should be."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reconverge.model.control_plane_health import PROCESSES, TOOLS, WITHOUT_API
from reconverge.model.errors import ApiError
from reconverge.model.events import (
    ContainerCrashes,
    EtcdMemberBack,
    EtcdMemberLost,
    Event,
    LeaderLost,
    LeaderOverlaps,
    NodeCrashes,
    NodeRecovers,
    RestartsOnOldStore,
    Scale,
    WatchCatchesUp,
)
from reconverge.model.loops.kube_proxy import KubeProxy
from reconverge.model.loops.node_group import NodeGroupLoop
from reconverge.model.loops.upgrade import UpgradeLoop
from reconverge.model.old_store import remembering
from reconverge.model.standard import standard_control_plane

Lab = Any
LOOPS = ("deployment", "replicaset", "scheduler", "node-lifecycle", "taint-eviction")
NODES = st.sampled_from(["n1", "n2"])
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.just(EtcdMemberLost()),
    st.just(EtcdMemberBack()),
    st.builds(LeaderLost, st.sampled_from(["kube-controller-manager", "kube-scheduler"])),
    st.builds(LeaderOverlaps, st.sampled_from(LOOPS), st.sampled_from(["stale", "caught-up"])),
    st.builds(RestartsOnOldStore, loop=st.sampled_from(LOOPS), events=st.integers(1, 2)),
    st.builds(RestartsOnOldStore, kubelet=NODES, events=st.integers(1, 2)),
    st.builds(NodeCrashes, NODES),
    st.builds(NodeRecovers, NODES),
    st.just(ContainerCrashes("deployment/web#0")),
    st.builds(Scale, st.just("deployment/web"), st.integers(0, 4)),
)


def strike(world: Any, event: Event) -> None:
    """The event happens if it can."""
    if event.enabled(world.cluster):
        try:
            world.strikes(event)
        except ApiError:
            assert not world.cluster.machines.control_plane.writable


@settings(max_examples=40, deadline=None)
@given(course=st.lists(st.tuples(EVENTS, st.integers(0, 25)), max_size=7))
def test_all_is_well_when_the_control_plane_is_whole_again(lab: Lab, course: list[tuple[Event, int]]) -> None:
    world = lab.of(lab.node("n1"), lab.node("n2"), lab.deployment(2))
    world.settle()
    world.cluster = remembering(world.cluster, 2)
    for event, steps in course:
        strike(world, event)
        for _ in range(steps):
            if world.plane.next(world.cluster) is not None:
                world.step()
    made_whole(world)
    world.settle()
    wanted = world.get("Deployment", "web").replicas
    ready = [pod for pod in world.pods() if pod.active and pod.ready]
    assert len(ready) == wanted
    for pod in ready:
        assert world.machine(pod.node).pods[pod.uid].alive
    running = [pod for each in ("n1", "n2") for pod in world.machine(each).pods.values() if pod.alive]
    assert len(running) == wanted


def made_whole(world: Any) -> None:
    """All members of etcd and all nodes are back, and all watches have caught up."""
    for event in (EtcdMemberBack(), EtcdMemberBack(), EtcdMemberBack(), NodeRecovers("n1"), NodeRecovers("n2")):
        strike(world, event)
    world.settle()
    for name, state in sorted(world.cluster.loops.items()):
        for kind in sorted(state.stalled):
            strike(world, WatchCatchesUp(name, kind))


def test_every_loop_that_is_named_by_its_process_is_there() -> None:
    names = {*standard_control_plane().names, UpgradeLoop.name, NodeGroupLoop.name, KubeProxy.name}
    assert {*PROCESSES, *TOOLS, *WITHOUT_API} == names
