"""Service. EndpointSlices are not read: the model computes them.

Source: `pkg/apis/core/types.go`, `pkg/apis/core/validation/validation.go`, endpointslice `reconciler.go`.
"""

from __future__ import annotations

from reconverge.loading.decoders.meta import metadata, plain_selector
from reconverge.loading.decoders.registry import Decoder
from reconverge.loading.fields import Fields
from reconverge.loading.schema import schema
from reconverge.model.objects import Service, ServicePort
from reconverge.model.objects.service import (
    CLUSTER,
    CLUSTER_IP,
    DISTRIBUTIONS,
    EXTERNAL_NAME,
    LOAD_BALANCER,
    LOCAL,
    NODE_PORT,
)

SERVICE = schema("Service", read="apiVersion kind metadata spec", ignored="status")
_SPEC = schema(
    "service spec",
    read="selector type ports clusterIP publishNotReadyAddresses externalTrafficPolicy internalTrafficPolicy "
    "sessionAffinity trafficDistribution",
    ignored="clusterIPs externalIPs externalName loadBalancerIP loadBalancerClass loadBalancerSourceRanges "
    "allocateLoadBalancerNodePorts healthCheckNodePort ipFamilies ipFamilyPolicy ipFamily sessionAffinityConfig "
    "topologyKeys",
)
_PORT = schema("service port", read="name port", ignored="protocol targetPort nodePort appProtocol")
_TYPES = (CLUSTER_IP, NODE_PORT, LOAD_BALANCER, EXTERNAL_NAME)
_POLICIES = (CLUSTER, LOCAL)
_AFFINITIES = ("None", "ClientIP")


def decode_service(top: Fields) -> Service:
    """A Service. One of type ExternalName has no endpoints, whatever it selects."""
    meta = metadata(top)
    spec = top.child("spec", _SPEC)
    kind = spec.choice("type", _TYPES, default=CLUSTER_IP)
    chosen = plain_selector(spec, "selector")
    return Service(
        **meta,
        type=kind,
        selector=None if kind == EXTERNAL_NAME else chosen,
        ports=tuple(_port(each) for each in spec.children("ports", _PORT)),
        publish_not_ready=spec.flag("publishNotReadyAddresses"),
        headless=spec.text("clusterIP") == "None",
        external_traffic_policy=spec.choice("externalTrafficPolicy", _POLICIES, default=CLUSTER),
        internal_traffic_policy=spec.choice("internalTrafficPolicy", _POLICIES, default=CLUSTER),
        session_affinity=spec.choice("sessionAffinity", _AFFINITIES, default="None"),
        traffic_distribution=spec.choice("trafficDistribution", DISTRIBUTIONS, default=""),
    )


def _port(fields: Fields) -> ServicePort:
    if "port" not in fields:
        raise fields.error("is required", "port")
    return ServicePort(fields.text("name"), fields.integer("port", 0, least=1, most=65535))


DECODERS = (Decoder("Service", ("v1",), SERVICE, decode_service),)
