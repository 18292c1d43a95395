"""Ingress and IngressClass.

Source: `pkg/apis/networking/types.go`.
"""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen

from reconverge.model.objects.meta import ApiObject

INGRESS = "Ingress"
INGRESS_CLASS = "IngressClass"
EXTERNAL = "external"
"""What `controlled_by` says of a class whose controller runs outside the cluster."""


@frozen
class IngressBackend:
    """Where a rule sends requests: a Service of the Ingress's namespace, and one of its ports by name or number."""

    service: str
    port: str

    def __str__(self) -> str:
        return f"{self.service}:{self.port}"


@frozen(kw_only=True)
class Ingress(ApiObject):
    """Rules for requests from outside. By itself it does nothing: a controller of its class acts on it."""

    kind: ClassVar[str] = INGRESS

    ingress_class: str | None = None
    """The name of its class; None for the default class."""
    backends: tuple[IngressBackend, ...] = ()
    """Every backend that its rules name, and its default backend, in their order and once each."""


@frozen(kw_only=True)
class IngressClass(ApiObject):
    """A class of Ingresses, and which controller acts on them."""

    kind: ClassVar[str] = INGRESS_CLASS
    namespaced: ClassVar[bool] = False

    controller: str = ""
    """What the controllers of the class call themselves, such as k8s.io/ingress-nginx."""
    controlled_by: str = ""
    """`external`, or the workload that is the controller; empty to tell it by the labels of its pods."""
    default: bool = False
    """Whether Ingresses that name no class are of this one."""
