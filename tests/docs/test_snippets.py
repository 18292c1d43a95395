"""Every piece of Python or YAML on the pages for people is run, or is marked as not meant to be.

The word after the language says how: `python test` is executed from the root of the checkout; `yaml scenario` is
checked and meets its expectation (without one, it is only read); `python shown` and `yaml shown` are not run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from reconverge.checker import Scenario, check

KNOWN = {"python test", "python shown", "yaml scenario", "yaml shown"}


def test_python_runs(python_test: Any, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    code = compile("\n" * python_test.line + python_test.text, python_test.page, "exec", dont_inherit=True)
    exec(code, {"__name__": "snippet"})


def test_scenario_meets_its_expectation(yaml_scenario: Any, root: Path) -> None:
    scenario = Scenario.from_document(yaml.safe_load(yaml_scenario.text), root)
    if scenario.expect is not None:
        result = check(scenario)
        assert result.expectation is not None
        assert result.expectation.met, result.expectation.missed


def test_code_is_marked(any_block: Any) -> None:
    if any_block.info.split(" ")[0] in ("python", "yaml"):
        assert any_block.info in KNOWN


def test_blocks_are_found_with_their_lines(find_blocks: Any) -> None:
    text = "# Title\n\n```python test\nassert True\n```\n\nWords.\n\n```sh\nls\n```\n"
    found = list(find_blocks("page.md", text))
    assert [(str(each), each.info, each.text) for each in found] == [
        ("page.md:3", "python test", "assert True\n"),
        ("page.md:9", "sh", "ls\n"),
    ]
