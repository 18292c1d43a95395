"""Invariants that people write: Python files in which functions are declared with `@invariant(...)`."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path

from reconverge.invariants import Invariant
from reconverge.loading import LoadError


def load_invariants(paths: Iterable[Path]) -> list[Invariant]:
    """The invariants of some files, in order. Raises LoadError for a file that is missing, fails, or has none."""
    return [each for path in paths for each in _of_file(path)]


def _of_file(path: Path) -> list[Invariant]:
    if not path.is_file():
        raise LoadError("there is no such file of invariants", str(path))
    name = f"reconverge_invariants_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise LoadError("is no Python file", str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        line = _line(error, path)
        raise LoadError(f"{type(error).__name__}: {error}", f"{path}:{line}" if line else str(path)) from error
    found = [each for each in vars(module).values() if isinstance(each, Invariant)]
    if not found:
        raise LoadError("declares no invariant; write one with @invariant(...)", str(path))
    return found


def _line(error: BaseException, path: Path) -> int:
    """The line of the file in which loading failed; 0 if it is not known."""
    if isinstance(error, SyntaxError):
        return error.lineno or 0
    line = 0
    trace = error.__traceback__
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename) == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
