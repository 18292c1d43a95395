"""Fingerprints: equal for clusters that are the same up to renaming, different for others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from reconverge.model import events as e
from reconverge.model.canonical import fingerprint, node_classes, pod_classes
from reconverge.model.labels import Requirement, Selector, labels_of
from reconverge.model.likeness import age, node_likeness, pod_likeness
from reconverge.model.machines import ImageRegistry
from reconverge.model.objects import (
    Affinity,
    NodeSelectorTerm,
    OwnerReference,
    Pod,
    PodDisruptionBudget,
    Service,
    Taint,
)

NAMES = ("n1", "n2", "n3")
WEB = "deployment/web"


def shop(lab: Any, names: Any = NAMES, replicas: int = 4, first_uid: int = 0) -> Any:
    """Deployment web under a budget and a service, on three equal nodes of the given names."""
    web = Selector(labels_of({"app": "web"}))
    budget = PodDisruptionBudget(name="web", selector=web, min_available=2)
    nodes = [lab.node(name) for name in names]
    made = lab.of(*nodes, lab.deployment(replicas), budget, Service(name="web", selector=web))
    if first_uid:
        names_given = made.cluster.store.generated.set("default/web-one-", first_uid)
        made.cluster = made.cluster.with_(store=evolve(made.cluster.store, next_uid=first_uid, generated=names_given))
    made.settle()
    return made


def print_of(made: Any, **options: bool) -> bytes:
    return fingerprint(made.plane, made.cluster, **options)


def event(kind: str, name: str) -> e.Event:
    made: dict[str, Callable[[str], e.Event]] = {
        "crash": e.NodeCrashes, "partition": e.NodePartitioned, "recover": e.NodeRecovers, "reboot": e.NodeReboots,
        "drain": e.Drain, "uncordon": e.Uncordon, "delete": e.NodeDeleted, "hang": e.RuntimeHangs,
        "rollout": lambda _: e.RollOut(WEB), "never": lambda _: e.RollOut(WEB, "never-ready"),
        "up": lambda _: e.Scale(WEB, 5), "down": lambda _: e.Scale(WEB, 2),
    }  # fmt: skip
    return made[kind](name)


KINDS = [
    "crash",
    "partition",
    "recover",
    "reboot",
    "drain",
    "uncordon",
    "delete",
    "hang",
    "rollout",
    "never",
    "up",
    "down",
]
SEEN = ["reboot", "drain", "uncordon", "delete", "rollout", "never", "up", "down"]
"""Those that leave no machine in a state that the API does not know of: such nodes are told apart by their names."""


def together(one: Any, other: Any, steps: list[tuple[str, int, int]]) -> None:
    """The same events strike nodes of the same content in two clusters that are one, after so many steps each."""
    for kind, place, count in steps:
        assert print_of(one) == print_of(other)
        nodes = [by_class(made) for made in (one, other)]
        for made, names in zip((one, other), nodes, strict=True):
            each = event(kind, names[place % len(names)])
            if each.enabled(made.cluster):
                made.strikes(each)
            for _ in range(count):
                if made.plane.next(made.cluster) is not None:
                    made.step()
            # What a pass has in flight names things.
            while any(state.in_flight is not None for state in made.cluster.loops.values()):
                made.step()
    for made in (one, other):
        made.until(made.cluster.now + 2_000)
    assert print_of(one) == print_of(other)


@settings(max_examples=10, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(SEEN), st.integers(0, 2), st.integers(0, 30)), min_size=1, max_size=3),
    st.permutations(NAMES),
)
def test_the_same_happens_to_nodes_of_other_names(lab: Any, steps: list[tuple[str, int, int]], names: Any) -> None:
    together(shop(lab), shop(lab, [f"{name}x" for name in names]), steps)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 2), st.integers(0, 30)), min_size=1, max_size=3))
def test_the_same_happens_to_pods_of_other_names_and_uids(lab: Any, steps: list[tuple[str, int, int]]) -> None:
    together(shop(lab), shop(lab, first_uid=500), steps)


def by_class(made: Any) -> list[str]:
    classes = node_classes(made.plane, made.cluster)
    return sorted(classes, key=lambda name: (classes[name], name))


def test_which_of_two_alike_pods_goes_makes_no_difference(lab: Any) -> None:
    prints = set()
    for place in range(4):
        made = shop(lab)
        made.happens(e.PodForceDeleted(f"{WEB}#{place}"))
        prints.add(print_of(made))
    # Two of the four share a node: that is the only thing that tells them apart.
    assert len(prints) <= 2


def test_interchangeable_nodes_and_pods_have_one_class(lab: Any) -> None:
    made = shop(lab, replicas=3)
    assert len(set(node_classes(made.plane, made.cluster).values())) == 1
    assert len(set(pod_classes(made.plane, made.cluster).values())) == 1
    made.happens(e.Cordon("n2"))
    assert len(set(node_classes(made.plane, made.cluster).values())) == 2
    assert len(set(pod_classes(made.plane, made.cluster).values())) == 2


def test_without_symmetry_names_count(lab: Any) -> None:
    prints = []
    for name in ("n1", "n2"):
        made = shop(lab, replicas=3)
        made.happens(e.Cordon(name))
        prints.append((print_of(made), print_of(made, symmetry=False)))
    assert prints[0][0] == prints[1][0]
    assert prints[0][1] != prints[1][1]


def test_a_node_that_a_pod_asks_for_by_name_is_like_no_other(lab: Any) -> None:
    prints = set()
    only = Affinity(node_required=(NodeSelectorTerm(fields=(Requirement("metadata.name", "In", ("n1",)),)),))
    for name in ("n1", "n2"):
        made = lab.of(*(lab.node(each) for each in NAMES), lab.pod("p", spec={"affinity": only}))
        made.settle()
        made.happens(e.Cordon(name))
        prints.add(print_of(made))
    assert len(prints) == 2


def test_finished_pods_can_be_left_out(lab: Any) -> None:
    made = lab.of(lab.node("n1"), lab.deployment(2))
    made.settle()
    before, whole = print_of(made, finished=False), print_of(made)
    (rs,) = made.cluster.store.all("ReplicaSet")
    made.put(lab.pod("done", "n1", phase="Failed", owner=rs.owner_reference(), labels=rs.template.labels))
    made.settle()
    assert print_of(made) != whole
    assert print_of(made, finished=False) == before


def test_time_that_changes_nothing_is_not_seen(lab: Any) -> None:
    made = lab.of(lab.node("n1"), lab.deployment(1))
    made.settle()
    made.until(1_000)
    before = print_of(made)
    made.until(1_040)
    assert print_of(made) == before, "ages beyond ten minutes count by their bucket"


def test_uids_and_versions_are_not_seen(lab: Any) -> None:
    made = shop(lab)
    before = print_of(made)
    store, _ = made.cluster.store.put(made.get("Service", "web"))
    made.cluster = made.cluster.with_(store=store)
    assert print_of(made) == before


def first(made: Any) -> Pod:
    found: Pod = made.pods()[0]
    return found


def on_machine(**changes: Any) -> Callable[[Any], None]:
    def change(made: Any) -> None:
        machine = made.machine("n1")
        (pod, *_) = machine.pods.values()
        after = machine.with_pod(pod.with_(**changes))
        made.cluster = made.cluster.with_(machines=made.cluster.machines.put(after))

    return change


def of_container(**changes: Any) -> Callable[[Any], None]:
    def change(made: Any) -> None:
        machine = made.machine("n1")
        (pod, *_) = machine.pods.values()
        first, *others = pod.containers
        after = machine.with_pod(pod.with_containers((first.with_(**changes), *others)))
        made.cluster = made.cluster.with_(machines=made.cluster.machines.put(after))

    return change


def of_machines(**changes: Any) -> Callable[[Any], None]:
    def change(made: Any) -> None:
        made.cluster = made.cluster.with_(machines=made.cluster.machines.with_(**changes))

    return change


def of_machine(**changes: Any) -> Callable[[Any], None]:
    def change(made: Any) -> None:
        after = made.machine("n1").with_(**changes)
        made.cluster = made.cluster.with_(machines=made.cluster.machines.put(after))

    return change


def of_loop(**changes: Any) -> Callable[[Any], None]:
    def change(made: Any) -> None:
        state = made.cluster.loops["replicaset"].with_(**changes)
        made.cluster = made.cluster.with_(loops={**made.cluster.loops, "replicaset": state})

    return change


def silently(kind: str, name: str = "", **fields: Any) -> Callable[[Any], None]:
    """A field that is other than it was, though no loop has been told."""

    def change(made: Any) -> None:
        old = made.get(kind, name or first(made).name)
        store, _ = made.cluster.store.put(old.with_(**fields))
        made.cluster = made.cluster.with_(store=store)

    return change


DIFFERENCES: dict[str, Callable[[Any], None]] = {
    "pod not ready": silently("Pod", ready=False),
    "pod ready since another time": silently("Pod", ready_since=-7),
    "pod phase": silently("Pod", phase="Pending"),
    "pod reason": silently("Pod", reason="Evicted"),
    "pod deletion": silently("Pod", deletion_at=30),
    "pod age": silently("Pod", created_at=-40),
    "pod restarted": silently("Pod", restarts=1),
    "pod waiting": silently("Pod", waiting="CrashLoopBackOff"),
    "pod mark": silently("Pod", disruption_target="X"),
    "pod finalizer": silently("Pod", finalizers=("f",)),
    "pod owner": silently("Pod", owner=None),
    "pod annotation": silently("Pod", annotations=(("a", "b"),)),
    "pod node": silently("Pod", node=None),
    "node cordoned": silently("Node", "n1", unschedulable=True),
    "node not ready": silently("Node", "n1", ready="Unknown"),
    "node taint": silently("Node", "n1", taints=(Taint("a", "NoSchedule"),)),
    "node label": silently("Node", "n1", labels=(("disk", "ssd"),)),
    "node pressure": silently("Node", "n1", pressure=frozenset({"Memory"})),
    "lease": silently("Lease", "n1", renewed_at=-3),
    "deployment size": silently("Deployment", "web", replicas=9),
    "deployment paused": silently("Deployment", "web", paused=True),
    "deployment surge": silently("Deployment", "web", max_surge=2),
    "deployment generation not observed": silently("Deployment", "web", generation=9),
    "budget": silently("PodDisruptionBudget", "web", min_available=1),
    "service": silently("Service", "web", selector=None),
    "machine off": of_machine(powered=False),
    "machine cut off": of_machine(reachable=False),
    "kubelet dead": of_machine(kubelet=False),
    "runtime hung": of_machine(runtime=False),
    "network not ready": of_machine(network=False),
    "instance gone": of_machine(exists=False),
    "container exited": on_machine(state="exited"),
    "container not ready": on_machine(ready=False),
    "container to stop": on_machine(stop_by=20),
    "container to wait": of_container(backoff=40),
    "container since": of_container(since=-9),
    "container restarted": of_container(restarts=1),
    "container not started": of_container(state="waiting"),
    "container hangs": of_container(hung_at=3),
    "no registry": of_machines(registry=ImageRegistry(False)),
    "pod not checked": on_machine(checked=False),
    "probe forced": on_machine(forced_ready=True),
    "loop paused": of_loop(paused=True),
    "key awake": of_loop(queue={"default/web": None}),
    "timer": of_loop(timers={"default/web": 77}),
}


@pytest.mark.parametrize("what", sorted(DIFFERENCES))
def test_what_differs_is_seen(lab: Any, what: str) -> None:
    made = shop(lab)
    before = print_of(made)
    DIFFERENCES[what](made)
    assert print_of(made) != before


def test_how_a_container_ended_is_seen_where_it_decides(lab: Any) -> None:
    prints = set()
    for code in (0, 1):
        made = lab.of(lab.node("n1"), lab.pod("p", "n1", spec={"restart_policy": "OnFailure"}))
        made.settle()
        of_container(state="exited", exit_code=code)(made)
        prints.add(print_of(made))
    assert len(prints) == 2


def test_whose_turn_it_is_is_seen_while_there_is_something_to_do(lab: Any) -> None:
    made = shop(lab)
    rest = print_of(made)
    made.cluster = made.cluster.with_(turn=3)
    assert print_of(made) == rest
    made.strikes(e.Scale(WEB, 5))
    before = print_of(made)
    made.cluster = made.cluster.with_(turn=4)
    assert print_of(made) != before


def test_endpoints_count_through_their_pods(lab: Any) -> None:
    made = shop(lab)
    before = print_of(made)
    (slice_,) = made.cluster.store.all("EndpointSlice")
    one, *others = slice_.endpoints
    store, _ = made.cluster.store.put(slice_.with_(endpoints=(evolve(one, ready=False), *others)))
    made.cluster = made.cluster.with_(store=store)
    assert print_of(made) != before


# Likeness --------------------------------------------------------------------------------------------------------


def test_pods_of_one_owner_are_alike_whatever_their_names_uids_and_nodes() -> None:
    owner = OwnerReference("ReplicaSet", "web", 1)
    a, b = Pod(name="a", uid=1, node="n1", owner=owner), Pod(name="b", uid=2, node="n2", owner=owner)
    assert pod_likeness(a, 10) == pod_likeness(b, 10)
    assert pod_likeness(a.with_(owner=None), 10) != pod_likeness(b.with_(owner=None), 10)
    assert pod_likeness(a, 10) != pod_likeness(b.with_(ready=True), 10)
    assert pod_likeness(a, 10) != pod_likeness(b.with_(created_at=3), 10)


def test_nodes_are_alike_by_what_is_on_them(lab: Any) -> None:
    made = shop(lab, replicas=3)
    store = made.cluster.store
    assert len({node_likeness(store, node, 0) for node in store.nodes()}) == 1
    made.put(lab.pod("extra", "n2"))
    store = made.cluster.store
    assert len({node_likeness(store, node, 0) for node in store.nodes()}) == 2


def test_ages_are_exact_for_ten_minutes_and_then_by_bucket() -> None:
    assert age(0, 600) == 600
    assert age(30, 10) == -20
    assert age(0, 601) == age(0, 1_000) == "2^39"
    assert age(0, 2_000) == "2^40"
