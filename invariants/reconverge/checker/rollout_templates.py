"""The pod template of a rollout that sets fields: `set: {spec.containers[0].resources.requests.cpu: 2}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from reconverge.loading import Document, Fields, Loaded, decode
from reconverge.model.naming import split
from reconverge.model.objects import PodTemplate

_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


Changes = tuple[tuple[str, object], ...]


def changed_template(arguments: Fields, values: Mapping[str, Any], loaded: Loaded) -> tuple[PodTemplate, Changes]:
    """The workload's template with the fields that `set` names, and these; paths begin at the template.

    Raises LoadError.
    """
    document = _document(arguments, str(values.get("workload", "")), loaded)
    value = deepcopy(document.value)
    template = value["spec"]["template"]
    for path, new in arguments.child("set").value.items():
        _put(arguments, template, path, new)
    decoded: Any = decode(Document(document.kind, document.api_version, value, document.file))
    result = decoded.template
    assert isinstance(result, PodTemplate)
    return result, tuple(arguments.child("set").value.items())


def _document(arguments: Fields, workload: str, loaded: Loaded) -> Document:
    kind, key = split(workload)
    for each, document in zip(loaded.objects, loaded.raw, strict=True):
        if each.kind == kind and each.key == key:
            return document
    raise arguments.error(f'names "{workload}", which is not among the manifests', "workload")


def _put(arguments: Fields, value: Any, path: str, new: Any) -> None:
    steps = [int(index) if index else name for name, index in _STEP.findall(path)]
    for step in steps[:-1]:
        if isinstance(step, int):
            if not isinstance(value, list) or step >= len(value):
                raise arguments.child("set").error("leads nowhere in the template", path)
            value = value[step]
        else:
            value = value.setdefault(step, {})
    value[steps[-1]] = new
