"""Deployment web behind a Service, on nodes whose kube-proxies are modelled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.labels import Selector, labels_of
from reconverge.model.loops.kube_proxy import KubeProxy
from reconverge.model.objects import Behaviour, Service
from reconverge.model.standard import cluster_of, standard_control_plane

WEB = Selector(labels_of({"app": "web"}))


@pytest.fixture
def routed(lab: Any) -> Callable[..., Any]:
    """At rest on nodes of the given names, all in zone a; `service` has fields of the Service, `stops` its delay."""

    def make(*more: Any, names: Any = ("n1", "n2"), replicas: int = 2, stops: float = 30, **options: Any) -> Any:
        template = lab.template(behaviour=Behaviour(stops_after=stops))
        service = Service(name="web", **{"selector": WEB, **options.pop("service", {})})
        nodes = [lab.node(name, zone="a") for name in names]
        objects = [*nodes, lab.deployment(replicas, template=template), service, *more]
        made = lab(standard_control_plane().including(options.pop("loop", KubeProxy)()), cluster_of(objects))
        made.settle()
        return made

    return make


@pytest.fixture
def leads() -> Callable[..., list[str]]:
    """Where a node sends what comes for service/web from inside (or, `outside`, from there): names of pods."""

    def to(made: Any, node: str = "n1", outside: bool = False) -> list[str]:
        route = made.machine(node).proxy.routes["default/web"]
        return [each.pod.removeprefix("default/") for each in (route.external if outside else route.internal)]

    return to
