"""Scenario files for the command and for pytest: finding them, reading them, and overriding a little of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve

if TYPE_CHECKING:
    from reconverge.checker import Scenario

SUFFIXES = (".scenario.yaml", ".scenario.yml")
API_VERSION = "apiVersion: reconverge/"


def is_scenario_file(path: str | Path) -> bool:
    """Whether a path is named as a scenario file."""
    return str(path).endswith(SUFFIXES)


def says_scenario(path: Path) -> bool:
    """Whether a file of another name holds a scenario all the same, by the first two lines that say what it is."""
    if path.suffix not in (".yaml", ".yml") or not path.is_file():
        return False
    lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    return "kind: Scenario" in map(str.rstrip, lines) and any(line.startswith(API_VERSION) for line in lines)


def scenario_files(folder: Path) -> list[Path]:
    """The scenario files in a folder and below, sorted; hidden folders are left out."""
    found = (path for suffix in SUFFIXES for path in folder.rglob(f"*{suffix}"))
    return sorted(path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts))


def read_scenario(
    path: Path, *, kubernetes: str | None = None, events: int | None = None, deviations: int | None = None
) -> Scenario:
    """The scenario of a file, with another version or other bounds if they are given. Raises LoadError."""
    from reconverge.checker import Scenario

    scenario = Scenario.from_file(path)
    changed: dict[str, Any] = {"kubernetes": kubernetes, "events": events, "deviations": deviations}
    changed = {key: value for key, value in changed.items() if value is not None}
    if changed:
        # Through the document, so that kept traces replay under the same rules.
        document = {**scenario.document, "spec": {**scenario.document["spec"], **changed}}
        made = Scenario.from_document(document, folder=path.parent)
        scenario = evolve(made, file=scenario.file, loaded=scenario.loaded)
    return evolve(scenario, document=_seen_from_here(scenario.document, path.parent))


def _seen_from_here(document: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """The document with the paths of own invariants as a kept trace needs them: from the working directory."""
    files = document["spec"].get("invariants")
    if not files:
        return document
    return {**document, "spec": {**document["spec"], "invariants": [str(folder / each) for each in files]}}
