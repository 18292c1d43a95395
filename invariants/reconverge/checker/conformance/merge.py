"""Strategic merge patches, as far as scripts use them.

Source: apimachinery `pkg/util/strategicpatch/patch.go`; merge keys from `staging/src/k8s.io/api/core/v1/types.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MERGE_KEYS = {"containers": "name", "initContainers": "name", "taints": "key", "volumes": "name", "ports": "port"}
"""Lists whose entries are merged by a key; other lists are replaced."""


def merged(value: Any, patch: Any) -> Any:
    """A document with a patch merged in; null removes a field."""
    if not isinstance(value, Mapping) or not isinstance(patch, Mapping):
        return patch
    result = dict(value)
    for name, part in patch.items():
        if part is None:
            result.pop(name, None)
        elif name in MERGE_KEYS and isinstance(part, list):
            result[name] = _merged_list(result.get(name) or [], part, MERGE_KEYS[name])
        elif isinstance(part, Mapping):
            result[name] = merged(result.get(name) or {}, part)
        else:
            result[name] = part
    return result


def _merged_list(values: list[Any], patch: list[Any], key: str) -> list[Any]:
    result = list(values)
    for part in patch:
        place = next((index for index, each in enumerate(result) if each.get(key) == part.get(key)), None)
        if place is None:
            result.append(part)
        else:
            result[place] = merged(result[place], part)
    return result
