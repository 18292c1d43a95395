"""`conform`, `audit` and `replay --recording`: what has happened against the model and the invariants."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reconverge.cli import main

RECORDINGS = Path(__file__).resolve().parents[2].parent / "shared" / "recordings"
needs_recordings = pytest.mark.skipif(not RECORDINGS.is_dir(), reason="the recordings are not beside the checkout")


def node(**spec: Any) -> dict[str, Any]:
    """A Ready node of one CPU."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1", "uid": "node-uid"},
        "spec": spec,
        "status": {
            "allocatable": {"cpu": "1", "memory": "4Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    }


def pod(name: str, node_name: str | None) -> dict[str, Any]:
    """A pod of 800m."""
    container = {"name": "c", "image": "c:1", "resources": {"requests": {"cpu": "800m"}}}
    spec: dict[str, Any] = {"containers": [container]}
    if node_name is not None:
        spec["nodeName"] = node_name
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "uid": f"{name}-uid"},
        "spec": spec,
        "status": {"phase": "Pending"},
    }


def stream(folder: Path, *objects: dict[str, Any]) -> str:
    """A file as `kubectl get --watch -o json` writes it."""
    path = folder / "watch.json"
    path.write_text("\n".join(json.dumps(each, indent=2) for each in objects))
    return str(path)


def test_a_watch_in_which_nothing_is_broken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = stream(tmp_path, node(), pod("a", None), pod("a", "n1"))
    assert main(["audit", path]) == 0
    assert "3 steps" in capsys.readouterr().out


def test_a_binding_to_a_cordoned_node_is_found_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stream(tmp_path, node(unschedulable=True), pod("a", None), pod("a", "n1"))
    assert main(["audit", path]) == 1
    out = capsys.readouterr().out
    assert "placement-honoured: pod/a was bound to n1" in out
    assert f"{path}:" in out


def test_watch_events_tell_removals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = [("ADDED", node()), ("ADDED", pod("a", None)), ("MODIFIED", pod("a", "n1")), ("DELETED", pod("a", "n1")),
              ("ADDED", pod("b", None)), ("MODIFIED", pod("b", "n1"))]  # fmt: skip
    path = stream(tmp_path, *({"type": kind, "object": each} for kind, each in events))
    assert main(["audit", path, "--output", "json"]) == 0
    (audit,) = json.loads(capsys.readouterr().out)["audits"]
    assert audit["violations"] == []
    assert "placement-honoured" in audit["judged"]


def test_without_that_removal_the_second_pod_has_no_room(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = stream(tmp_path, node(), pod("a", "n1"), pod("b", None), pod("b", "n1"))
    assert main(["audit", path]) == 1
    assert "b was bound to n1" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["conform", "audit"])
def test_a_file_that_is_not_there_is_one_line(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "nowhere.json"]) == 2
    assert capsys.readouterr().err == "reconverge: nowhere.json: no such file or directory\n"


def test_what_is_no_recording_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.json"
    path.write_text("{}")
    assert main(["conform", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@needs_recordings
def test_a_recording_is_explained_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", str(RECORDINGS / "26-drain-blocking-pdb.json")]) == 0
    assert capsys.readouterr().out == "26-drain-blocking-pdb: all 25 observations explained\n"


@needs_recordings
def test_a_recording_that_was_tampered_with_names_what_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads((RECORDINGS / "26-drain-blocking-pdb.json").read_text())
    document["final"]["PodDisruptionBudget"]["web"]["currentHealthy"] = 3
    path = tmp_path / "tampered.json"
    path.write_text(json.dumps(document))
    assert main(["conform", str(path)]) == 1
    out = capsys.readouterr().out
    assert "in the end" in out
    assert "currentHealthy" in out


@needs_recordings
def test_a_recording_reads_as_a_trace(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "--recording", str(RECORDINGS / "26-drain-blocking-pdb.json")]) == 0
    assert "binds pod/" in capsys.readouterr().out


LAWS_BROKEN = {
    # A kubelet that has died leaves its containers running; removing the Node object frees the ordinal.
    "30-node-death-node-object-deleted": {"pod-on-one-node"},
    # When no kubelet is heard from, pods that run are marked not ready all the same.
    "32-all-nodes-dead-a": {"no-unprovoked-kill"},
    "32-all-nodes-dead-b": {"no-unprovoked-kill"},
}
"""What real control planes did that the stock invariants do not allow; docs/recordings.md says more."""


@needs_recordings
@pytest.mark.parametrize("path", sorted(RECORDINGS.glob("*.json")), ids=lambda path: path.stem)
def test_stock_invariants_hold_along_every_recording(path: Path) -> None:
    from reconverge.checker.audit import audit_recording
    from reconverge.checker.conformance import read_recording

    found = audit_recording(read_recording(path)).findings
    assert {each.found.invariant.id for each in found} == LAWS_BROKEN.get(path.stem, set())
