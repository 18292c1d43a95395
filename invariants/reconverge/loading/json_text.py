"""JSON to plain values, one document after another; lines are looked up only when somebody asks."""

from __future__ import annotations

import json
import re
from typing import Any

from attrs import frozen

from reconverge.loading.errors import LoadError
from reconverge.loading.yaml_text import parse_yaml

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


class _DuplicateKey(Exception):
    pass


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise _DuplicateKey
    return mapping


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


_DECODER = json.JSONDecoder(object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
_SKIPPER = json.JSONDecoder()


@frozen(eq=False)
class JsonPositions:
    """The lines of one JSON document that begins at offset `start` of `text`; its text begins on `first_line`."""

    text: str
    start: int
    first_line: int

    def line(self, path: tuple[str | int, ...]) -> int:
        """The line of what the path leads to, or of the last part of it that exists."""
        at = self.start
        for step in path:
            found = self._entry(at, step)
            if found is None:
                break
            at = found
        return self.first_line + self.text.count("\n", 0, at)

    def _entry(self, at: int, step: str | int) -> int | None:
        """The offset of the entry `step` of the mapping or list at `at`: where its value begins."""
        text, opening = self.text, self.text[at]
        if opening not in ("{" if isinstance(step, str) else "["):
            return None
        at, index = self._skip(at + 1), 0
        while text[at] not in "}]":
            here: str | int = index
            if opening == "{":
                key = _STRING.match(text, at)
                assert key is not None, "the text has been decoded before"
                here = json.loads(key[0])
                at = self._skip(self._skip(key.end()) + 1)
            if here == step:
                return at
            at = self._skip(_SKIPPER.raw_decode(text, at)[1])
            at, index = (self._skip(at + 1) if text[at] == "," else at), index + 1
        return None

    def _skip(self, at: int) -> int:
        space = _SPACE.match(self.text, at)
        return space.end() if space else at


def looks_like_json(text: str) -> bool:
    """Whether the first character can begin a JSON document, and is no template's `{{`."""
    head = text[:4096].lstrip()
    return head.startswith("{") and not head.startswith(("{{", "{%"))


def parse_json(text: str, name: str, first_line: int = 1) -> list[tuple[Any, JsonPositions]]:
    """The documents of a text of JSON documents, with or without space between. Raises LoadError with the line."""
    found: list[tuple[Any, JsonPositions]] = []
    at = JsonPositions(text, 0, first_line)._skip(0)
    try:
        while at < len(text):
            value, end = _DECODER.raw_decode(text, at)
            positions = JsonPositions(text, at, first_line)
            found.append((value, positions))
            at = positions._skip(end)
    except json.JSONDecodeError as error:
        raise LoadError(f"this is not JSON: {error.msg}", f"{name}:{error.lineno + first_line - 1}") from None
    except RecursionError:
        raise LoadError("nested too deeply", f"{name}:{first_line}") from None
    except ValueError as error:
        raise LoadError(f"this is not JSON: {error}", f"{name}:{first_line}") from None
    except _DuplicateKey:
        # JSON is YAML as long as it is not indented by tabs, and the YAML reader names both lines.
        parse_yaml(_one_document(text, at).replace("\t", " "), name, first_line + text.count("\n", 0, at))
        raise LoadError("a key is given twice in one mapping", f"{name}:{first_line}") from None
    return found


def _one_document(text: str, at: int) -> str:
    return text[at : _SKIPPER.raw_decode(text, at)[1]]
