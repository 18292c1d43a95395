"""The table of the track record and the scenarios agree."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from reconverge.checker import Scenario

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "track-record"
LINK = re.compile(r"\[(?P<text>[^]]+)\]\((?P<target>[^)]+)\)")


class Row(NamedTuple):
    path: str
    report: str
    control: bool


def parsed(line: str) -> Row:
    """One row: the scenario's path from the folder, the report that it is of, whether it is the control."""
    name, report, _ = (cell.strip() for cell in line.strip("|").split(" | "))
    link, title = LINK.fullmatch(name), LINK.match(report)
    path = link["target"] if link else f"{name.strip('`')}.scenario.yaml"
    report, *more = (title["text"] + report[title.end() :] if title else report).split(", ")
    return Row(path, report, "control" in more)


def table() -> list[Row]:
    lines = [each for each in (FOLDER / "README.md").read_text("utf-8").splitlines() if each.startswith("|")]
    return [parsed(each) for each in lines[2:]]


def test_every_scenario_of_the_folder_has_one_row_and_every_row_a_scenario() -> None:
    named = [row.path for row in table()]
    assert len(named) == len(set(named))
    own = {path for path in named if "/" not in path}
    assert own == {file.name for file in FOLDER.glob("*.scenario.yaml")}
    assert [path for path in named if not (FOLDER / path).is_file()] == []


def test_a_link_is_called_like_the_scenario_that_it_leads_to() -> None:
    for text, target in LINK.findall((FOLDER / "README.md").read_text("utf-8")):
        if not target.startswith("https://"):
            assert Path(target).name == f"{text}.scenario.yaml"


def test_a_scenario_of_the_folder_begins_with_the_report_of_its_row() -> None:
    for row in table():
        if "/" not in row.path:
            report = f"{row.report}, control" if row.control else row.report
            assert (FOLDER / row.path).read_text("utf-8").startswith(f"# {report}"), row.path


def test_every_report_has_a_scenario_that_finds_it_and_a_control() -> None:
    kinds: dict[str, set[bool]] = defaultdict(set)
    for row in table():
        kinds[row.report].add(row.control)
        if not row.control:
            assert Scenario.from_file(FOLDER / row.path).expect, row.path
    assert {report for report, found in kinds.items() if found != {True, False}} == set()
