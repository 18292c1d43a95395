"""Who acts on an Ingress (documentation of Ingress and of Ingress controllers)."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.ingress_controllers import class_of, controllers, described, names_of
from reconverge.model.labels import labels_of
from reconverge.model.objects import Ingress, IngressClass
from reconverge.model.store import Store

NGINX = IngressClass(name="nginx", controller="k8s.io/ingress-nginx")


def store_of(*objects: Any) -> Store:
    store = Store({})
    for each in objects:
        store, _ = store.put(each)
    return store


def program(lab: Any, name: str, key: str = "app.kubernetes.io/name") -> Any:
    """A Deployment whose pods say that they run a program."""
    template = lab.template().with_(labels=labels_of({key: name}))
    return lab.deployment(name=f"runs-{name}", template=template)


def acting(ingress: Ingress, *objects: Any) -> list[str]:
    return [each.reference for each in controllers(store_of(*objects), ingress)]


def of_class(name: str | None) -> Ingress:
    return Ingress(name="shop", ingress_class=name)


@pytest.mark.parametrize("key", ["app.kubernetes.io/name", "app", "k8s-app"])
def test_a_controller_is_known_by_the_labels_of_its_pods(lab: Any, key: str) -> None:
    nginx, other = program(lab, "ingress-nginx", key), program(lab, "traefik", key)
    assert acting(of_class("nginx"), NGINX, nginx, other) == ["deployment/runs-ingress-nginx"]
    assert acting(of_class("nginx"), NGINX, other) == []
    assert acting(of_class("nginx"), NGINX, program(lab, "ingress-nginx", "other-key")) == []


def test_a_class_of_another_controller_is_not_served(lab: Any) -> None:
    traefik = IngressClass(name="web", controller="traefik.io/ingress-controller")
    assert acting(of_class("web"), traefik, program(lab, "ingress-nginx")) == []
    assert acting(of_class("web"), traefik, program(lab, "traefik")) == ["deployment/runs-traefik"]


def test_what_follows_a_known_name_tells_instances_apart() -> None:
    assert names_of("haproxy.org/ingress-controller/inner") == names_of("haproxy.org/ingress-controller")
    assert names_of("example.com/my-controller") == {"example.com", "my-controller"}


def test_an_annotation_names_the_controller(lab: Any) -> None:
    named = NGINX.with_(controlled_by="deployment/runs-mine")
    assert acting(of_class("nginx"), named, program(lab, "mine"), program(lab, "ingress-nginx")) == [
        "deployment/runs-mine"
    ]
    assert acting(of_class("nginx"), named, program(lab, "ingress-nginx")) == []


def test_a_class_that_no_object_describes_is_known_by_its_name(lab: Any) -> None:
    nginx = program(lab, "ingress-nginx")
    assert acting(of_class("nginx"), nginx) == ["deployment/runs-ingress-nginx"]
    assert acting(of_class("traefik"), nginx) == []
    assert acting(of_class("ingress"), nginx) == []
    assert acting(of_class(None), nginx) == []


def test_an_ingress_without_a_class_is_of_the_newest_default_class() -> None:
    old, new = NGINX.with_(default=True, created_at=1), NGINX.with_(name="newer", default=True, created_at=2)
    assert class_of(store_of(NGINX), of_class(None)) is None
    for objects in ((old, new), (new, old)):
        found = class_of(store_of(*objects), of_class(None))
        assert found is not None
        assert found.name == "newer"
    assert class_of(store_of(old, new), of_class("nowhere")) is None


def test_whether_anything_is_known_of_controllers(lab: Any) -> None:
    assert not described(store_of(of_class("nginx"), lab.deployment(), program(lab, "controller")))
    assert described(store_of(NGINX))
    assert described(store_of(program(lab, "traefik")))
