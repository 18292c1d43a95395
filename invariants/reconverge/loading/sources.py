"""Files, directories and standard input to text: encodings, line ends, which files of a directory are read."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import frozen

from reconverge.loading.errors import LoadError, Note

SUFFIXES = (".yaml", ".yml", ".json")
STDIN = "-"


@frozen
class Source:
    """One text to read. `listed` is false for a file that was merely found in a directory."""

    name: str
    text: str
    listed: bool = True


def read_sources(paths: Sequence[str | Path], stdin: str | None, notes: list[Note]) -> Iterator[Source]:
    """The texts of files, directories (recursively, sorted) and `-`. Raises LoadError for what cannot be read."""
    for path in paths:
        if str(path) == STDIN:
            if stdin is None:
                raise LoadError("standard input was asked for, but there is none", STDIN)
            yield Source("stdin", _unify_line_ends(stdin.removeprefix("\ufeff")))
        elif Path(path).is_dir():
            yield from _directory(Path(path), notes)
        else:
            yield Source(str(path), read_file(Path(path)))


def _directory(root: Path, notes: list[Note]) -> Iterator[Source]:
    charts = len(notes)
    files = list(_files(root, notes))
    if not files and len(notes) > charts:
        raise LoadError("this is a Helm chart; render it with helm template and check the result", str(root))
    if not files:
        raise LoadError("no .yaml, .yml or .json file in this directory", str(root))
    for file in files:
        yield Source(str(file), read_file(file), listed=False)


def _files(root: Path, notes: list[Note]) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        if "Chart.yaml" in names:
            notes.append(Note("a Helm chart: left out; render it with helm template and check the result", folder))
            folders.clear()
            continue
        for name in sorted(names):
            if name.endswith(SUFFIXES) and not name.startswith("."):
                yield Path(folder) / name


def read_file(path: Path) -> str:
    """The text of a file, with line feeds as line ends. Raises LoadError if it cannot be read or is no text."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise LoadError("there is no such file or directory", str(path)) from None
    except OSError as error:
        raise LoadError(f"cannot be read: {error.strerror}", str(path)) from None
    encoding = _encoding(data)
    try:
        return _unify_line_ends(data.decode(encoding))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise LoadError(f"this is not {encoding.removesuffix('-sig')} text", f"{path}:{line}") from None


def _encoding(data: bytes) -> str:
    """UTF-8 or UTF-16 by the byte order mark, or by the zero bytes that ASCII has in UTF-16 (YAML 1.2, 5.2)."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if len(data) >= 2 and data[1] == 0 != data[0]:
        return "utf-16-le"
    if len(data) >= 2 and data[0] == 0 != data[1]:
        return "utf-16-be"
    return "utf-8-sig"


def _unify_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
