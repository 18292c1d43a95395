"""Kubernetes quantities, exactly: `100m`, `1.5`, `.5`, `64Mi`, `1e3`, `12E`.

Source: apimachinery `pkg/api/resource/{quantity,suffix}.go`. Amounts round up, as `Value()` and `MilliValue()` do.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import lru_cache

_NUMBER = re.compile(r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(.*)")
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]{1,3})")
_SUFFIXES = {
    "": Fraction(1),
    **{name: Fraction(10) ** power for name, power in (("n", -9), ("u", -6), ("m", -3))},
    **{name: Fraction(10) ** power for name, power in (("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18))},
    **{name: Fraction(2) ** power for name, power in (("Ki", 10), ("Mi", 20), ("Gi", 30))},
    **{name: Fraction(2) ** power for name, power in (("Ti", 40), ("Pi", 50), ("Ei", 60))},
}
_LONGEST = 64


class BadQuantity(ValueError):
    """Text that is no quantity; `suggestion` is what was probably meant, or empty."""

    def __init__(self, text: str, suggestion: str) -> None:
        super().__init__(f'"{text}" is not a quantity')
        self.suggestion = suggestion


def quantity(value: str | int | float) -> Fraction:
    """The exact amount of a quantity as YAML or JSON gives it. Raises BadQuantity."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise BadQuantity(str(value), "")
    return _parse(value if isinstance(value, str) else repr(value))


@lru_cache(maxsize=4096)
def _parse(text: str) -> Fraction:
    match = _NUMBER.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        raise BadQuantity(text, _suggestion(text))
    sign, digits, suffix = match.groups()
    exponent = _EXPONENT.fullmatch(suffix)
    if suffix not in _SUFFIXES and exponent is None:
        raise BadQuantity(text, _suggestion(text))
    factor = Fraction(10) ** int(exponent[1]) if exponent else _SUFFIXES[suffix]
    amount = Fraction(digits) * factor
    return -amount if sign == "-" else amount


def _suggestion(text: str) -> str:
    """The quantity that `512MB`, `1 Gi`, `2cores` or `1gb` probably means."""
    match = re.fullmatch(r"([+-]?[0-9]*\.?[0-9]+)([A-Za-z]*)", re.sub(r"[\s,_]", "", text))
    if match is None or len(text) > _LONGEST:
        return ""
    number, unit = match[1], match[2]
    if unit.lower() in ("c", "cpu", "cpus", "core", "cores", "vcpu", "vcpus", "b", "byte", "bytes"):
        return f'"{number}"'
    if unit.lower() in ("milli", "millicores", "millicore", "mcpu"):
        return f'"{number}m"'
    stem = unit[:-1] if unit[-1:] in "bB" and len(unit) > 1 else unit
    by_case = {name.lower(): name for name in _SUFFIXES if name != "m"}
    return f'"{number}{by_case[stem.lower()]}"' if stem.lower() in by_case else ""


def milli(value: str | int | float) -> int:
    """A quantity of CPU in millicores, rounded up. Raises BadQuantity."""
    return math.ceil(quantity(value) * 1000)


def whole(value: str | int | float) -> int:
    """A quantity in whole units, such as bytes, rounded up. Raises BadQuantity."""
    return math.ceil(quantity(value))
