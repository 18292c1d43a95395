"""From arguments to an exit code; nothing heavy is imported before it is known what is wanted."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from reconverge.cli.arguments import COMMANDS, parse, parser
from reconverge.cli.errors import UsageError
from reconverge.cli.output import Output

if TYPE_CHECKING:
    from argparse import Namespace

HELD, VIOLATED, UNUSABLE, INTERNAL = 0, 1, 2, 3
INTERRUPTED = 130


def run(argv: Sequence[str] | None) -> int:
    """Runs the command; every failure becomes one line on standard error and an exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    output = Output()
    try:
        options = parse(words)
        output.color = options.color
        return _dispatch(options, output)
    except SystemExit as ended:  # argparse, for --help
        return int(ended.code or 0)
    except KeyboardInterrupt:
        output.error("reconverge: interrupted; nothing is claimed")
        return INTERRUPTED
    except Exception as error:
        return _failed(error, output, "--traceback" in words)


def _dispatch(options: Namespace, output: Output) -> int:
    if options.version:
        from reconverge.reports.version import installed_version

        output.write(f"reconverge {installed_version()}\n")
        return HELD
    if options.command is None:
        output.write(parser()[0].format_help())
        return UNUSABLE
    return _command(options.command)(options, output)


def _command(name: str) -> Callable[[Namespace, Output], int]:
    assert name in COMMANDS, name
    if name == "check":
        from reconverge.cli.check import check_command as found
    elif name == "replay":
        from reconverge.cli.replay import replay_command as found
    elif name == "explain":
        from reconverge.cli.explain import explain_command as found
    elif name == "list":
        from reconverge.cli.explain import list_command as found
    elif name == "simulate":
        from reconverge.cli.simulate import simulate_command as found
    elif name == "conform":
        from reconverge.cli.history import conform_command as found
    elif name == "audit":
        from reconverge.cli.history import audit_command as found
    else:
        from reconverge.cli.export import export_command as found
    return found


def _failed(error: Exception, output: Output, traceback: bool) -> int:
    """The exit code for an error, told in one line; with `traceback` an internal one shows where it happened."""
    if isinstance(error, UsageError) or _is_input_error(error):
        output.error(f"reconverge: {error}")
        return UNUSABLE
    if traceback:
        import traceback as tracebacks

        output.error("".join(tracebacks.format_exception(error)).rstrip())
    told = " ".join(str(error).split())
    output.error(
        f"reconverge: internal error: {type(error).__name__}{': ' if told else ''}{told}. This is a mistake in "
        f"reconverge; please report it with the output of the same command and --traceback"
    )
    return INTERNAL


def _is_input_error(error: Exception) -> bool:
    from reconverge.loading.errors import LoadError

    return isinstance(error, LoadError)
