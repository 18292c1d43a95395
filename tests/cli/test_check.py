"""`reconverge check`: what it takes, what it prints and writes, how it ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from attrs import evolve

from reconverge.checker.result import Coverage, Verdict


def test_what_is_violated_ends_with_one_and_can_be_replayed(run: Any, shop: Path) -> None:
    ended = run("check", shop / "web.yaml", "--nodes", "2x2cpu,4Gi", "--only", "drain-completes", "--may", "drain")
    assert ended.code == 1
    assert "#1 drain-completes: node/" in ended.out
    assert ended.err == ""
    (hint,) = [line.split("reconverge ")[1] for line in ended.out.splitlines() if "reconverge replay" in line]
    again = run(*hint.split())
    assert again.code == 1
    assert "drain-completes: node/" in again.out


def test_what_holds_ends_with_zero_and_names_the_bounds(run: Any, shop: Path) -> None:
    options = ("--may", "cordon=1", "--events", "1", "--deviations", "0", "--only", "requests-within-capacity")
    ended = run("check", shop / "web.yaml", "--nodes", "2x2cpu,4Gi", *options)
    assert ended.code == 0
    assert "No violation found for every sequence of at most 1 event and no deviation (" in ended.out


def test_a_met_expectation_ends_with_zero(run: Any, shop: Path) -> None:
    ended = run("check", shop / "met.scenario.yaml")
    assert ended.code == 0
    assert "As expected: drain-completes violated." in ended.out


def test_a_folder_of_scenarios_runs_each(run: Any, shop: Path) -> None:
    ended = run("check", shop)
    assert ended.code == 1
    assert ended.out.splitlines()[-1] == "2 scenarios: 1 passed, 1 failed (drain-ends)"


def test_standard_input_is_read(run: Any, monkeypatch: pytest.MonkeyPatch, shop: Path) -> None:
    import io
    import sys

    text = (shop / "web.yaml").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    ended = run("check", "-", "--nodes", "2x2cpu,4Gi", "--only", "drain-completes", "--may", "drain=1")
    assert ended.code == 1


def test_json_is_one_document_and_nothing_else(run: Any, shop: Path) -> None:
    ended = run("check", shop / "met.scenario.yaml", "--output", "json")
    data = json.loads(ended.out)
    assert data["scenario"]["name"] == "drain-blocked"
    assert data["exit_code"] == ended.code == 0


def test_the_same_command_prints_the_same_bytes(run: Any, shop: Path) -> None:
    assert run("check", shop, "--output", "json").out == run("check", shop, "--output", "json").out


# --- with prepared results -------------------------------------------------------------------------------------------


@pytest.fixture
def manifest(shop: Path) -> Path:
    return shop / "web.yaml"


def test_options_reach_the_checker(run: Any, manifest: Path, checker: Callable[..., Any], samples: ModuleType) -> None:
    stand_in = checker(samples.clean())
    run("check", manifest, "--random", "--max-examples", "7", "--seed", "3", "--budget", "99")
    (call,) = stand_in.called
    assert {key: call[key] for key in ("mode", "max_examples", "seed", "budget")} == {
        "mode": "random",
        "max_examples": 7,
        "seed": 3,
        "budget": 99,
    }


def test_options_of_the_scenario_reach_it(run: Any, manifest: Path, checker: Any, samples: ModuleType) -> None:
    stand_in = checker(samples.clean())
    run("check", manifest, "--may", "node-crash=2,drain", "--may", "cordon=0", "--events", "3", "--kubernetes", "1.30")
    scenario = stand_in.called[0]["scenario"]
    assert [(each.event, each.times) for each in scenario.allowances] == [
        ("node-crash", 2),
        ("drain", 1),
        ("cordon", 0),
    ]
    assert scenario.events == 3
    assert scenario.rules.version == "1.30"


def test_bounds_and_version_override_a_scenario_file(run: Any, shop: Path, checker: Any, samples: ModuleType) -> None:
    stand_in = checker(samples.clean())
    run("check", shop / "met.scenario.yaml", "--events", "2", "--kubernetes", "1.30")
    scenario = stand_in.called[0]["scenario"]
    assert (scenario.events, scenario.deviations, scenario.rules.version) == (2, 0, "1.30")
    assert scenario.document["spec"]["kubernetes"] == "1.30"
    assert len(scenario.expect) == 1


def test_every_report_is_written(run: Any, manifest: Path, checker: Any, samples: ModuleType, tmp_path: Path) -> None:
    checker(samples.result())
    kinds = ("html", "itf", "json", "junit", "markdown", "sarif", "text")
    reports = [word for kind in kinds for word in ("--report", f"{kind}=out/report.{kind}")]
    assert run("check", manifest, *reports).code == 1
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(f"report.{kind}" for kind in kinds)
    assert all(path.stat().st_size for path in (tmp_path / "out").iterdir())


def test_a_report_that_cannot_be_written_is_told(run: Any, manifest: Path, checker: Any, samples: ModuleType) -> None:
    checker(samples.clean())
    ended = run("check", manifest, "--report", f"html={manifest}/x.html")
    assert ended.code == 2
    assert "x.html: cannot be written: " in ended.err


def test_nothing_half_written_stays(
    run: Any, manifest: Path, checker: Any, samples: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checker(samples.clean())
    (tmp_path / "x.html").write_text("old")

    def fails(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fails)
    assert run("check", manifest, "--report", "html=x.html").code == 2
    assert (tmp_path / "x.html").read_text() == "old"
    assert list(tmp_path.glob(".x.html*")) == []


def test_traces_are_kept_under_names_that_stay(run: Any, manifest: Path, checker: Any, samples: ModuleType) -> None:
    result = samples.result(traces=(samples.DRAIN, samples.CRASH, samples.DRAIN))
    checker(result)
    run("check", manifest)
    assert sorted(path.name for path in Path(".reconverge/traces").iterdir()) == [
        "shop-drain-completes-2.json",
        "shop-drain-completes.json",
        "shop-replicas-restored.json",
    ]


def test_strict_fails_for_what_never_happened(run: Any, manifest: Path, checker: Any, samples: ModuleType) -> None:
    never = Coverage({}, {}, {}, ("drain never happened: it was possible in no state that was reached",))
    checker(samples.clean(coverage=never))
    assert run("check", manifest).code == 0
    ended = run("check", manifest, "--strict")
    assert ended.code == 1
    assert "never happened: drain: it was possible in no state that was reached" in ended.err


def test_strict_fails_for_what_stayed_open(run: Any, manifest: Path, checker: Any, samples: ModuleType) -> None:
    checker(samples.clean(verdicts=(Verdict("drain-completes", "node/a", "inconclusive", "objective"),)))
    assert run("check", manifest).code == 0
    assert run("check", manifest, "--strict").code == 1


def test_strict_forgives_what_nobody_asked_for(run: Any, manifest: Path, checker: Any, samples: ModuleType) -> None:
    idle = Coverage({"drain": 1}, {}, {}, ("job-completes was never applicable",))
    checker(samples.clean(coverage=idle))
    assert run("check", manifest, "--strict").code == 0
    asked = {**samples.DOCUMENT, "spec": {"check": ["job-completes"]}}
    checker(samples.clean(coverage=idle, document=asked))
    ended = run("check", manifest, "--strict")
    assert ended.code == 1
    assert "job-completes had nothing to judge" in ended.err


def test_the_worst_result_decides(run: Any, shop: Path, checker: Any, samples: ModuleType) -> None:
    checker(samples.result(), samples.clean())
    assert run("check", shop).code == 1
    checker(samples.clean())
    assert run("check", shop).code == 0


def test_an_internal_error_is_one_line(run: Any, manifest: Path, checker: Any) -> None:
    checker(RuntimeError("two\nlines"))
    ended = run("check", manifest)
    assert ended.code == 3
    assert ended.err.count("\n") == 1
    assert "internal error: RuntimeError: two lines. This is a mistake in reconverge; please report it" in ended.err
    assert "Traceback" in run("check", manifest, "--traceback").err


def test_an_interruption_claims_nothing(run: Any, manifest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import reconverge.cli.check

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(reconverge.cli.check, "check", interrupted)
    ended = run("check", manifest)
    assert (ended.code, ended.out) == (130, "")
    assert "nothing is claimed" in ended.err


def test_the_report_is_not_for_one_width(
    run: Any, manifest: Path, checker: Any, samples: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    checker(samples.result())
    narrow = run("check", manifest).out
    monkeypatch.setenv("COLUMNS", "120")
    wide = run("check", manifest).out
    assert max(map(len, narrow.splitlines())) <= 80 < max(map(len, wide.splitlines())) <= 120


def test_colour_is_for_terminals_or_on_request(
    run: Any, manifest: Path, checker: Any, samples: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    checker(samples.result())
    assert "\x1b" not in run("check", manifest).out
    assert "\x1b" in run("check", manifest, "--color", "always").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" in run("check", manifest).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("check", manifest).out
    assert "\x1b" not in run("--color", "never", "check", manifest).out


def test_accepted_violations_are_told_to_the_checker(
    run: Any, manifest: Path, checker: Any, samples: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "reconverge.toml").write_text(
        '[accept]\n"drain-completes node/workers-1" = "one replica, on purpose"\n"no-livelock" = "since May"\n'
    )
    accepted = evolve(samples.result(), verdicts=samples.result().verdicts[:1])
    stand_in = checker(accepted)
    ended = run("check", manifest)
    assert stand_in.called[0]["accepted"] == {
        ("drain-completes", "node/workers-1"): "one replica, on purpose",
        ("no-livelock", ""): "since May",
    }
    assert "accepted but not violated: 'no-livelock'" in ended.err
    assert "'drain-completes" not in ended.err


def test_an_accepted_violation_ends_with_zero(run: Any, shop: Path, tmp_path: Path) -> None:
    (tmp_path / "reconverge.toml").write_text('[accept]\ndrain-completes = "one replica, on purpose"\n')
    ended = run("check", shop / "missed.scenario.yaml")
    assert ended.code == 0
    assert "one replica, on purpose" in ended.out
