from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def samples() -> ModuleType:
    """Results made by hand: the module `samples.py` beside this one."""
    spec = importlib.util.spec_from_file_location("reconverge_report_samples", HERE / "samples.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def transcript() -> Callable[[str, str], None]:
    """Compares a text with a stored one. With WRITE_TRANSCRIPTS set it is stored instead: then read every line."""

    def compare(name: str, text: str) -> None:
        path = HERE / "transcripts" / name
        if os.environ.get("WRITE_TRANSCRIPTS"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
        assert text == path.read_text("utf-8")

    return compare
