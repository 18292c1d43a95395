"""The project's style, as tests: sizes, import arrows, who may print, docstrings, words that have no place here.

Each check is a function from source text to a list of complaints, so that it is tried on a bad snippet, too: a check
that cannot fail says nothing.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE_ROOTS = ("model", "invariants", "reports")
FUNCTION_LINES_MOST = 60
MODULE_LINES_MOST = 500


class Part(NamedTuple):
    """What one part of the distribution may import."""

    parts: frozenset[str]
    """Other parts of `reconverge`."""

    others: frozenset[str] | None = None
    """Third-party packages; None for any but those that a single part may use."""


PARTS = {
    "model": Part(frozenset(), frozenset({"attrs"})),
    "invariants": Part(frozenset({"model"})),
    "loading": Part(frozenset({"model"})),
    "checker": Part(frozenset({"model", "invariants", "loading"})),
    "reports": Part(frozenset({"model", "invariants", "loading", "checker"})),
    "cli": Part(frozenset({"model", "invariants", "loading", "checker", "reports"})),
    "pytest_plugin": Part(frozenset({"model", "invariants", "loading", "checker", "reports"})),
}
MAY_USE_RICH = {"reports", "cli"}
MAY_PRINT = {"cli"}

# fmt: off
IMPURE = frozenset({
    "asyncio", "concurrent", "datetime", "http", "io", "logging", "multiprocessing", "os", "pathlib", "random",
    "secrets", "shutil", "signal", "socket", "subprocess", "tempfile", "threading", "time", "urllib", "uuid",
})
# fmt: on
"""Modules of the standard library through which a clock, chance, files or other processes would reach the model."""

IMPURE_CALLS = frozenset({"breakpoint", "input", "open"})

# In pieces, for this file is checked like any other.
PACKAGE_HOSTS = tuple(
    ".".join(pieces)
    for pieces in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("crates", "io"),
        ("deb", "debian", "org"),
    )
)
MACHINE_PATH = re.compile(r"(?<![\w.~/-])/(?:root|work|workspace|home/\w+|Users/\w+)/")
MANIFEST_SUFFIXES = {".yaml", ".yml", ".json"}
"""Files in which such a path may be one inside a container."""


# --- what is checked -------------------------------------------------------------------------------------------------


@cache
def parsed(text: str) -> ast.Module:
    """The syntax tree of a source text; every check looks at the same ones."""
    return ast.parse(text)


def project_files() -> list[str]:
    """Every file that is, or could be, committed, as paths from the root; all files where there is no git."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0 and (ROOT / ".git").exists():
        names: Iterable[str] = filter(None, listed.stdout.split("\0"))
    else:
        names = (path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*"))
        names = (name for name in names if not re.search(r"(?:^|/)(?:\.|__pycache__/|venv/|dist/|build/)", name))
    return sorted(name for name in names if (ROOT / name).is_file())


def part_of(name: str) -> str | None:
    """The part of the distribution a file belongs to: `model/reconverge/model/x.py` is of `model`."""
    pieces = name.removesuffix(".py").split("/")
    return pieces[2] if len(pieces) > 2 and pieces[0] in SOURCE_ROOTS and pieces[1] == "reconverge" else None


def module_name(name: str) -> str:
    """The dotted name of a file under a source root."""
    return name.partition("/")[2].removesuffix(".py").replace("/", ".")


def complaints(check: Callable[[str, str], list[str]], names: Iterable[str]) -> list[str]:
    """What a check says of these files."""
    return [
        f"{name}:{said}"
        for name in names
        if name.endswith(".py")
        for said in check(name, (ROOT / name).read_text("utf-8"))
    ]


FILES = project_files()
SOURCES = [name for name in FILES if part_of(name)]


# --- the checks ------------------------------------------------------------------------------------------------------


def too_long(name: str, text: str) -> list[str]:
    """Functions and modules that do not fit in a reader's head."""
    found = []
    lines = len(text.splitlines())
    if lines > MODULE_LINES_MOST:
        found.append(f"1: the module has {lines} lines; at most {MODULE_LINES_MOST}")
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES_MOST:
                found.append(f"{node.lineno}: {node.name} has {length} lines; at most {FUNCTION_LINES_MOST}")
    return found


def imports(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Every import, at any depth, as its line and the full dotted name of what it brings."""
    package = module_name(name).split(".")[:-1]
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield node.lineno, f"{source}.{alias.name}"


def against_the_arrows(name: str, text: str) -> list[str]:
    """Imports that a part of the distribution may not make."""
    part = part_of(name)
    if part not in PARTS:
        return [f"1: {name} belongs to no known part: {', '.join(PARTS)}"]
    allowed = PARTS[part]
    found = []
    for line, target in imports(name, text):
        top, _, rest = target.partition(".")
        other = rest.partition(".")[0]
        if top == "reconverge":
            wrong = other != part and other not in allowed.parts
        elif top in sys.stdlib_module_names:
            wrong = part == "model" and top in IMPURE
        else:
            wrong = (allowed.others is not None and top not in allowed.others) or (
                top == "rich" and part not in MAY_USE_RICH
            )
        if wrong:
            found.append(f"{line}: {part} may not import {target}")
    return found


def called(text: str) -> Iterator[tuple[int, str]]:
    """Every call of a plain name."""
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.lineno, node.func.id


def forbidden_calls(name: str, text: str) -> list[str]:
    """Printing below the command, and input or output in the model."""
    part = part_of(name)
    banned = set() if part in MAY_PRINT else {"print"}
    if part == "model":
        banned |= IMPURE_CALLS
    return [f"{line}: {part} may not call {function}()" for line, function in called(text) if function in banned]


def undocumented(name: str, text: str) -> list[str]:
    """Public modules, classes and functions without a docstring."""
    stem = Path(name).stem
    tree = parsed(text)
    found = []
    if ast.get_docstring(tree) is None and (not stem.startswith("_") or stem == "__init__"):
        found.append("1: the module has no docstring")
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            is_overload = any("overload" in ast.unparse(decorator) for decorator in node.decorator_list)
            if not node.name.startswith("_") and not is_overload and ast.get_docstring(node) is None:
                found.append(f"{node.lineno}: {node.name} has no docstring")
    return found


def namespace_inits(names: Iterable[str]) -> list[str]:
    """Files that would turn the shared namespace into one root's package and hide the other roots."""
    return [name for name in names if re.fullmatch(r"(?:[^/]+/)?reconverge/__init__\.pyi?", name)]


def banned_words(name: str, text: str, checkout: str = str(ROOT)) -> list[str]:
    """Hosts of package registries, and paths that exist on one machine only."""
    tell_tale = checkout if checkout.count("/") > 1 else None  # /src or /app says nothing about a machine
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        found += [f"{number}: names the package host {host}" for host in PACKAGE_HOSTS if host in line.lower()]
        path = MACHINE_PATH.search(line) if Path(name).suffix not in MANIFEST_SUFFIXES else None
        if path is not None or (tell_tale is not None and tell_tale in line):
            found.append(f"{number}: holds a path of one machine")
    return found


# --- the project passes ----------------------------------------------------------------------------------------------


def test_functions_and_modules_are_short() -> None:
    assert complaints(too_long, FILES) == []


def test_imports_point_one_way() -> None:
    assert complaints(against_the_arrows, SOURCES) == []


def test_only_the_command_prints_and_the_model_does_no_io() -> None:
    assert complaints(forbidden_calls, SOURCES) == []


def test_everything_public_has_a_docstring() -> None:
    assert complaints(undocumented, SOURCES) == []


def test_the_namespace_has_no_init() -> None:
    assert namespace_inits(FILES) == []


def test_every_package_is_marked_as_typed() -> None:
    packages = {name.rsplit("/", 1)[0] for name in SOURCES if re.fullmatch(r"\w+/reconverge/\w+/__init__\.py", name)}
    assert packages
    assert sorted(package for package in packages if f"{package}/py.typed" not in FILES) == []


def test_no_text_names_a_package_host_or_a_machine() -> None:
    found = []
    for name in FILES:
        try:
            text = (ROOT / name).read_text("utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{name}:{said}" for said in banned_words(name, text)]
    assert found == []


def test_pins_are_exact_and_name_no_index() -> None:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line and not line.startswith("#")]
    assert lines
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


# --- each check can fail ---------------------------------------------------------------------------------------------


def test_a_long_function_is_found() -> None:
    body = "def f():\n" + "    pass\n" * FUNCTION_LINES_MOST
    assert too_long("x.py", body) == ["1: f has 61 lines; at most 60"]
    assert too_long("x.py", body.replace("    pass\n", "", 1)) == []


def test_a_long_module_is_found() -> None:
    assert too_long("x.py", "x = 1\n" * 501) == ["1: the module has 501 lines; at most 500"]
    assert too_long("x.py", "x = 1\n" * 500) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("model/reconverge/model/x.py", "import time"),
        ("model/reconverge/model/x.py", "from os import path"),
        ("model/reconverge/model/x.py", "def f():\n    import random"),
        ("model/reconverge/model/x.py", "import hypothesis"),
        ("model/reconverge/model/x.py", "import networkx"),
        ("model/reconverge/model/x.py", "from reconverge.loading import read"),
        ("model/reconverge/model/x.py", "from reconverge import checker"),
        ("model/reconverge/model/x.py", "from ..invariants import registry"),
        ("model/reconverge/model/loops/x.py", "from ...checker import search"),
        ("model/reconverge/model/__init__.py", "from .. import cli"),
        ("invariants/reconverge/invariants/x.py", "from reconverge.loading import read"),
        ("invariants/reconverge/invariants/x.py", "from reconverge.checker import search"),
        ("invariants/reconverge/loading/x.py", "from reconverge.invariants import registry"),
        ("invariants/reconverge/checker/x.py", "import reconverge.reports.terminal"),
        ("invariants/reconverge/checker/x.py", "from rich.console import Console"),
        ("reports/reconverge/reports/x.py", "from reconverge.cli import main"),
        ("reports/reconverge/pytest_plugin.py", "import rich"),
        ("reports/reconverge/pytest_plugin.py", "from reconverge import cli"),
        ("reports/reconverge/elsewhere/x.py", ""),
    ],
)
def test_an_import_against_the_arrows_is_found(name: str, text: str) -> None:
    assert len(against_the_arrows(name, text)) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("model/reconverge/model/x.py", "import attrs\nfrom bisect import insort\nfrom . import y\nfrom .y import z"),
        ("model/reconverge/model/loops/x.py", "from ..objects import Pod\nfrom reconverge.model.objects import Node"),
        ("invariants/reconverge/loading/x.py", "import yaml\nfrom pathlib import Path\nimport reconverge.model"),
        ("invariants/reconverge/checker/x.py", "import hypothesis\nfrom reconverge import model, invariants, loading"),
        ("reports/reconverge/reports/x.py", "import rich\nfrom reconverge.checker import Trace"),
        ("reports/reconverge/cli/__init__.py", "import rich\nfrom reconverge.reports import terminal\nfrom . import x"),
        ("reports/reconverge/pytest_plugin.py", "import pytest\nfrom reconverge.reports import terminal"),
    ],
)
def test_an_import_along_the_arrows_is_not(name: str, text: str) -> None:
    assert against_the_arrows(name, text) == []


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("invariants/reconverge/checker/x.py", "def f():\n    print('here')", 1),
        ("reports/reconverge/pytest_plugin.py", "print(1)", 1),
        ("reports/reconverge/cli/x.py", "print(1)", 0),
        ("model/reconverge/model/x.py", "open('x')", 1),
        ("invariants/reconverge/loading/x.py", "open('x')", 0),
        ("invariants/reconverge/checker/x.py", "console.print(1)  # print(", 0),
    ],
)
def test_a_forbidden_call_is_found(name: str, text: str, count: int) -> None:
    assert len(forbidden_calls(name, text)) == count


