"""Results in tests that are written in Python."""

from __future__ import annotations

from reconverge.checker.result import Result


def assert_holds(result: Result) -> None:
    """Raises AssertionError, with the whole report as its message, unless the result holds or is as expected.

    What was cut short does not hold: a result without violation whose search is incomplete fails, too.
    """
    # Pytest hides this frame, so that a failure shows the report and not this line.
    __tracebackhide__ = True
    from reconverge.reports import words
    from reconverge.reports.terminal import report_text

    open_ = result.expectation is None and words.inconclusive(result)
    if result.exit_code or open_:
        raise AssertionError("\n" + report_text(result))
