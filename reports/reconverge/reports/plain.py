"""Values of any kind to plain JSON data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import attrs


def plain(thing: Any) -> Any:
    """The thing as JSON data: mappings with text keys, lists, text, numbers, booleans and null.

    JSON data comes out as it is. Sets are sorted, attrs values become mappings of their fields, numbers that JSON
    does not have become text, and so does anything else.
    """
    if thing is None or isinstance(thing, (bool, str)):
        return str(thing) if isinstance(thing, str) else thing
    if isinstance(thing, int):
        return int(thing)
    if isinstance(thing, float):
        return thing if math.isfinite(thing) else str(thing)
    if isinstance(thing, Mapping):
        return {str(key): plain(each) for key, each in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [plain(each) for each in thing]
    if isinstance(thing, (set, frozenset)):
        return [plain(each) for each in sorted(thing, key=str)]
    if attrs.has(type(thing)):
        return {field.name: plain(getattr(thing, field.name)) for field in attrs.fields(type(thing))}
    return str(thing)


def number(seconds: float) -> int | float:
    """A time without a needless fraction: 50 for 50.0, anything else as it is."""
    return int(seconds) if math.isfinite(seconds) and seconds == int(seconds) else seconds
