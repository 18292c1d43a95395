"""What all frozen values of the model share: a cheap copy with some fields changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import attrs

_CACHED_HASH = "_attrs_cached_hash"

Seconds = float
"""Simulated time, in seconds. Default timings are whole numbers, so sums of them are exact."""

_COPIERS: dict[type, tuple[Callable[[Any], Any], dict[str, Callable[[Any, Any], None]]]] = {}


class Value:
    """Base of the model's frozen attrs classes: adds `with_`, an `attrs.evolve` at a fifth of its cost."""

    __slots__ = ()

    def with_(self, **changes: Any) -> Self:
        """A copy with the given fields changed. Raises TypeError for a field that does not exist."""
        copier = _COPIERS.get(type(self))
        copy, setters = copier if copier is not None else _copier(type(self))
        new: Self = copy(self)
        try:
            for name, value in changes.items():
                setters[name](new, value)
        except KeyError as error:
            raise TypeError(f"{type(self).__name__} has no field {error}") from None
        return new


def _copier(cls: type) -> tuple[Callable[[Any], Any], dict[str, Callable[[Any, Any], None]]]:
    """A function that copies an instance slot by slot, and the setter of each slot.

    Copying is the innermost step of the search, so the function is written out per class, as attrs does for `__init__`.
    """
    names = [field.name for field in attrs.fields(cls)]
    setters = {name: getattr(cls, name).__set__ for name in names}
    lines = ["def copy(old):", "    new = make(cls)"]
    lines += [f"    set_{name}(new, old.{name})" for name in names]
    space: dict[str, Any] = {"make": object.__new__, "cls": cls}
    space.update({f"set_{name}": setter for name, setter in setters.items()})
    if hasattr(cls, _CACHED_HASH):
        lines.append("    forget_hash(new, None)")
        space["forget_hash"] = getattr(cls, _CACHED_HASH).__set__
    exec("\n".join([*lines, "    return new"]), space)
    _COPIERS[cls] = space["copy"], setters
    return _COPIERS[cls]
