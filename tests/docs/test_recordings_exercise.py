"""The fidelity page says which recordings exercise which loop: counted again where the recordings are at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from reconverge.checker.conformance import read_recording, recording_steps

RECORDINGS = Path(__file__).resolve().parents[2].parent / "shared" / "recordings"


def short(name: str) -> str:
    """`28-a` of `28-node-death-deployment-revival-a`."""
    return name.partition("-")[0] + (name[-2:] if name.endswith(("-a", "-b")) else "")


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason="the recordings are not beside the checkout")
@pytest.mark.parametrize("number", ["01", "14", "26", "30", "41", "45"])
def test_the_page_is_right_about_a_recording(number: str, root: Any) -> None:
    listed = yaml.safe_load((root / "docs" / "omissions.yaml").read_text("utf-8"))["recordings"]
    for path in RECORDINGS.glob(f"{number}-*.json"):
        actors = {step.actor for step in recording_steps(read_recording(path))} - {"environment"}
        assert actors == {loop for loop, names in listed.items() if short(path.stem) in names}
