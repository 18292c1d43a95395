"""`replay`, `explain`, `list`, `simulate` and `export-test`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from reconverge.cli.export import pytest_text, scenario_text
from reconverge.reports.trace_json import trace_from_text, trace_text


@pytest.fixture
def kept(run: Any, shop: Path) -> Path:
    """A trace that was kept by a check."""
    run("check", shop / "missed.scenario.yaml")
    (path,) = Path(".reconverge/traces").glob("*.json")
    return path.absolute()


def test_a_kept_trace_replays_to_the_same_steps(run: Any, kept: Path) -> None:
    ended = run("replay", kept, "--output", "json")
    assert ended.code == 1
    assert trace_from_text(ended.out) == trace_from_text(kept.read_text("utf-8"))


def test_a_trace_that_breaks_nothing_any_more_ends_with_zero(run: Any, kept: Path) -> None:
    data = json.loads(kept.read_text("utf-8"))
    (budget,) = [each for each in data["scenario"]["spec"]["objects"] if each["kind"] == "PodDisruptionBudget"]
    budget["spec"] = {"maxUnavailable": 1, "selector": budget["spec"]["selector"]}
    kept.write_text(json.dumps(data))
    ended = run("replay", kept)
    assert (ended.code, ended.out) == (0, "")
    assert "not reproduced" in ended.err


def test_a_missing_trace_names_those_that_are_kept(run: Any, kept: Path) -> None:
    ended = run("replay", "x.json")
    assert ended.code == 2
    assert f".reconverge/traces/{kept.name}" in ended.err


@pytest.mark.parametrize("group", ["invariants", "events", "loops", "rules", "annotations"])
def test_everything_that_is_listed_is_explained(run: Any, group: str) -> None:
    listed = run("list", group)
    assert listed.code == 0
    ids = [line.split()[0] for line in listed.out.splitlines() if not line.startswith(" ")]
    assert ids == sorted(ids)
    for id_ in ids:
        ended = run("explain", id_)
        assert ended.code == 0
        title, _, *rest = ended.out.splitlines()
        assert title.startswith(id_)
        assert rest, id_


def test_an_invariant_is_explained_in_full(run: Any) -> None:
    text = run("explain", "drain-completes").out
    for word in ("judged", "family", "matters", "remedy", "source", "invariant"):
        assert word in text


def test_what_two_things_are_called_is_explained_twice(run: Any) -> None:
    """`drain` is an event and a control loop."""
    lines = run("explain", "drain").out.splitlines()
    assert [line for line in lines if line.startswith("drain  ")] == ["drain  event", "drain  control loop"]


def test_a_rule_says_where_versions_differ(run: Any) -> None:
    assert "40 from 1.25, 50 from 1.31" in run("explain", "node-monitor-grace").out


def test_own_invariants_are_listed_and_explained(run: Any, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from reconverge.invariants import invariant\n\n\n"
        '@invariant("no-pods-at-all", "always")\n'
        "def no_pods(situation, _):\n"
        '    """There are no pods."""\n'
        "    return ()\n"
    )
    assert "no-pods-at-all" in run("list", "invariants", "--invariants", "own.py").out
    assert "There are no pods." in run("explain", "no-pods-at-all", "--invariants", "own.py").out


def test_a_simulation_shows_a_run_and_judges_nothing(run: Any, shop: Path) -> None:
    options = (shop / "met.scenario.yaml", "--seed", "1", "--events", "1")
    ended = run("simulate", *options)
    assert ended.code == 0
    assert "drain of node workers-" in ended.out
    assert ended.out == run("simulate", *options).out


def test_an_exported_scenario_reproduces_the_trace(run: Any, kept: Path) -> None:
    ended = run("export-test", kept, "--to", "mended.scenario.yaml")
    assert ended.code == 0
    text = Path("mended.scenario.yaml").read_text("utf-8")
    assert text.startswith("# drain-completes: node/")
    checked = run("check", "mended.scenario.yaml")
    assert checked.code == 0
    assert "with no free event and no deviation" in checked.out


def test_an_exported_python_test_reproduces_the_trace(run: Any, kept: Path, tmp_path: Path) -> None:
    assert run("export-test", kept, "--to", "test_mended.py").code == 0
    environment = {"PYTHONPATH": ":".join(sys.path), "PATH": ""}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mended.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_odd_timing_is_exported_as_python_only(samples: ModuleType, run: Any, tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text(trace_text(samples.CRASH), "utf-8")
    assert run("export-test", "odd.json").out == pytest_text(samples.CRASH)
    ended = run("export-test", "odd.json", "--as", "scenario")
    assert ended.code == 2
    assert "use --as pytest" in ended.err


def test_a_name_that_pytest_would_not_collect_is_refused(run: Any, kept: Path) -> None:
    ended = run("export-test", kept, "--to", "mended.yaml")
    assert ended.code == 2
    assert "only if its name ends in .scenario.yaml" in ended.err


def test_steps_of_the_scenario_are_not_exported_twice(samples: ModuleType) -> None:
    from attrs import evolve

    spec = {**samples.DOCUMENT["spec"], "steps": [{"drain": {"node": "workers-1"}}]}
    trace = evolve(samples.DRAIN, scenario={**samples.DOCUMENT, "spec": spec})
    assert yaml.safe_load(scenario_text(trace))["spec"]["steps"] == [{"drain": {"node": "workers-1"}}]
