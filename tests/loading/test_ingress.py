"""Services with their ports and policies, Ingresses and IngressClasses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconverge.model.objects import Ingress, IngressBackend, IngressClass, ServicePort

Read = Callable[[str], Any]


def service(spec: str) -> str:
    return f"apiVersion: v1\nkind: Service\nmetadata: {{name: web}}\nspec: {{{spec}}}\n"


def test_how_a_service_is_reached_is_read(read_one: Read) -> None:
    found = read_one(
        service(
            "type: LoadBalancer, externalTrafficPolicy: Local, internalTrafficPolicy: Local, "
            "sessionAffinity: ClientIP, trafficDistribution: PreferClose, "
            "ports: [{name: http, port: 80, targetPort: 8080}, {port: 443}]"
        )
    )
    assert (found.type, found.external, found.proxied) == ("LoadBalancer", True, True)
    assert (found.external_traffic_policy, found.internal_traffic_policy) == ("Local", "Local")
    assert (found.session_affinity, found.traffic_distribution) == ("ClientIP", "PreferClose")
    assert found.ports == (ServicePort("http", 80), ServicePort("", 443))


def test_a_service_that_says_nothing_is_a_cluster_ip(read_one: Read) -> None:
    found = read_one(service("selector: {app: web}, ports: [{port: 80}]"))
    assert (found.type, found.external, found.proxied) == ("ClusterIP", False, True)
    assert (found.external_traffic_policy, found.internal_traffic_policy) == ("Cluster", "Cluster")
    assert (found.session_affinity, found.traffic_distribution) == ("None", "")
    assert not read_one(service("clusterIP: None")).proxied
    assert not read_one(service("type: ExternalName, externalName: db.example.com")).proxied


def test_a_service_of_a_dump_is_read(read_all: Read) -> None:
    loaded = read_all(
        service(
            "allocateLoadBalancerNodePorts: true, clusterIP: 10.0.0.7, clusterIPs: [10.0.0.7], "
            "healthCheckNodePort: 31000, "
            "internalTrafficPolicy: Cluster, ipFamilies: [IPv4], ipFamilyPolicy: SingleStack, sessionAffinity: None, "
            "type: LoadBalancer, ports: [{name: http, nodePort: 30080, port: 80, protocol: TCP, targetPort: http}]"
        )
        + "status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}\n"
    )
    assert loaded.accounting.unsupported == ()


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("externalTrafficPolicy: local", 'Did you mean "Local"?'),
        ("trafficDistribution: PreferNear", "must be one of PreferClose, PreferSameZone, PreferSameNode"),
        ("sessionAffinity: ClientIp", 'Did you mean "ClientIP"?'),
        ("ports: [{prot: 80}]", 'Did you mean "port"?'),
        ("ports: [{name: http}]", "spec.ports[0].port is required"),
        ("ports: [{port: 70000}]", "must be at most 65535"),
    ],
)
def test_bad_services_are_refused(error_of: Read, spec: str, said: str) -> None:
    assert said in error_of(service(spec))


def ingress(spec: str, version: str = "networking.k8s.io/v1", annotations: str = "") -> str:
    meta = f"metadata: {{name: shop, annotations: {{{annotations}}}}}"
    return f"apiVersion: {version}\nkind: Ingress\n{meta}\nspec: {{{spec}}}\n"


def path(backend: str) -> str:
    return f"rules: [{{host: shop.example.com, http: {{paths: [{{path: /, pathType: Prefix, backend: {backend}}}]}}}}]"


def test_an_ingress_is_read(read_one: Read) -> None:
    found = read_one(
        ingress(
            "ingressClassName: nginx, tls: [{hosts: [shop.example.com]}], "
            "defaultBackend: {service: {name: web, port: {name: http}}}, "
            + path("{service: {name: web, port: {number: 80}}}")
        )
    )
    assert isinstance(found, Ingress)
    assert found.ingress_class == "nginx"
    assert found.backends == (IngressBackend("web", "80"), IngressBackend("web", "http"))


def test_the_class_may_be_an_annotation(read_one: Read) -> None:
    assert read_one(ingress("rules: []", annotations="kubernetes.io/ingress.class: traefik")).ingress_class == "traefik"
    both = ingress("ingressClassName: nginx", annotations="kubernetes.io/ingress.class: traefik")
    assert read_one(both).ingress_class == "nginx"
    assert read_one(ingress("rules: []")).ingress_class is None


@pytest.mark.parametrize("version", ["networking.k8s.io/v1beta1", "extensions/v1beta1"])
def test_the_versions_before_v1_are_read(read_one: Read, version: str) -> None:
    spec = f"backend: {{serviceName: other, servicePort: http}}, {path('{serviceName: web, servicePort: 80}')}"
    assert read_one(ingress(spec, version)).backends == (IngressBackend("web", "80"), IngressBackend("other", "http"))


def test_a_backend_that_is_no_service_is_left_out(read_one: Read) -> None:
    bucket = "{resource: {apiGroup: example.com, kind: Bucket, name: static}}"
    assert read_one(ingress(path(bucket))).backends == ()


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("ingressClasName: nginx", 'Did you mean "ingressClassName"?'),
        (path("{service: {name: web}}"), "port needs a number or a name"),
        (path("{service: {port: {number: 80}}}"), "service.name is required"),
        (path("{service: {name: web, port: {number: http}}}"), "must be a whole number"),
    ],
)
def test_bad_ingresses_are_refused(error_of: Read, spec: str, said: str) -> None:
    assert said in error_of(ingress(spec))


def class_(annotations: str = "", spec: str = "controller: k8s.io/ingress-nginx") -> str:
    return (
        "apiVersion: networking.k8s.io/v1\nkind: IngressClass\n"
        f"metadata: {{name: nginx, annotations: {{{annotations}}}}}\nspec: {{{spec}}}\n"
    )


def test_a_class_is_read(read_one: Read) -> None:
    found = read_one(class_())
    assert isinstance(found, IngressClass)
    assert (found.key, found.controller, found.controlled_by, found.default) == (
        "nginx", "k8s.io/ingress-nginx", "", False,
    )  # fmt: skip
    assert read_one(class_("ingressclass.kubernetes.io/is-default-class: 'true'")).default
    assert read_one(class_("reconverge/controller: external")).controlled_by == "external"
    assert read_one(class_("reconverge/controller: deployment/edge/proxy")).controlled_by == "deployment/edge/proxy"


def test_who_controls_a_class_is_said_on_the_class_only(error_of: Read, deployment: Callable[..., str]) -> None:
    assert 'must be "external" or a workload' in error_of(class_("reconverge/controller: outside"))
    assert 'Did you mean "reconverge/controller"?' in error_of(class_("reconverge/controler: external"))
    misplaced = ingress("rules: []", annotations="reconverge/controller: external")
    assert "belongs on an IngressClass" in error_of(misplaced)


def test_an_ingress_of_another_group_is_left_out(read_all: Read) -> None:
    other = (
        "apiVersion: config.openshift.io/v1\nkind: Ingress\nmetadata: {name: cluster}\nspec: {domain: example.com}\n"
    )
    assert read_all(other).objects == ()


def test_gateways_are_left_out(read_all: Read) -> None:
    text = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: shop}\nspec: {rules: []}\n"
    loaded = read_all(text)
    assert (loaded.objects, dict(loaded.skipped)) == ((), {"HTTPRoute": 1})
