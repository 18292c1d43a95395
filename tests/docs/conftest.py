"""What the tests of the pages share: where the pages are, what docs/generate.py makes, and fenced blocks of code."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@frozen
class Block:
    """A fenced block of code: the page, the line where it begins, its info string and its text."""

    page: str
    line: int
    info: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks_of(page: str, text: str) -> Iterator[Block]:
    """The fenced blocks of a page."""
    for found in FENCE.finditer(text):
        yield Block(page, text.count("\n", 0, found.start()) + 1, found[1].strip(), found[2])


def all_blocks() -> list[Block]:
    """The fenced blocks of every page for people, in order."""
    pages = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
    return [block for page in pages for block in blocks_of(page.relative_to(ROOT).as_posix(), page.read_text("utf-8"))]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Gives tests that ask for a kind of block one such block each: `python_test` gets the blocks of "python test"."""
    for name, info in (("python_test", "python test"), ("yaml_scenario", "yaml scenario"), ("any_block", "")):
        if name in metafunc.fixturenames:
            chosen = [block for block in all_blocks() if info in ("", block.info)]
            metafunc.parametrize(name, chosen, ids=str)


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def generator() -> dict[str, Any]:
    """The names that docs/generate.py defines."""
    return runpy.run_path(str(ROOT / "docs" / "generate.py"))


@pytest.fixture(scope="session")
def find_blocks() -> Any:
    """Finds the fenced blocks in a page's text."""
    return blocks_of
