"""EndpointSlices (pkg/controller/endpointslice, endpointslice/utils.go)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconverge.model import quiet
from reconverge.model.cluster import Cluster
from reconverge.model.control_plane import ControlPlane
from reconverge.model.labels import Selector, labels_of
from reconverge.model.loops.endpoints import EndpointsController
from reconverge.model.objects import Endpoint, EndpointSlice, Node, Pod, Service
from reconverge.model.objects.node import ZONE
from reconverge.model.store import Store

WEB = labels_of({"app": "web"})
OTHER = labels_of({"app": "other"})


class World:
    """A cluster in which the test plays the users and the kubelets."""

    def __init__(self, *objects: Any) -> None:
        self.plane = ControlPlane([EndpointsController()])
        store = Store({})
        for each in objects:
            store, _ = store.put(each)
        self.cluster = self.plane.start(Cluster(store=store))
        self.settle()

    def put(self, new: Any) -> None:
        store, change = self.cluster.store.put(new)
        self.cluster = self.plane.notify(self.cluster.with_(store=store), (change,))

    def remove(self, kind: str, name: str) -> None:
        store, change = self.cluster.store.remove(kind, name if kind == "Node" else f"default/{name}")
        self.cluster = self.plane.notify(self.cluster.with_(store=store), (change,))

    def change(self, name: str, **fields: Any) -> None:
        found = self.cluster.store.pod(f"default/{name}")
        assert found is not None
        self.put(found.with_(**fields))

    def settle(self) -> None:
        self.cluster = quiet.at_rest(self.plane, self.cluster)

    @property
    def busy(self) -> bool:
        return self.cluster.loops["endpoints"].busy

    def endpoints(self, name: str = "web") -> tuple[Endpoint, ...]:
        """What is listed."""
        found = self.cluster.store.endpoint_slice(f"default/{name}")
        assert found is not None
        return found.endpoints

    def flags(self, name: str = "web") -> dict[str, tuple[bool, bool, bool]]:
        """ready, serving, terminating by pod, as recorded."""
        return {
            each.pod.removeprefix("default/"): (each.ready, each.serving, each.terminating)
            for each in self.endpoints(name)
        }


def pod(name: str = "web-a", **fields: Any) -> Pod:
    running = {"labels": WEB, "node": "n1", "phase": "Running", "ready": True, "started_at": 0}
    return Pod(name=name, **{**running, **fields})


def service(name: str = "web", **fields: Any) -> Service:
    return Service(name=name, **{"selector": Selector(WEB), **fields})


def test_a_service_has_a_slice_of_its_name_even_without_pods() -> None:
    """Recordings 01, 14, 62: the slice is created empty."""
    world = World(service())
    assert world.flags() == {}
    found = world.cluster.store.endpoint_slice("default/web")
    owner = world.cluster.store.service("default/web")
    assert found is not None
    assert owner is not None
    assert (found.service, found.owner) == ("web", owner.owner_reference())


@pytest.mark.parametrize(
    ("fields", "flags"),
    [
        ({}, (True, True, False)),
        ({"ready": False}, (False, False, False)),
        ({"deletion_at": 30}, (False, True, True)),
        ({"deletion_at": 30, "ready": False}, (False, False, True)),
        ({"phase": "Pending", "ready": False}, (False, False, False)),
        ({"phase": "Pending", "ready": False, "started_at": None}, None),
        ({"phase": "Pending", "ready": False, "started_at": None, "node": None}, None),
        ({"phase": "Failed", "ready": False}, None),
        ({"phase": "Succeeded", "ready": False, "deletion_at": 30}, None),
        ({"labels": OTHER}, None),
        ({"namespace": "far"}, None),
    ],
)
def test_which_pods_are_listed_and_how(fields: dict[str, Any], flags: tuple[bool, bool, bool] | None) -> None:
    world = World(service(), pod(**fields))
    assert world.flags().get("web-a") == flags
    publishing = World(service(publish_not_ready=True), pod(**fields))
    assert publishing.flags().get("web-a") == (None if flags is None else (True, *flags[1:]))


def test_a_pod_s_life_behind_a_service() -> None:
    """Recording 62: listed when it has started, serving while Terminating, gone from the list when it has stopped."""
    world = World(service(), pod("web-b"))
    seen = []
    world.put(pod("web-a", phase="Pending", ready=False, started_at=None, node=None))
    life: list[dict[str, Any]] = [
        {"node": "n1"},
        {"phase": "Running", "started_at": 0},
        {"ready": True},
        {"deletion_at": 30},
        {"phase": "Succeeded", "ready": False},
    ]
    for fields in life:
        world.change("web-a", **fields)
        world.settle()
        seen.append(world.flags().get("web-a"))
    assert seen == [None, (False, False, False), (True, True, False), (False, True, True), None]
    world.remove("Pod", "web-a")
    assert not world.busy
    assert world.flags() == {"web-b": (True, True, False)}


def test_a_change_that_endpoints_do_not_show_wakes_nothing() -> None:
    world = World(service(), pod())
    world.change("web-a", restarts=3, ready_since=7)
    assert not world.busy
    world.put(pod("other", labels=OTHER))
    assert not world.busy


def test_nothing_is_written_when_nothing_changed() -> None:
    world = World(service(), pod())
    revision = world.cluster.store.revision
    world.cluster = world.plane.rewake(world.cluster, "endpoints", ["default/web"])
    world.settle()
    assert world.cluster.store.revision == revision


def test_a_relabelled_pod_moves_from_one_service_to_the_other() -> None:
    world = World(service(), service("other", selector=Selector(OTHER)), pod())
    world.change("web-a", labels=OTHER)
    world.settle()
    assert (world.flags("web"), world.flags("other")) == ({}, {"web-a": (True, True, False)})


def test_a_pod_may_be_behind_several_services() -> None:
    world = World(service(), service("also"), pod())
    world.change("web-a", ready=False)
    world.settle()
    assert world.flags("web") == world.flags("also") == {"web-a": (False, False, False)}


def test_the_slice_goes_with_its_service() -> None:
    world = World(service(), pod())
    world.remove("Service", "web")
    world.settle()
    assert world.cluster.store.count("EndpointSlice") == 0


def test_a_removed_slice_is_made_anew() -> None:
    world = World(service(), pod())
    world.remove("EndpointSlice", "web")
    world.settle()
    assert world.flags() == {"web-a": (True, True, False)}


def test_an_endpoint_has_the_zone_of_its_node_and_the_address_of_its_pod() -> None:
    node = Node(name="n1", labels=labels_of({ZONE: "a"}))
    world = World(node, service(), pod(uid=7))
    (found,) = world.endpoints()
    assert (found.node, found.zone, found.uid) == ("n1", "a", 7)
    world.put(node.with_(unschedulable=True))
    world.put(Node(name="n2", labels=labels_of({ZONE: "b"})))
    assert not world.busy
    world.put(node.with_(labels=labels_of({ZONE: "b"})))
    world.settle()
    assert [each.zone for each in world.endpoints()] == ["b"]
    world.remove("Node", "n1")
    assert not world.busy


def test_a_pod_made_anew_under_its_name_has_another_address() -> None:
    world = World(service(), pod(uid=7))
    world.remove("Pod", "web-a")
    world.put(pod(uid=8))
    world.settle()
    assert [each.uid for each in world.endpoints()] == [8]


@pytest.mark.parametrize("selector", [None, Selector()])
def test_a_service_without_a_selector_is_left_to_its_author(selector: Selector | None) -> None:
    world = World(service(selector=selector), pod())
    assert world.cluster.store.count("EndpointSlice") == 0
    world.put(EndpointSlice(name="by-hand", endpoints=()))
    world.settle()
    assert World(EndpointSlice(name="by-hand")).cluster.store.count("EndpointSlice") == 1


def test_a_start_finds_what_was_left_undone() -> None:
    world = World(EndpointSlice(name="web", service="web"), EndpointSlice(name="old", service="old"), service(), pod())
    assert world.flags() == {"web-a": (True, True, False)}
    assert world.cluster.store.endpoint_slice("default/old") is None


@given(
    steps=st.lists(
        st.tuples(
            st.integers(0, 2),
            st.sampled_from(
                [
                    {"ready": True},
                    {"ready": False},
                    {"deletion_at": 30},
                    {"phase": "Failed", "ready": False},
                    {"labels": OTHER},
                    {"labels": WEB},
                    {"node": None, "phase": "Pending", "started_at": None, "ready": False},
                    None,
                ]
            ),
        ),
        max_size=15,
    )
)
def test_following_changes_ends_where_a_new_controller_starts(steps: list[tuple[int, dict[str, Any] | None]]) -> None:
    world = World(service(), service("other", selector=Selector(OTHER)))
    for number, fields in steps:
        name = f"web-{number}"
        if world.cluster.store.pod(f"default/{name}") is None:
            world.put(pod(name, **(fields or {})))
        elif fields is None:
            world.remove("Pod", name)
        else:
            world.change(name, **fields)
        if number == 0:
            world.settle()
    world.settle()
    anew = World(*world.cluster.store.all("Service"), *world.cluster.store.all("Pod"))
    for name in ("web", "other"):
        assert world.flags(name) == anew.flags(name)
