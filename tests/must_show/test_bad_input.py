"""What the command says to input that it cannot use: exit code 2 and one line that says where and what was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconverge.cli import main

MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: shop/web:1
          resources:
            requests:
              cpu: 500m
"""
SCENARIO = """\
apiVersion: reconverge/v1alpha1
kind: Scenario
metadata: {name: demo}
spec:
  manifests: [web.yaml]
  nodePools:
    - {name: node, count: 2, allocatable: {cpu: "2", memory: 8Gi, pods: 110}}
  may:
    drain: 1
  check: [drain-completes]
"""

BAD_MANIFESTS = {
    "unknown key": ("  replicas: 2", "  replica: 2", "web.yaml:6", 'Did you mean "replicas"?'),
    "bad quantity": ("cpu: 500m", "cpu: 500q", "web.yaml:16", "500q"),
    "broken YAML": ("  selector: {matchLabels", "  selector: {matchLabels: {", "web.yaml:", ""),
    "unrendered template": ("name: web\nspec", "name: {{ .Values.name }}\nspec", "web.yaml:4", "template"),
}
BAD_SCENARIOS = {
    "unknown key": ("  may:", "  mai:", "demo.scenario.yaml:8", 'Did you mean "may"?'),
    "unknown event": ("    drain: 1", "    drian: 1", "demo.scenario.yaml:9", 'Did you mean "drain"?'),
    "unknown invariant": (
        "drain-completes",
        "drain-complete",
        "demo.scenario.yaml:10",
        'Did you mean "drain-completes"?',
    ),
    "missing manifest": ("[web.yaml]", "[wep.yaml]", "demo.scenario.yaml:5", "wep.yaml"),
}


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("web.yaml").write_text(MANIFEST)
    Path("demo.scenario.yaml").write_text(SCENARIO)


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line that the command writes; it ends with 2 and writes nothing else."""
    assert main(["check", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" not in said.err
    (line,) = said.err.splitlines()
    return line


def edit(file: str, before: str, after: str) -> None:
    text = Path(file).read_text()
    assert before in text
    Path(file).write_text(text.replace(before, after))


@pytest.mark.parametrize("name", BAD_MANIFESTS)
def test_a_bad_manifest(capsys: pytest.CaptureFixture[str], name: str) -> None:
    before, after, where, words = BAD_MANIFESTS[name]
    edit("web.yaml", before, after)
    line = complaint(capsys, "web.yaml")
    assert where in line
    assert words in line


@pytest.mark.parametrize("name", BAD_SCENARIOS)
def test_a_bad_scenario(capsys: pytest.CaptureFixture[str], name: str) -> None:
    before, after, where, words = BAD_SCENARIOS[name]
    edit("demo.scenario.yaml", before, after)
    line = complaint(capsys, "demo.scenario.yaml")
    assert where in line
    assert words in line


def test_an_unknown_id_as_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert 'Did you mean "rollout-floor"?' in complaint(capsys, "web.yaml", "--only", "rollout-flor")


def test_nodes_that_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert "3x4cpu,16Gi@a,b,c" in complaint(capsys, "web.yaml", "--nodes", "three")


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert "nothing.yaml" in complaint(capsys, "nothing.yaml")


def test_good_input_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "demo.scenario.yaml"]) == 0
    assert capsys.readouterr().err == ""
