"""Service. EndpointSlices are not read: the model computes them.

Source: `pkg/apis/core/types.go`, `pkg/apis/core/validation/validation.go`, endpointslice `reconciler.go`.
"""

from __future__ import annotations

from reconverge.loading.decoders.meta import metadata, plain_selector
from reconverge.loading.decoders.registry import Decoder
from reconverge.loading.fields import Fields
from reconverge.loading.schema import schema
from reconverge.model.objects import Service

SERVICE = schema("Service", read="apiVersion kind metadata spec", ignored="status")
_SPEC = schema(
    "service spec",
    read="selector type clusterIP publishNotReadyAddresses externalTrafficPolicy internalTrafficPolicy",
    ignored="ports clusterIPs externalIPs externalName loadBalancerIP loadBalancerClass loadBalancerSourceRanges "
    "allocateLoadBalancerNodePorts healthCheckNodePort ipFamilies ipFamilyPolicy ipFamily sessionAffinity "
    "sessionAffinityConfig trafficDistribution topologyKeys",
)
_TYPES = ("ClusterIP", "NodePort", "LoadBalancer", "ExternalName")
_POLICIES = ("Cluster", "Local")


def decode_service(top: Fields) -> Service:
    """A Service. One of type ExternalName has no endpoints, whatever it selects."""
    meta = metadata(top)
    spec = top.child("spec", _SPEC)
    external = spec.choice("type", _TYPES, default="ClusterIP") == "ExternalName"
    chosen = plain_selector(spec, "selector")
    if spec.choice("internalTrafficPolicy", _POLICIES, default="Cluster") == "Local":
        spec.unsupported("internalTrafficPolicy")
    return Service(
        **meta,
        selector=None if external else chosen,
        publish_not_ready=spec.flag("publishNotReadyAddresses"),
        headless=spec.text("clusterIP") == "None",
        external_traffic_policy=spec.choice("externalTrafficPolicy", _POLICIES, default="Cluster"),
    )


DECODERS = (Decoder("Service", ("v1",), SERVICE, decode_service),)
