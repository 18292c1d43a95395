"""Metadata and label selectors.

Source: apimachinery `pkg/apis/meta/v1/types.go`, `pkg/apis/meta/v1/validation/validation.go`.
"""

from __future__ import annotations

import math
import re
from typing import Any

from reconverge.loading.decoders.behaviour import SETTINGS
from reconverge.loading.errors import LoadError, quoted_nearest
from reconverge.loading.fields import Fields
from reconverge.loading.schema import schema
from reconverge.loading.templates import ADVICE, is_template
from reconverge.model.labels import Labels, Requirement, Selector, labels_of
from reconverge.model.objects import OwnerReference

METADATA = schema(
    "metadata",
    read="name generateName namespace labels annotations uid generation ownerReferences creationTimestamp "
    "deletionTimestamp deletionGracePeriodSeconds finalizers",
    ignored="resourceVersion selfLink managedFields clusterName",
)
SELECTOR = schema("selector", read="matchLabels matchExpressions")
_REQUIREMENT = schema("requirement", read="key operator values")
_OWNER = schema("owner reference", read="apiVersion kind name uid controller", ignored="blockOwnerDeletion")

OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LONGEST_NAME = 253
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
PREFIX = "reconverge/"
TEMPLATE_ANNOTATIONS = frozenset(SETTINGS)
LOAD = "reconverge/load"
LOADS = "the total demand of the workload, such as 800m, shared by the pods that serve"
CONTROLLER = "reconverge/controller"
"""On an IngressClass: who is its controller."""
OBJECT_ANNOTATIONS = frozenset({LOAD})


def metadata(top: Fields, namespaced: bool = True) -> dict[str, Any]:
    """The constructor arguments that every API object takes. Times are relative to the newest one of the dump."""
    fields, dump = top.child("metadata", METADATA), top.reader.dump
    created = dump.seconds(fields.raw("creationTimestamp"))
    return {
        "name": _name(fields),
        "namespace": (fields.text("namespace") or "default") if namespaced else "default",
        "uid": dump.uid(fields.raw("uid")),
        "generation": fields.integer("generation", 1),
        "labels": fields.labels("labels"),
        "annotations": read_annotations(fields, on_template=top.reader.document.kind == "Pod"),
        "owner": _owner(fields),
        "created_at": created if created is not None else 0,
        "deletion_at": dump.seconds(fields.raw("deletionTimestamp")),
    }


def _name(fields: Fields) -> str:
    if "name" not in fields and "generateName" in fields:
        return fields.reader.dump.generated_name(fields.text("generateName"))
    name = fields.required_text("name")
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        lower = re.sub(r"[^a-z0-9.-]+", "-", name.lower()).strip("-.")
        suggestion = f'"{lower}"' if lower and lower != name else ""
        raise fields.error(f'"{name}" must be lower-case letters, digits, "-" and "."', "name", suggestion)
    return name


def read_annotations(fields: Fields, on_template: bool) -> Labels:
    """The annotations, without kubectl's copy of the object. The `reconverge/` ones must be known here."""
    pairs = fields.pairs("annotations", loose_prefix=PREFIX) if "annotations" in fields else {}
    pairs.pop(LAST_APPLIED, None)
    known = TEMPLATE_ANNOTATIONS if on_template else OBJECT_ANNOTATIONS
    if fields.reader.document.kind == "IngressClass":
        known = frozenset({CONTROLLER})
    for key in pairs:
        if key.startswith(PREFIX) and key not in known and not (on_template and key.partition(".")[0] in known):
            raise _misplaced(fields.child("annotations"), key, known)
    if LOAD in pairs:
        # The model reads millicores only.
        pairs[LOAD] = f"{math.ceil(fields.child('annotations').quantity(LOAD) * 1000)}m"
    return labels_of(pairs)


def _misplaced(fields: Fields, key: str, known: frozenset[str]) -> LoadError:
    if key in TEMPLATE_ANNOTATIONS:
        return fields.error("belongs on the pod template (spec.template.metadata.annotations)", key)
    if key == CONTROLLER:
        return fields.error("belongs on an IngressClass", key)
    if key in OBJECT_ANNOTATIONS:
        return fields.error("belongs on the workload, not on its pods", key)
    return fields.error("is not an annotation that is known", key, quoted_nearest(key, known))


def _owner(fields: Fields) -> OwnerReference | None:
    """The controlling owner: the reference with `controller: true`."""
    for owner in fields.children("ownerReferences", _OWNER):
        uid = fields.reader.dump.uid(owner.raw("uid"))
        if owner.flag("controller"):
            return OwnerReference(owner.required_text("kind"), owner.required_text("name"), uid)
    return None


def selector(fields: Fields, key: str) -> Selector | None:
    """The label selector at a key, or None if it is absent."""
    if key not in fields:
        return None
    written = fields.raw(key)
    if isinstance(written, dict) and written and all(isinstance(each, str) for each in written.values()):
        raise fields.error("lists labels, which belong under matchLabels", key)
    level = fields.child(key, SELECTOR)
    return Selector(level.labels("matchLabels"), requirements(level, "matchExpressions", OPERATORS))


def requirements(fields: Fields, key: str, operators: tuple[str, ...]) -> tuple[Requirement, ...]:
    """The expressions of a selector, each with an operator of the given ones."""
    return tuple(_requirement(each, operators) for each in fields.children(key, _REQUIREMENT))


def _requirement(fields: Fields, operators: tuple[str, ...]) -> Requirement:
    key = fields.required_text("key")
    operator = fields.choice("operator", operators)
    values = fields.texts("values")
    if operator in ("In", "NotIn") and not values:
        raise fields.error(f"must have at least one value for operator {operator}", "values")
    if operator in ("Exists", "DoesNotExist") and values:
        raise fields.error(f"must be absent for operator {operator}", "values")
    if operator in ("Gt", "Lt") and (len(values) != 1 or not re.fullmatch(r"[+-]?[0-9]+", values[0])):
        raise fields.error(f"must hold one whole number, as a string, for operator {operator}", "values")
    return Requirement(key, operator, values)


def plain_selector(fields: Fields, key: str) -> Selector | None:
    """A selector that is a mapping of labels only, as a Service has; None if it is absent or empty."""
    if is_template(fields.raw(key)):
        raise LoadError(ADVICE, fields.where(key))
    pairs = fields.labels(key)
    return Selector(match_labels=pairs) if pairs else None
