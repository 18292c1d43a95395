"""What is promised of a kubelet under pressure, on situations put together by hand."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from reconverge.model.action import Patch
from reconverge.model.events import PressureChanges
from reconverge.model.loop import InFlight, LoopState
from reconverge.model.loops.kubelet.actions import FromNode
from reconverge.model.objects import Container
from reconverge.model.persistent import EMPTY
from reconverge.model.resources import Resources

GI = 2**30
SHORT = {"memory": "memory", "disk": "ephemeral-storage", "pid": "pids"}


def pod(lab: Any, name: str, asked: int, used: int, priority: int = 0) -> Any:
    """A pod on n1 that asks for and uses some GiB of memory and disk."""
    requests = Resources(cpu=100, memory=asked * GI, ephemeral_storage=asked * GI)
    spec = lab.spec(priority=priority).with_(containers=(Container("c", requests),), requests=requests)
    told = evolve(spec.behaviour, memory=used * GI, disk=used * GI)
    return lab.pod(name, spec=spec.with_(behaviour=told))


def eviction(victim: Any, resource: str) -> FromNode:
    fields = {
        "phase": "Failed",
        "ready": False,
        "reason": "Evicted",
        "message": f"The node was low on resource: {SHORT[resource]}. ",
        "disruption_target": "TerminationByKubelet",
    }
    return FromNode("n1", Patch("Pod", victim.key, victim.uid, tuple(fields.items())))


def under(situation: Any, *resources: str) -> Any:
    """The same with n1 short of something."""
    machines = situation.cluster.machines
    short = machines.get("n1").with_(pressure=frozenset(resources))
    return situation.__class__(situation.cluster.with_(machines=machines.put(short)), situation.events, situation.start)


def evicted(lab: Any, pods: list[Any], resource: str = "memory", short: tuple[str, ...] | None = None) -> list[str]:
    """What is said when the first of some pods is evicted."""
    now = under(lab.situation(lab.node("n1"), *pods), *((resource,) if short is None else short))
    return said(lab, now, eviction(pods[0], resource))


def said(lab: Any, now: Any, write: Any) -> list[str]:
    return [each.message for each in lab.broken("eviction-in-order", lab.step(now, "kubelet", write))]


@pytest.mark.parametrize("resource", ["memory", "disk"])
@pytest.mark.parametrize(
    ("victim", "other", "broken"),
    [
        ((1, 2, 9), (1, 1, 0), False),  # beyond its request
        ((1, 1, 0), (1, 2, 9), True),
        ((0, 1, 9), (1, 1, 0), False),  # asked for nothing
        ((1, 2, 0), (1, 3, 9), False),  # low priority
        ((1, 3, 9), (1, 2, 0), True),
        ((1, 3, 0), (1, 2, 0), False),  # most use
        ((1, 2, 0), (1, 3, 0), True),
        ((1, 2, 0), (1, 2, 0), False),
    ],
)
def test_the_first_by_rank_goes(
    lab: Any, resource: str, victim: tuple[int, ...], other: tuple[int, ...], broken: bool
) -> None:
    pods = [pod(lab, "victim", *victim), pod(lab, "other", *other)]
    assert evicted(lab, pods, resource) == (
        [f"n1 evicts pod/victim for {resource}, and pod/other ranks before it"] if broken else []
    )


def test_of_memory_the_use_beyond_the_request_counts_and_of_disk_the_use(lab: Any) -> None:
    pods = [pod(lab, "victim", 1, 5), pod(lab, "other", 5, 6)]
    assert not evicted(lab, pods, "memory")
    assert evicted(lab, pods, "disk")
    assert not evicted(lab, pods, "pid")


def test_a_critical_pod_stays_and_hides_nobody(lab: Any) -> None:
    critical, other = pod(lab, "dns", 1, 9, 2_000_000_000), pod(lab, "other", 1, 1)
    assert evicted(lab, [critical, other]) == ["n1 evicts pod/dns, which is critical"]
    assert not evicted(lab, [other, critical])


def test_nobody_goes_without_pressure(lab: Any) -> None:
    assert evicted(lab, [pod(lab, "p", 1, 2)], short=("disk",)) == ["n1 evicts pod/p, and is not short of memory"]
    now = lab.situation(lab.node("n1"), one := pod(lab, "p", 1, 2), events=(PressureChanges("n1", "memory", False),))
    assert not said(lab, now, eviction(one, "memory"))


def test_one_goes_at_a_time(lab: Any) -> None:
    one, two = pod(lab, "one", 1, 3), pod(lab, "two", 1, 2)
    now = under(lab.situation(lab.node("n1"), one, two), "memory")
    writes = (eviction(one, "memory"), eviction(two, "memory"))
    for rest, broken in ((writes, True), (writes[:1], False)):
        flight = InFlight("n1|", rest, now.store.revision)
        busy = now.__class__(now.cluster.with_(loops={"kubelet": LoopState(EMPTY, in_flight=flight)}))
        assert bool(said(lab, busy, writes[0])) == broken


@pytest.mark.parametrize(
    ("short", "since", "ended", "broken"),
    [
        ((), 299, True, True),
        ((), 300, True, False),
        ((), 10, False, False),  # it may have ended long before
        (("memory",), 900, True, True),
    ],
)
def test_a_condition_stays_for_five_minutes(
    lab: Any, short: tuple[str, ...], since: float, ended: bool, broken: bool
) -> None:
    node = lab.node("n1", pressure=frozenset({"MemoryPressure"}))
    start = lab.cluster(node, now=1000 - since)
    events = (PressureChanges("n1", "memory", False),) if ended else ()
    now = under(lab.situation(node, events=events, start=start), *short)
    write = FromNode("n1", Patch("Node", "n1", node.uid, (("pressure", frozenset()),)))
    assert bool(said(lab, now, write)) == broken
