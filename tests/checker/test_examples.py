"""Every example, beside being checked as a test item of its own: what all of them have in common."""

from __future__ import annotations

import json
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from reconverge.checker import Scenario

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FILES = sorted(EXAMPLES.glob("*/*.scenario.yaml"))


@cache
def scenario(file: Path) -> Scenario:
    return Scenario.from_file(file)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.partition(".")[0])
def test_an_example_is_modelled_as_a_whole_and_says_what_it_expects(file: Path) -> None:
    loaded = scenario(file).loaded
    assert loaded is not None
    assert loaded.accounting.unsupported == ()
    assert not loaded.skipped
    assert scenario(file).expect is not None


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.partition(".")[0])
def test_an_example_is_the_same_as_plain_data(file: Path) -> None:
    """A trace keeps its scenario as JSON, settings of loops among it."""
    given = scenario(file)
    again = Scenario.from_document(json.loads(json.dumps(given.document)))
    assert again.objects == given.objects
    assert again.groups == given.groups
    assert [loop.name for loop in again.loops] == [loop.name for loop in given.loops]
    assert (again.steps, again.allowances) == (given.steps, given.allowances)


def test_every_folder_shows_what_breaks_and_what_holds() -> None:
    broken: dict[str, set[bool]] = defaultdict(set)
    for file in FILES:
        broken[file.parent.name].add(bool(scenario(file).expect))
    assert {folder: kinds for folder, kinds in broken.items() if kinds != {True, False}} == {}


def test_an_example_begins_with_what_it_shows_and_is_called_like_its_file() -> None:
    for file in FILES:
        assert file.read_text("utf-8").startswith("# "), file
        assert scenario(file).name == file.name.removesuffix(".scenario.yaml"), file
