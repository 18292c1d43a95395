"""YAML to plain values that know their lines, in one pass over the parser's events.

PyYAML's own constructors turn dates into objects, `22:22` into 1342 and a bare `=` into an error, keep the last of
two equal keys and forget where things stood; so only its event parser is used (libyaml's where it is installed).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from reconverge.loading.errors import LoadError
from reconverge.loading.scalars import key_text, plain, tagged
from reconverge.loading.templates import ADVICE, template_line

PARSER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""The event parser: libyaml's if PyYAML was built with it, else the one in Python, about twenty times slower."""

_DEEPEST = 100
_MOST_NODES = 5_000_000
"""Most nodes after following aliases: a bound against documents whose aliases multiply."""
_MERGE = object()


class Mapping(dict[str, Any]):
    """A mapping that knows its line and the line of each key; lines count from 1."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}


class Sequence(list[Any]):
    """A sequence that knows its line and the line of each item; lines count from 1."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: list[int] = []


class _Open:
    """A mapping or sequence whose end has not been read yet."""

    __slots__ = ("anchor", "key", "key_line", "merges", "started_at", "value")

    def __init__(self, value: Mapping | Sequence, anchor: str | None, started_at: int) -> None:
        self.value = value
        self.anchor = anchor
        self.started_at = started_at
        self.key: Any = None
        self.key_line = 0
        self.merges: list[Any] = []


class _Builder:
    """Builds the values of one text. `first_line` is the number of its first line in the file.

    With `words_as_keys` an unquoted `on`, `y` or `1.0` is itself as a key; kubectl makes `true`, `true`, `1` of them.
    """

    def __init__(self, name: str, first_line: int, words_as_keys: bool) -> None:
        self._name = name
        self._first_line = first_line
        self._words_as_keys = words_as_keys
        self._stack: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._nodes = 0
        self._root: Any = None

    def documents(self, text: str) -> Iterator[Any]:
        """The value of each document. Raises LoadError and yaml.YAMLError."""
        for event in yaml.parse(text, Loader=PARSER):
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._scalar(event)
            elif kind is yaml.MappingStartEvent:
                self._open(Mapping(self._line(event)), event)
            elif kind is yaml.SequenceStartEvent:
                self._open(Sequence(self._line(event)), event)
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self._close()
            elif kind is yaml.AliasEvent:
                self._alias(event)
            elif kind is yaml.DocumentStartEvent:
                self._anchors, self._root = {}, None
            elif kind is yaml.DocumentEndEvent:
                yield self._root

    def _line(self, event: Any) -> int:
        return int(event.start_mark.line) + self._first_line

    def _error(self, message: str, line: int) -> LoadError:
        return LoadError(message, f"{self._name}:{line}")

    def _scalar(self, event: Any) -> None:
        text, tag = event.value, event.tag
        if tag is None or tag == "!":
            quoted = tag == "!" or not event.implicit[0]
            value: Any = text if quoted else self._plain(text)
        else:
            try:
                value = tagged(tag, text)
            except KeyError:
                raise self._error(f"the tag {tag} is not known to Kubernetes", self._line(event)) from None
        self._nodes += 1
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        self._add(value, self._line(event))

    def _plain(self, text: str) -> Any:
        if self._at_key():
            # Only an unquoted `<<` merges, as in YAML 1.1; a quoted one is a key like any other.
            return _MERGE if text == "<<" else text if self._words_as_keys and text else plain(text)
        return plain(text)

    def _at_key(self) -> bool:
        return bool(self._stack) and isinstance(self._stack[-1].value, Mapping) and self._stack[-1].key is None

    def _open(self, value: Mapping | Sequence, event: Any) -> None:
        if len(self._stack) >= _DEEPEST:
            raise self._error(f"nested more than {_DEEPEST} levels deep", value.line)
        if event.tag not in (None, "!") and not str(event.tag).startswith("tag:yaml.org,2002:"):
            raise self._error(f"the tag {event.tag} is not known to Kubernetes", value.line)
        if self._at_key():
            raise self._error("a mapping key must be a word, not a mapping or a list", value.line)
        self._nodes += 1
        self._stack.append(_Open(value, event.anchor, self._nodes))
        if event.anchor:
            self._anchors[event.anchor] = (self._stack[-1], 0)

    def _close(self) -> None:
        frame = self._stack.pop()
        if frame.merges and isinstance(frame.value, Mapping):
            for source in frame.merges:
                self._merge(frame.value, source)
        if frame.anchor:
            self._anchors[frame.anchor] = (frame.value, self._nodes - frame.started_at + 1)
        self._add(frame.value, frame.value.line)

    def _merge(self, target: Mapping, source: Any) -> None:
        for each in source if isinstance(source, Sequence) else [source]:
            if not isinstance(each, Mapping):
                raise self._error("`<<` can merge only a mapping or a list of mappings", target.line)
            for key, value in each.items():
                if key not in target:
                    target[key] = value
                    target.lines[key] = each.lines[key]

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            raise self._error(f"the alias *{event.anchor} names no anchor above it", self._line(event))
        value, size = self._anchors[event.anchor]
        if isinstance(value, _Open):
            raise self._error(f"the alias *{event.anchor} stands inside what it names", self._line(event))
        self._nodes += size
        if self._nodes > _MOST_NODES:
            raise self._error("the aliases multiply to more than can be read", self._line(event))
        self._add(value, self._line(event))

    def _add(self, value: Any, line: int) -> None:
        if not self._stack:
            self._root = value
            return
        frame = self._stack[-1]
        if isinstance(frame.value, Sequence):
            frame.value.append(value)
            frame.value.lines.append(line)
        elif frame.key is None:
            frame.key, frame.key_line = self._key(frame.value, value, line), line
        else:
            if frame.key is _MERGE:
                frame.merges.append(value)
            else:
                frame.value[frame.key] = value
                frame.value.lines[frame.key] = frame.key_line
            frame.key = None

    def _key(self, mapping: Mapping, value: Any, line: int) -> Any:
        if value is _MERGE:
            return value
        if isinstance(value, Mapping | Sequence):
            raise self._error("a mapping key must be a word, not a mapping or a list", line)
        key = key_text(value)
        if key is None:
            raise self._error("a mapping key is missing before the colon", line)
        if key in mapping.lines:
            raise self._duplicate(key, mapping.lines[key], line)
        return key

    def _duplicate(self, key: str, first: int, second: int) -> LoadError:
        if len(self._stack) == 1 and key in ("apiVersion", "kind"):
            message = f'"{key}" is given twice in one document (lines {first} and {second}): a `---` line is missing'
            return self._error(f"{message} between two objects", second)
        return self._error(f'the key "{key}" is given twice, on lines {first} and {second}', second)


