"""Scenario files as test items, in a pytest of their own."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ["pytester"]

SCENARIO = """\
apiVersion: reconverge/v1alpha1
kind: Scenario
metadata: {name: drain-blocked}
spec:
  objects:
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 1
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            containers: [{name: web, image: web:1, resources: {requests: {cpu: 500m, memory: 64Mi}}}]
    - apiVersion: policy/v1
      kind: PodDisruptionBudget
      metadata: {name: web}
      spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
  nodePools:
    - {name: workers, count: 2, allocatable: {cpu: "2", memory: 4Gi, pods: 110}}
  may: {drain: 1}
  events: 1
  deviations: 0
  check: [drain-completes]
"""
MET = SCENARIO + "  expect: {violated: [drain-completes]}\n"


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project whose pytest has the plugin, whether the distribution is installed or only in reach."""
    if not any(each.name == "reconverge" for each in entry_points(group="pytest11")):
        pytester.makeini("[pytest]\naddopts = -p reconverge.pytest_plugin\n")
    return pytester


def write(project: pytest.Pytester, name: str, text: str) -> Path:
    path: Path = project.path / f"{name}.scenario.yaml"
    path.write_text(text)
    return path


def test_a_scenario_is_an_item_with_its_name(project: pytest.Pytester) -> None:
    write(project, "one", MET)
    items, _ = project.inline_genitems()
    assert [item.nodeid for item in items] == ["one.scenario.yaml::drain-blocked"]


def test_a_met_expectation_passes(project: pytest.Pytester) -> None:
    write(project, "one", MET)
    result = project.runpytest()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "*= reconverge =*",
            "1 scenario checked",
            "drain-blocked: 1 violation of 1 invariant, as expected. Explored: every sequence of at most 1 event *",
        ]
    )


def test_a_missed_one_fails_with_its_trace_and_no_traceback(project: pytest.Pytester) -> None:
    write(project, "one", SCENARIO)
    result = project.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "drain-completes is violated for node/workers-*",
            "#1 drain-completes: node/workers-*",
            "*event 1*drain of node workers-*",
            "*replay*reconverge replay .reconverge/traces/drain-blocked-drain-completes.json",
            "FAILED one.scenario.yaml::drain-blocked - drain-completes is violated for *",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*.py:*")
    assert (project.path / ".reconverge/traces/drain-blocked-drain-completes.json").is_file()


def test_an_expectation_that_is_missed_the_other_way_fails(project: pytest.Pytester) -> None:
    write(project, "one", SCENARIO.replace("minAvailable: 1", "maxUnavailable: 1") + MET.splitlines()[-1] + "\n")
    result = project.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["drain-completes was expected to be violated and was not"])


def test_a_bad_file_is_one_error_with_its_place(project: pytest.Pytester) -> None:
    write(project, "bad", MET.replace("drain: 1", "drian: 1"))
    result = project.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(['bad.scenario.yaml:22: there is no event "drian". Did you mean "drain"?'])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_bad_file_leaves_the_others_alone(project: pytest.Pytester) -> None:
    write(project, "bad", "kind: Scenario\n")
    write(project, "good", MET)
    project.runpytest("--continue-on-collection-errors").assert_outcomes(passed=1, errors=1)


def test_other_yaml_is_not_collected(project: pytest.Pytester) -> None:
    (project.path / "deployment.yaml").write_text("kind: Deployment\n")
    (project.path / "scenario.yaml").write_text("kind: Scenario\n")
    assert project.runpytest().ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_without_scenarios_nothing_is_said(project: pytest.Pytester) -> None:
    project.makepyfile("def test_nothing(): pass")
    result = project.runpytest()
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*= reconverge =*")


def test_options_reach_the_scenario(project: pytest.Pytester) -> None:
    path = write(project, "one", MET)
    options = ("--reconverge-kubernetes", "1.30", "--reconverge-seed", "3", "--reconverge-max-examples", "5")
    (found,), _ = project.inline_genitems(str(path), *options)
    item: Any = found
    assert item.scenario.rules.version == "1.30"
    assert item._how() == {"seed": 3, "mode": "random", "max_examples": 5}


def test_random_runs_never_meet_an_expectation_by_luck(project: pytest.Pytester) -> None:
    """What was expected to hold was not explored to the end."""
    write(project, "one", SCENARIO.replace("minAvailable: 1", "maxUnavailable: 1"))
    project.runpytest("--reconverge-max-examples", "3").assert_outcomes(failed=1)


def test_an_unknown_version_is_one_error(project: pytest.Pytester) -> None:
    write(project, "one", MET)
    result = project.runpytest("--reconverge-kubernetes", "1.99")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*Kubernetes 1.99 is not known*"])


def test_a_python_test_fails_with_the_report(project: pytest.Pytester) -> None:
    write(project, "one", SCENARIO)
    project.makepyfile(
        """
        from reconverge.checker import Scenario, check
        from reconverge.reports import assert_holds

        def test_drains():
            assert_holds(check(Scenario.from_file("one.scenario.yaml")))
        """
    )
    result = project.runpytest("test_a_python_test_fails_with_the_report.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*AssertionError:*", "*#1 drain-completes: node/workers-*"])


def test_loading_the_plugin_imports_nothing_heavy() -> None:
    code = (
        "import sys, reconverge.pytest_plugin\n"
        "assert not {'hypothesis', 'networkx', 'rich', 'yaml', 'reconverge.model', 'reconverge.checker'} "
        "& set(sys.modules)"
    )
    environment = {"PYTHONPATH": ":".join(sys.path), "PATH": ""}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, capture_output=True)
