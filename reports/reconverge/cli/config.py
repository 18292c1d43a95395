"""Configuration: `[tool.reconverge]` of pyproject.toml, or reconverge.toml, in this folder or one above."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from reconverge.cli.errors import UsageError, unknown


@frozen
class Config:
    """What a configuration file says; `folder` is where it lies, `file` its path, both empty without one."""

    values: Mapping[str, Any] = field(factory=dict)
    folder: Path = Path()
    file: Path | None = None

    def get(self, key: str, otherwise: Any = None) -> Any:
        """The value of a key, or what else to take."""
        return self.values.get(key, otherwise)

    def paths(self, key: str) -> list[str]:
        """A list of paths, which are relative to the configuration file, as seen from here."""
        return [_from_here(self.folder / each) for each in self.values.get(key, ())]


def _from_here(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _reasons(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) and each.strip() for each in value.values())


def _files(value: Any) -> bool:
    return _words(value) or (isinstance(value, dict) and all(isinstance(each, str) for each in value.values()))


KEYS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "paths": (_words, "a list of paths"),
    "nodes": (lambda value: isinstance(value, str), 'a text such as "3x4cpu,16Gi@a,b,c"'),
    "may": (lambda value: isinstance(value, (str, dict)), "a table of events and counts"),
    "events": (_number, "a whole number"),
    "deviations": (_number, "a whole number"),
    "mode": (lambda value: value in ("auto", "exhaustive", "random"), "auto, exhaustive or random"),
    "max-examples": (_number, "a whole number"),
    "budget": (_number, "a whole number"),
    "seed": (_number, "a whole number"),
    "only": (_words, "a list of invariants"),
    "skip": (_words, "a list of invariants"),
    "invariants": (_words, "a list of Python files"),
    "kubernetes": (lambda value: isinstance(value, str), 'a text such as "1.34"'),
    "output": (lambda value: value in ("text", "json"), "text or json"),
    "report": (_files, "a table of kinds and files"),
    "strict": (lambda value: isinstance(value, bool), "true or false"),
    "accept": (_reasons, 'a table of "invariant object" = "reason"'),
}
"""Every key, how its value is tested, and what it should be."""


def find(start: Path) -> Config:
    """The configuration for a folder: of the nearest file that has one. Raises UsageError if it cannot be used."""
    for folder in (start, *start.parents):
        for name in ("reconverge.toml", "pyproject.toml"):
            file = folder / name
            if not file.is_file():
                continue
            values = _read(file)
            if values is not None:
                return Config(_tested(values, file), folder, file)
    return Config()


def _read(file: Path) -> dict[str, Any] | None:
    """The values of a file; None for a pyproject.toml that says nothing to us."""
    try:
        data = tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        # A broken pyproject.toml is for other tools to complain about, unless it might be about us.
        raise UsageError(f"{file}: {error}") from None
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    if file.name == "reconverge.toml":
        return data
    tool = data.get("tool", {}).get("reconverge")
    if tool is not None and not isinstance(tool, dict):
        raise UsageError(f"{file}: tool.reconverge is no table")
    return tool


def _tested(values: Mapping[str, Any], file: Path) -> Mapping[str, Any]:
    for key, value in values.items():
        if key not in KEYS:
            raise UsageError(f"{_place(file, key)}: {unknown('key', key, KEYS)}")
        test, wanted = KEYS[key]
        if not test(value):
            raise UsageError(f"{_place(file, key)}: {key} must be {wanted}, not {value!r}")
    return values


def _place(file: Path, key: str) -> str:
    """`file:line` of a key; TOML keeps no lines, so it is looked up in the text."""
    pattern = re.compile(rf'^\s*(?:\[.*)?"?{re.escape(key)}"?\s*[=\].]')
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        if pattern.match(line):
            return f"{file}:{number}"
    return str(file)
