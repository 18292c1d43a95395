"""Tables: indexes and usage are what they would be if they were computed from scratch."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from attrs import evolve, frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from reconverge.model.labels import labels_of
from reconverge.model.objects import (
    Affinity,
    Container,
    OwnerReference,
    Pod,
    PodAffinityTerm,
    PodSpec,
    ReplicaSet,
)
from reconverge.model.requests import effective, nonzero_requests
from reconverge.model.resources import NO_USAGE, Resources, Usage
from reconverge.model.store import Store
from reconverge.model.table import Table
from reconverge.model.value import Value

OWNERS = [None, OwnerReference("ReplicaSet", "web", 1), OwnerReference("ReplicaSet", "db", 2)]


def _spec(cpu: int, port: int | None, anti: bool, extended: int) -> PodSpec:
    requests = Resources(cpu, 0, 0, (("gpu", extended),) if extended else ())
    ports = (("", "TCP", port),) if port is not None else ()
    affinity = Affinity(anti_required=(PodAffinityTerm("zone"),)) if anti else Affinity()
    spec = PodSpec(containers=(Container("c", requests, host_ports=ports),), affinity=affinity)
    return spec.with_(requests=effective(spec))


SPECS = st.builds(
    _spec, st.sampled_from([0, 100, 250]), st.sampled_from([None, 80, 443]), st.booleans(), st.integers(0, 1)
)
PODS = st.builds(
    Pod,
    name=st.sampled_from(["p1", "p2", "p3", "p4"]),
    namespace=st.sampled_from(["default", "other"]),
    uid=st.just(1),
    labels=st.sampled_from([(), labels_of({"app": "web"}), labels_of({"app": "web", "x": "y"})]),
    owner=st.sampled_from(OWNERS),
    node=st.sampled_from([None, "n1", "n2"]),
    phase=st.sampled_from(["Pending", "Running", "Failed"]),
    spec=SPECS,
)
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "labels": st.sampled_from([(), labels_of({"app": "db"})]),
        "owner": st.sampled_from(OWNERS),
        "node": st.sampled_from(["n1", "n2"]),
        "phase": st.sampled_from(["Running", "Succeeded"]),
        "ready": st.booleans(),
    },
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), PODS), st.tuples(st.just("change"), CHANGES), st.tuples(st.just("remove"), st.just(0))
    ),
    max_size=30,
)


def plain(table: Table) -> dict[str, dict[str, set[str]]]:
    return {
        name: {value: set(keys) for value, keys in index.items()} for name, index in table.indexes.items() if len(index)
    }


def usage_of(pods: list[Pod]) -> dict[str, Usage]:
    found: dict[str, Usage] = defaultdict(lambda: NO_USAGE)
    for pod in pods:
        if pod.node is None or pod.terminal:
            continue
        old = found[pod.node]
        cpu, memory = nonzero_requests(pod.spec)
        ports = tuple(port for container in pod.spec.containers for port in container.host_ports)
        found[pod.node] = Usage(
            old.requests + pod.spec.requests, old.nonzero_cpu + cpu, old.nonzero_memory + memory, old.pods + 1,
            tuple(sorted((*old.ports, *ports))),
        )  # fmt: skip
    return found


@settings(max_examples=80, deadline=None)
@given(STEPS, st.data())
def test_random_writes_leave_the_indexes_and_the_usage_right(steps: list[Any], data: st.DataObject) -> None:
    table = Table("Pod")
    for what, given_ in steps:
        keys = sorted(table.objects)
        if what == "put":
            table = table.put(given_)
        elif keys:
            key = data.draw(st.sampled_from(keys))
            table = table.remove(key) if what == "remove" else table.put(table.objects[key].with_(**given_))
    scratch = Table("Pod")
    for key in sorted(table.objects):
        scratch = scratch.put(table.objects[key])
    assert plain(table) == plain(scratch)
    usage = usage_of([table.objects[key] for key in sorted(table.objects)])
    assert {node: table.usage.get(node, NO_USAGE) for node in ("n1", "n2")} == {
        node: usage[node] for node in ("n1", "n2")
    }


@given(st.lists(PODS, max_size=12))
def test_the_stores_questions_are_answered_as_by_looking_at_everything(pods: list[Pod]) -> None:
    store = Store({})
    for pod in pods:
        store, _ = store.put(pod)
    every = store.all("Pod")
    assert store.pods_on("n1") == [pod for pod in every if pod.node == "n1"]
    assert store.pods_of(1) == [pod for pod in every if pod.owner is not None and pod.owner.uid == 1]
    assert store.unbound_pods() == [pod for pod in every if pod.node is None and not pod.terminal]
    assert store.orphan_pods("other") == [pod for pod in every if pod.owner is None and pod.namespace == "other"]


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["default", "x"]), st.sampled_from(OWNERS)), max_size=9)
)
def test_sets_without_an_owner_are_found(given_: list[Any]) -> None:
    store = Store({})
    for name, namespace, owner in given_:
        store, _ = store.put(ReplicaSet(name=name, namespace=namespace, owner=owner))
    every = store.all("ReplicaSet")
    assert store.orphan_sets("x") == [rs for rs in every if rs.owner is None and rs.namespace == "x"]
    assert store.in_namespace("ReplicaSet", "x") == [rs for rs in every if rs.namespace == "x"]
    assert store.replica_sets_of(2) == [rs for rs in every if rs.owner is not None and rs.owner.uid == 2]


def test_a_table_is_a_value() -> None:
    old = Table("Pod").put(Pod(name="p", node="n1"))
    new = old.put(Pod(name="q", node="n1")).remove("default/p")
    assert list(old.keys_at("node", "n1")) == ["default/p"]
    assert list(new.keys_at("node", "n1")) == ["default/q"]
    with pytest.raises(KeyError):
        new.remove("default/p")


# with_ -----------------------------------------------------------------------------------------------------------


@frozen(cache_hash=True)
class Point(Value):
    x: int = 0
    y: int = 0


@given(st.builds(Point, st.integers(), st.integers()), st.dictionaries(st.sampled_from("xy"), st.integers()))
def test_with_is_evolve(point: Point, changes: dict[str, int]) -> None:
    before = hash(point)
    assert point.with_(**changes) == evolve(point, **changes)
    assert hash(point.with_(**changes)) == hash(evolve(point, **changes))
    assert hash(point) == before


def test_with_knows_its_fields() -> None:
    with pytest.raises(TypeError, match="Point has no field 'z'"):
        Point().with_(z=1)
