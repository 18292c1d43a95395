"""Containers: requests, host ports, probes, images, hooks.

Source: `pkg/apis/core/types.go`, `pkg/apis/core/v1/defaults.go`.
"""

from __future__ import annotations

import re

from reconverge.loading.decoders.resources import requirements, resources
from reconverge.loading.fields import Fields
from reconverge.loading.schema import schema
from reconverge.model.objects import Container, Probe
from reconverge.model.value import Seconds

CONTAINER = schema(
    "container",
    read="name image imagePullPolicy resources ports restartPolicy readinessProbe livenessProbe startupProbe lifecycle",
    ignored="command args env envFrom volumeMounts volumeDevices workingDir stdin stdinOnce tty "
    "securityContext terminationMessagePath terminationMessagePolicy resizePolicy",
    unsupported="restartPolicyRules",
)
_PORT = schema("port", read="containerPort hostPort hostIP protocol", ignored="name")
_LIFECYCLE = schema("lifecycle", read="preStop", ignored="postStart stopSignal")
_PRE_STOP = schema("preStop", read="exec sleep", ignored="httpGet tcpSocket")
_SLEEP = schema("sleep", read="seconds")
_EXEC = schema("exec", read="command")
_PROBE = schema(
    "probe",
    read="initialDelaySeconds periodSeconds successThreshold failureThreshold",
    ignored="httpGet exec tcpSocket grpc timeoutSeconds terminationGracePeriodSeconds",
)
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_SLEEPS = re.compile(r"\s*(?:/bin/)?sleep\s+([0-9]+(?:\.[0-9]+)?)s?\s*;?\s*")
"""A shell command that only waits, the usual way to delay the stop signal."""

ANY_ADDRESS = "0.0.0.0"
_PROTOCOLS = ("TCP", "UDP", "SCTP")


def containers(
    fields: Fields, key: str, host_network: bool, beside: tuple[Container, ...] = ()
) -> tuple[Container, ...]:
    """The containers of a pod spec at `containers` or `initContainers`; those `beside` them have other names."""
    found: list[Container] = []
    for each in fields.children(key, CONTAINER):
        container = _container(each, host_network, initial=key == "initContainers")
        if any(container.name == other.name for other in (*beside, *found)):
            raise each.error(f'repeats the name "{container.name}"', "name")
        found.append(container)
    return tuple(found)


def _container(fields: Fields, host_network: bool, initial: bool) -> Container:
    requests, limits = requirements(fields)
    policies = ("Always", "Never", "OnFailure")
    restart = fields.choice("restartPolicy", policies, default="")
    image = fields.text("image")
    pulls = fields.choice("imagePullPolicy", _PULL_POLICIES, default="Always" if _moves(image) else "IfNotPresent")
    return Container(
        name=fields.required_text("name"),
        requests=resources(requests),
        limits=resources(limits),
        host_ports=_host_ports(fields, host_network),
        restart_policy=restart if initial else "",
        readiness=_probe(fields, "readinessProbe"),
        liveness=_probe(fields, "livenessProbe"),
        startup=_probe(fields, "startupProbe"),
        pre_stop=_pre_stop(fields.child("lifecycle", _LIFECYCLE)),
        image=image,
        pulls_always=pulls == "Always",
    )


def _moves(image: str) -> bool:
    """Whether an image is named by no tag, or by the tag that moves: it is pulled for every start."""
    name = image.rpartition("/")[2]
    return "@" not in name and (":" not in name or name.endswith(":latest"))


def _probe(fields: Fields, key: str) -> Probe | None:
    """A probe. A number that is 0 stands for its default, as in the API server; success counts for readiness only."""
    if key not in fields:
        return None
    level, usual = fields.child(key, _PROBE), Probe()
    success = level.integer("successThreshold", usual.success) or usual.success
    if success != 1 and key != "readinessProbe":
        raise level.error(f"must be 1 for a {key}, not {success}", "successThreshold")
    return Probe(
        initial_delay=level.integer("initialDelaySeconds", 0),
        period=level.integer("periodSeconds", 0) or usual.period,
        success=success,
        failure=level.integer("failureThreshold", 0) or usual.failure,
    )


def _pre_stop(lifecycle: Fields) -> Seconds:
    """How long the preStop hook takes in seconds, if it says so: it sleeps. Of others nothing is known, and 0."""
    hook = lifecycle.child("preStop", _PRE_STOP)
    if "sleep" in hook:
        return hook.child("sleep", _SLEEP).integer("seconds", 0)
    command = list(hook.child("exec", _EXEC).texts("command"))
    found = _SLEEPS.fullmatch(" ".join(command[2:] if command[1:2] == ["-c"] else command))
    if found is not None:
        return float(found[1]) if "." in found[1] else int(found[1])
    if hook.value:
        lifecycle.unsupported("preStop")
    return 0


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
