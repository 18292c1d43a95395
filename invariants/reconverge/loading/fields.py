"""Reading one level of an object: known keys, types, and errors that say where.

Every level has a `Schema` that lists all its keys, so that a misspelt one is an error and each field is accounted
for. Types are checked as the API server does: a number is no string, `"3"` is no number, null means absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from attrs import frozen

from reconverge.loading.accounting import Ledger, UnsupportedField
from reconverge.loading.document import Document, Path
from reconverge.loading.dump import Dump
from reconverge.loading.errors import LoadError, quoted_nearest
from reconverge.loading.quantity import BadQuantity, quantity
from reconverge.loading.schema import ANYTHING, Schema
from reconverge.loading.templates import ADVICE, is_template
from reconverge.model.labels import Labels, labels_of

_PERCENT = re.compile(r"[0-9]+%")
_LABEL_VALUE = re.compile(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_LABEL_KEY = re.compile(r"(?:[a-z0-9][-a-z0-9.]{0,252}/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_NOTHING: tuple[Any, ...] = (None, "", False, [], {})
"""Values of an unsupported field that ask for nothing."""


@frozen
class Reader:
    """What all levels of one document share while it is decoded."""

    document: Document
    ledger: Ledger
    dump: Dump


class Fields:
    """One mapping inside a document, with typed access to its keys. Getters raise LoadError with file:line."""

    __slots__ = ("path", "reader", "schema", "value")

    def __init__(self, reader: Reader, path: Path, value: dict[str, Any], schema: Schema) -> None:
        self.reader = reader
        self.path = path
        self.value = value
        self.schema = schema
        if not schema.open:
            self._account()

    @classmethod
    def of(
        cls, document: Document, schema: Schema = ANYTHING, ledger: Ledger | None = None, dump: Dump | None = None
    ) -> Fields:
        """The top level of a document."""
        return cls(Reader(document, ledger or Ledger(), dump or Dump()), (), document.value, schema)

    def _account(self) -> None:
        known, ledger = self.schema, self.reader.ledger
        for key, value in self.value.items():
            if key in known.read:
                ledger.read += 1
            elif key in known.ignored:
                ledger.ignored += 1
            elif key not in known.unsupported:
                raise self.unknown(key, known.known)
            elif value not in _NOTHING:
                self.unsupported(key)

    def __repr__(self) -> str:
        return f"Fields({self.name()}, {self.where()})"

    def __contains__(self, key: str) -> bool:
        return self.value.get(key) is not None

    def names(self) -> list[str]:
        """The keys that have a value."""
        return [key for key, value in self.value.items() if value is not None]

    def name(self, key: str | int | None = None) -> str:
        """The path of a key as people write it, such as `spec.containers[0].name`."""
        text = ""
        for step in self.path if key is None else (*self.path, key):
            text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
        return text

    def where(self, key: str | int | None = None) -> str:
        """`file:line` of this level, or of one of its keys."""
        return self.reader.document.where(self.path if key is None else (*self.path, key))

    def error(self, message: str, key: str | int | None = None, suggestion: str = "") -> LoadError:
        """An error about this level or one of its keys; `message` follows the key's path. Not raised."""
        path = self.name(key)
        return LoadError(f"{path} {message}" if path else message, self.where(key), suggestion)

    def unknown(self, key: str, known: frozenset[str] | set[str]) -> LoadError:
        """The error for a key that does not exist. Not raised."""
        if is_template(key):
            return LoadError(ADVICE, self.where(key))
        return LoadError(f'unknown field "{self.name(key)}"', self.where(key), quoted_nearest(key, known))

    def only(self, *keys: str) -> Fields:
        """This level itself, if it has no other keys than these. Raises LoadError with the nearest known key."""
        for key in self.value:
            if key not in keys:
                raise self.unknown(key, set(keys))
        return self

    def unsupported(self, key: str) -> None:
        """Record a field that would matter and is not modelled."""
        document = self.reader.document
        found = UnsupportedField(self.where(key), self.name(key), f"{document.kind.lower()}/{document.name}")
        self.reader.ledger.unsupported.append(found)

    def raw(self, key: str) -> Any:
        """The value of a key as written, or None."""
        return self.value.get(key)

    def wrong(self, key: str | int, value: object, expected: str) -> LoadError:
        """The error for a value of a wrong type or spelling. Not raised."""
        if is_template(value):
            return self.error(f"must be {expected}, not {_show(value)}: {ADVICE}", key)
        return self.error(f"must be {expected}, not {_show(value)}", key)

    def text(self, key: str, default: str = "") -> str:
        """A string."""
        value = self.value.get(key)
        if value is None:
            return default
        if not isinstance(value, str):
            quoted = f' (put it in quotes: "{_plain(value)}")' if isinstance(value, bool | int | float) else ""
            raise self.error(f"must be a string, not {_show(value)}{quoted}", key)
        # Free text (annotations, messages in a status) may hold braces for others to fill in.
        if is_template(value) and not self.schema.open:
            raise LoadError(f"{self.name(key)} is {_show(value)}: {ADVICE}", self.where(key))
        return value

    def required_text(self, key: str) -> str:
        """A string that must be there and not be empty."""
        value = self.text(key)
        if not value:
            raise self.error("is required", key)
        return value

    def choice(self, key: str, allowed: tuple[str, ...], default: str | None = None) -> str:
        """One of some words. Without a default it is required."""
        if default is not None and self.value.get(key) in (None, ""):
            return default
        value = self.required_text(key)
        if value not in allowed:
            listed = ", ".join(each for each in allowed)
            raise self.error(f'must be one of {listed}, not "{value}"', key, quoted_nearest(value, allowed))
        return value

    def integer(self, key: str, default: int, least: int | None = 0, most: int | None = None) -> int:
        """A whole number; 3.0 counts as one, "3" does not."""
        value = self.value.get(key)
        if value is None:
            return default
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            error = self.wrong(key, value, "a whole number")
            error.suggestion = value if isinstance(value, str) and value.isdecimal() else ""
            raise error
        if (least is not None and value < least) or (most is not None and value > most):
            bound = f"at least {least}" if least is not None and value < least else f"at most {most}"
            raise self.error(f"must be {bound}, not {value}", key)
        return value

    def optional_integer(self, key: str, least: int | None = 0) -> int | None:
        """A whole number, or None if it is absent."""
        return self.integer(key, 0, least) if key in self else None

    def flag(self, key: str, default: bool = False) -> bool:
        """True or false."""
        value = self.value.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.wrong(key, value, "true or false")
        return value

    def count_or_percent(self, key: str, most_percent: int | None = None) -> int | str | None:
        """A count, or a percentage such as "25%"; None if it is absent. Source: ValidatePositiveIntOrPercent."""
        value = self.value.get(key)
        if value is None or not isinstance(value, str):
            return None if value is None else self.integer(key, 0)
        if not _PERCENT.fullmatch(value):
            suggestion = value if value.isdigit() else f'"{value.strip()}"' if _PERCENT.fullmatch(value.strip()) else ""
            error = self.wrong(key, value, 'a whole number or a percentage such as "25%"')
            error.suggestion = suggestion
            raise error
        if most_percent is not None and int(value[:-1]) > most_percent:
            raise self.error(f"must not be more than {most_percent}%, not {value}", key)
        return value

    def quantity(self, key: str) -> Fraction:
        """A quantity of at least 0 that must be there."""
        value = self.value.get(key)
        if is_template(value):
            raise self.wrong(key, value, "a quantity")
        if value is None or isinstance(value, bool | dict | list):
            raise self.wrong(key, value, "a quantity such as 500m or 1Gi")
        try:
            amount = quantity(value)
        except BadQuantity as error:
            raise self.error(f"is no quantity: {_show(value)}", key, error.suggestion) from None
        if amount < 0:
            raise self.error(f"must not be negative: {_show(value)}", key)
        return amount

    def child(self, key: str, schema: Schema = ANYTHING) -> Fields:
        """The mapping at a key; an empty one if it is absent."""
        value = self.value.get(key)
        if value is None:
            value = {}
        if not isinstance(value, dict):
            raise self.wrong(key, value, "a mapping")
        return Fields(self.reader, (*self.path, key), value, schema)

    def items(self, key: str) -> list[Any]:
        """The list at a key as written; an empty one if it is absent."""
        value = self.value.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.wrong(key, value, "a list")
        return value

    def children(self, key: str, schema: Schema = ANYTHING) -> Iterator[Fields]:
        """The mappings of the list at a key."""
        at = (*self.path, key)
        for index, value in enumerate(self.items(key)):
            if not isinstance(value, dict):
                parent = Fields(self.reader, at, {}, ANYTHING)
                raise parent.wrong(index, value, "a mapping")
            yield Fields(self.reader, (*at, index), value, schema)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        for index, value in enumerate(self.items(key)):
            if not isinstance(value, str):
                parent = Fields(self.reader, (*self.path, key), {}, ANYTHING)
                raise parent.wrong(index, value, "a string")
            if is_template(value):
                raise LoadError(ADVICE, self.reader.document.where((*self.path, key, index)))
        return tuple(self.items(key))

    def pairs(self, key: str, loose_prefix: str = "\0") -> dict[str, str]:
        """A mapping of strings to strings; under keys that begin with `loose_prefix` numbers count as strings."""
        child, pairs = self.child(key), {}
        for name, value in child.value.items():
            if name.startswith(loose_prefix) and isinstance(value, bool | int | float):
                pairs[name] = _plain(value)
            else:
                pairs[name] = child.text(name)
        return pairs

    def labels(self, key: str) -> Labels:
        """A mapping of label keys to label values. Source: apimachinery `pkg/util/validation/validation.go`."""
        child, pairs = self.child(key), self.pairs(key)
        for name, value in pairs.items():
            if is_template(name) or is_template(value):
                raise LoadError(ADVICE, child.where(name))
            if not _LABEL_KEY.fullmatch(name):
                raise child.error("is no valid label key", name)
            if not _LABEL_VALUE.fullmatch(value):
                raise child.error(f"is no valid label value: {_show(value)}", name)
        return labels_of(pairs)

    def documents(self, key: str) -> tuple[Document, ...]:
        """The Kubernetes objects in the list at a key, each as a document of its own."""
        return tuple(self.reader.document.part(each.path) for each in self.children(key))


def _show(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return f'"{value}"' if isinstance(value, str) else _plain(value)


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
