"""Where the recordings are, and reading them once."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconverge.checker.conformance import Recording, read_recording

FOLDER = Path(__file__).parents[3] / "shared" / "recordings"
"""Beside the repository; without it the tests that need recordings are skipped."""
FILES = sorted(FOLDER.glob("*.json"))
ABSENT = "no recordings beside the repository (../shared/recordings)"
PATIENCE = 40
"""Wrong turns after which a walk gives up, the same for right and wrong rules; the right ones need ten at most."""

_read: dict[Path, Recording] = {}


def recording_of(path: Path) -> Recording:
    """The recording in a file, read once."""
    if path not in _read:
        _read[path] = read_recording(path)
    return _read[path]


@pytest.fixture(scope="session")
def recordings() -> list[Recording]:
    """All recordings, in order of their names."""
    if not FILES:
        pytest.skip(ABSENT)
    return [recording_of(path) for path in FILES]
