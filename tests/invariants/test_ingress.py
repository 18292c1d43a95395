"""Whether an Ingress is served: by a controller, to a Service, to an endpoint."""

from __future__ import annotations

from typing import Any

import pytest

from reconverge.model.labels import labels_of
from reconverge.model.objects import Endpoint, Ingress, IngressBackend, IngressClass, PodTemplate, ServicePort

KEY = "ingress-served"
CLASS = IngressClass(name="nginx", uid=901, controller="k8s.io/ingress-nginx")
PROGRAM = labels_of({"app.kubernetes.io/name": "ingress-nginx"})


def ingress(*backends: str, class_: str | None = "nginx") -> Ingress:
    named = tuple(IngressBackend(*each.split(":")) for each in backends or ("web:80",))
    return Ingress(name="shop", uid=900, ingress_class=class_, backends=named)


def controller(lab: Any, ready: bool = True) -> list[Any]:
    """daemonset/nginx with one pod on n1."""
    made = lab.daemon_set(name="nginx", template=PodTemplate(labels=PROGRAM, spec=lab.spec(), digest="c"))
    return [made, lab.pod("nginx-a", owner=made.owner_reference(), labels=PROGRAM, ready=ready)]


def said(lab: Any, *objects: Any, pods: Any = None, service: Any = None, outcome: str = "rest") -> list[str]:
    """What is said of these objects with service/web, which has the port http (80), and a pod of it on n1."""
    behind = [lab.pod("web-a")] if pods is None else pods
    made, slice_ = lab.service()
    listed = tuple(Endpoint(each.key, "n1", each.ready, each.ready, False, "a", each.uid) for each in behind)
    made = made.with_(ports=(ServicePort("http", 80),), **(service or {}))
    situation = lab.situation(lab.node(), made, slice_.with_(endpoints=listed), *behind, *objects)
    found = lab.broken(KEY, lab.quiet(situation, outcome))
    assert all(each.object == "ingress/shop" for each in found)
    return [each.message.removeprefix("ingress/shop leads nowhere: ") for each in found]


def test_the_whole_path_is_there(lab: Any) -> None:
    assert said(lab, CLASS, ingress(), *controller(lab)) == []
    assert said(lab, CLASS, ingress("web:http", "web:80"), *controller(lab)) == []


def test_nobody_acts_on_it(lab: Any) -> None:
    assert said(lab, CLASS, ingress()) == ["there is no controller of its class nginx (k8s.io/ingress-nginx)"]
    other = IngressClass(name="edge", uid=902, controller="traefik.io/ingress-controller")
    assert said(lab, CLASS, other, ingress(class_="edge"), *controller(lab)) == [
        "there is no controller of its class edge (traefik.io/ingress-controller)"
    ]
    assert said(lab, ingress(class_="edge"), *controller(lab)) == ["there is no controller of its class edge"]


def test_the_controller_s_pods_have_to_run(lab: Any) -> None:
    wanted = ["no pod of its controller daemonset/nginx is ready"]
    assert said(lab, CLASS, ingress(), *controller(lab, ready=False)) == wanted
    assert said(lab, CLASS, ingress(), controller(lab)[0]) == wanted


@pytest.mark.parametrize(("default", "wrong"), [(True, False), (False, True)])
def test_who_names_no_class_is_of_the_default_one(lab: Any, default: bool, wrong: bool) -> None:
    found = said(lab, CLASS.with_(default=default), ingress(class_=None), *controller(lab))
    assert found == (["it names no class, and no IngressClass is the default"] if wrong else [])


def test_a_controller_outside_or_one_that_is_named(lab: Any) -> None:
    assert said(lab, CLASS.with_(controlled_by="external"), ingress()) == []
    assert said(lab, CLASS.with_(controlled_by="daemonset/nginx"), ingress(), *controller(lab)) == []
    assert said(lab, CLASS.with_(controlled_by="daemonset/gone"), ingress()) == [
        "there is no controller of its class nginx (daemonset/gone)"
    ]


def test_where_nothing_is_known_of_controllers_one_is_taken_to_be_outside(lab: Any) -> None:
    assert said(lab, ingress()) == []
    assert said(lab, ingress(class_=None)) == []


def test_every_backend_has_to_be_there(lab: Any) -> None:
    assert said(lab, ingress("web:80", "gone:80")) == ["its backend service/gone does not exist"]
    assert said(lab, ingress("web:8080")) == ["its backend service/web has no port 8080, only 80 (http)"]
    assert said(lab, ingress("web:https")) == ["its backend service/web has no port https, only 80 (http)"]


def test_a_backend_needs_an_endpoint_that_serves(lab: Any) -> None:
    wanted = ["its backend service/web has no endpoint that serves"]
    assert said(lab, ingress(), pods=[]) == wanted
    assert said(lab, ingress(), pods=[lab.pod("web-a", ready=False)]) == wanted


@pytest.mark.parametrize("service", [{"selector": None}, {"selector": None, "type": "ExternalName"}], ids=str)
def test_what_is_behind_a_service_without_selector_is_elsewhere(lab: Any, service: dict[str, Any]) -> None:
    assert said(lab, ingress(), pods=[], service=service) == []


def test_only_the_end_is_judged(lab: Any) -> None:
    assert said(lab, CLASS, ingress(), outcome="loop") == []
