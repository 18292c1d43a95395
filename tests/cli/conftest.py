from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from reconverge.cli import main

MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: web, image: web:1, resources: {requests: {cpu: 500m, memory: 64Mi}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec:
  minAvailable: 1
  selector: {matchLabels: {app: web}}
"""
SCENARIO = """\
apiVersion: reconverge/v1alpha1
kind: Scenario
metadata: {name: drain-blocked}
spec:
  manifests: [web.yaml]
  nodePools:
    - {name: workers, count: 2, allocatable: {cpu: "2", memory: 4Gi, pods: 110}}
  may: {drain: 1}
  events: 1
  deviations: 0
  check: [drain-completes]
"""


class Ended(NamedTuple):
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command in an empty folder, as if without a terminal."""
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def command(*words: str | Path) -> Ended:
        capsys.readouterr()
        code = main([str(word) for word in words])
        written = capsys.readouterr()
        return Ended(code, written.out, written.err)

    return command


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with one manifest file and two scenarios: one that is met, one that is not."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "web.yaml").write_text(MANIFEST)
    (folder / "met.scenario.yaml").write_text(SCENARIO + "  expect: {violated: [drain-completes]}\n")
    (folder / "missed.scenario.yaml").write_text(SCENARIO.replace("drain-blocked", "drain-ends"))
    return folder


@pytest.fixture(scope="session")
def samples() -> ModuleType:
    """Results made by hand: the module `samples.py` of the tests of the reports."""
    path = Path(__file__).parent.parent / "reports" / "samples.py"
    spec = importlib.util.spec_from_file_location("reconverge_cli_samples", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Checker:
    """Stands for the checker: keeps how it was called, and gives prepared results."""

    def __init__(self, results: Sequence[Any]) -> None:
        self.results = list(results)
        self.called: list[dict[str, Any]] = []

    def __call__(self, scenario: Any, **how: Any) -> Any:
        self.called.append({"scenario": scenario, **how})
        result = self.results[(len(self.called) - 1) % len(self.results)]
        if isinstance(result, Exception):
            raise result
        return result


@pytest.fixture
def checker(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Checker]:
    """Puts prepared results (or errors) in the place of checking."""

    def replaced(*results: Any) -> Checker:
        import reconverge.cli.check

        stand_in = Checker(results)
        monkeypatch.setattr(reconverge.cli.check, "check", stand_in)
        return stand_in

    return replaced
