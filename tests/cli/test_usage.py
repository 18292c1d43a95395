"""Bad usage and input: exit code 2, one line, and what was probably meant."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reconverge.cli.output import Output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("chek", "x"), "unknown command 'chek'. Did you mean 'check'?"),
        (("check", "web.yaml", "--node", "3"), "unknown option '--node'. Did you mean '--nodes'?"),
        (("check", "web.yaml", "--stric"), "unknown option '--stric'. Did you mean '--strict'?"),
        (("check", "web.yaml", "--may", "drian=1"), "unknown event 'drian'. Did you mean 'drain'?"),
        (("check", "web.yaml", "--may", "drain=x"), "the count of drain must be a whole number"),
        (("check", "web.yaml", "--events", "two"), "'two' is not a whole number"),
        (("check", "web.yaml", "--events", "-1"), "--events"),
        (("check", "web.yaml", "--report", "htlm=x"), "unknown kind of report 'htlm'. Did you mean 'html'?"),
        (("check", "web.yaml", "--report", "html"), "say where to write it, as html=FILE"),
        (("check", "web.yaml", "--report", "html=."), "is a directory"),
        (("check", "web.yaml", "--output", "yaml"), "unknown --output 'yaml'"),
        (("check", "web.yaml", "--exhaustive", "--random"), "not allowed with argument"),
        (("check", "web.yaml", "--only", "drain-complets"), 'Did you mean "drain-completes"?'),
        (("check", "web.yaml", "--skip", "drain-complets"), 'Did you mean "drain-completes"?'),
        (("check", "web.yaml", "--kubernetes", "1.99"), "known are 1.25 to"),
        (("check", "web.yaml", "--nodes", "many"), "many"),
        (("check", "nowhere.yaml"), "nowhere.yaml: there is no such file or directory"),
        (("check",), "nothing to check"),
        (("check", "met.scenario.yaml", "--nodes", "3x4cpu,16Gi"), "--nodes is for manifests"),
        (("check", "nowhere.scenario.yaml"), "nowhere.scenario.yaml"),
        (("replay", "nowhere.json"), "nowhere.json: no such file or directory"),
        (("replay", "web.yaml"), "web.yaml: this is not JSON"),
        (("explain", "drain-complets"), "unknown id 'drain-complets'. Did you mean 'drain-completes'?"),
        (("list", "event"), "unknown list 'event'. Did you mean 'events'?"),
        (("list",), "WHAT"),
        (("export-test", "nowhere.json"), "nowhere.json"),
    ],
)
def test_bad_usage_is_told_in_a_line(
    run: Any, shop: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(shop)
    ended = run(*words)
    assert said in ended.err
    assert ended.code == 2
    assert ended.err.count("\n") == 1
    assert ended.out == ""


def test_a_mistake_in_a_scenario_names_file_and_line(run: Any, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop)
    text = Path("met.scenario.yaml").read_text().replace("drain: 1", "drian: 1")
    Path("bad.scenario.yaml").write_text(text)
    ended = run("check", "bad.scenario.yaml")
    assert ended.code == 2
    assert ended.err == 'reconverge: bad.scenario.yaml:8: there is no event "drian". Did you mean "drain"?\n'


def test_a_scenario_of_another_name_is_read_as_one(run: Any, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop)
    Path("met.scenario.yaml").rename("mine.yaml")
    ended = run("check", "mine.yaml")
    assert (ended.code, ended.err) == (0, "")
    assert "explored" in ended.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80}]}\n", "only 1 Service, and"),
        ("apiVersion: reconverge/v1alpha1\nkind: Scenario\n", "is found by its name, *.scenario.yaml"),
    ],
)
def test_what_was_read_and_is_nothing_to_check_is_named(run: Any, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "k8s").mkdir()
    (tmp_path / "k8s" / "a.yaml").write_text(text)
    ended = run("check", tmp_path / "k8s")
    assert ended.code == 2
    assert said in ended.err


def test_without_a_command_the_help_is_shown(run: Any) -> None:
    ended = run()
    assert ended.code == 2
    assert "usage: reconverge" in ended.out


@pytest.mark.parametrize("command", ["check", "replay", "explain", "list", "simulate", "export-test"])
def test_every_command_has_help(run: Any, command: str) -> None:
    ended = run(command, "--help")
    assert ended.code == 0
    assert f"usage: reconverge {command}" in ended.out


# --- configuration ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("event = 2\n", "reconverge.toml:1: unknown key 'event'. Did you mean 'events'?"),
        ("seed = 1\nevents = 'two'\n", "reconverge.toml:2: events must be a whole number, not 'two'"),
        ("events = true\n", "events must be a whole number"),
        ("mode = 'quick'\n", "mode must be auto, exhaustive or random"),
        ("[accept]\ndrain-completes = ''\n", "accept must be a table"),
        ("events = \n", "reconverge.toml: Invalid value"),
        ("[report]\nhtlm = 'x'\n", "unknown kind of report 'htlm'. Did you mean 'html'?"),
    ],
)
def test_a_mistake_in_the_configuration(run: Any, shop: Path, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "reconverge.toml").write_text(text)
    ended = run("check", shop / "web.yaml")
    assert said in ended.err
    assert ended.code == 2


def test_the_configuration_is_found_above_and_options_win(
    run: Any, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checker: Any, samples: Any
) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.reconverge]\npaths = ["shop/web.yaml"]\nseed = 5\nevents = 1\nnodes = "2x2cpu,4Gi"\n'
        'may = {drain = 1, rollout = {behaviour = ["never-ready"]}}\n[tool.reconverge.report]\njson = "out.json"\n'
    )
    monkeypatch.chdir(shop)
    stand_in = checker(samples.clean())
    assert run("check", "--events", "3").code == 0
    (call,) = stand_in.called
    assert call["seed"] == 5
    assert call["scenario"].events == 3
    assert [each.event for each in call["scenario"].allowances] == ["drain", "rollout"]
    assert (tmp_path / "out.json").is_file()


def test_a_pyproject_of_others_is_passed_over(run: Any, shop: Path, checker: Any, samples: Any) -> None:
    (shop / "pyproject.toml").write_text("[tool.ruff]\nline-length = 100\n")
    checker(samples.clean())
    assert run("check", shop / "web.yaml").code == 0


# --- the world around ------------------------------------------------------------------------------------------------

START = [sys.executable, "-m", "reconverge.cli"]


def environment(**more: str) -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": ":".join(sys.path), **more}


def test_the_version_is_told_without_loading_anything_heavy() -> None:
    code = (
        "import sys\nfrom reconverge.cli import main\nassert main(['--version']) == 0\n"
        "heavy = {'rich', 'yaml', 'hypothesis', 'networkx', 'attr', 'pytest', 'reconverge.model', 'reconverge.checker'}"
        "\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=environment(), capture_output=True)


def test_a_closed_pipe_is_no_error() -> None:
    with subprocess.Popen(
        [*START, "list", "rules"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        errors = process.stderr.read()
        process.stderr.close()
    assert (process.returncode, errors) == (0, b"")


def test_output_is_utf_8_whatever_the_locale() -> None:
    done = subprocess.run(
        [*START, "explain", "scale"], env=environment(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"),
        capture_output=True, check=True,
    )  # fmt: skip
    assert "─" in done.stdout.decode("utf-8")


def test_a_terminal_that_knows_ascii_only_gets_that(monkeypatch: pytest.MonkeyPatch) -> None:
    from reconverge.reports.page import ASCII

    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdout", stream)
    output = Output()
    assert output.page().glyphs is ASCII
    output.write("a name like naïve\n")
    stream.seek(0)
    assert stream.read() == "a name like na\\xefve\n"
