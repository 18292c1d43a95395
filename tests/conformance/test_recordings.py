"""Every recording is a run of the model: each change explained, the same end, the same answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.conftest import ABSENT, FILES, PATIENCE, recording_of

from reconverge.checker.conformance import conform

NOT_EXPLAINED: dict[str, str] = {}
"""Recordings that the model does not explain yet, by name, and why. One that is explained after all fails here."""


def _cases() -> list[object]:
    if not FILES:
        return [pytest.param(None, marks=pytest.mark.skip(reason=ABSENT), id="recordings")]
    return [
        pytest.param(path, id=path.stem, marks=[
            pytest.mark.xfail(reason=NOT_EXPLAINED[path.stem], strict=True)
        ] if path.stem in NOT_EXPLAINED else [])
        for path in FILES
    ]  # fmt: skip


@pytest.mark.parametrize("path", _cases())
def test_every_recording_is_a_run_of_the_model(path: Path) -> None:
    found = conform(recording_of(path), None, PATIENCE)
    assert found.explained, found.describe()
    assert found.explained_count == found.total
