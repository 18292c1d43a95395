"""The version of this distribution."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def installed_version() -> str:
    """The version that is installed; `unknown` in a tree that is not."""
    try:
        return version("reconverge")
    except PackageNotFoundError:
        return "unknown"
