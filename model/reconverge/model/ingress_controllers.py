"""Which workloads are the controllers of an IngressClass.

An Ingress is only an object: a controller that watches its class has to act on it. Who that is, the API does not say:
it is told by the class's `spec.controller` and by the labels that the usual controllers give their pods, or by an
annotation of the class.
Source: documentation of Ingress (class, default class) and of Ingress controllers; `pkg/apis/networking/types.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reconverge.model.labels import label
from reconverge.model.naming import WORKLOADS, resolve
from reconverge.model.objects import Ingress, IngressClass
from reconverge.model.objects.ingress import INGRESS_CLASS
from reconverge.model.store import Store

USUAL_LABELS = ("app.kubernetes.io/name", "app", "k8s-app", "name")
"""Labels by which pods say what program they run."""

KNOWN: dict[str, tuple[str, ...]] = {
    "k8s.io/ingress-nginx": ("ingress-nginx", "nginx-ingress", "nginx-ingress-controller"),
    "nginx.org/ingress-controller": ("nginx-ingress", "nginx-ingress-controller"),
    "traefik.io/ingress-controller": ("traefik",),
    "haproxy-ingress.github.io/controller": ("haproxy-ingress",),
    "haproxy.org/ingress-controller": ("kubernetes-ingress", "haproxy-ingress", "haproxy-kubernetes-ingress"),
    "ingress-controllers.konghq.com/kong": ("kong", "controller", "ingress-kong"),
    "projectcontour.io/ingress-controller": ("contour", "envoy"),
    "istio.io/ingress-controller": ("istiod", "istio-ingressgateway", "istio-ingress"),
    "cilium.io/ingress-controller": ("cilium", "cilium-agent"),
    "ingress.k8s.aws/alb": ("aws-load-balancer-controller",),
    "azure/application-gateway": ("ingress-azure",),
    "caddy.k8s.io/ingress": ("caddy", "caddy-ingress-controller"),
}
"""By what a class calls its controller: what the pods of that controller are labelled."""

GENERIC = frozenset({"aws", "com", "controller", "ingress", "io", "k8s", "org"})
"""Words of these names that tell nothing."""


def class_of(store: Store, ingress: Ingress) -> IngressClass | None:
    """The class of an Ingress; the default class, the newest of several, if it names none."""
    if ingress.ingress_class is not None:
        found: IngressClass | None = store.get(INGRESS_CLASS, ingress.ingress_class)
        return found
    defaults = [each for each in store.all(INGRESS_CLASS) if each.default]
    return max(defaults, key=lambda each: (each.created_at, each.name), default=None)


def described(store: Store) -> bool:
    """Whether anything is known of the cluster's Ingress controllers: a class, or a workload that is one."""
    return bool(store.count(INGRESS_CLASS)) or any(_programs(each) & _every_name() for each in _workloads(store))


def controllers(store: Store, ingress: Ingress) -> list[Any]:
    """The workloads that act on an Ingress, in order."""
    found = class_of(store, ingress)
    if found is not None and found.controlled_by:
        named = resolve(store, found.controlled_by)
        return [named] if named is not None else []
    if found is not None:
        names = names_of(found.controller)
    elif ingress.ingress_class is not None:
        # Controllers know their class by its name, too, though no object describes it.
        names = _names_of_class(ingress.ingress_class)
    else:
        return []
    return [each for each in _workloads(store) if _programs(each) & names]


def names_of(controller: str) -> frozenset[str]:
    """What the pods of a controller may be labelled; for one that is not known, the words of its own name."""
    known = KNOWN.get(controller)
    if known is None:
        # What comes after a known name tells instances of one controller apart.
        known = next((names for key, names in KNOWN.items() if controller.startswith(f"{key}/")), None)
    return frozenset(known if known is not None else controller.split("/"))


def _names_of_class(name: str) -> frozenset[str]:
    """What the pods of the controllers whose classes are usually called so are labelled."""
    return frozenset(
        each for key, names in KNOWN.items() for each in names if name in names or name in _words(key) - GENERIC
    )


def _words(controller: str) -> frozenset[str]:
    return frozenset(controller.replace("/", ".").replace("-", ".").split("."))


def _every_name() -> frozenset[str]:
    # "controller" and "name" alone say nothing.
    return frozenset(each for names in KNOWN.values() for each in names) - {"controller"}


def _workloads(store: Store) -> Iterator[Any]:
    for kind in WORKLOADS:
        for each in store.all(kind):
            if each.owner is None:
                yield each


def _programs(workload: Any) -> set[str]:
    """What the pods of a workload say that they run."""
    found = (label(workload.template.labels, key) for key in USUAL_LABELS)
    return {value for value in found if value}
