"""LimitRange and ResourceQuota.

Source: `pkg/apis/core/validation/validation.go` (ValidateLimitRange, ValidateResourceQuota),
`pkg/apis/core/v1/defaults.go` (SetDefaults_LimitRangeItem).
"""

from __future__ import annotations

import math
from fractions import Fraction

from reconverge.loading.decoders.meta import metadata
from reconverge.loading.decoders.registry import Decoder
from reconverge.loading.decoders.resources import amounts
from reconverge.loading.errors import quoted_nearest
from reconverge.loading.fields import Fields
from reconverge.loading.schema import schema
from reconverge.model.objects.quota import Amounts, LimitRange, LimitRangeItem, ResourceQuota

LIMIT_RANGE = schema("LimitRange", read="apiVersion kind metadata spec")
_LIMIT_SPEC = schema("limit range spec", read="limits")
_ITEM = schema("limit", read="type default defaultRequest min max", unsupported="maxLimitRequestRatio")
_TYPES = ("Container", "Pod", "PersistentVolumeClaim")
QUOTA = schema("ResourceQuota", read="apiVersion kind metadata spec", ignored="status")
_QUOTA_SPEC = schema("quota spec", read="hard scopes", unsupported="scopeSelector")
_SCOPES = (
    "Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity",
)  # fmt: skip
_SHORT = {"cpu": "requests.cpu", "memory": "requests.memory", "ephemeral-storage": "requests.ephemeral-storage",
          "count/pods": "pods"}  # fmt: skip
_COUNTED = (
    "pods", "requests.cpu", "requests.memory", "requests.ephemeral-storage", "limits.cpu", "limits.memory",
    "limits.ephemeral-storage",
)  # fmt: skip
_OTHER = (
    "configmaps", "persistentvolumeclaims", "replicationcontrollers", "resourcequotas", "secrets", "services",
    "services.loadbalancers", "services.nodeports", "requests.storage",
)  # fmt: skip
"""What a quota may limit, too, and nothing modelled depends on."""


def decode_limit_range(top: Fields) -> LimitRange:
    """A LimitRange with the defaults that the API server adds; limits of claims are left out."""
    meta = metadata(top)
    spec = top.child("spec", _LIMIT_SPEC)
    items = (_item(each) for each in spec.children("limits", _ITEM))
    return LimitRange(**meta, items=tuple(item for item in items if item.type != _TYPES[2]))


def _item(fields: Fields) -> LimitRangeItem:
    type_ = fields.choice("type", _TYPES)
    least, most = amounts(fields, "min"), amounts(fields, "max")
    default, request = amounts(fields, "default"), amounts(fields, "defaultRequest")
    if type_ == "Pod" and (default or request):
        raise fields.error("is not for type Pod", "default" if default else "defaultRequest")
    for name, low in least.items():
        if low > most.get(name, low):
            raise fields.error(f"of {name} must not be more than max", "min")
    if type_ == "Container":
        default = {**most, **default}
        request = {**least, **default, **request}
    for name, given in request.items():
        if given > default.get(name, given):
            raise fields.error(f"of {name} must not be more than default", "defaultRequest")
    return LimitRangeItem(type_, _units(default), _units(request), _units(least), _units(most))


def decode_quota(top: Fields) -> ResourceQuota:
    """A ResourceQuota, as far as it limits pods; other resources in it are recorded as not supported."""
    meta = metadata(top)
    spec = top.child("spec", _QUOTA_SPEC)
    for scope in spec.texts("scopes"):
        if scope not in _SCOPES:
            raise spec.error(f'has no scope "{scope}"', "scopes", quoted_nearest(scope, _SCOPES))
    hard = spec.child("hard")
    given = {}
    for written in hard.names():
        name = _SHORT.get(written, written)
        if name in _COUNTED or (name.startswith(("requests.", "limits.")) and "/" in name):
            given[name] = hard.quantity(written)
        elif "/" in name or name in _OTHER:
            hard.unsupported(written)
        else:
            known = (*_COUNTED, *_SHORT, *_OTHER)
            raise hard.error("is nothing that a quota can limit", written, quoted_nearest(name, known))
    # With a selector that is not modelled it would count pods that it is not about.
    scopes = (*spec.texts("scopes"), *(("scopeSelector",) if "scopeSelector" in spec else ()))
    return ResourceQuota(**meta, hard=_units(given), scopes=scopes)


def _units(given: dict[str, Fraction]) -> Amounts:
    """Amounts in the model's units: CPU in millicores, the rest in whole units, rounded up."""
    return tuple(
        sorted((name, math.ceil(each * 1000 if name.endswith("cpu") else each)) for name, each in given.items())
    )


DECODERS = (
    Decoder("LimitRange", ("v1",), LIMIT_RANGE, decode_limit_range),
    Decoder("ResourceQuota", ("v1",), QUOTA, decode_quota),
)