def parse_yaml(text: str, name: str, first_line: int = 1, words_as_keys: bool = False) -> list[Any]:
    """The documents of a YAML text, as Mapping, Sequence and scalars. Raises LoadError with the line."""
    try:
        return list(_Builder(name, first_line, words_as_keys).documents(text))
    except yaml.YAMLError as error:
        raise _explained(error, text, name, first_line) from None
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + first_line
        raise LoadError("half a character stands here: this is no Unicode text", f"{name}:{line}") from None
    except LoadError as error:
        line = int(error.where.rpartition(":")[2]) - first_line
        if template_line(text, line) == line:
            raise LoadError(ADVICE, error.where) from None
        raise


def _explained(error: yaml.YAMLError, text: str, name: str, first_line: int) -> LoadError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line = mark.line if mark is not None else text[: getattr(error, "position", 0)].count("\n")
    # What is missing at the end is reported behind the last line.
    line = min(line, text.rstrip().count("\n"))
    marked = template_line(text, line)
    if marked is not None:
        return LoadError(ADVICE, f"{name}:{marked + first_line}")
    if "\t" in _indentation(text.split("\n")[line]):
        return LoadError("a tab stands where YAML takes only spaces", f"{name}:{line + first_line}")
    context = getattr(error, "context_mark", None)
    since = f", in the block that begins on line {context.line + first_line}" if context is not None else ""
    return LoadError(_reason(error) + since, f"{name}:{line + first_line}")


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


_REASONS = (
    ("mapping values are not allowed", "a colon where no key can be: wrong indentation, or a value to be quoted"),
    ("did not find expected key", "broken indentation: a key was expected here"),
    ("expected <block end>", "broken indentation: a key was expected here"),
    ("did not find expected '-' indicator", "broken indentation: a list item was expected here"),
    ("could not find expected ':'", "a key without its colon: wrong indentation, or a value to be quoted"),
    ("special characters are not allowed", "a control character stands here, which YAML does not take"),
    ("control characters are not allowed", "a control character stands here, which YAML does not take"),
)


def _reason(error: yaml.YAMLError) -> str:
    problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML")
    for part, reason in _REASONS:
        if part in problem:
            return reason
    return f"this is not YAML: {problem}"
