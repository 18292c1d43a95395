"""Service and EndpointSlice.

Source: `pkg/apis/core/types.go`, `endpointslice/utils.go`.
"""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen

from reconverge.model.labels import Selector
from reconverge.model.objects.meta import ApiObject


@frozen(kw_only=True)
class Service(ApiObject):
    """A Service; without a selector nothing keeps its endpoints."""

    kind: ClassVar[str] = "Service"

    selector: Selector | None = None
    publish_not_ready: bool = False
    headless: bool = False
    external_traffic_policy: str = "Cluster"


@frozen
class Endpoint:
    """One pod behind a Service. `ready` is serving and not terminating (or published regardless)."""

    pod: str
    """Key of the pod."""
    node: str
    ready: bool
    serving: bool
    terminating: bool


@frozen(kw_only=True)
class EndpointSlice(ApiObject):
    """The endpoints of one Service. The model keeps one slice per Service instead of one per 100 endpoints."""

    kind: ClassVar[str] = "EndpointSlice"

    service: str = ""
    endpoints: tuple[Endpoint, ...] = ()
