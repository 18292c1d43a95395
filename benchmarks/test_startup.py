"""Whole processes: what somebody waits for who types the command. Time on the clock, the median of several."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

QUICKSTART = Path(__file__).parent.parent / "examples" / "quickstart"
COMMAND = (sys.executable, "-m", "reconverge.cli")

WORDS = {
    "reconverge --version": ("--version",),
    "first counterexample": ("check", str(QUICKSTART / "rollout-on-three-nodes.scenario.yaml")),
}


@pytest.mark.benchmark(group="start-up")
@pytest.mark.parametrize("what", WORDS)
def test_whole_process(what: str, measured: Callable[..., float], said: Callable[[str], None]) -> None:
    def run() -> None:
        done = subprocess.run([*COMMAND, *WORDS[what]], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr

    said(f"{what}: {measured(run, rounds=5, warmup_rounds=1):.2f} s on the clock")
