"""What an unquoted YAML scalar means to kubectl: YAML 1.1 words, no sexagesimals, timestamps left as text.

Source: sigs.k8s.io/yaml `goyaml.v2/resolve.go` (resolve, resolveMapList, yamlStyleFloat) and `yaml.go` (keys).
"""

from __future__ import annotations

import math
import re

Scalar = str | int | float | bool | None

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_NUMBER_STARTS = frozenset("+-.0123456789")
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_BASES = (16, 2, 8, 10)
_LONGEST_NUMBER = 400
"""Longer runs of digits stay text: no field of a manifest takes them, and converting them is slow."""


def plain(text: str) -> Scalar:
    """The value of an unquoted scalar. A bare `=` or `22:22` or a date is text; `0644` is octal; `1e3` is 1000.0."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in _NUMBER_STARTS and len(text) <= _LONGEST_NUMBER:
        return _number(text)
    return text


def _number(text: str) -> Scalar:
    digits = text.replace("_", "") if text[0] != "." else text
    match = _INTEGER.fullmatch(digits)
    if match:
        base, group = next((base, each) for base, each in zip(_BASES, match.groups()[1:], strict=True) if each)
        value = int(group, base)
        return -value if match[1] == "-" else value
    if _FLOAT.fullmatch(digits) and math.isfinite(float(digits)):
        return float(digits)
    return text


def tagged(tag: str, text: str) -> Scalar:
    """The value of a scalar with an explicit core tag such as `!!str`. Raises KeyError for any other tag."""
    match tag.removeprefix("tag:yaml.org,2002:"):
        case "str" | "binary" | "timestamp" | "value":
            return text
        case "null" | "bool" | "int":
            return plain(text)
        case "float":
            value = plain(text)
            return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
    raise KeyError(tag)


def key_text(value: Scalar) -> str | None:
    """A mapping key as JSON has it: numbers and booleans become text. None for null, which is no key."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.17g}" if float(f"{value:g}") != value else f"{value:g}"
    return None if value is None else str(value)
