"""The command `reconverge`."""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command with these arguments (default: those of the process) and gives its exit code.

    0: nothing violated, or every expectation met; 1: violated; 2: bad usage or input, or nothing to check;
    3: internal error.
    """
    # Imported here so that `reconverge.cli` costs nothing until it is used.
    from reconverge.cli.entry import run

    return run(argv)