def test_a_missing_docstring_is_found() -> None:
    text = "def f(): ...\nclass C: ...\ndef _f(): ...\n@overload\ndef g(): ...\n"
    assert undocumented("x.py", text) == [
        "1: the module has no docstring",
        "1: f has no docstring",
        "2: C has no docstring",
    ]
    assert undocumented("_x.py", "") == []
    assert undocumented("__init__.py", "") != []
    assert undocumented("x.py", '"""A module."""\ndef f():\n    """Do."""\n') == []


def test_a_namespace_init_is_found() -> None:
    bad = ["model/reconverge/__init__.py", "reports/reconverge/__init__.pyi"]
    assert namespace_inits([*bad, "model/reconverge/model/__init__.py"]) == bad


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        *(("README.md", f"see https://{host.upper()}/x", 1) for host in PACKAGE_HOSTS),
        ("docs/x.md", "run it in /srv/someone/checkout", 1),
        ("x.yaml", "path: /srv/someone/checkout/x", 1),
        ("x.md", "/" + "home/someone/x", 1),
        ("x.md", "open /" + "root/x", 1),
        ("x.yaml", "mountPath: /" + "home/node/x", 0),
        ("x.md", "https://example.com/" + "work/x", 0),
        ("x.md", "pypi and npm, by name only", 0),
    ],
)
def test_a_banned_word_is_found(name: str, text: str, count: int) -> None:
    assert len(banned_words(name, text, checkout="/srv/someone/checkout")) == count


def test_a_file_knows_its_part() -> None:
    assert part_of("model/reconverge/model/loops/x.py") == "model"
    assert part_of("reports/reconverge/pytest_plugin.py") == "pytest_plugin"
    assert part_of("tests/test_tidy.py") is None
