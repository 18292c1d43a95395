"""Ingress and IngressClass.

Source: `pkg/apis/networking/types.go`, `pkg/apis/networking/validation/validation.go`,
`plugin/pkg/admission/network/defaultingressclass/admission.go`.
"""

from __future__ import annotations

from collections.abc import Iterator

from reconverge.loading.decoders.meta import CONTROLLER, metadata
from reconverge.loading.decoders.registry import Decoder
from reconverge.loading.fields import Fields
from reconverge.loading.schema import schema
from reconverge.model.labels import label
from reconverge.model.objects import Ingress, IngressBackend, IngressClass
from reconverge.model.objects.ingress import EXTERNAL, INGRESS, INGRESS_CLASS

_INGRESS = schema(INGRESS, read="apiVersion kind metadata spec", ignored="status")
_SPEC = schema("ingress spec", read="ingressClassName rules defaultBackend backend", ignored="tls")
_RULE = schema("ingress rule", read="http", ignored="host")
_HTTP = schema("ingress rule for HTTP", read="paths")
_PATH = schema("ingress path", read="backend", ignored="path pathType")
_BACKEND = schema("ingress backend", read="service serviceName servicePort", ignored="resource")
_SERVICE = schema("ingress backend service", read="name port")
_PORT = schema("ingress backend port", read="name number")
_CLASS = schema(INGRESS_CLASS, read="apiVersion kind metadata spec")
_CLASS_SPEC = schema("ingress class spec", read="controller", ignored="parameters")

CLASS_ANNOTATION = "kubernetes.io/ingress.class"
"""The annotation that named a class before there were IngressClasses."""
DEFAULT_CLASS = "ingressclass.kubernetes.io/is-default-class"


def decode_ingress(top: Fields) -> Ingress:
    """An Ingress: its class, also by the old annotation, and all its backends."""
    meta = metadata(top)
    spec = top.child("spec", _SPEC)
    named = spec.text("ingressClassName") or label(meta["annotations"], CLASS_ANNOTATION) or None
    return Ingress(**meta, ingress_class=named, backends=tuple(dict.fromkeys(_backends(spec))))


def _backends(spec: Fields) -> Iterator[IngressBackend]:
    for rule in spec.children("rules", _RULE):
        for path in rule.child("http", _HTTP).children("paths", _PATH):
            yield from _backend(path, "backend")
    # The older name of the default backend is that of the versions before v1.
    for key in ("defaultBackend", "backend"):
        yield from _backend(spec, key)


def _backend(parent: Fields, key: str) -> Iterator[IngressBackend]:
    """The Service of a backend; none for one that is another object."""
    if key not in parent:
        return
    fields = parent.child(key, _BACKEND)
    if "serviceName" in fields:
        yield IngressBackend(fields.required_text("serviceName"), _either(fields, "servicePort"))
    elif "service" in fields:
        service = fields.child("service", _SERVICE)
        port = service.child("port", _PORT)
        number = str(port.integer("number", 0, least=1, most=65535)) if "number" in port else ""
        if not number and "name" not in port:
            raise service.error("needs a number or a name", "port")
        yield IngressBackend(service.required_text("name"), number or port.required_text("name"))


def _either(fields: Fields, key: str) -> str:
    """A port as the versions before v1 write it: a number, or a name."""
    value = fields.raw(key)
    return value if isinstance(value, str) else str(fields.integer(key, 0, least=1, most=65535))


def decode_class(top: Fields) -> IngressClass:
    """An IngressClass; an annotation may say who is its controller."""
    meta = metadata(top, namespaced=False)
    annotations = meta["annotations"]
    controlled_by = label(annotations, CONTROLLER) or ""
    if controlled_by and controlled_by != EXTERNAL and "/" not in controlled_by:
        where = top.child("metadata").child("annotations")
        raise where.error(f'must be "{EXTERNAL}" or a workload such as deployment/ingress/controller', CONTROLLER)
    return IngressClass(
        **meta,
        controller=top.child("spec", _CLASS_SPEC).text("controller"),
        controlled_by=controlled_by,
        default=label(annotations, DEFAULT_CLASS) == "true",
    )


_GROUP = "networking.k8s.io"
DECODERS = (
    Decoder(INGRESS, (f"{_GROUP}/v1", f"{_GROUP}/v1beta1", "extensions/v1beta1"), _INGRESS, decode_ingress),
    Decoder(INGRESS_CLASS, (f"{_GROUP}/v1", f"{_GROUP}/v1beta1"), _CLASS, decode_class),
)
