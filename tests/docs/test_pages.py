"""The pages that are made of the code are what the code makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from reconverge.model.standard import standard_control_plane
from reconverge.reports.reference import rules

AGAIN = "python docs/generate.py makes it anew"


@pytest.fixture(scope="module")
def omissions(root: Path) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((root / "docs" / "omissions.yaml").read_text("utf-8"))
    return read


@pytest.mark.parametrize(
    "page", ["docs/fidelity.md", "docs/invariants.md", "docs/events.md", "examples/README.md", "README.md"]
)
def test_page_is_what_the_code_makes(page: str, root: Path, generator: dict[str, Any]) -> None:
    assert (root / page).read_text("utf-8") == generator["page"](page), AGAIN


def test_every_page_is_compared(generator: dict[str, Any]) -> None:
    assert list(generator["PAGES"]) == [
        "docs/fidelity.md",
        "docs/invariants.md",
        "docs/events.md",
        "examples/README.md",
        "README.md",
    ]


def test_every_loop_says_what_it_leaves_out(omissions: dict[str, Any], generator: dict[str, Any]) -> None:
    assert set(omissions["loops"]) == {loop.name for loop in generator["every_loop"]()}
    assert {loop.name for loop in standard_control_plane().loops} <= set(omissions["loops"])
    assert all(omissions["loops"].values())


def test_every_omission_has_a_direction(omissions: dict[str, Any], generator: dict[str, Any]) -> None:
    entries = [*omissions["loops"].values(), *(part["left_out"] for part in omissions["parts"].values())]
    assert {each["errs"] for some in entries for each in some} == set(generator["ERRS"])


def test_every_rule_that_follows_the_version_is_in_the_table_of_versions(omissions: dict[str, Any]) -> None:
    entries = {entry.id: entry for entry in rules()}
    named = [rule for row in omissions["versions"] for rule in row.get("rules", ())]
    assert len(named) == len(set(named))
    assert set(named) <= set(entries)
    assert {id_ for id_, entry in entries.items() if "changed in" in entry.note} <= set(named)
    assert all(("rules" in row) != ("why" in row) for row in omissions["versions"])


def test_the_table_names_the_version_that_changed_a_rule(omissions: dict[str, Any]) -> None:
    entries = {entry.id: entry for entry in rules()}
    for row in omissions["versions"]:
        for rule in row.get("rules", ()):
            changed = entries[rule].note.partition("changed in ")[2]
            assert all(version in row["since"] for version in changed.split(", ")), rule


def test_every_loop_names_its_upstream_source(generator: dict[str, Any]) -> None:
    for loop in generator["every_loop"]():
        assert loop.source, loop.name
        assert list(generator["_rules_of"](loop)), loop.name


def test_a_loop_without_entry_is_an_error(generator: dict[str, Any]) -> None:
    with pytest.raises(KeyError):
        generator["fidelity"](generator["every_loop"](), {"loops": {}, "parts": {}})


def test_a_transcript_is_made_anew(generator: dict[str, Any]) -> None:
    page = "before\n<!-- transcript: --version -->\n```text\nsomething old\n```\nafter\n"
    made = generator["with_transcripts"](page)
    assert made.startswith("before\n<!-- transcript: --version -->\n```text\nreconverge ")
    assert "something old" not in made
    assert made.endswith("```\nafter\n")
