"""Labels and label selectors.

Source: apimachinery `pkg/labels/selector.go`, `pkg/apis/meta/v1/helpers.go`.
"""

from __future__ import annotations

from functools import lru_cache

from attrs import frozen

Labels = tuple[tuple[str, str], ...]
"""Labels or annotations: sorted pairs of key and value, hashable and cheap to compare."""


def labels_of(pairs: dict[str, str]) -> Labels:
    """The labels of a plain dictionary."""
    return tuple(sorted(pairs.items()))


@lru_cache(maxsize=65536)
def label(labels: Labels, key: str) -> str | None:
    """The value of `key`, or None."""
    return dict(labels).get(key)


def with_label(labels: Labels, key: str, value: str | None) -> Labels:
    """The labels with `key` set to `value`, or without it if `value` is None."""
    pairs = dict(labels)
    if value is None:
        pairs.pop(key, None)
    else:
        pairs[key] = value
    return labels_of(pairs)


@frozen
class Requirement:
    """One `matchExpressions` entry. Operators: In, NotIn, Exists, DoesNotExist, and for nodes Gt, Lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Labels) -> bool:
        """Whether the labels satisfy this requirement; NotIn and DoesNotExist hold for a missing key."""
        value = label(labels, self.key)
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":
                return self._compares(value)
        raise ValueError(f"unknown selector operator {self.operator!r}")

    def _compares(self, value: str | None) -> bool:
        try:
            number, bound = int(value or ""), int(self.values[0])
        except (ValueError, IndexError):
            return False
        return number > bound if self.operator == "Gt" else number < bound


@frozen
class Selector:
    """A label selector: all `match_labels` and all `match_expressions` must hold; an empty one matches everything."""

    match_labels: Labels = ()
    match_expressions: tuple[Requirement, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing is asked for."""
        return not self.match_labels and not self.match_expressions

    def matches(self, labels: Labels) -> bool:
        """Whether the labels satisfy the selector."""
        return _selector_matches(self, labels)

    def keys(self) -> frozenset[str]:
        """Every label key that the selector mentions."""
        return frozenset(key for key, _ in self.match_labels) | {each.key for each in self.match_expressions}


@lru_cache(maxsize=65536)
def _selector_matches(selector: Selector, labels: Labels) -> bool:
    pairs = set(labels)
    return all(pair in pairs for pair in selector.match_labels) and all(
        each.matches(labels) for each in selector.match_expressions
    )
