"""The same input gives the same output, byte for byte, whatever the process's hash seed is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

COMMAND = "import sys; from reconverge.cli import main; sys.exit(main(sys.argv[1:]))"
INPUT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
              labelSelector: {matchLabels: {app: web}}
      containers:
        - name: web
          image: shop/web:1
          resources: {requests: {cpu: 500m}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec:
  maxUnavailable: 1
  selector: {matchLabels: {app: web}}
"""


def output(folder: Path, roots: list[str], hash_seed: str, *arguments: str) -> bytes:
    """What a process of its own writes to its standard output."""
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(roots)}
    given = ["check", "app.yaml", "--nodes", "3x4cpu,16Gi@a,b,c", *arguments, "--output", "json"]
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *given],
        cwd=folder,
        env=environment,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1, done.stderr.decode()
    return done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("--exhaustive", "--events", "1", "--deviations", "1", "--may", "drain=1,rollout=1"),
        ("--random", "--seed", "1", "--max-examples", "5"),
    ],
    ids=["exhaustive", "random"],
)
def test_two_processes_write_the_same_bytes(studio: Any, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "app.yaml").write_text(INPUT)
    roots = [str(studio.root / each) for each in ("model", "invariants", "reports")]
    first, second = (output(tmp_path, roots, seed, *arguments) for seed in ("1", "2"))
    assert first.startswith(b"{")
    assert first == second
