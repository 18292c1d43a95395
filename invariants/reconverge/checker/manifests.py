"""What a manifest says, and what it leaves to others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reconverge.model.objects import ApiObject


def unsaid(each: ApiObject, written: Mapping[str, Any]) -> frozenset[str]:
    """The fields that an apply leaves as they are, because the manifest says nothing of them: replicas."""
    spec = written.get("spec")
    silent = hasattr(each, "replicas") and (not isinstance(spec, dict) or spec.get("replicas") is None)
    return frozenset({"replicas"}) if silent else frozenset()
