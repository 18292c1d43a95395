"""The pytest plugin: scenario files as test items, counterexamples as failures.

Loading it costs nothing: everything of `reconverge` is imported when the first scenario is collected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from reconverge.checker import Result, Scenario

SUFFIXES = (".scenario.yaml", ".scenario.yml")
PROPERTY = "reconverge"
"""The name of the property that carries the claim of a scenario from a worker process to the summary."""
MOST_CLAIMS = 40
"""How many scenarios the summary lists one by one unless it is asked to be verbose."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options, all prefixed."""
    group = parser.getgroup("reconverge", "reconverge: scenarios of Kubernetes clusters")
    group.addoption("--reconverge-seed", type=int, metavar="N", help="seed of everything random (default 0)")
    group.addoption("--reconverge-max-examples", type=int, metavar="N", help="search at random, with N sequences")
    group.addoption("--reconverge-kubernetes", metavar="VERSION", help="rules of this version for all scenarios")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Scenario files are collected by their names."""
    if file_path.name.endswith(SUFFIXES):
        return ScenarioFile.from_parent(parent, path=file_path)
    return None


class ScenarioFile(pytest.File):
    """A file that holds one scenario."""

    def collect(self) -> Iterable[pytest.Item]:
        """The scenario as an item. Raises CollectError, in one line, for a file that cannot be used."""
        from reconverge.loading import LoadError
        from reconverge.reports.scenarios import read_scenario

        try:
            scenario = read_scenario(
                _seen_from(self.path, self.config), kubernetes=self.config.getoption("--reconverge-kubernetes")
            )
        except LoadError as error:
            raise self.CollectError(str(error)) from None
        yield ScenarioItem.from_parent(self, name=scenario.name, scenario=scenario)


def _seen_from(path: Path, config: pytest.Config) -> Path:
    """The path as people see it in messages: from the folder in which pytest was started."""
    here = config.invocation_params.dir
    return path.relative_to(here) if here == Path.cwd() and path.is_relative_to(here) else path


class ScenarioFailed(Exception):
    """A scenario that misses its expectation; the text is the report."""


class ScenarioItem(pytest.Item):
    """One scenario: passes if it meets its expectation, and is explored to the end."""

    def __init__(self, *, scenario: Scenario, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scenario = scenario

    def runtest(self) -> None:
        """Checks the scenario. Raises ScenarioFailed with the whole report."""
        from reconverge.checker import check
        from reconverge.reports import words

        result = check(self.scenario, **self._how())
        self.user_properties.append((PROPERTY, words.claim(result)))
        if result.exit_code or (result.expectation is None and words.inconclusive(result)):
            raise ScenarioFailed(_report(result))

    def _how(self) -> dict[str, Any]:
        examples = self.config.getoption("--reconverge-max-examples")
        how: dict[str, Any] = {"seed": self.config.getoption("--reconverge-seed") or 0}
        return how if examples is None else {**how, "mode": "random", "max_examples": examples}

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The report alone; a Python traceback only for what is a mistake of reconverge."""
        if isinstance(excinfo.value, ScenarioFailed):
            return str(excinfo.value)
        from reconverge.loading import LoadError

        return str(excinfo.value) if isinstance(excinfo.value, LoadError) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The file, and the name of the scenario."""
        return self.path, 0, f"scenario {self.name}"


def _report(result: Result) -> str:
    """What went wrong in a line, for the list of failures, then the terminal report with how to replay its traces."""
    from reconverge.reports.files import keep_traces, replay_hints
    from reconverge.reports.terminal import report_text

    try:
        hints = replay_hints(keep_traces(result, Path.cwd()), Path.cwd())
    except OSError:
        hints = []
    missed = result.expectation.missed if result.expectation is not None else ()
    broken = [f"{verdict.invariant} is violated for {verdict.object or 'the cluster'}" for verdict in result.violated]
    headline = [*missed, *broken, "inconclusive: not explored to the end"][0]
    return f"{headline}\n\n{report_text(result, hints=hints)}"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One section: how many scenarios were checked, and within which bounds; of many, only those that failed."""
    claims = list(_claims(terminalreporter.stats))
    if not claims:
        return
    terminalreporter.section("reconverge")
    noun = "scenario" if len(claims) == 1 else "scenarios"
    terminalreporter.line(f"{len(claims)} {noun} checked")
    if len(claims) > MOST_CLAIMS and not terminalreporter.verbosity > 0:
        terminalreporter.line("Those that passed are listed with -v, each with what was explored of it.")
        claims = list(_claims(terminalreporter.stats, ("failed",)))
    for name, claim in claims:
        terminalreporter.line(f"{name}: {claim}")


def _claims(stats: dict[str, list[Any]], outcomes: tuple[str, ...] = ("failed", "passed")) -> Iterator[tuple[str, str]]:
    for outcome in outcomes:
        for report in stats.get(outcome, ()):
            for name, value in getattr(report, "user_properties", ()):
                if name == PROPERTY:
                    yield re.sub(r"^.*::", "", report.nodeid), value
