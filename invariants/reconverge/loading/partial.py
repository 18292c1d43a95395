"""Recognises workloads that are only a part: kustomize and strategic-merge patches.

An eighth of the workloads found in public repositories are such parts; kubectl would refuse them on their own.
"""

from __future__ import annotations

from typing import Any

from reconverge.loading.document import Document

_SELECTED_BY_LABELS = frozenset({"extensions/v1beta1", "apps/v1beta1"})
"""API versions in which a missing selector is filled in from the template's labels."""


def missing_part(document: Document, template: tuple[str, ...], selected: bool) -> str:
    """What makes the document a mere part of an object; empty if it is whole.

    `template` is the path of the pod template, empty for a Pod; `selected` whether the kind needs a selector.
    """
    if _has_directive(document.value):
        return "a $patch directive"
    top = _at(document.value, template)
    containers = _at(top, ("spec", "containers"))
    if not containers:
        return "no containers" if containers in (None, []) else ""
    if isinstance(containers, list) and any(isinstance(each, dict) and not each.get("image") for each in containers):
        return "a container without an image"
    if selected and document.api_version not in _SELECTED_BY_LABELS and not _at(document.value, ("spec", "selector")):
        return "no selector"
    return ""


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _has_directive(value: Any) -> bool:
    if isinstance(value, dict):
        return any(key in value for key in ("$patch", "$setElementOrder/containers", "$retainKeys")) or any(
            _has_directive(each) for each in value.values()
        )
    return isinstance(value, list) and any(_has_directive(each) for each in value)
