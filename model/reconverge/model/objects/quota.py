"""LimitRange and ResourceQuota: what a namespace lets each pod, and all of its pods together, ask for.

Source: `pkg/apis/core/types.go`, `pkg/apis/core/v1/defaults.go` (SetDefaults_LimitRangeItem).
"""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen

from reconverge.model.objects.meta import ApiObject

Amounts = tuple[tuple[str, int], ...]
"""Sorted pairs of resource name and amount: CPU in millicores, all else in whole units (bytes, pods, devices)."""


@frozen
class LimitRangeItem:
    """Bounds and defaults for each container, or for each pod as a whole (`type` Container or Pod).

    Defaults are given as the API server completes them: from the maximum, the default limit and the minimum.
    """

    type: str = "Container"
    default: Amounts = ()
    default_request: Amounts = ()
    minimum: Amounts = ()
    maximum: Amounts = ()


@frozen(kw_only=True)
class LimitRange(ApiObject):
    """The limits of one namespace; several LimitRanges all apply."""

    kind: ClassVar[str] = "LimitRange"

    items: tuple[LimitRangeItem, ...] = ()


@frozen(kw_only=True)
class ResourceQuota(ApiObject):
    """What the pods of one namespace may hold together: `pods`, `requests.cpu`, `limits.memory` and so on.

    `cpu` and `memory` are kept as `requests.cpu` and `requests.memory`, `count/pods` as `pods`. With `scopes` only
    pods that match all of them count: BestEffort, NotBestEffort, Terminating, NotTerminating.
    """

    kind: ClassVar[str] = "ResourceQuota"

    hard: Amounts = ()
    scopes: tuple[str, ...] = ()
