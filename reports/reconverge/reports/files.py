"""Writing reports and traces to files: whole or not at all."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from reconverge.checker.result import Result
from reconverge.reports.trace_json import trace_text

FOLDER = ".reconverge"


def write_whole(path: Path, text: str) -> None:
    """Writes a text file in UTF-8 so that a reader finds the old or the new content, never half. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        Path(name).chmod(_mode(path))
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int:
    """The permissions of the file that is replaced, or those that a new file gets."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def slug(text: str) -> str:
    """The text as a part of a file name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.").lower() or "result"


def trace_names(result: Result) -> list[str]:
    """A file name per trace: by scenario and invariant, numbered where that is not enough."""
    names: list[str] = []
    for trace in result.traces:
        base = f"{slug(result.scenario)}-{slug(trace.invariant)}"
        name, number = base, 1
        while f"{name}.json" in names:
            number += 1
            name = f"{base}-{number}"
        names.append(f"{name}.json")
    return names


def keep_traces(result: Result, folder: Path) -> list[Path]:
    """Writes each trace of a result below `folder`; the paths, in the order of the traces. Raises OSError."""
    paths = [folder / FOLDER / "traces" / name for name in trace_names(result)]
    for trace, path in zip(result.traces, paths, strict=True):
        write_whole(path, trace_text(trace))
    return paths


def replay_hints(paths: Sequence[Path], here: Path) -> list[str]:
    """The commands that replay kept traces, with paths as seen from a folder."""
    return [f"reconverge replay {_quoted(_seen_from(path, here))}" for path in paths]


def _seen_from(path: Path, here: Path) -> str:
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else str(path)


def _quoted(word: str) -> str:
    return word if re.fullmatch(r"[\w./:+-]+", word) else "'" + word.replace("'", "'\\''") + "'"
