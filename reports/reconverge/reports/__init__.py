"""What people and other tools read: one small renderer per format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reconverge.reports.assertion import assert_holds
    from reconverge.reports.trace_json import trace_from_json, trace_to_json

__all__ = ["assert_holds", "trace_from_json", "trace_to_json"]


def __getattr__(name: str) -> Any:
    """Imports a public name when it is first used: the pytest plugin and `--version` must stay light."""
    if name == "assert_holds":
        from reconverge.reports.assertion import assert_holds

        return assert_holds
    if name in ("trace_from_json", "trace_to_json"):
        from reconverge.reports import trace_json

        return getattr(trace_json, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
