"""Containers: requests, host ports, probes.

Source: `pkg/apis/core/types.go`, `pkg/apis/core/v1/defaults.go`.
"""

from __future__ import annotations

from reconverge.loading.decoders.resources import requirements, resources
from reconverge.loading.fields import Fields
from reconverge.loading.schema import schema
from reconverge.model.objects import Container

CONTAINER = schema(
    "container",
    read="name resources ports restartPolicy readinessProbe livenessProbe startupProbe lifecycle",
    ignored="image imagePullPolicy command args env envFrom volumeMounts volumeDevices workingDir stdin stdinOnce tty "
    "securityContext terminationMessagePath terminationMessagePolicy resizePolicy",
    unsupported="restartPolicyRules",
)
_PORT = schema("port", read="containerPort hostPort hostIP protocol", ignored="name")
_LIFECYCLE = schema("lifecycle", ignored="postStart stopSignal", unsupported="preStop")
_PROBE = schema(
    "probe",
    ignored="httpGet exec tcpSocket grpc initialDelaySeconds periodSeconds timeoutSeconds successThreshold "
    "failureThreshold terminationGracePeriodSeconds",
)
PROBES = {"readinessProbe": "readiness", "livenessProbe": "liveness", "startupProbe": "startup"}

ANY_ADDRESS = "0.0.0.0"
_PROTOCOLS = ("TCP", "UDP", "SCTP")


def containers(fields: Fields, key: str, host_network: bool) -> tuple[Container, ...]:
    """The containers of a pod spec at `containers` or `initContainers`."""
    found: list[Container] = []
    for each in fields.children(key, CONTAINER):
        container = _container(each, host_network, initial=key == "initContainers")
        if any(container.name == other.name for other in found):
            raise each.error(f'repeats the name "{container.name}"', "name")
        found.append(container)
    return tuple(found)


def _container(fields: Fields, host_network: bool, initial: bool) -> Container:
    fields.child("lifecycle", _LIFECYCLE)
    requests, limits = requirements(fields)
    policies = ("Always", "Never", "OnFailure")
    restart = fields.choice("restartPolicy", policies, default="")
    return Container(
        name=fields.required_text("name"),
        requests=resources(requests),
        limits=resources(limits),
        host_ports=_host_ports(fields, host_network),
        restart_policy=restart if initial else "",
        probes=frozenset(_probes(fields)),
    )


def _probes(fields: Fields) -> list[str]:
    for key in PROBES:
        if key in fields:
            fields.child(key, _PROBE)
    return [name for key, name in PROBES.items() if key in fields]


def _host_ports(fields: Fields, host_network: bool) -> tuple[tuple[str, str, int], ...]:
    """(address, protocol, port) of each host port; on the host network each container port is one."""
    ports = []
    for each in fields.children("ports", _PORT):
        port = each.integer("hostPort", 0, least=0, most=65535)
        if host_network and not port:
            port = each.integer("containerPort", 0, least=1, most=65535)
        protocol = each.choice("protocol", _PROTOCOLS, default="TCP")
        if port:
            ports.append((each.text("hostIP") or ANY_ADDRESS, protocol, port))
    return tuple(ports)
