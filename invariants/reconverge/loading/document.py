"""One object of the input, with the place of each of its parts."""

from __future__ import annotations

from typing import Any, Protocol

from attrs import field, frozen

Path = tuple[str | int, ...]
"""The way to a part of a document: keys of mappings and indices of lists."""


class Positions(Protocol):
    """Something that knows the lines of one parsed text."""

    def line(self, path: Path) -> int:
        """The line, from 1, of what the path leads to, or of the last part of it that exists."""
        ...


@frozen(eq=False)
class TreePositions:
    """Positions of values that know their lines, as the YAML reader makes them."""

    root: Any
    first_line: int = 1

    def line(self, path: Path) -> int:
        """The line of the last part of the path that exists."""
        node, line = self.root, getattr(self.root, "line", self.first_line)
        for step in path:
            try:
                node, line = node[step], node.lines[step]
            except (AttributeError, KeyError, IndexError, TypeError):
                break
        return int(line)


class NoPositions:
    """Positions of values that come from no text."""

    def line(self, path: Path) -> int:
        """Always 0: not known."""
        return 0


@frozen(eq=False)
class Document:
    """One Kubernetes object as written. `value` is plain JSON-like data; `base` leads to it inside its text."""

    kind: str
    api_version: str
    value: dict[str, Any]
    file: str = ""
    positions: Positions = field(factory=NoPositions, repr=False)
    base: Path = ()

    @property
    def line(self) -> int:
        """The line on which the object begins, from 1; 0 if it comes from no text."""
        return self.positions.line(self.base)

    def where(self, path: Path = ()) -> str:
        """`file:line` of the part at `path`, or of the nearest part around it that exists."""
        line = self.positions.line(self.base + tuple(path))
        return f"{self.file}:{line}" if self.file and line else self.file

    def part(self, path: Path, kind: str = "", api_version: str = "") -> Document:
        """The object inside this document at `path`; kind and version are given where the object does not say."""
        value: Any = self.value
        for step in path:
            value = value[step]
        if (kind and not value.get("kind")) or (api_version and not value.get("apiVersion")):
            value = {**value, "kind": value.get("kind") or kind, "apiVersion": value.get("apiVersion") or api_version}
        return Document(
            kind=_word(value.get("kind")),
            api_version=_word(value.get("apiVersion")),
            value=value,
            file=self.file,
            positions=self.positions,
            base=self.base + tuple(path),
        )

    @property
    def name(self) -> str:
        """metadata.name, or the empty string."""
        metadata = self.value.get("metadata")
        return _word(metadata.get("name")) if isinstance(metadata, dict) else ""

    @property
    def group(self) -> str:
        """The API group: `apps` of `apps/v1`, empty for the core group."""
        return self.api_version.rpartition("/")[0]


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""
