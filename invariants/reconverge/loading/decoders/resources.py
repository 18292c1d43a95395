"""Resource lists and container resources.

Source: `pkg/apis/core/v1/defaults.go` (SetDefaults_Pod), `pkg/apis/core/validation/validation.go`
(ValidateResourceRequirements).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from reconverge.loading.errors import quoted_nearest
from reconverge.loading.fields import Fields
from reconverge.loading.schema import schema
from reconverge.model.resources import Resources

REQUIREMENTS = schema("resources", read="requests limits", unsupported="claims")
_NATIVE = ("cpu", "memory", "ephemeral-storage", "storage", "pods")
_COUNTABLE = ("cpu", "memory", "ephemeral-storage")

Amounts = Mapping[str, Fraction]
"""Exact amounts by resource name."""


def amounts(fields: Fields, key: str) -> dict[str, Fraction]:
    """The resource list at a key. A name without a domain must be one of Kubernetes' own."""
    level = fields.child(key)
    for name in level.value:
        if "/" not in name and name not in _NATIVE and not name.startswith(("hugepages-", "attachable-volumes-")):
            raise level.error("is no resource that Kubernetes knows", name, quoted_nearest(name, _NATIVE))
    return {name: level.quantity(name) for name in level.names()}


def requirements(fields: Fields) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
    """(requests, limits) of a container, requests as the API server completes them from the limits."""
    level = fields.child("resources", REQUIREMENTS)
    requests, limits = amounts(level, "requests"), amounts(level, "limits")
    for name, limit in limits.items():
        if requests.setdefault(name, limit) > limit:
            raise level.error(f"for {name} must not be more than its limit", "requests")
    for name in requests:
        if _extended(name) and requests[name] != limits.get(name, requests[name]):
            raise level.error(f"for {name} must equal its limit", "requests")
    return requests, limits


def _extended(name: str) -> bool:
    return "/" in name


def resources(given: Amounts) -> Resources:
    """Amounts in the model's units: CPU in millicores, the rest in whole units, rounded up."""
    extended = {name: math.ceil(each) for name, each in given.items() if name not in (*_COUNTABLE, "pods")}
    return Resources(
        cpu=math.ceil(given.get("cpu", Fraction(0)) * 1000),
        memory=math.ceil(given.get("memory", Fraction(0))),
        ephemeral_storage=math.ceil(given.get("ephemeral-storage", Fraction(0))),
        extended=tuple(sorted((name, each) for name, each in extended.items() if each)),
    )
