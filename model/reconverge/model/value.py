"""What all frozen values of the model share: a cheap copy with some fields changed."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import attrs

_CACHED_HASH = "_attrs_cached_hash"

Seconds = float
"""Simulated time, in seconds. Default timings are whole numbers, so sums of them are exact."""


class Value:
    """Base of the model's frozen attrs classes: adds `with_`, an `attrs.evolve` that skips re-validation."""

    __slots__ = ()
    _names: ClassVar[tuple[str, ...] | None] = None

    def with_(self, **changes: Any) -> Self:
        """A copy with the given fields changed. Raises TypeError for a field that does not exist."""
        cls = type(self)
        names = cls.__dict__.get("_names")
        if names is None:
            names = tuple(field.name for field in attrs.fields(cls))  # type: ignore[arg-type]
            cls._names = names
        new = object.__new__(cls)
        put = object.__setattr__
        for name in names:
            put(new, name, changes.pop(name) if name in changes else getattr(self, name))
        if hasattr(cls, _CACHED_HASH):
            put(new, _CACHED_HASH, None)
        if changes:
            raise TypeError(f"{cls.__name__} has no field {sorted(changes)[0]!r}")
        return new
